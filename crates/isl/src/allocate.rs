//! isl's memory. isl allocates and frees small objects all the time, all of a context on one thread: here that is a list of free blocks
//! for each size, one set of lists for each thread, with neither locks nor neighbours to be merged with.
//!
//! isl calls the functions below in place of C's, see `build.rs`.
//!
//! A block is a header of eight bytes, which tells its class, and what isl gets, aligned to 16 bytes. A block that is freed goes to the
//! lists of the thread that frees it: which thread it is from does not matter. Large blocks are C's, with a header too. Small ones are
//! cut from chunks that are never given back: a thread that ends leaves its lists to another one.
//!
//! Under valgrind, every block is one of C's, without a header, so that valgrind sees what becomes of it.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

mod c {
    use std::ffi::{c_char, c_void};

    unsafe extern "C" {
        pub fn malloc(size: usize) -> *mut c_void;
        pub fn calloc(count: usize, size: usize) -> *mut c_void;
        pub fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
        pub fn free(block: *mut c_void);
        pub fn strlen(string: *const c_char) -> usize;
    }
}

/// Sizes of blocks, header included, are multiples of this.
const UNIT: usize = 16;
const HEADER: usize = size_of::<usize>();
/// A block of class n > 0 has n units.
const CLASSES: usize = 65;
/// A block of C's, of which a whole unit is the header, so that the rest is aligned.
const LARGE: usize = 0;
const CHUNK: usize = 64 << 10;

/// What a thread can have without asking C. A block is known by the address that isl gets; its first word is the next one of a list.
struct Lists {
    free: [Cell<*mut c_void>; CLASSES],
    /// What is left of the last chunk: the next block, and the end, which no block reaches over.
    fresh: Cell<*mut u8>,
    end: Cell<*mut u8>,
}

impl Lists {
    const fn empty() -> Lists {
        Lists {
            free: [const { Cell::new(null_mut()) }; CLASSES],
            fresh: Cell::new(null_mut()),
            end: Cell::new(null_mut()),
        }
    }

    fn swap(&self, other: &Lists) {
        for (a, b) in self.free.iter().zip(&other.free) {
            a.swap(b);
        }
        self.fresh.swap(&other.fresh);
        self.end.swap(&other.end);
    }
}

/// Of a thread that has ended.
struct Left(Lists);

// SAFETY: the blocks are nobody's, and the lists are reached through the lock alone.
unsafe impl Send for Left {}

static LEFT: Mutex<Vec<Left>> = Mutex::new(Vec::new());

/// Takes over lists that were left, and leaves those of this thread when it ends. What other threads allocated and this one has freed
/// before is lost on the way: nothing, as long as a context stays on its thread.
struct Heir;

impl Heir {
    fn new() -> Heir {
        if let Ok(mut left) = LEFT.lock()
            && let Some(Left(lists)) = left.pop()
        {
            LISTS.with(|mine| mine.swap(&lists));
        }
        Heir
    }
}

impl Drop for Heir {
    fn drop(&mut self) {
        let left = Lists::empty();
        LISTS.with(|mine| mine.swap(&left));
        if let Ok(mut all) = LEFT.lock() {
            all.push(Left(left));
        }
    }
}

thread_local! {
    /// Without a destructor: what isl frees while a thread ends goes here too.
    static LISTS: Lists = const { Lists::empty() };
    static HEIR: Heir = Heir::new();
}

/// Whether valgrind runs this process: 0 for not asked yet, [`OWN`] for no, [`PLAIN`] for yes.
static MODE: AtomicU8 = AtomicU8::new(0);
const OWN: u8 = 1;
const PLAIN: u8 = 2;

/// Every block there is was made in one mode: the first to ask sets it, and all get the same answer.
fn is_plain() -> bool {
    match MODE.load(Ordering::Relaxed) {
        0 => {
            let plain = runs_under_valgrind();
            MODE.store(if plain { PLAIN } else { OWN }, Ordering::Relaxed);
            plain
        }
        mode => mode == PLAIN,
    }
}

/// valgrind's client request `RUNNING_ON_VALGRIND`: instructions that do nothing, unless it is valgrind that runs them.
#[cfg(target_arch = "x86_64")]
fn runs_under_valgrind() -> bool {
    let request: [u64; 6] = [0x1001, 0, 0, 0, 0, 0];
    let mut answer: u64 = 0;
    // SAFETY: `rdi` is rotated by 128 bits in all, and `rbx` exchanged with itself.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdx") answer,
            in("rax") request.as_ptr(),
        );
    }
    answer != 0
}

/// Not known: C's blocks are always right.
#[cfg(not(target_arch = "x86_64"))]
fn runs_under_valgrind() -> bool {
    true
}

/// The class of blocks that have so many bytes after their header.
fn class(size: usize) -> usize {
    const LARGEST: usize = (CLASSES - 1) * UNIT - HEADER;
    if size <= LARGEST { (size + HEADER).div_ceil(UNIT) } else { LARGE }
}

/// # Safety
/// `block` is one of ours, not of C's.
unsafe fn header(block: *mut c_void) -> *mut usize {
    // SAFETY: there is a header before every block of ours.
    unsafe { block.byte_sub(HEADER).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn loopwright_malloc(size: usize) -> *mut c_void {
    let class = class(size);
    LISTS.with(|lists| {
        let block = lists.free[class].get();
        if block.is_null() {
            return more(lists, class, size);
        }
        // SAFETY: this block is free, so its first word is the next one.
        lists.free[class].set(unsafe { *block.cast() });
        block
    })
}

/// A block that is on no list. There is never one of [`LARGE`] on its list.
#[cold]
fn more(lists: &Lists, class: usize, size: usize) -> *mut c_void {
    // SAFETY: see each; what C gives is as large as was asked for and aligned to 16 bytes.
    unsafe {
        if is_plain() {
            return c::malloc(size);
        }
        if class == LARGE {
            let Some(bytes) = size.checked_add(UNIT) else {
                return null_mut();
            };
            let block = c::malloc(bytes);
            if block.is_null() {
                return null_mut();
            }
            let block = block.byte_add(UNIT);
            // Inside of the unit that was added.
            *header(block) = LARGE;
            return block;
        }
        let bytes = class * UNIT;
        if (lists.end.get().addr() - lists.fresh.get().addr()) < bytes {
            // On a thread that ends there is none any more.
            let _ = HEIR.try_with(|_| ());
            let block = lists.free[class].get();
            if !block.is_null() {
                lists.free[class].set(*block.cast());
                return block;
            }
        }
        if (lists.end.get().addr() - lists.fresh.get().addr()) < bytes {
            // What is left of the last chunk is given up: less than the largest block.
            let chunk = c::malloc(CHUNK);
            if chunk.is_null() {
                return null_mut();
            }
            lists.fresh.set(chunk.byte_add(UNIT).cast());
            lists.end.set(chunk.byte_add(CHUNK).cast());
        }
        // From `fresh - HEADER` up to `fresh + bytes - HEADER`: the headers lie in the unit before.
        let block: *mut c_void = lists.fresh.get().cast();
        lists.fresh.set(block.byte_add(bytes).cast());
        *header(block) = class;
        block
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn loopwright_free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: isl frees what it got from here, once. In one mode all blocks are C's, in the other all have headers.
    unsafe {
        if MODE.load(Ordering::Relaxed) == PLAIN {
            return c::free(block);
        }
        match *header(block) {
            LARGE => c::free(block.byte_sub(UNIT)),
            class => LISTS.with(|lists| {
                *block.cast() = lists.free[class].get();
                lists.free[class].set(block);
            }),
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn loopwright_calloc(count: usize, size: usize) -> *mut c_void {
    if is_plain() {
        // SAFETY: C checks for overflow.
        return unsafe { c::calloc(count, size) };
    }
    let Some(bytes) = count.checked_mul(size) else {
        return null_mut();
    };
    let block = loopwright_malloc(bytes);
    if !block.is_null() {
        // SAFETY: the block has so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, bytes) };
    }
    block
}

#[unsafe(no_mangle)]
unsafe extern "C" fn loopwright_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return loopwright_malloc(size);
    }
    // SAFETY: as for `loopwright_free`.
    unsafe {
        if MODE.load(Ordering::Relaxed) == PLAIN {
            return c::realloc(block, size);
        }
        // As C does.
        if size == 0 {
            loopwright_free(block);
            return null_mut();
        }
        let class = *header(block);
        if class == LARGE {
            let Some(bytes) = size.checked_add(UNIT) else {
                return null_mut();
            };
            let moved = c::realloc(block.byte_sub(UNIT), bytes);
            // The header moves along.
            return if moved.is_null() { moved } else { moved.byte_add(UNIT) };
        }
        let bytes = class * UNIT - HEADER;
        if size <= bytes {
            return block;
        }
        let moved = loopwright_malloc(size);
        if !moved.is_null() {
            moved.cast::<u8>().copy_from_nonoverlapping(block.cast(), bytes);
            loopwright_free(block);
        }
        moved
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn loopwright_strdup(string: *const c_char) -> *mut c_char {
    // SAFETY: isl passes a string that ends with NUL, which is copied too.
    unsafe {
        let bytes = c::strlen(string) + 1;
        let copy: *mut c_char = loopwright_malloc(bytes).cast();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(string, bytes);
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of all sizes keep what is written into them while others come and go, also when another thread frees them.
    #[test]
    fn blocks_keep_their_bytes() {
        let mut random = crate::random::Random::new(1);
        let mut blocks: Vec<(usize, usize, u8)> = Vec::new();
        let check = |block: usize, size: usize, byte: u8| {
            let block: *const u8 = std::ptr::with_exposed_provenance(block);
            assert!(block.addr().is_multiple_of(UNIT));
            // SAFETY: the block is alive and has `size` bytes.
            assert!(unsafe { std::slice::from_raw_parts(block, size) }.iter().all(|b| *b == byte));
        };
        for step in 0..20_000 {
            let size = [random.below(40), random.below(1200), random.below(40_000)][random.below(3)];
            let byte = step as u8;
            // SAFETY: every block in `blocks` is alive and has the size beside it.
            unsafe {
                match random.below(5) {
                    0 | 1 => {
                        let block = loopwright_malloc(size);
                        block.cast::<u8>().write_bytes(byte, size);
                        blocks.push((block.expose_provenance(), size, byte));
                    }
                    2 => {
                        let block = loopwright_calloc(size / 4, 4);
                        check(block.expose_provenance(), size / 4 * 4, 0);
                        block.cast::<u8>().write_bytes(byte, size / 4 * 4);
                        blocks.push((block.expose_provenance(), size / 4 * 4, byte));
                    }
                    3 if !blocks.is_empty() => {
                        let i = random.below(blocks.len());
                        let (block, before, byte) = blocks[i];
                        let moved = loopwright_realloc(std::ptr::with_exposed_provenance_mut(block), size + 1);
                        check(moved.expose_provenance(), before.min(size + 1), byte);
                        moved.cast::<u8>().write_bytes(byte, size + 1);
                        blocks[i] = (moved.expose_provenance(), size + 1, byte);
                    }
                    _ if !blocks.is_empty() => {
                        let (block, size, byte) = blocks.swap_remove(random.below(blocks.len()));
                        check(block, size, byte);
                        let free = move || loopwright_free(std::ptr::with_exposed_provenance_mut(block));
                        match random.below(50) {
                            0 => std::thread::spawn(free).join().expect("it only frees"),
                            _ => free(),
                        }
                    }
                    _ => {}
                }
            }
        }
        for (block, size, byte) in blocks {
            check(block, size, byte);
            // SAFETY: the block is alive.
            unsafe { loopwright_free(std::ptr::with_exposed_provenance_mut(block)) };
        }
    }

    /// What cannot be had is not given, and zero bytes are something.
    #[test]
    fn odd_sizes() {
        // SAFETY: the blocks are alive until they are freed.
        unsafe {
            let (a, b) = (loopwright_malloc(0), loopwright_malloc(0));
            assert!(!a.is_null() && !b.is_null() && a != b);
            // valgrind takes such sizes for mistakes.
            if !is_plain() {
                assert!(loopwright_malloc(usize::MAX).is_null());
                assert!(loopwright_malloc(usize::MAX - 8).is_null());
                assert!(loopwright_calloc(usize::MAX, 2).is_null());
                assert!(loopwright_realloc(a, usize::MAX).is_null());
            }
            assert!(loopwright_realloc(a, 0).is_null());
            loopwright_free(b);
            loopwright_free(null_mut());
            let copy = loopwright_strdup(c"as it was".as_ptr());
            assert_eq!(std::ffi::CStr::from_ptr(copy), c"as it was");
            loopwright_free(copy.cast());
        }
    }
}
