//! The pass plugin: registration, nothing else.

use llvm::ModuleHandle;
use llvm::plugin::{Hooks, Occasion, PluginInfo, plugin_info};
use optimizer::{Options, Position};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// What LLVM looks for in a pass plugin.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    plugin_info(Hooks { wanted, run })
}

fn wanted(occasion: Occasion, options: &str) -> bool {
    read(options).is_some_and(|options| {
        !options.off
            && match occasion {
                Occasion::Early => options.position == Position::Early,
                Occasion::Late => options.position == Position::Late,
                Occasion::Named => true,
            }
    })
}

fn run(module: ModuleHandle<'_>, occasion: Occasion, options: &str) -> bool {
    read(options).is_some_and(|mut options| {
        options.canonicalize |= occasion == Occasion::Early;
        optimizer::run_on_module(module, &options)
    })
}

/// A list that is not understood is said once, however often the pipeline asks.
fn read(options: &str) -> Option<Options> {
    static SAID: AtomicBool = AtomicBool::new(false);
    match Options::parse(options) {
        Ok(options) => Some(options),
        Err(message) => {
            if !SAID.swap(true, Ordering::Relaxed) {
                let _ = writeln!(std::io::stderr(), "loopwright: warning: {message}; nothing is optimized");
            }
            None
        }
    }
}
