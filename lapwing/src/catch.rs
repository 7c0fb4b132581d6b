//! Runs user code and turns its panic into a message.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Payloads that are dropped, each being the panic of the drop before it. A later one is leaked.
const MOST_PAYLOADS: usize = 8;

/// Runs user code.
///
/// # Errors
///
/// The message of its panic.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let message = message_of(&*payload);
        drop_payload(payload);
        message
    })
}

/// Drops the payload of a panic. Its drop is user code too, and may panic with another payload.
fn drop_payload(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MOST_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    mem::forget(payload);
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
