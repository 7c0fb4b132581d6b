//! Running code of the user's: a panic becomes a text.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the user's.
///
/// # Errors
///
/// The text of its panic.
pub(super) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let message = message_of(&*panic);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            // Whose dropping panics may do so again.
            mem::forget(panic);
        }
        message
    })
}

/// The text of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
