//! Runs user code and turns its panic into a message.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs user code.
///
/// # Errors
///
/// The message of its panic.
pub(super) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let message = message_of(&*panic);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            // Its drop could panic again.
            mem::forget(panic);
        }
        message
    })
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
