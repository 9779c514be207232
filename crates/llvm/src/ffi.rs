//! The functions of the C++ shim. Nothing outside this crate sees them.
//!
//! This is their one declaration: the build makes a C++ header of it (build.rs), which the shim includes, so that a difference between
//! the two sides does not compile. What that asks of this file: a type is a number, a pointer, a handle, an `LLVM…Ref`, or declared
//! here or in `codes.rs`.

use crate::codes::{Library, Occasion, RemarkKind, Types};
use inkwell::llvm_sys::prelude::*;
use std::ffi::{CStr, c_char, c_void};

/// What the shim points to; never looked into from here.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name { _private: [u8; 0] }
    )*};
}
opaque! { Managers Analyses Tape OwnModule Backup }

/// LLVM's objects, as the writer knows them.
macro_rules! handle {
    ($($name:ident($raw:ty))*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $raw);
    )*};
}
handle! { Value(LLVMValueRef) Block(LLVMBasicBlockRef) Type(LLVMTypeRef) Metadata(LLVMMetadataRef) Module(LLVMModuleRef) }

/// The blocks between the outside and the region.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Joints {
    /// Runs before the region on every path into it; ends in a branch to `original`.
    pub entering: Block,
    /// The only predecessor of the region outside of it: a preheader where the entry is a loop header.
    pub original: Block,
    /// All edges that leave the region come here: a dedicated exit of its loops.
    pub original_exit: Block,
    /// Between `original_exit` and the region's exit.
    pub merge: Block,
    /// Where the region's edges led.
    pub exit: Block,
}

/// LLVM's `PassPluginLibraryInfo`.
#[repr(C)]
pub struct PluginInfo {
    pub api_version: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub register_callbacks: Register,
}
pub type Register = unsafe extern "C" fn(pass_builder: *mut c_void);
pub type HookWanted = extern "C" fn(occasion: Occasion, command_line: *const c_char, parameters: *const c_char) -> bool;
pub type HookRun = extern "C" fn(
    module: LLVMModuleRef,
    managers: *mut Managers,
    occasion: Occasion,
    command_line: *const c_char,
    parameters: *const c_char,
) -> bool;

unsafe extern "C" {
    pub fn lw_module_read(
        name: *const c_char,
        text: *const c_char,
        length: usize,
        message: *mut *mut c_char,
    ) -> *mut OwnModule;
    pub fn lw_module_free(module: *mut OwnModule);
    pub fn lw_module_ref(module: *mut OwnModule) -> LLVMModuleRef;
    pub fn lw_module_managers(module: *mut OwnModule) -> *mut Managers;
    pub fn lw_module_print(module: LLVMModuleRef, with_use_order: bool) -> *mut c_char;
    pub fn lw_module_verify(module: LLVMModuleRef) -> *mut c_char;
    pub fn lw_function_print(function: LLVMValueRef) -> *mut c_char;
    pub fn lw_function_source_name(function: LLVMValueRef) -> *mut c_char;
    pub fn lw_module_compiled_file(module: LLVMModuleRef) -> *mut c_char;
    pub fn lw_function_verify(function: LLVMValueRef) -> *mut c_char;
    pub fn lw_forget(managers: *mut Managers, function: LLVMValueRef);
    pub fn lw_text_free(text: *mut c_char);

    pub fn lw_analyses_new(managers: *mut Managers, function: LLVMValueRef) -> *mut Analyses;
    pub fn lw_analyses_free(analyses: *mut Analyses);
    pub fn lw_value_count(analyses: *const Analyses) -> usize;
    pub fn lw_block_count(analyses: *const Analyses) -> usize;
    pub fn lw_value_ref(analyses: *const Analyses, id: u32) -> LLVMValueRef;
    pub fn lw_block_ref(analyses: *const Analyses, id: u32) -> LLVMBasicBlockRef;
    pub fn lw_facts(analyses: *mut Analyses) -> *mut Tape;
    pub fn lw_scev(analyses: *mut Analyses, value: u32, in_loop: i64) -> *mut Tape;
    pub fn lw_tape_words(tape: *const Tape, count: *mut usize) -> *const i64;
    pub fn lw_tape_pool(tape: *const Tape, count: *mut usize) -> *const c_char;
    pub fn lw_tape_free(tape: *mut Tape);
    pub fn lw_range(analyses: *mut Analyses, value: u32, signed: bool, out: *mut u64) -> bool;
    pub fn lw_may_alias(
        analyses: *mut Analyses,
        first: u32,
        first_accesses: *const u32,
        first_count: usize,
        second: u32,
        second_accesses: *const u32,
        second_count: usize,
        by_types: bool,
    ) -> bool;
    pub fn lw_types(analyses: *mut Analyses, first: u32, second: u32) -> Types;
    pub fn lw_may_be_errno(analyses: *mut Analyses, base: u32, accesses: *const u32, count: usize) -> bool;
    pub fn lw_has_errno_location(analyses: *const Analyses) -> bool;
    pub fn lw_is_readable_at(analyses: *mut Analyses, load: u32, block: u32) -> bool;
    pub fn lw_is_guaranteed_not_poison(analyses: *mut Analyses, value: u32) -> bool;

    pub fn lw_backup_take(managers: *mut Managers, function: LLVMValueRef, keep_original: bool) -> *mut Backup;
    pub fn lw_backup_restore(backup: *mut Backup);
    pub fn lw_backup_discard(backup: *mut Backup);

    pub fn lw_canonicalize(managers: *mut Managers, function: LLVMValueRef);
    pub fn lw_clean_up(managers: *mut Managers, function: LLVMValueRef);
    pub fn lw_forget_effects(managers: *mut Managers, function: LLVMValueRef);
    pub fn lw_loop_depth(managers: *mut Managers, function: LLVMValueRef) -> u32;
    pub fn lw_instruction_count(function: LLVMValueRef) -> u64;
    pub fn lw_entry_count(function: LLVMValueRef) -> i64;
    pub fn lw_must_not_be_touched(function: LLVMValueRef) -> bool;

    pub fn lw_loop_location(analyses: *const Analyses, of: u32) -> LLVMMetadataRef;
    pub fn lw_remarks_wanted(function: LLVMValueRef) -> bool;
    pub fn lw_remark(
        function: LLVMValueRef,
        kind: RemarkKind,
        name: *const c_char,
        location: LLVMMetadataRef,
        text: *const c_char,
    );

    pub fn lw_plugin_api_version() -> u32;
    pub fn lw_plugin_set_hooks(wanted: HookWanted, run: HookRun);
    pub fn lw_plugin_register(pass_builder: *mut c_void);

    pub fn lw_write_split(
        entry: Block,
        blocks: *const Block,
        count: usize,
        errors: *const Block,
        error_count: usize,
        decided: *const Block,
        taken: *const Block,
        decided_count: usize,
        out: *mut Joints,
    ) -> *const c_char;
    pub fn lw_write_is_never_poison(value: Value, context: Value) -> bool;
    pub fn lw_write_clone(instruction: Value, block: Block) -> Value;
    pub fn lw_write_drop_promises(instruction: Value);
    pub fn lw_write_drop_promises_of_value(instruction: Value);
    pub fn lw_write_is_hint(instruction: Value) -> bool;
    pub fn lw_write_is_thread_dependent(constant: Value) -> bool;
    pub fn lw_write_touches_memory(instruction: Value) -> bool;
    pub fn lw_write_set_incoming_value(phi: Value, block: Block, value: Value);
    pub fn lw_write_merge_uses_outside(value: Value, merged: Value, blocks: *const Block, count: usize);
    pub fn lw_write_replace_uses_outside(value: Value, by: Value, blocks: *const Block, count: usize);
    pub fn lw_write_distinct_node(context: LLVMContextRef) -> Metadata;
    pub fn lw_write_self_node(context: LLVMContextRef, operands: *const Metadata, count: usize) -> Metadata;
    pub fn lw_write_copy_loop_id(terminator: Value) -> Metadata;
    pub fn lw_write_set_metadata(instruction: Value, kind: u32, node: Metadata);
    pub fn lw_write_set_branch_weights(branch: Value, taken: u32, not_taken: u32);
    pub fn lw_write_begin_alias_scopes(before: Value, scopes: *const Metadata, count: usize);
    pub fn lw_write_artificial_location(function: Value) -> Metadata;
    pub fn lw_write_avoid_gathers(function: Value, alike: bool);
    pub fn lw_write_worker(parent: Value, name: *const c_char, ty: Type) -> Value;
    pub fn lw_write_rescope(instruction: Value, worker: Value);
    pub fn lw_write_append_destructor(function: Value);
    pub fn lw_write_outline(first: Block, end: Block, other_end: Block) -> bool;
    pub fn lw_write_library(caller: Value, which: Library) -> Value;
}

/// Takes over a text that the shim allocated; `None` for null.
///
/// # Safety
/// `text` is null or comes from a shim function that says its result is to be freed.
pub unsafe fn take_text(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the shim's texts are zero-terminated copies made for us.
    unsafe {
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        lw_text_free(text);
        Some(owned)
    }
}
