//! The sender and the stages, over any carrier of messages.

use std::time::Duration;
use std::{hint, thread};

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use lapwing_lab_stats::histogram;

use super::{Between, Clock, Message, Pace, Paced};
use crate::load::fold::Fold;
use crate::measure::crew::Finish;

/// The time from the release of the sender to its first event. The stages are ready by then.
pub(super) const LEAD: Duration = Duration::from_millis(1);

/// The time before a due event at which a sleeping sender wakes. The system wakes a thread later
/// than requested.
const SHORTLY: Duration = Duration::from_micros(100);

/// Sends messages at their times.
pub(crate) struct Sender {
    clock: Clock,
    interval_ns: f64,
    events: u32,
    /// Whether it yields the CPU while it waits, because other threads need it.
    yields: bool,
    between: Between,
}

/// Receives messages and sends them on.
#[derive(Clone)]
pub(crate) struct Stage {
    clock: Clock,
    hop: Histogram<u64>,
}

/// Receives messages, and ends the run.
#[derive(Clone)]
pub(crate) struct LastStage {
    stage: Stage,
    end_to_end: Histogram<u64>,
    fold: Fold,
}

/// The three stages of a pipeline whose threads borrow them. Each has its own cache lines. On one
/// stack, two adjacent histograms would share a cache line that both threads write for each
/// message.
pub(crate) struct Stages {
    first: CachePadded<Stage>,
    second: CachePadded<Stage>,
    last: CachePadded<LastStage>,
}

impl Stages {
    /// Creates stages that have received nothing.
    pub(crate) fn new(clock: &Clock) -> Self {
        Self {
            first: CachePadded::new(Stage::new(clock)),
            second: CachePadded::new(Stage::new(clock)),
            last: CachePadded::new(LastStage::new(clock)),
        }
    }

    /// Returns the stages, in order.
    pub(crate) fn each(&mut self) -> (&mut Stage, &mut Stage, &mut LastStage) {
        (&mut self.first, &mut self.second, &mut self.last)
    }

    /// Returns the result of the run with this `finish`.
    pub(crate) fn into_paced(self, finish: Finish) -> Paced {
        let stages = [self.first, self.second].map(CachePadded::into_inner);
        Paced::new(finish, stages, self.last.into_inner())
    }
}

impl Sender {
    /// Creates the sender of the events of `pace`.
    pub(crate) fn new(pace: &Pace, clock: &Clock) -> Self {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        Self {
            clock: clock.clone(),
            interval_ns: pace.interval_ns,
            events: pace.events,
            yields: cpus < super::THREADS,
            between: pace.between,
        }
    }

    /// Sends each message by `send` as soon as it is due, or at once if it is late.
    ///
    /// # Errors
    ///
    /// The error of `send`. The messages after it are not sent.
    #[inline]
    pub(crate) fn run<E>(&self, mut send: impl FnMut(Message) -> Result<(), E>) -> Result<(), E> {
        let start = self.clock.now() + LEAD.as_nanos() as u64;
        for number in 0..self.events {
            let intended = start + (f64::from(number) * self.interval_ns) as u64;
            self.wait_until(intended);
            send(Message::new(u64::from(number), intended))?;
        }
        Ok(())
    }

    #[inline]
    fn wait_until(&self, due: u64) {
        if self.between == Between::Asleep {
            sleep_until(&self.clock, due.saturating_sub(SHORTLY.as_nanos() as u64));
        }
        while self.clock.now() < due {
            if self.yields {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }
}

impl Stage {
    /// Creates a stage that has received nothing.
    pub(crate) fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), hop: histogram() }
    }

    /// Records the receipt of `message`.
    #[inline]
    pub(crate) fn receive(&mut self, message: &mut Message) {
        let now = self.clock.now();
        self.hop.saturating_record(now.saturating_sub(message.previous));
        message.previous = now;
    }

    /// Returns the delays of its hop.
    pub(crate) fn into_hop(self) -> Histogram<u64> {
        self.hop
    }
}

impl LastStage {
    /// Creates a stage that has received nothing.
    pub(crate) fn new(clock: &Clock) -> Self {
        Self { stage: Stage::new(clock), end_to_end: histogram(), fold: Fold::new() }
    }

    /// Records the receipt of `message`.
    #[inline]
    pub(crate) fn receive(&mut self, mut message: Message) {
        self.stage.receive(&mut message);
        self.end_to_end.saturating_record(message.previous.saturating_sub(message.intended));
        self.fold.add(message.number);
    }

    /// Returns its answer over all messages.
    pub(super) fn answer(&self) -> u64 {
        self.fold.answer()
    }

    /// Returns the delays of its hop and of the end-to-end path.
    pub(crate) fn into_delays(self) -> [Histogram<u64>; 2] {
        [self.stage.hop, self.end_to_end]
    }
}

/// Sleeps until `clock` reaches `due`, or returns at once if it has.
pub(crate) fn sleep_until(clock: &Clock, due: u64) {
    let left = due.saturating_sub(clock.now());
    if left > 0 {
        thread::sleep(Duration::from_nanos(left));
    }
}
