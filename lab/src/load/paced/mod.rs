//! The three-stage pipeline under a load of a given number of events per second: Table 3 of the
//! paper. Each event carries the time of its intended send, which never moves. If the sender is
//! late, the delay is longer and the load stays the same (no coordinated omission). A sender is
//! late if the contender is slow or full, or if its thread lost the CPU.
//!
//! ```text
//! intended ..(late)..> sent -- hop-1 --> stage 1 -- hop-2 --> stage 2 -- hop-3 --> stage 3
//!    |<------- hop-1 ------------------->|
//!    |<------------------------------ end-to-end ----------------------------------->|
//! ```

mod clock; // nanoseconds, the same for all threads
mod delays; // histograms
mod message; // the message
pub(crate) mod nobody; // the baseline without a hand-off
mod over_queues; // a queue for each hop
mod stage; // the sender and the stages

use std::time::Duration;

pub(crate) use self::clock::Clock;
pub(crate) use self::delays::{Delays, END_TO_END, SEGMENTS};
pub(crate) use self::message::Message;
pub(crate) use self::over_queues::over_queues;
pub(crate) use self::stage::{LastStage, Sender, Stage, Stages, sleep_until};
use crate::load::fold::Fold;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Finish};

/// Threads: the sender and three stages.
pub(crate) const THREADS: usize = 4;

/// The load of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The time from one event to the next.
    pub(crate) interval_ns: f64,
    /// Events of the run, at least 1.
    pub(crate) events: u32,
    /// Slots of the ring and of every queue; a power of two.
    pub(crate) ring: usize,
    /// The placement of the threads.
    pub(crate) placement: Placement,
    /// The sender's behaviour until an event is due.
    pub(crate) between: Between,
}

/// The sender's behaviour until an event is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Spins, or yields if the run has more threads than CPUs. It is never late by itself.
    Awake,
    /// Sleeps until shortly before the event, so that the run shows the cost of its other threads.
    Asleep,
}

/// A completed run. Its answers are not checked yet.
#[derive(Debug)]
pub(crate) struct Paced {
    /// The time from the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// CPU time of all threads during the run, or `None` if the system does not report it.
    pub(crate) cpu_time: Option<Duration>,
    /// The answer of the last stage over all events.
    pub(crate) answers: Answers,
    /// The delays of the events.
    pub(crate) delays: Delays,
}

impl Paced {
    /// Returns the result of a run with this `finish` and parallel stages. Each stage ends the
    /// end-to-end path.
    pub(crate) fn parallel(finish: Finish, stages: impl IntoIterator<Item = LastStage>) -> Self {
        let Finish { elapsed, cpu_time, .. } = finish;
        let mut run = Self { elapsed, cpu_time, answers: Answers::new(), delays: Delays::new() };
        for stage in stages {
            run.answers.push(stage.answer());
            let [_, end_to_end] = stage.into_delays();
            run.delays.add_end_to_end(&end_to_end);
        }
        run
    }

    /// Returns the result of a run with this `finish`, from the stages in their order.
    pub(crate) fn new(finish: Finish, stages: [Stage; 2], last: LastStage) -> Self {
        let [first, second] = stages.map(Stage::into_hop);
        let answers = vec![last.answer()];
        let [third, end_to_end] = last.into_delays();
        let delays = Delays { segments: [first, second, third, end_to_end] };
        let Finish { elapsed, cpu_time, .. } = finish;
        Self { elapsed, cpu_time, answers, delays }
    }

    /// Returns the time from the first event's intended send to the end, in seconds.
    pub(crate) fn seconds_under_load(&self) -> f64 {
        self.elapsed.saturating_sub(stage::LEAD).as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Pace {
    /// Returns the events per second.
    pub(crate) fn per_second(&self) -> f64 {
        1e9 / self.interval_ns
    }

    /// Returns the answer of the last stage.
    pub(crate) fn expected(&self) -> Answers {
        let mut fold = Fold::new();
        (0..self.events).for_each(|number| fold.add(u64::from(number)));
        vec![fold.answer()]
    }
}
