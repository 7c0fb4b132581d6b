//! Values from tasks to tasks for a fixed time, on a runtime with a thread for each CPU. The senders begin at
//! different numbers, so that the sum of all values shows which of them came.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Tally, TaskReceiver, TaskSender, panicked, runtime};
use crate::load::traffic::sum_up_to;
use crate::machine::cpu_time;
use crate::measure::crew::RunError;
use crate::measure::runner::known;
use crate::record::{Figures, figure};

/// The share of values that a receiver did not get because they were overwritten.
pub(crate) const LOST: &str = "lost";

/// The distance of the first numbers of two senders.
const APART: u64 = 1 << 40;

/// How values are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    OneByOne,
    /// In batches, by the ends that can. A sender sends this many values together.
    Batches(u64),
}

/// A completed run.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// The time from the start of the tasks to the end of the last one.
    pub(crate) elapsed: Duration,
    /// What all senders together have sent.
    pub(crate) sent: Tally,
    /// What each receiver has received, and how many values it has lost.
    pub(crate) received: Vec<(Tally, u64)>,
    cpu_time: Option<Duration>,
}

impl Streamed {
    /// Returns whether each receiver has received or counted as lost what was sent.
    pub(crate) fn is_complete(&self) -> bool {
        self.received.iter().all(|(received, lost)| match lost {
            0 => *received == self.sent,
            lost => received.count + lost == self.sent.count,
        })
    }

    /// Returns its figures. The rate is that of the values that arrived, at one receiver.
    pub(crate) fn figures(&self) -> Figures {
        let seconds = self.elapsed.as_secs_f64();
        let all = (self.sent.count * self.received.len() as u64).max(1) as f64;
        let arrived = self.received.iter().map(|(received, _)| received.count).sum::<u64>() as f64;
        let lost = self.received.iter().map(|(_, lost)| lost).sum::<u64>() as f64;
        known([
            (figure::PER_SECOND, Some(arrived / self.received.len() as f64 / seconds)),
            (figure::CPUS, self.cpu_time.map(|time| time.as_secs_f64() / seconds)),
            (LOST, Some(lost / all)),
        ])
    }
}

/// Sends from all `senders` until the time is over, and receives everything.
///
/// # Errors
///
/// [`RunError`] if there is no runtime, or a task panicked.
pub(crate) fn run<S: TaskSender, R: TaskReceiver>(
    (senders, receivers): (Vec<S>, Vec<R>),
    way: Way,
    run_time: Duration,
) -> Result<Streamed, RunError> {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    let runtime = runtime(cpus)?;
    let stop = Arc::<AtomicBool>::default();
    let (used, start) = (cpu_time::used(), Instant::now());
    let receiving = receivers.into_iter().map(|receiver| runtime.spawn(receive_all(receiver, way)));
    let receiving = receiving.collect::<Vec<_>>();
    let firsts = (0..).map(|number| number * APART);
    let sending = senders.into_iter().zip(firsts).map(|(sender, first)| {
        let stop = Arc::clone(&stop);
        runtime.spawn(async move { send_all(sender, first, way, &stop).await })
    });
    let sending = sending.collect::<Vec<_>>();
    thread::sleep(run_time);
    // Relaxed suffices: the flag orders nothing.
    stop.store(true, Ordering::Relaxed);
    let (mut sent, mut received) = (Tally::default(), Vec::new());
    for task in sending {
        sent.add(runtime.block_on(task).map_err(|error| panicked(&error))?);
    }
    for task in receiving {
        received.push(runtime.block_on(task).map_err(|error| panicked(&error))?);
    }
    Ok(Streamed { elapsed: start.elapsed(), sent, received, cpu_time: cpu_time::since(used) })
}

/// Sends numbers from `first` on until `stop`, at least one batch; then drops the sender. Returns what it sent.
async fn send_all(mut sender: impl TaskSender, first: u64, way: Way, stop: &AtomicBool) -> Tally {
    let mut next = first;
    loop {
        let (sent, length) = match way {
            Way::OneByOne => (sender.send_one(next).await, 1),
            Way::Batches(length) => (sender.send_batch(next..next + length).await, length),
        };
        sent.expect("the receivers stay until the end");
        next += length;
        // Relaxed suffices: as in `run`.
        if stop.load(Ordering::Relaxed) {
            let count = next - first;
            let sum = count.wrapping_mul(first).wrapping_add(sum_up_to(count - 1));
            return Tally { count, sum };
        }
    }
}

/// Receives until no sender is left.
async fn receive_all(mut receiver: impl TaskReceiver, way: Way) -> (Tally, u64) {
    let mut all = Tally::default();
    match way {
        Way::OneByOne => {
            while let Some(value) = receiver.receive_one().await {
                all.add(Tally { count: 1, sum: value });
            }
        }
        Way::Batches(_) => {
            while let Some(batch) = receiver.receive_batch().await {
                all.add(batch);
            }
        }
    }
    (all, receiver.lost())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(received: &[(Tally, u64)]) -> Streamed {
        let sent = Tally { count: 4, sum: 6 };
        let elapsed = Duration::from_secs(2);
        Streamed { elapsed, sent, received: received.to_vec(), cpu_time: None }
    }

    #[test]
    fn a_value_is_received_or_counted_as_lost() {
        let sent = Tally { count: 4, sum: 6 };
        for (count, lost, is_complete) in [(4, 0, true), (3, 1, true), (3, 0, false), (4, 1, false)]
        {
            let run = streamed(&[(sent, 0), (Tally { count, ..sent }, lost)]);
            assert_eq!(run.is_complete(), is_complete, "{count} {lost}");
        }
    }

    #[test]
    fn the_rate_is_that_of_the_values_that_arrived() {
        let sent = Tally { count: 4, sum: 6 };
        let figures = streamed(&[(sent, 0), (Tally { count: 2, sum: 1 }, 2)]).figures();
        assert_eq!((figures[figure::PER_SECOND], figures[LOST]), (1.5, 0.25));
    }
}
