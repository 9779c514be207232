//! The instruments that change IR: cloning, cutting edges, annotations. For [`crate::write`]; whoever uses them has to leave a
//! function that verifies, or restore a [`crate::Backup`].

use crate::ffi;
use inkwell::llvm_sys::core::LLVMBasicBlockAsValue;
use inkwell::llvm_sys::prelude::*;
use std::ffi::CString;

/// Which value or block stands for which in a copy.
pub(crate) struct ValueMap {
    shim: *mut ffi::Table,
}

impl Drop for ValueMap {
    fn drop(&mut self) {
        // SAFETY: ours since `new`.
        unsafe { ffi::lw_map_free(self.shim) }
    }
}

impl Clone for ValueMap {
    fn clone(&self) -> Self {
        // SAFETY: a copy of our own table.
        ValueMap { shim: unsafe { ffi::lw_map_clone(self.shim) } }
    }
}

impl ValueMap {
    pub(crate) fn new() -> Self {
        // SAFETY: no preconditions.
        ValueMap { shim: unsafe { ffi::lw_map_new() } }
    }
    pub(crate) fn insert(&mut self, from: LLVMValueRef, to: LLVMValueRef) {
        // SAFETY: keys and values are compared and handed out, never looked into here.
        unsafe { ffi::lw_map_insert(self.shim, from, to) }
    }
    pub(crate) fn insert_block(&mut self, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) {
        // SAFETY: blocks are values.
        unsafe { self.insert(LLVMBasicBlockAsValue(from), LLVMBasicBlockAsValue(to)) }
    }
    pub(crate) fn get(&self, from: LLVMValueRef) -> Option<LLVMValueRef> {
        // SAFETY: as for `insert`.
        let found = unsafe { ffi::lw_map_get(self.shim, from) };
        (!found.is_null()).then_some(found)
    }
}

/// Where new code goes.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    End(LLVMBasicBlockRef),
    Before(LLVMValueRef),
}

/// Whether a copy runs under the condition of its original or a weaker one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Flags and metadata that make poison or undefined behaviour stay true.
    AsBefore,
    /// They are dropped: nsw, nuw, exact, inbounds, nnan, ninf, `!range`, `!nonnull`, `!noundef` and their like.
    Speculatively,
}

/// A copy of `instruction` with its flags, metadata and debug location, its operands replaced as `map` says. Alias scopes and access
/// groups are not copied: they promise something about the old order.
pub(crate) fn clone_instruction(instruction: LLVMValueRef, map: &ValueMap, place: Place, runs: Runs) -> LLVMValueRef {
    let (end, before) = match place {
        Place::End(block) => (block, std::ptr::null_mut()),
        Place::Before(instruction) => (std::ptr::null_mut(), instruction),
    };
    // SAFETY: exactly one of the two places is given.
    unsafe { ffi::lw_clone_instruction(instruction, map.shim, end, before, runs == Runs::Speculatively) }
}

/// Copies of `blocks` at the end of `function`, in order; the map learns all copies. Edges to blocks that the map does not know are
/// kept, φs keep their incoming edges from such blocks: the caller mends both. Debug records, lifetime markers and scope declarations
/// are left out.
pub(crate) fn clone_blocks(
    blocks: &[LLVMBasicBlockRef],
    map: &mut ValueMap,
    function: LLVMValueRef,
    runs: Runs,
) -> Vec<LLVMBasicBlockRef> {
    let mut copies = vec![std::ptr::null_mut(); blocks.len()];
    // SAFETY: room for as many copies as blocks.
    unsafe {
        let weaken = runs == Runs::Speculatively;
        ffi::lw_clone_blocks(blocks.as_ptr(), blocks.len(), map.shim, function, weaken, copies.as_mut_ptr());
    }
    copies
}

/// Replaces operands, and the incoming blocks of a φ, as `map` says.
pub(crate) fn remap(instruction: LLVMValueRef, map: &ValueMap) {
    // SAFETY: an instruction and our own table.
    unsafe { ffi::lw_remap(instruction, map.shim) }
}

/// Drops what makes poison or undefined behaviour, for code that now runs speculatively.
pub(crate) fn weaken(instruction: LLVMValueRef) {
    // SAFETY: an instruction.
    unsafe { ffi::lw_weaken(instruction) }
}

/// A new block through which all edges from outside `region` enter at `entry`; `None` where an edge cannot be redirected.
pub(crate) fn enter_through_one_block(
    entry: LLVMBasicBlockRef,
    region: &[LLVMBasicBlockRef],
) -> Option<LLVMBasicBlockRef> {
    // SAFETY: blocks of one function.
    let block = unsafe { ffi::lw_enter_through_one_block(entry, region.as_ptr(), region.len()) };
    (!block.is_null()).then_some(block)
}

/// A new block, ending in a jump to `exit`, through which all edges from `region` to `exit` go. What arrived at a φ of `exit` over
/// those edges is merged by a φ in the new block.
pub(crate) fn leave_through_one_block(
    exit: LLVMBasicBlockRef,
    region: &[LLVMBasicBlockRef],
) -> Option<LLVMBasicBlockRef> {
    // SAFETY: blocks of one function.
    let block = unsafe { ffi::lw_leave_through_one_block(exit, region.as_ptr(), region.len()) };
    (!block.is_null()).then_some(block)
}

/// Stack objects whose lifetime begins or ends in `region` live from entry to return from now on: code that takes over the region's
/// work does not repeat the marks, and the stack would be shared by the marks of the original alone.
pub(crate) fn drop_lifetimes(region: &[LLVMBasicBlockRef]) {
    // SAFETY: blocks of one function.
    unsafe { ffi::lw_drop_lifetimes(region.as_ptr(), region.len()) }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct LoopProperties<'a> {
    /// The accesses in these groups depend on none of another iteration.
    pub(crate) parallel_accesses: &'a [LLVMMetadataRef],
    /// `Some(true)` forces vectorization whatever it costs, `Some(false)` forbids it.
    pub(crate) vectorize: Option<bool>,
    pub(crate) disable_unroll: bool,
}

/// Gives the loop that ends in the branch `latch` an identity of its own, always with mustprogress.
pub(crate) fn set_loop_properties(latch: LLVMValueRef, properties: LoopProperties<'_>) {
    let groups = properties.parallel_accesses;
    let vectorize = properties.vectorize.map_or(-1, i32::from);
    // SAFETY: a terminator, and distinct nodes from `new_access_group`.
    unsafe { ffi::lw_set_loop_properties(latch, groups.as_ptr(), groups.len(), vectorize, properties.disable_unroll) }
}

pub(crate) fn new_access_group(module: LLVMModuleRef) -> LLVMMetadataRef {
    // SAFETY: a module.
    unsafe { ffi::lw_new_access_group(module) }
}

pub(crate) fn set_access_groups(access: LLVMValueRef, groups: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_access_group`.
    unsafe { ffi::lw_set_access_groups(access, groups.as_ptr(), groups.len()) }
}

/// A family of alias scopes, distinct from all others of the module.
pub(crate) fn new_alias_domain(module: LLVMModuleRef, name: &str) -> LLVMMetadataRef {
    let name = c_text(name);
    // SAFETY: the name is copied.
    unsafe { ffi::lw_new_alias_domain(module, name.as_ptr()) }
}

pub(crate) fn new_alias_scope(module: LLVMModuleRef, domain: LLVMMetadataRef, name: &str) -> LLVMMetadataRef {
    let name = c_text(name);
    // SAFETY: the name is copied; the domain comes from `new_alias_domain`.
    unsafe { ffi::lw_new_alias_scope(module, domain, name.as_ptr()) }
}

/// The access belongs to the scopes `in_scopes` and touches nothing that belongs to the scopes `apart_from`. Added to what it has.
pub(crate) fn add_alias_scopes(access: LLVMValueRef, in_scopes: &[LLVMMetadataRef], apart_from: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_alias_scope`.
    unsafe {
        ffi::lw_add_alias_scopes(access, in_scopes.as_ptr(), in_scopes.len(), apart_from.as_ptr(), apart_from.len())
    }
}

/// Marks the place from which on the scopes' promise holds. Without the mark, a loop around the code would be read as if the promise
/// held across its iterations.
pub(crate) fn declare_alias_scopes(before: LLVMValueRef, scopes: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_alias_scope`.
    unsafe { ffi::lw_declare_alias_scopes(before, scopes.as_ptr(), scopes.len()) }
}

/// An empty internal function for code taken out of `parent`: same target, noinline, nounwind, with the attribute "loopwright".
pub(crate) fn new_outlined_function(parent: LLVMValueRef, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    let name = c_text(name);
    // SAFETY: a function type of the parent's context.
    unsafe { ffi::lw_new_outlined_function(parent, name.as_ptr(), ty) }
}

/// Text for C: a zero byte, which no name has, would end it.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("zero bytes were removed")
}
