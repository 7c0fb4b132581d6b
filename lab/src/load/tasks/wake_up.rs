//! How long a thread takes to wake a task: from before the call of the thread until the task runs. The runtime has
//! one thread, which sleeps before each wake-up, since the task is alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hdrhistogram::Histogram;
use lapwing_lab_stats::histogram;

use super::{TaskReceiver, panicked, runtime};
use crate::measure::crew::RunError;

/// The pause before each wake-up, in microseconds; random.
const PAUSES_US: std::ops::Range<u64> = 100..300;

/// The end of a thread that wakes a task.
pub(crate) trait Bell {
    /// Wakes the task with this value.
    fn ring(&mut self, value: u64);
}

/// What the two sides share beside the contender.
#[derive(Default)]
struct Clock {
    /// When the thread rang, in nanoseconds after the begin of the run.
    rung_at: AtomicU64,
    /// Whether the task has run since.
    is_heard: AtomicBool,
}

/// Rings until the time is over. Returns how long each wake-up took, in nanoseconds.
///
/// # Errors
///
/// [`RunError`] if there is no runtime, or the task panicked.
pub(crate) fn run(
    (mut bell, receiver): (impl Bell, impl TaskReceiver),
    run_time: Duration,
) -> Result<Histogram<u64>, RunError> {
    let (runtime, clock, start) = (runtime(1)?, Arc::<Clock>::default(), Instant::now());
    let listening = runtime.spawn(listen(receiver, Arc::clone(&clock), start));
    let mut random = Rng::with_seed(7);
    while start.elapsed() < run_time {
        thread::sleep(Duration::from_micros(random.u64(PAUSES_US)));
        clock.rung_at.store(nanoseconds(start), Ordering::Relaxed); // the contender orders it
        bell.ring(1);
        // Acquire pairs with the Release of the task, so that it has read `rung_at`.
        while !clock.is_heard.swap(false, Ordering::Acquire) {
            thread::yield_now();
        }
    }
    drop(bell);
    runtime.block_on(listening).map_err(|error| panicked(&error))
}

/// Measures each wake-up until the bell is gone.
async fn listen(
    mut receiver: impl TaskReceiver,
    clock: Arc<Clock>,
    start: Instant,
) -> Histogram<u64> {
    let mut delays = histogram();
    while receiver.receive_one().await.is_some() {
        let delay = nanoseconds(start).saturating_sub(clock.rung_at.load(Ordering::Relaxed));
        delays.saturating_record(delay.max(1));
        clock.is_heard.store(true, Ordering::Release);
    }
    delays
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
