//! How the future of a call is given up. Not here: the executors' own means (`executors`).

use std::future::{Future, poll_fn};
use std::hint;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::{Mutex, MutexGuard};

use crate::ends::{End, Outcome};
use crate::executors::Executor;
use crate::probe::Tally;

/// A reproducible random-number generator (Knuth's MMIX constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// One in this many polls gives up, before it and after it.
const GIVES_UP: u64 = 4;

/// Longest time from a registration until the future gives up, in spins: about as long as another thread takes to send
/// a value.
const LONGEST_SPIN: u64 = 128;

/// The ways of giving up; the first number of each is in `call`.
const WAYS: u64 = 512;

/// One in this many futures that are not known to wait is given up by the executor's means. Each of these lets others
/// run, so with more of them a large channel would never be full or empty.
const RARE: u64 = 64;

/// Calls until a future is ready. Those that wait are given up in several ways, and have then done nothing.
pub(crate) async fn call<E: End>(
    end: &Arc<Mutex<E>>,
    tally: &Arc<Tally>,
    executor: Executor,
    random: &mut Random,
) -> Outcome {
    let mut way = if random.below(RARE) == 0 { random.below(WAYS) } else { WAYS };
    loop {
        if let Some(outcome) = call_once(end, tally, executor, random, way).await {
            return outcome;
        }
        way = random.below(WAYS);
    }
}

/// Returns `None` if the future was given up.
async fn call_once<E: End>(
    end: &Arc<Mutex<E>>,
    tally: &Arc<Tally>,
    executor: Executor,
    random: &mut Random,
    way: u64,
) -> Option<Outcome> {
    let tally = Arc::clone(tally);
    if way < 32 {
        // It is not polled at all, and not counted.
        drop(counted(lent(end).call(), tally));
        return None;
    }
    if way < 64 {
        let end = Arc::clone(end);
        let task = async move { counted(lent(&end).call(), tally).await };
        return executor.cancel(task, random).await;
    }
    let mut end = lent(end);
    let future = counted(end.call(), tally);
    match way {
        64..192 => executor.compete(future, random).await,
        // It takes a millisecond, the resolution of timers.
        192 => executor.time_out(future).await,
        // Most of all the way that hides no lost wake-up: only a wake-up polls again.
        _ => restlessly(future, random).await,
    }
}

/// An end is lent to one task at a time.
fn lent<E>(end: &Mutex<E>) -> MutexGuard<'_, E> {
    end.try_lock().expect("a future that is dropped has given its end back")
}

/// Counts a future that is dropped while it waits.
async fn counted<F: Future>(future: F, tally: Arc<Tally>) -> F::Output {
    struct Waiting(bool, Arc<Tally>);
    impl Drop for Waiting {
        fn drop(&mut self) {
            if self.0 {
                self.1.count_drop();
            }
        }
    }
    let mut waiting = Waiting(false, tally);
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        waiting.0 = polled.is_pending();
        polled
    })
    .await
}

/// Polls a future, and gives it up at a random poll: as soon as it has registered to be woken, a moment later, or after
/// it was woken and before it learns that.
async fn restlessly<F: Future>(future: F, random: &mut Random) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut is_woken = false;
    poll_fn(|context| {
        if mem::replace(&mut is_woken, true) && random.below(GIVES_UP) == 0 {
            return Poll::Ready(None);
        }
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if random.below(GIVES_UP) == 0 => {
                (0..random.below(LONGEST_SPIN)).for_each(|_| hint::spin_loop());
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
