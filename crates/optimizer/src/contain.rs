//! Nothing that goes wrong in here reaches the compiler that runs us.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// isl recurses as deep as its input is nested; compilers run us on stacks of eight megabytes or less.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a large stack of its own. The error says why there is none.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("loopwright".into()).stack_size(STACK_BYTES);
        let running = thread.spawn_scoped(scope, work).map_err(|e| format!("no thread for the analysis: {e}"))?;
        running.join().map_err(|_| "the analysis ended unexpectedly".to_string())
    })
}

thread_local! {
    /// Where and why the last panic in `contained` happened; `None` outside of it.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes an error that says where and why, and prints nothing.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let ours = LAST_PANIC.with_borrow_mut(|last| {
                let Some(text) = last else { return false };
                let place = info.location().map(|at| format!(", {}:{}", at.file(), at.line())).unwrap_or_default();
                *text = format!("{}{place}", info.payload_as_str().unwrap_or("no message"));
                true
            });
            if !ours {
                others(info)
            }
        }));
    });
    // Containments nest: the one around us wants its place back.
    let around = LAST_PANIC.replace(Some(String::new()));
    // What `work` borrows may be half done after a panic: a function is then restored or was not touched, all else is dropped.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let message = LAST_PANIC.replace(around).unwrap_or_default();
    outcome.map_err(|_| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_place() {
        let message = contained(|| panic!("lost the {}", "thread")).unwrap_err();
        assert!(message.starts_with("lost the thread, crates/optimizer/src/contain.rs:"), "{message}");
    }

    #[test]
    fn deep_recursion_has_room() {
        fn deep(n: u64) -> u64 {
            let frame = std::hint::black_box([n; 64]);
            if n == 0 { 0 } else { deep(n - 1) + frame[1] - n + 1 }
        }
        assert_eq!(on_large_stack(|| deep(100_000)), Ok(100_000));
    }
}
