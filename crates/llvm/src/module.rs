//! Handles of modules and functions. A [`ModuleHandle`] borrows: the compiler owns the module it runs us on, and so does an
//! [`OwnedModule`] for what tests read.

use crate::ffi;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::ffi::CString;
use std::marker::PhantomData;

/// A module read from LLVM IR, in a context of its own.
pub struct OwnedModule {
    shim: *mut ffi::OwnModule,
}

// SAFETY: context, module and analyses belong to nobody else, and LLVM ties none of them to a thread.
unsafe impl Send for OwnedModule {}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: ours since `read_text`; handles borrow from us and are gone.
        unsafe { ffi::lw_module_free(self.shim) }
    }
}

impl OwnedModule {
    /// `name` stands for the file in error messages, which name the place in it too.
    pub fn read_text(name: &str, text: &str) -> Result<Self, String> {
        let name = CString::new(name).map_err(|_| "a file name with a zero byte".to_string())?;
        // The IR parser wants a zero behind the text.
        let text = CString::new(text).map_err(|_| "a zero byte in the text".to_string())?;
        let mut message = std::ptr::null_mut();
        // SAFETY: all pointers live through the call; the message is ours to free.
        unsafe {
            let shim = ffi::lw_module_read(name.as_ptr(), text.as_ptr(), text.as_bytes().len(), &mut message);
            if shim.is_null() { Err(ffi::take_text(message).unwrap_or_default()) } else { Ok(OwnedModule { shim }) }
        }
    }

    pub fn handle(&mut self) -> ModuleHandle<'_> {
        // SAFETY: module and managers live as long as `self`, which the handle borrows.
        unsafe {
            ModuleHandle::from_parts(ffi::lw_module_ref(self.shim).cast(), ffi::lw_module_managers(self.shim).cast())
        }
    }
}

/// Exclusive use of a module, with the analysis managers that know it.
pub struct ModuleHandle<'m> {
    module: LLVMModuleRef,
    managers: *mut ffi::Managers,
    owner: PhantomData<&'m mut ()>,
}

// SAFETY: exclusive by construction; LLVM ties no module to a thread.
unsafe impl Send for ModuleHandle<'_> {}

impl<'m> ModuleHandle<'m> {
    /// # Safety
    /// The pointers are an `LLVMModuleRef` and the shim's managers for it, valid and used by nobody else during `'m`.
    pub unsafe fn from_parts(module: *mut std::ffi::c_void, managers: *mut std::ffi::c_void) -> Self {
        ModuleHandle { module: module.cast(), managers: managers.cast(), owner: PhantomData }
    }

    /// The functions that have a body, in the module's order.
    pub fn functions(&self) -> Vec<FunctionHandle<'m>> {
        let mut found = Vec::new();
        // SAFETY: walks the module's list of functions.
        unsafe {
            let mut next = LLVMGetFirstFunction(self.module);
            while !next.is_null() {
                if LLVMIsDeclaration(next) == 0 {
                    found.push(FunctionHandle { function: next, managers: self.managers, owner: PhantomData });
                }
                next = LLVMGetNextFunction(next);
            }
        }
        found
    }

    pub fn function(&self, name: &str) -> Option<FunctionHandle<'m>> {
        self.functions().into_iter().find(|f| f.name() == name)
    }

    /// The source file that debug information names.
    pub fn compiled_file(&self) -> Option<String> {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_module_compiled_file(self.module)) }
    }

    /// What the compiler calls the module: usually the name of the source file.
    pub fn source_file(&self) -> String {
        let mut length = 0;
        // SAFETY: the name lives in the module and is copied here.
        unsafe {
            let name = LLVMGetSourceFileName(self.module, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
        }
    }

    /// The module as LLVM IR.
    pub fn print(&self) -> String {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_module_print(self.module, false)) }.unwrap_or_default()
    }

    /// With the order in which uses are listed, where it is not the one that reading the text would give.
    pub fn print_with_use_order(&self) -> String {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_module_print(self.module, true)) }.unwrap_or_default()
    }

    pub fn verify(&self) -> Result<(), String> {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_module_verify(self.module)) }.map_or(Ok(()), Err)
    }
}

/// One function with a body.
pub struct FunctionHandle<'m> {
    function: LLVMValueRef,
    managers: *mut ffi::Managers,
    owner: PhantomData<&'m mut ()>,
}

impl FunctionHandle<'_> {
    pub fn name(&self) -> String {
        let mut length = 0;
        // SAFETY: the name lives in the function and is copied here.
        unsafe {
            let name = LLVMGetValueName2(self.function, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
        }
    }

    /// As its author wrote it: without mangling and parameters.
    pub fn source_name(&self) -> String {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_function_source_name(self.function)) }.unwrap_or_default()
    }

    /// The function as LLVM IR.
    pub fn print(&self) -> String {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_function_print(self.function)) }.unwrap_or_default()
    }

    /// LLVM's own check of the IR; the error is LLVM's message.
    pub fn verify(&self) -> Result<(), String> {
        // SAFETY: the text is ours to free.
        unsafe { ffi::take_text(ffi::lw_function_verify(self.function)) }.map_or(Ok(()), Err)
    }

    /// Loops in the form that the reader wants (promoted variables, rotated, counters simplified), nothing hoisted out of them.
    /// For code as a front end writes it.
    pub fn canonicalize(&mut self) {
        // SAFETY: function and managers are alive; cached analyses are dropped on both sides.
        unsafe { ffi::lw_canonicalize(self.managers, self.function) }
    }

    /// Tidies up behind the writer: promotion, common subexpressions, simplification, code motion out of loops.
    pub fn clean_up(&mut self) {
        // SAFETY: as for `canonicalize`.
        unsafe { ffi::lw_clean_up(self.managers, self.function) }
    }

    /// Of the innermost loop that has the most around it; 0: there is none.
    pub fn loop_depth(&self) -> u32 {
        // SAFETY: function and managers are alive.
        unsafe { ffi::lw_loop_depth(self.managers, self.function) }
    }

    /// Debug information does not count.
    pub fn instruction_count(&self) -> u64 {
        // SAFETY: a function.
        unsafe { ffi::lw_instruction_count(self.function) }
    }

    /// How often it ran, if it was profiled or is said to be cold.
    pub fn entry_count(&self) -> Option<u64> {
        // SAFETY: a function.
        u64::try_from(unsafe { ffi::lw_entry_count(self.function) }).ok()
    }

    /// The function's attributes forbid any change: optnone, naked, strictfp, coroutines, returns_twice, sanitizers that watch memory
    /// or threads; or it is our own work.
    pub fn must_not_be_touched(&self) -> bool {
        // SAFETY: a function.
        unsafe { ffi::lw_must_not_be_touched(self.function) }
    }

    /// The function calls a runtime library now: it and its callers lose the attributes that say they do not.
    pub fn forget_effects(&mut self) {
        // SAFETY: a function of a module that we alone work on, and its managers.
        unsafe { ffi::lw_forget_effects(self.managers, self.function) }
    }

    /// Drops all cached analyses of the function: to be called after every change.
    pub fn forget_analyses(&mut self) {
        // SAFETY: function and managers are alive.
        unsafe { ffi::lw_forget(self.managers, self.function) }
    }

    pub(crate) fn function_ref(&self) -> LLVMValueRef {
        self.function
    }
    pub(crate) fn managers(&self) -> *mut ffi::Managers {
        self.managers
    }
}

/// Text for C: a zero byte, which no name has, would end it.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("zero bytes were removed")
}
