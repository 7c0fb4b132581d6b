//! The cost of a run. A separate thread reads the counters of the threads of this process twice,
//! and sleeps in between. The counters of one thread are in `machine::threads`.
//!
//! ```text
//! the run     start | settles | window                | its end
//! the watch          ........ | read, asleep ... read |
//! ```

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::machine::threads::{self, Used};

/// The time from the start of a run to its window. Threads without work are parked by then.
pub(super) const SETTLING: Duration = Duration::from_millis(200);
/// The interval between two searches for the sender.
const LOOK: Duration = Duration::from_millis(2);
/// The name of the sending thread, which does not count.
const SENDER: &str = "sender";
/// The name of the watching thread, which does not count either.
const WATCH: &str = "watch";

/// The cost of a run within its window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bill {
    /// The length of the window.
    pub(super) seconds: f64,
    /// CPU time of the process without its sender.
    pub(super) cpu: Duration,
    /// CPU time of the sender.
    pub(super) sender_cpu: Duration,
    /// Wake-ups of threads other than the sender.
    pub(super) sleeps: u64,
    /// Preemptions and yields.
    pub(super) preemptions: u64,
}

/// Runs `run`, and measures its cost over `window`. Returns no cost if the system does not report
/// it, or if the run was over too early.
pub(super) fn over<T>(window: Duration, run: impl FnOnce() -> T) -> (T, Option<Bill>) {
    let (running, end) = mpsc::channel();
    thread::scope(|scope| {
        let watch = Builder::new().name(WATCH.to_owned());
        let watch = watch.spawn_scoped(scope, move || bill(window, &end));
        let result = run();
        drop(running);
        let bill = watch.ok().and_then(|watch| watch.join().ok().flatten());
        (result, bill)
    })
}

/// Returns the cost of the current run, or `None` if it ends meanwhile.
fn bill(window: Duration, end: &Receiver<()>) -> Option<Bill> {
    let is_running = |time| end.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    let asleep = |time| is_running(time).then_some(());
    while !threads::all()?.values().any(|used| used.name == SENDER) {
        asleep(LOOK)?;
    }
    asleep(SETTLING)?;
    let (before, since) = (threads::all()?, Instant::now());
    asleep(window)?;
    let after = threads::all()?;
    Some(difference(since.elapsed(), &before, &after))
}

/// Returns the resources used from `before` to `after`.
fn difference(
    elapsed: Duration,
    before: &BTreeMap<u32, Used>,
    after: &BTreeMap<u32, Used>,
) -> Bill {
    let mut bill = Bill { seconds: elapsed.as_secs_f64(), ..Bill::default() };
    for (number, used) in after {
        let earlier = before.get(number);
        let cpu = used.cpu.saturating_sub(earlier.map_or(Duration::ZERO, |used| used.cpu));
        match used.name.as_str() {
            WATCH => {}
            SENDER => bill.sender_cpu += cpu,
            _ => {
                let since =
                    |count: u64, earlier: Option<u64>| count - earlier.unwrap_or(0).min(count);
                bill.cpu += cpu;
                bill.sleeps += since(used.sleeps, earlier.map(|used| used.sleeps));
                bill.preemptions += since(used.preemptions, earlier.map(|used| used.preemptions));
            }
        }
    }
    bill
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, cpu_ms: u64, sleeps: u64) -> Used {
        Used { name: name.to_owned(), cpu: Duration::from_millis(cpu_ms), sleeps, preemptions: 1 }
    }

    #[test]
    fn the_sender_and_the_watch_are_not_part_of_the_bill() {
        let before = BTreeMap::from([
            (1, used("main", 5, 3)),
            (2, used(SENDER, 10, 0)),
            (3, used(WATCH, 1, 1)),
            (4, used("stage-1", 7, 10)),
        ]);
        let after = BTreeMap::from([
            (1, used("main", 5, 3)),
            (2, used(SENDER, 40, 9)),
            (3, used(WATCH, 9, 9)),
            (4, used("stage-1", 9, 15)),
            (5, used("stage-2", 4, 2)),
        ]);
        let bill = difference(Duration::from_secs(2), &before, &after);
        assert_eq!(
            (bill.cpu, bill.sender_cpu),
            (Duration::from_millis(6), Duration::from_millis(30))
        );
        assert_eq!((bill.sleeps, bill.preemptions), (7, 1));
        assert_eq!(bill.seconds, 2.0);
    }

    #[test]
    fn a_run_that_is_over_too_early_has_no_bill() {
        let (result, bill) = over(Duration::from_secs(3_600), || 7);
        assert_eq!(result, 7);
        assert!(bill.is_none());
    }
}
