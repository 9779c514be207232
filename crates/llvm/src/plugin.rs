//! The pass plugin's side of LLVM: where in a pipeline we run, and how a module gets to us.

use crate::ffi;
use crate::module::ModuleHandle;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

pub use crate::codes::Occasion;
pub use crate::ffi::PluginInfo;

/// What the plugin does, given by the crate that builds it. `options` are all lists that apply, joined by commas, the strongest last:
/// the environment's, the command line's, the pass's own parameters. Neither function may unwind.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Should the pass be part of the pipeline on this occasion?
    pub wanted: fn(occasion: Occasion, options: &str) -> bool,
    /// Whether the module was changed.
    pub run: fn(module: ModuleHandle<'_>, occasion: Occasion, options: &str) -> bool,
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// To be returned by `llvmGetPassPluginInfo`.
pub fn plugin_info(hooks: Hooks) -> PluginInfo {
    HOOKS.get_or_init(|| hooks);
    // SAFETY: no preconditions; the functions live as long as the plugin, which is never unloaded.
    let api_version = unsafe {
        ffi::lw_plugin_set_hooks(hook_wanted, hook_run);
        ffi::lw_plugin_api_version()
    };
    PluginInfo {
        api_version,
        name: c"loopwright".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register_callbacks: ffi::lw_plugin_register,
    }
}

fn joined(command_line: *const c_char, parameters: *const c_char) -> String {
    // SAFETY: both are C strings of the shim that live through the call.
    let text = |s: *const c_char| unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned();
    // What is not text is not understood, and said so.
    let environment = std::env::var_os("LOOPWRIGHT").unwrap_or_default().to_string_lossy().into_owned();
    let lists = [environment, text(command_line), text(parameters)];
    lists.into_iter().filter(|list| !list.is_empty()).collect::<Vec<_>>().join(",")
}

/// Called by the shim while a pipeline is built.
extern "C" fn hook_wanted(occasion: Occasion, command_line: *const c_char, parameters: *const c_char) -> bool {
    HOOKS.get().is_some_and(|hooks| (hooks.wanted)(occasion, &joined(command_line, parameters)))
}

/// Called by the shim when the pass runs.
extern "C" fn hook_run(
    module: LLVMModuleRef,
    managers: *mut ffi::Managers,
    occasion: Occasion,
    command_line: *const c_char,
    parameters: *const c_char,
) -> bool {
    let Some(hooks) = HOOKS.get() else { return false };
    // SAFETY: the pass owns the module's turn until it returns.
    let handle = unsafe { ModuleHandle::from_parts(module.cast(), managers.cast()) };
    (hooks.run)(handle, occasion, &joined(command_line, parameters))
}
