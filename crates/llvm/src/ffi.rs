//! The functions of the C++ shim, as they are. Nothing outside this crate sees them.

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

unsafe extern "C" {
    pub fn lw_module_read(
        path: *const c_char,
        text: *const c_char,
        length: usize,
        message: *mut *mut c_char,
    ) -> *mut OwnModule;
    pub fn lw_module_free(module: *mut OwnModule);
    pub fn lw_module_ref(module: *mut OwnModule) -> LLVMModuleRef;
    pub fn lw_module_managers(module: *mut OwnModule) -> *mut Managers;
    pub fn lw_module_write(module: LLVMModuleRef, path: *const c_char, bitcode: bool) -> *mut c_char;
    pub fn lw_module_print(module: LLVMModuleRef, with_use_order: bool) -> *mut c_char;
    pub fn lw_module_verify(module: LLVMModuleRef) -> *mut c_char;
    pub fn lw_function_print(function: LLVMValueRef) -> *mut c_char;
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
    pub fn lw_tape_pool(tape: *const Tape, count: *mut usize) -> *const u8;
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
    pub fn lw_types(analyses: *mut Analyses, first: u32, second: u32) -> i32;
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
    pub fn lw_has_loops(managers: *mut Managers, function: LLVMValueRef) -> bool;
    pub fn lw_must_not_be_touched(function: LLVMValueRef) -> bool;

    pub fn lw_location(analyses: *mut Analyses, kind: i32, id: u32) -> LLVMMetadataRef;
    pub fn lw_remarks_wanted(function: LLVMValueRef) -> bool;
    pub fn lw_remark(
        function: LLVMValueRef,
        kind: i32,
        name: *const c_char,
        location: LLVMMetadataRef,
        text: *const c_char,
    );

    pub fn lw_plugin_api_version() -> u32;
    pub fn lw_plugin_set_hooks(wanted: HookWanted, run: HookRun);
    pub fn lw_plugin_register(pass_builder: *mut c_void);
}

pub type HookWanted = extern "C" fn(occasion: i32, command_line: *const c_char, parameters: *const c_char) -> bool;
pub type HookRun = extern "C" fn(
    module: LLVMModuleRef,
    managers: *mut Managers,
    occasion: i32,
    command_line: *const c_char,
    parameters: *const c_char,
) -> bool;

// For the writer, which declares the rest of what it needs itself (src/write/ir.rs).
unsafe extern "C" {
    pub fn lw_declare_alias_scopes(before: LLVMValueRef, scopes: *const LLVMMetadataRef, count: usize);
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
