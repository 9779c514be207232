//! LLVM's analyses of one function, kept for questions on demand.

use crate::facts::{BlockId, FunctionFacts, LoopId, Oracle, Scev, Types, ValueId};
use crate::ffi;
use crate::module::FunctionHandle;
use crate::tape::Reader;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use planted::Fault;

/// The way from the ids of one snapshot back to LLVM, and LLVM's answers about it.
///
/// Invariant: the answers of [`Oracle`] hold, and may be asked for, only while the function is unchanged. The references behind the
/// ids stay good until their instruction or block is deleted, which the writer never does to what it was given.
pub struct Analyses {
    shim: *mut ffi::Analyses,
    function: LLVMValueRef,
    value_count: usize,
    block_count: usize,
    loop_count: usize,
}

impl Drop for Analyses {
    fn drop(&mut self) {
        // SAFETY: `shim` is ours since `collect`.
        unsafe { ffi::lw_analyses_free(self.shim) }
    }
}

impl Analyses {
    /// Numbers the function's values and asks LLVM all that [`FunctionFacts`] lists. Takes time in the function's size.
    pub fn collect(function: &FunctionHandle) -> (FunctionFacts, Analyses) {
        let (managers, reference) = (function.managers(), function.function_ref());
        // SAFETY: a handle's function and managers are alive; the tape is ours.
        unsafe {
            let shim = ffi::lw_analyses_new(managers, reference);
            let mut facts = Reader::new(ffi::lw_facts(shim)).finish(Reader::facts);
            facts.set_exceptions_aside();
            let analyses = Analyses {
                shim,
                function: reference,
                value_count: ffi::lw_value_count(shim),
                block_count: ffi::lw_block_count(shim),
                loop_count: facts.loops.len(),
            };
            (facts, analyses)
        }
    }

    pub(crate) fn value_ref(&self, value: ValueId) -> LLVMValueRef {
        assert!(value.index() < self.value_count, "{value:?} is not of this snapshot");
        // SAFETY: in range.
        unsafe { ffi::lw_value_ref(self.shim, value.0) }
    }

    pub(crate) fn block_ref(&self, block: BlockId) -> LLVMBasicBlockRef {
        assert!(block.index() < self.block_count, "{block:?} is not of this snapshot");
        // SAFETY: in range.
        unsafe { ffi::lw_block_ref(self.shim, block.0) }
    }

    pub(crate) fn function_ref(&self) -> LLVMValueRef {
        self.function
    }

    pub(crate) fn shim(&self) -> *mut ffi::Analyses {
        self.shim
    }
    pub(crate) fn loop_count(&self) -> usize {
        self.loop_count
    }
    pub(crate) fn checked(&self, value: ValueId) -> u32 {
        assert!(value.index() < self.value_count, "{value:?} is not of this snapshot");
        value.0
    }

    fn range(&self, value: ValueId, signed: bool) -> Option<[u128; 2]> {
        let mut words = [0u64; 4];
        // SAFETY: in range; the shim writes four words.
        let known = unsafe { ffi::lw_range(self.shim, self.checked(value), signed, words.as_mut_ptr()) };
        let wide = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
        known.then(|| [wide(words[0], words[1]), wide(words[2], words[3])])
    }
}

impl Oracle for Analyses {
    fn scev(&self, value: ValueId, scope: Option<LoopId>) -> Scev {
        assert!(scope.is_none_or(|l| l.index() < self.loop_count), "{scope:?} is not of this snapshot");
        let scope = scope.map_or(-1, |l| i64::from(l.0));
        // SAFETY: value and loop are in range, the tape is ours.
        unsafe { Reader::new(ffi::lw_scev(self.shim, self.checked(value), scope)).finish(Reader::scev) }
    }

    fn signed_range(&self, value: ValueId) -> (i128, i128) {
        self.range(value, true).map_or((i128::MIN, i128::MAX), |[low, high]| (low as i128, high as i128))
    }

    fn unsigned_range(&self, value: ValueId) -> (u128, u128) {
        self.range(value, false).map_or((0, u128::MAX), |[low, high]| (low, high))
    }

    fn may_alias(&self, a: ValueId, accesses_a: &[ValueId], b: ValueId, accesses_b: &[ValueId]) -> bool {
        let ids = |accesses: &[ValueId]| accesses.iter().map(|v| self.checked(*v)).collect::<Vec<u32>>();
        let (first, second) = (ids(accesses_a), ids(accesses_b));
        // SAFETY: all values are in range.
        unsafe {
            ffi::lw_may_alias(
                self.shim,
                self.checked(a),
                first.as_ptr(),
                first.len(),
                self.checked(b),
                second.as_ptr(),
                second.len(),
                planted::is(Fault::TypesSeparate),
            )
        }
    }

    fn types(&self, a: ValueId, b: ValueId) -> Types {
        // SAFETY: in range.
        unsafe { ffi::lw_types(self.shim, self.checked(a), self.checked(b)) }
    }

    fn may_be_errno(&self, base: ValueId, accesses: &[ValueId]) -> bool {
        let accesses: Vec<u32> = accesses.iter().map(|v| self.checked(*v)).collect();
        // SAFETY: all values are in range.
        unsafe { ffi::lw_may_be_errno(self.shim, self.checked(base), accesses.as_ptr(), accesses.len()) }
    }

    fn has_errno_location(&self) -> bool {
        // SAFETY: `shim` is ours since `collect`.
        unsafe { ffi::lw_has_errno_location(self.shim) }
    }

    fn is_readable_at(&self, load: ValueId, block: BlockId) -> bool {
        assert!(block.index() < self.block_count, "{block:?} is not of this snapshot");
        // SAFETY: in range.
        unsafe { ffi::lw_is_readable_at(self.shim, self.checked(load), block.0) }
    }

    fn is_guaranteed_not_poison(&self, value: ValueId) -> bool {
        // SAFETY: in range.
        unsafe { ffi::lw_is_guaranteed_not_poison(self.shim, self.checked(value)) }
    }
}
