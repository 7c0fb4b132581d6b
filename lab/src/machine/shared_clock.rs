//! A clock that all processes share: that of the system since it started.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time in nanoseconds. Times of different processes can be compared.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The system has never run for a negative time.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
