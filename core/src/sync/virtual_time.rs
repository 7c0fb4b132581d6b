//! Time under shuttle, which has no clock.
//!
//! A sleep ends after one switch to another thread, and its length has passed by then. So does a
//! [park](crate::parking) with a time limit: it ends whether another thread has woken it
//! or not. A park without a limit ends only by a wake-up, so shuttle finds a lost one as a
//! deadlock. Each yield and each pause hint takes [`STEP`].
//!
//! Only differences of times matter, and all threads of a schedule run on one thread of the system.
//! A replayed schedule therefore finds the same times.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use shuttle::sync::{Condvar, MutexGuard};
use shuttle::thread;

/// How long a yield or a pause hint takes. Shorter than a yield that let another thread run
/// (`wait::cpu_load`), so that no ring counts as oversubscribed.
const STEP: Duration = Duration::from_micros(1);

std::thread_local! {
    /// How much time has passed.
    static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Reads the clock.
pub fn now() -> Instant {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    *BEGIN.get_or_init(Instant::now) + PASSED.get()
}

/// Sleeps for `length`.
pub fn sleep(length: Duration) {
    pass(length);
    thread::yield_now();
}

/// Sleeps for `timeout`, because a condition variable of shuttle knows no time limit.
pub(crate) fn wait_timeout(_: &Condvar, guard: MutexGuard<'_, ()>, timeout: Duration) {
    drop(guard);
    sleep(timeout);
}

/// Yields.
pub fn yield_now() {
    pass(STEP);
    thread::yield_now();
}

/// Polls once more after a yield.
pub fn spin_loop() {
    yield_now();
}

fn pass(time: Duration) {
    PASSED.set(PASSED.get().saturating_add(time));
}
