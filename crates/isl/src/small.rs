//! Arithmetic on small numbers. Nearly all of isl's numbers are small, and its functions below are short; as the archive has them,
//! they call each other for every number. Here the case that matters is written out, and whatever is not of it is left to isl's own
//! function, which is called as if it had been called in the first place.
//!
//! isl calls the functions below in place of its own, see `build.rs`. The case that matters is also that the number to be written is
//! small before: else isl frees it.
//!
//! **Why nothing changes.** Every number a function below writes has the value isl's would have, and the same representation: isl
//! makes a result small whenever it fits (`isl_sioimath_try_demote`, `isl_sioimath_set_int64`), and so does what is here. Numbers are
//! read and written in isl's order, one after the other, so that it does not matter which of the arguments are the same memory.
//! Where all operands are small, isl's own function calls none of the functions that count what large numbers cost (`large`), even
//! where an intermediate result is not small: it is the sum of two products at most, which isl only copies and adds. So the budgets
//! are used up as before.

use std::ffi::{c_int, c_uint};

use crate::raw;

/// isl's `isl_sioimath`: if the lowest bit is set, the upper half is the value, the other bits of the lower half are zero, and
/// -2^31 does not occur; else it is a pointer to a large number.
pub(crate) type Int = u64;

pub(crate) const ZERO: Int = 1;
const ONE: Int = encode(1);

const fn encode(value: i32) -> Int {
    (value as Int) << 32 | 1
}

/// Of a small number; of a large one, anything that fits.
pub(crate) fn decode(number: Int) -> i64 {
    number as i64 >> 32
}

pub(crate) fn is_small(number: Int) -> bool {
    number & 1 != 0
}

fn are_small(a: Int, b: Int) -> bool {
    is_small(a & b)
}

/// `None` if it is not small.
fn fitting(value: i64) -> Option<Int> {
    let range = -i64::from(i32::MAX)..=i64::from(i32::MAX);
    range.contains(&value).then_some((value as Int) << 32 | 1)
}

/// `a * b + c * d`, if everything is small. There is no overflow: each product is less than 2^62.
fn sum_of_products(a: Int, b: Int, c: Int, d: Int) -> Option<Int> {
    if !is_small(a & b & c & d) {
        return None;
    }
    fitting(decode(a) * decode(b) + decode(c) * decode(d))
}

/// Of small numbers; the result is small, since 2^31 is not the absolute value of one.
fn gcd(a: Int, b: Int) -> Int {
    encode(euclid(decode(a).unsigned_abs() as u32, decode(b).unsigned_abs() as u32) as i32)
}

fn euclid(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Rounded to zero. `None` unless both are small and the second is not zero. The result is small: see [`gcd`].
fn quotient(a: Int, b: Int) -> Option<Int> {
    if !are_small(a, b) || b == ZERO {
        return None;
    }
    Some(encode(decode(a) as i32 / decode(b) as i32))
}

/// What isl does to the number at `to` when the result is small.
///
/// # Safety
/// `to` is valid, and what it holds is a number that nobody else holds.
unsafe fn put(to: *mut Int, small: Int) {
    // SAFETY: by the contract of this function.
    unsafe {
        if !is_small(*to) {
            isl_sioimath_clear(to);
        }
        *to = small;
    }
}

/// The smallest absolute value but zero, and where it comes first; `None` if all are zero. Stops at the first 1, after which no number
/// is less. `Err` if a number before that is large.
///
/// # Safety
/// `p` points to `len` numbers.
unsafe fn least(p: *const Int, len: c_uint) -> Result<Option<(u32, usize)>, ()> {
    let mut least = None;
    for i in 0..len as usize {
        // SAFETY: by the contract of this function.
        let number = unsafe { *p.add(i) };
        if number == ZERO {
            continue;
        }
        if !is_small(number) {
            return Err(());
        }
        let value = decode(number).unsigned_abs() as u32;
        if least.is_none_or(|(least, _)| value < least) {
            least = Some((value, i));
            if value == 1 {
                break;
            }
        }
    }
    Ok(least)
}

/// The greatest common divisor of all, which is small; `None` if isl's function has to find it. A 1 among them settles it: isl then
/// divides nothing either, whatever the others are.
///
/// # Safety
/// `p` points to `len` numbers.
unsafe fn gcd_of_all(p: *const Int, len: c_uint) -> Option<Int> {
    // SAFETY: by the contract of this function.
    let Ok(least) = (unsafe { least(p, len) }) else {
        return None;
    };
    // Either `least` went to the end and all are small, or this is 1.
    let Some((mut divisor, _)) = least else {
        return Some(ZERO);
    };
    for i in 0..len as usize {
        if divisor == 1 {
            break;
        }
        // SAFETY: by the contract of this function.
        let number = unsafe { *p.add(i) };
        divisor = euclid(decode(number).unsigned_abs() as u32, divisor);
    }
    Some(encode(divisor as i32))
}

/// The beginning of isl's context.
#[repr(C)]
struct Context {
    reference: c_int,
    stats: *mut u8,
    options_allocated: c_int,
    options: *mut u8,
    user_options: *mut u8,
    user_arguments: *mut u8,
    zero: Int,
    one: Int,
    two: Int,
    negative_one: Int,
    /// What `isl_seq_normalize` divides by stays here.
    divisor: Int,
}

/// Declares isl's function by its own name, and defines what isl calls in its place.
macro_rules! replaced {
    ($($(#[$meta:meta])* fn $name:ident / $new:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        unsafe extern "C" {
            // Of some, only the tests call isl's, to compare.
            $(#[allow(dead_code)] fn $name($($argument: $type),*) $(-> $result)?;)*
        }
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $new($($argument: $type),*) $(-> $result)? {
                // SAFETY: isl passes pointers to as many numbers as it says, each of which it owns, to this function as it would to
                // its own; which gets the same.
                unsafe { $body }
            }
        )*
    };
}

unsafe extern "C" {
    fn isl_sioimath_clear(number: *mut Int);
    fn isl_sioimath_set(to: *mut Int, from: Int);
    fn isl_sioimath_neg(to: *mut Int, from: Int);
    fn isl_sioimath_cmp(a: Int, b: Int) -> c_int;
    fn isl_sioimath_sgn(number: Int) -> c_int;
    fn isl_sioimath_abs_cmp(a: Int, b: Int) -> c_int;
    fn isl_sioimath_hash(number: Int, hash: u32) -> u32;
}

replaced! {
    fn isl_sioimath_mul / loopwright_isl_sioimath_mul(to: *mut Int, a: Int, b: Int) {
        match fitting(decode(a) * decode(b)) {
            Some(product) if is_small(a & b & *to) => *to = product,
            _ => isl_sioimath_mul(to, a, b),
        }
    }

    fn isl_sioimath_add / loopwright_isl_sioimath_add(to: *mut Int, a: Int, b: Int) {
        match fitting(decode(a) + decode(b)) {
            Some(sum) if is_small(a & b & *to) => *to = sum,
            _ => isl_sioimath_add(to, a, b),
        }
    }

    fn isl_sioimath_sub / loopwright_isl_sioimath_sub(to: *mut Int, a: Int, b: Int) {
        match fitting(decode(a) - decode(b)) {
            Some(difference) if is_small(a & b & *to) => *to = difference,
            _ => isl_sioimath_sub(to, a, b),
        }
    }

    fn isl_sioimath_addmul / loopwright_isl_sioimath_addmul(to: *mut Int, a: Int, b: Int) {
        match sum_of_products(*to, ONE, a, b) {
            Some(sum) => *to = sum,
            None => isl_sioimath_addmul(to, a, b),
        }
    }

    fn isl_sioimath_tdiv_q / loopwright_isl_sioimath_tdiv_q(to: *mut Int, a: Int, b: Int) {
        match quotient(a, b) {
            Some(quotient) if is_small(*to) => *to = quotient,
            _ => isl_sioimath_tdiv_q(to, a, b),
        }
    }

    fn isl_sioimath_gcd / loopwright_isl_sioimath_gcd(to: *mut Int, a: Int, b: Int) {
        match is_small(a & b & *to) {
            true => *to = gcd(a, b),
            false => isl_sioimath_gcd(to, a, b),
        }
    }

    fn isl_seq_clr / loopwright_isl_seq_clr(p: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            put(p.add(i), ZERO);
        }
    }

    fn isl_seq_neg / loopwright_isl_seq_neg(to: *mut Int, from: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            let number = *from.add(i);
            match are_small(number, *to.add(i)) {
                // -v * 2^32 + 1 for v * 2^32 + 1.
                true => *to.add(i) = 2_u64.wrapping_sub(number),
                false => isl_sioimath_neg(to.add(i), number),
            }
        }
    }

    fn isl_seq_cpy / loopwright_isl_seq_cpy(to: *mut Int, from: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            let number = *from.add(i);
            match are_small(number, *to.add(i)) {
                true => *to.add(i) = number,
                false => isl_sioimath_set(to.add(i), number),
            }
        }
    }

    fn isl_seq_scale / loopwright_isl_seq_scale(to: *mut Int, from: *mut Int, factor: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            loopwright_isl_sioimath_mul(to.add(i), *from.add(i), *factor);
        }
    }

    fn isl_seq_scale_down / loopwright_isl_seq_scale_down(to: *mut Int, from: *mut Int, divisor: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            loopwright_isl_sioimath_tdiv_q(to.add(i), *from.add(i), *divisor);
        }
    }

    /// Like isl's, the first case does not look at `f` again, which may be one of the numbers that change. Of one number, isl's function
    /// does what it does of each.
    fn isl_seq_combine / loopwright_isl_seq_combine(
        to: *mut Int, f: *mut Int, p: *mut Int, g: *mut Int, q: *mut Int, len: c_uint
    ) {
        if to == p && *f == ONE {
            if *g != ZERO {
                loopwright_isl_seq_addmul(p, g, q, len);
            }
            return;
        }
        for i in 0..len as usize {
            match sum_of_products(*f, *p.add(i), *g, *q.add(i)) {
                Some(sum) if is_small(*to.add(i)) => *to.add(i) = sum,
                _ => isl_seq_combine(to.add(i), f, p.add(i), g, q.add(i), 1),
            }
        }
    }

    fn isl_seq_elim / loopwright_isl_seq_elim(
        to: *mut Int, from: *mut Int, at: c_uint, len: c_uint, scaled: *mut Int
    ) {
        let (pivot, number) = (*from.add(at as usize), *to.add(at as usize));
        if number == ZERO {
            return;
        }
        if !are_small(pivot, number) {
            return isl_seq_elim(to, from, at, len, scaled);
        }
        // Not zero, since `number` is not; and as divisors of small numbers, all of these are small.
        let common = decode(gcd(pivot, number)) as i32;
        let (pivot, number) = (decode(pivot) as i32, decode(number) as i32);
        let mut factor = encode((pivot / common).abs());
        let mut other = encode(if pivot > 0 { -(number / common) } else { number / common });
        loopwright_isl_seq_combine(to, &raw mut factor, to, &raw mut other, from, len);
        if !scaled.is_null() {
            loopwright_isl_sioimath_mul(scaled, *scaled, factor);
        }
    }

    fn isl_seq_eq / loopwright_isl_seq_eq(p: *mut Int, q: *mut Int, len: c_uint) -> c_int {
        for i in 0..len as usize {
            let (a, b) = (*p.add(i), *q.add(i));
            if a != b && (are_small(a, b) || isl_sioimath_cmp(a, b) != 0) {
                return 0;
            }
        }
        1
    }

    fn isl_seq_cmp / loopwright_isl_seq_cmp(p: *mut Int, q: *mut Int, len: c_uint) -> c_int {
        for i in 0..len as usize {
            let (a, b) = (*p.add(i), *q.add(i));
            if a == b {
                continue;
            }
            let order = match are_small(a, b) {
                true => decode(a).cmp(&decode(b)) as c_int,
                false => isl_sioimath_cmp(a, b),
            };
            if order != 0 {
                return order;
            }
        }
        0
    }

    fn isl_seq_is_neg / loopwright_isl_seq_is_neg(p: *mut Int, q: *mut Int, len: c_uint) -> c_int {
        for i in 0..len as usize {
            let (a, b) = (*p.add(i), *q.add(i));
            let negated = match are_small(a, b) {
                true => decode(a) == -decode(b),
                false => {
                    isl_sioimath_abs_cmp(a, b) == 0 && (isl_sioimath_sgn(a) == 0 || isl_sioimath_cmp(a, b) != 0)
                }
            };
            if !negated {
                return 0;
            }
        }
        1
    }

    fn isl_seq_first_non_zero / loopwright_isl_seq_first_non_zero(p: *mut Int, len: c_uint) -> c_int {
        for i in 0..len as usize {
            let number = *p.add(i);
            if number != ZERO && (is_small(number) || isl_sioimath_sgn(number) != 0) {
                return i as c_int;
            }
        }
        -1
    }

    fn isl_seq_last_non_zero / loopwright_isl_seq_last_non_zero(p: *mut Int, len: c_uint) -> c_int {
        for i in (0..len as usize).rev() {
            let number = *p.add(i);
            if number != ZERO && (is_small(number) || isl_sioimath_sgn(number) != 0) {
                return i as c_int;
            }
        }
        -1
    }

    fn isl_seq_abs_min_non_zero / loopwright_isl_seq_abs_min_non_zero(p: *mut Int, len: c_uint) -> c_int {
        match least(p, len) {
            Ok(least) => least.map_or(-1, |(_, i)| i as c_int),
            Err(()) => isl_seq_abs_min_non_zero(p, len),
        }
    }

    /// Alone of these, this writes less often than isl's, which would get it wrong if `divisor` were one of the numbers: none of isl's
    /// calls is like that.
    fn isl_seq_gcd / loopwright_isl_seq_gcd(p: *mut Int, len: c_uint, divisor: *mut Int) {
        match gcd_of_all(p, len) {
            Some(gcd) => put(divisor, gcd),
            None => isl_seq_gcd(p, len, divisor),
        }
    }

    fn isl_seq_normalize / loopwright_isl_seq_normalize(ctx: *mut raw::isl_ctx, p: *mut Int, len: c_uint) {
        if len == 0 {
            return;
        }
        let Some(gcd) = gcd_of_all(p, len) else {
            return isl_seq_normalize(ctx, p, len);
        };
        let divisor = &raw mut (*ctx.cast::<Context>()).divisor;
        put(divisor, gcd);
        if gcd != ZERO && gcd != ONE {
            loopwright_isl_seq_scale_down(p, p, divisor, len);
        }
    }

    fn isl_seq_inner_product / loopwright_isl_seq_inner_product(p: *mut Int, q: *mut Int, len: c_uint, product: *mut Int) {
        if len == 0 {
            return put(product, ZERO);
        }
        loopwright_isl_sioimath_mul(product, *p, *q);
        for i in 1..len as usize {
            loopwright_isl_sioimath_addmul(product, *p.add(i), *q.add(i));
        }
    }

    fn isl_seq_addmul / loopwright_isl_seq_addmul(to: *mut Int, factor: *mut Int, from: *mut Int, len: c_uint) {
        for i in 0..len as usize {
            loopwright_isl_sioimath_addmul(to.add(i), *factor, *from.add(i));
        }
    }

    fn isl_seq_hash / loopwright_isl_seq_hash(p: *mut Int, len: c_uint, hash: u32) -> u32 {
        const PRIME: u32 = 16_777_619;
        let mut hash = hash;
        for i in 0..len as usize {
            let number = *p.add(i);
            if number == ZERO {
                continue;
            }
            if !is_small(number) && isl_sioimath_sgn(number) == 0 {
                continue;
            }
            hash = hash.wrapping_mul(PRIME) ^ (i as u32 & 0xff);
            if !is_small(number) {
                hash = isl_sioimath_hash(number, hash);
                continue;
            }
            let value = decode(number);
            if value < 0 {
                hash = hash.wrapping_mul(PRIME) ^ 0xff;
            }
            for byte in (value.unsigned_abs() as u32).to_ne_bytes() {
                hash = hash.wrapping_mul(PRIME) ^ u32::from(byte);
            }
        }
        hash
    }

    fn isl_seq_get_hash / loopwright_isl_seq_get_hash(p: *mut Int, len: c_uint) -> u32 {
        loopwright_isl_seq_hash(p, len, 2_166_136_261)
    }

    fn isl_seq_get_hash_bits / loopwright_isl_seq_get_hash_bits(p: *mut Int, len: c_uint, bits: c_uint) -> u32 {
        if !(1..32).contains(&bits) {
            return isl_seq_get_hash_bits(p, len, bits);
        }
        let hash = loopwright_isl_seq_get_hash(p, len);
        let mask = (1 << bits) - 1;
        // With 16 bits and more, nothing of the upper part is left to be masked.
        ((hash >> bits) ^ hash) & mask
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{CString, c_char};

    use super::*;
    use crate::random::Random;

    unsafe extern "C" {
        fn isl_sioimath_read(to: *mut Int, digits: *const c_char);
    }

    /// Numbers, freed in the end.
    #[derive(PartialEq)]
    struct Row(Vec<Number>);

    #[repr(transparent)]
    struct Number(Int);

    impl Number {
        fn new(digits: &str) -> Number {
            let digits = CString::new(digits).expect("no NUL");
            let mut number = ZERO;
            // SAFETY: a number and a string.
            unsafe { isl_sioimath_read(&raw mut number, digits.as_ptr()) };
            // isl makes a number small only when it calculates.
            // SAFETY: numbers.
            unsafe { isl_sioimath_add(&raw mut number, number, ZERO) };
            Number(number)
        }

        /// Small ones, ones at the edge of what fits into 31, 32, 62, 63 and 64 bits, and large ones.
        fn draw(random: &mut Random, largest: usize) -> Number {
            let sign = if random.below(2) == 0 { 1 } else { -1 };
            let off = random.below(5) as i128 - 2;
            let value = match random.below(largest) {
                0..6 => random.below(4) as i128,
                6..9 => random.below(100) as i128,
                9 => random.below(1 << 16) as i128,
                10 => random.below(1 << 31) as i128,
                11 => (1 << 31) - 1,
                12 => (1 << 31) + off,
                13 => (1 << 32) + off,
                14 => [1 << 62, 1 << 63, 1 << 64][random.below(3)] + off,
                _ => (i128::from(random.next()) << random.below(60)) + 1,
            };
            Number::new(&(sign * value).to_string())
        }
    }

    impl Clone for Number {
        fn clone(&self) -> Number {
            let mut copy = ZERO;
            // SAFETY: numbers.
            unsafe { isl_sioimath_set(&raw mut copy, self.0) };
            Number(copy)
        }
    }

    impl Drop for Number {
        fn drop(&mut self) {
            // SAFETY: a number, not used afterwards.
            unsafe { isl_sioimath_clear(&raw mut self.0) };
        }
    }

    /// Of the same value and the same representation.
    impl PartialEq for Number {
        fn eq(&self, other: &Number) -> bool {
            // SAFETY: numbers.
            is_small(self.0) == is_small(other.0) && unsafe { isl_sioimath_cmp(self.0, other.0) } == 0
        }
    }

    impl Row {
        fn draw(random: &mut Random, len: usize) -> Row {
            // In most rows all are small.
            let largest = [9, 10, 13, 16][random.below(4)];
            Row((0..len).map(|_| Number::draw(random, largest)).collect())
        }

        fn at(&mut self, i: usize) -> *mut Int {
            assert!(i < self.0.len());
            // SAFETY: there are more numbers than that.
            unsafe { self.0.as_mut_ptr().cast::<Int>().add(i) }
        }
    }

    impl Clone for Row {
        fn clone(&self) -> Row {
            Row(self.0.clone())
        }
    }

    /// Calls both functions on copies of the same numbers, many times: they give the same and leave the same.
    fn same<R: PartialEq + std::fmt::Debug>(name: &str, mut call: impl FnMut(&mut Row, &mut Random, bool) -> R) {
        for seed in 0..3_000 {
            let mut random = Random::new(seed);
            let mut theirs = Row::draw(&mut random, 24);
            let mut ours = theirs.clone();
            let state = random.next();
            let expected = call(&mut theirs, &mut Random::new(state), false);
            let found = call(&mut ours, &mut Random::new(state), true);
            assert_eq!(expected, found, "{name}, seed {seed}");
            assert!(theirs == ours, "{name}, seed {seed}");
        }
    }

    /// Where sequences of so many numbers begin. They may be the same or overlap.
    fn positions(random: &mut Random) -> (usize, usize, usize, c_uint) {
        let len = random.below(9);
        let first = random.below(16);
        let second = if random.below(3) == 0 { first } else { random.below(16) };
        (first, second, random.below(16), len as c_uint)
    }

    macro_rules! three_numbers {
        ($($test:ident: $name:ident / $new:ident $(, unless $zero:ident)?;)*) => {
            $(#[test]
            fn $test() {
                same(stringify!($name), |row, random, ours| {
                    let (to, a, b) = (random.below(4), random.below(4), random.below(4));
                    // Nobody divides by zero.
                    $(if row.0[b].0 == $zero {
                        row.0[b] = Number::new("-3");
                    })?
                    let function = if ours { $new } else { $name };
                    // SAFETY: numbers of the row.
                    unsafe { function(row.at(to), *row.at(a), *row.at(b)) };
                });
            })*
        };
    }

    three_numbers! {
        mul: isl_sioimath_mul / loopwright_isl_sioimath_mul;
        add: isl_sioimath_add / loopwright_isl_sioimath_add;
        sub: isl_sioimath_sub / loopwright_isl_sioimath_sub;
        addmul: isl_sioimath_addmul / loopwright_isl_sioimath_addmul;
        tdiv_q: isl_sioimath_tdiv_q / loopwright_isl_sioimath_tdiv_q, unless ZERO;
        gcd: isl_sioimath_gcd / loopwright_isl_sioimath_gcd;
    }

    /// Sequences of `len` numbers, which may overlap, and single numbers, which may be among them.
    struct Operands {
        to: *mut Int,
        p: *mut Int,
        q: *mut Int,
        f: *mut Int,
        g: *mut Int,
        len: c_uint,
        any: u32,
    }

    macro_rules! sequences {
        ($($test:ident: $name:ident / $new:ident($($argument:ident),*);)*) => {
            $(#[test]
            fn $test() {
                same(stringify!($name), |row, random, ours| {
                    let (to, p, q, len) = positions(random);
                    let (f, g, any) = (random.below(24), random.below(24), random.next() as u32);
                    let [to, p, q, f, g] = [to, p, q, f, g].map(|i| row.at(i));
                    let operands = Operands { to, p, q, f, g, len, any };
                    let function = if ours { $new } else { $name };
                    // SAFETY: numbers of the row.
                    unsafe { function($(operands.$argument),*) }
                });
            })*
        };
    }

    sequences! {
        seq_clr: isl_seq_clr / loopwright_isl_seq_clr(p, len);
        seq_neg: isl_seq_neg / loopwright_isl_seq_neg(to, p, len);
        seq_cpy: isl_seq_cpy / loopwright_isl_seq_cpy(to, p, len);
        seq_scale: isl_seq_scale / loopwright_isl_seq_scale(to, p, f, len);
        seq_combine: isl_seq_combine / loopwright_isl_seq_combine(to, f, p, g, q, len);
        seq_eq: isl_seq_eq / loopwright_isl_seq_eq(p, q, len);
        seq_cmp: isl_seq_cmp / loopwright_isl_seq_cmp(p, q, len);
        seq_is_neg: isl_seq_is_neg / loopwright_isl_seq_is_neg(p, q, len);
        seq_first_non_zero: isl_seq_first_non_zero / loopwright_isl_seq_first_non_zero(p, len);
        seq_last_non_zero: isl_seq_last_non_zero / loopwright_isl_seq_last_non_zero(p, len);
        seq_abs_min_non_zero: isl_seq_abs_min_non_zero / loopwright_isl_seq_abs_min_non_zero(p, len);
        seq_inner_product: isl_seq_inner_product / loopwright_isl_seq_inner_product(p, q, len, f);
        seq_addmul: isl_seq_addmul / loopwright_isl_seq_addmul(to, f, p, len);
        seq_hash: isl_seq_hash / loopwright_isl_seq_hash(p, len, any);
        seq_get_hash: isl_seq_get_hash / loopwright_isl_seq_get_hash(p, len);
    }

    #[test]
    fn seq_get_hash_bits() {
        same("isl_seq_get_hash_bits", |row, random, ours| {
            let (_, p, _, len) = positions(random);
            let bits = 1 + random.below(32) as c_uint;
            let function = if ours { loopwright_isl_seq_get_hash_bits } else { isl_seq_get_hash_bits };
            // SAFETY: numbers of the row.
            unsafe { function(row.at(p), len, bits) }
        });
    }

    #[test]
    fn seq_scale_down() {
        same("isl_seq_scale_down", |row, random, ours| {
            let (to, p, _, len) = positions(random);
            if row.0[23].0 == ZERO {
                row.0[23] = Number::new("7");
            }
            let function = if ours { loopwright_isl_seq_scale_down } else { isl_seq_scale_down };
            // SAFETY: numbers of the row; the divisor, after `to + len`, stays what it is.
            unsafe { function(row.at(to.min(15)), row.at(p), row.at(23), len.min(8)) };
        });
    }

    /// Sequences that have something in common: small rows that were multiplied.
    fn with_common_divisor(row: &mut Row, random: &mut Random) {
        let factor = Number::draw(random, 12);
        for number in &mut row.0 {
            // SAFETY: numbers.
            unsafe { isl_sioimath_mul(&raw mut number.0, number.0, factor.0) };
        }
    }

    #[test]
    fn seq_elim() {
        same("isl_seq_elim", |row, random, ours| {
            let (to, from) = (random.below(8), 8 + random.below(8));
            let at = random.below(8) as c_uint;
            let len = at + 1 + random.below(8 - at as usize) as c_uint;
            let scaled = if random.below(2) == 0 { std::ptr::null_mut() } else { row.at(23) };
            let to = if to + 8 > from { 0 } else { to };
            let function = if ours { loopwright_isl_seq_elim } else { isl_seq_elim };
            // SAFETY: numbers of the row.
            unsafe { function(row.at(to), row.at(from), at, len, scaled) };
        });
    }

    #[test]
    fn seq_gcd() {
        same("isl_seq_gcd", |row, random, ours| {
            let (_, p, _, len) = positions(random);
            if random.below(2) == 0 {
                with_common_divisor(row, random);
            }
            let function = if ours { loopwright_isl_seq_gcd } else { isl_seq_gcd };
            // SAFETY: numbers of the row. The result is none of them, nor does isl ever ask for that.
            unsafe { function(row.at(p.min(14)), len.min(8), row.at(23)) };
        });
    }

    /// Also what stays in the context.
    #[test]
    fn seq_normalize() {
        // SAFETY: a context of its own, freed in the end.
        let ctx = unsafe { raw::isl_ctx_alloc() };
        let context: *mut Context = ctx.cast();
        // SAFETY: the context is alive.
        unsafe {
            let numbers = [(*context).zero, (*context).one, (*context).two, (*context).negative_one];
            assert_eq!(numbers, [0, 1, 2, -1].map(encode));
        }
        same("isl_seq_normalize", |row, random, ours| {
            let (_, p, _, len) = positions(random);
            if random.below(2) == 0 {
                with_common_divisor(row, random);
            }
            let function = if ours { loopwright_isl_seq_normalize } else { isl_seq_normalize };
            // SAFETY: numbers of the row; the context is alive.
            unsafe {
                function(ctx, row.at(p), len);
                row.0[23] = Number((*context).divisor).clone_and_keep();
            }
        });
        // SAFETY: nothing of the context is left.
        unsafe { raw::isl_ctx_free(ctx) };
    }

    impl Number {
        /// A copy of a number that somebody else owns.
        fn clone_and_keep(self) -> Number {
            let copy = self.clone();
            std::mem::forget(self);
            copy
        }
    }
}
