//! Time limits. `None` is no limit, as is one that the clock cannot reach.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two looks of a call that looks again and again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Returns when a time is over that begins now.
pub(crate) fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Whether a limit has passed.
pub(crate) fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Returns the time until a limit.
pub(crate) fn left(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// Looks every millisecond until something `is_there`, for at most `timeout`. Returns whether it is.
pub(crate) fn look_for(timeout: Duration, mut is_there: impl FnMut() -> bool) -> bool {
    let deadline = after(timeout);
    while !is_there() {
        if has_passed(deadline) {
            return false;
        }
        sleep(BETWEEN_LOOKS);
    }
    true
}
