//! Threads that wait under a load, and the cost of their waiting.

use std::time::Duration;

use super::watch::{self, Bill, SETTLING};
use super::{SENDER_CPU, WAITING_CPU, WAKES};
use crate::commands::delays::OFFERED;
use crate::contenders::{Contender, Setting, parallel};
use crate::load::paced::{Between, END_TO_END, Pace, Paced};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::runner::{Length, Measured, Row, Subject, known};
use crate::record::{Figures, Key, OWN, Record, figure};

/// The label of the measured part of a run, in seconds.
const WINDOW_SECONDS: Key = Key::new("window_seconds");
/// The time from the end of the window to that of the run.
const TAIL: Duration = Duration::from_millis(100);
/// Events of a run without a load: one before the window and one after it.
const EVENTS_AROUND: u32 = 2;
/// Stages of a pipeline.
const STAGES: usize = 3;

/// The threads that wait.
#[derive(Clone, Copy)]
pub(super) enum Waiter<'a> {
    /// A contender with three stages in a row.
    Pipeline(&'a dyn Contender),
    /// Lapwing with this many parallel readers.
    SideBySide(Setting, usize),
}

/// A waiter under a load.
pub(super) struct Waiting<'a> {
    waiter: Waiter<'a>,
    /// Events per second; 0 for none.
    rate: u32,
    /// The measured part of a run.
    window: Duration,
    pace: Pace,
    /// The right answers for this load.
    expected: Answers,
}

impl Waiter<'_> {
    /// Returns the name in a report.
    fn name(&self) -> &'static str {
        match self {
            Self::Pipeline(contender) => contender.name(),
            Self::SideBySide(..) => OWN,
        }
    }

    /// Returns its graph.
    const fn topology(&self) -> &'static str {
        match self {
            Self::Pipeline(_) => "pipeline",
            Self::SideBySide(..) => "multicast",
        }
    }

    /// Returns the number of waiting consumers.
    const fn consumers(&self) -> usize {
        match self {
            Self::Pipeline(_) => STAGES,
            Self::SideBySide(_, readers) => *readers,
        }
    }

    /// Returns its record in `experiment`. Its threads are those of the consumers and the sender's.
    fn record(&self, experiment: &str) -> Record {
        match self {
            Self::Pipeline(contender) => contender.record(experiment, contender.threads(1, STAGES)),
            Self::SideBySide(setting, readers) => super::own_record(experiment, *setting, *readers),
        }
    }

    /// Returns the answers of its last stages.
    fn expected(&self, pace: &Pace) -> Answers {
        match self {
            Self::Pipeline(_) => pace.expected(),
            Self::SideBySide(_, readers) => pace.expected().repeat(*readers),
        }
    }

    fn run(&self, pace: &Pace) -> Result<Paced, RunError> {
        match self {
            Self::Pipeline(contender) => contender.paced(pace),
            Self::SideBySide(setting, readers) => parallel::paced(*setting, *readers, pace),
        }
    }
}

impl<'a> Waiting<'a> {
    /// Creates a row that has not run.
    pub(super) fn row(waiter: Waiter<'a>, rate: u32, window: Duration, ring: usize) -> Row<Self> {
        let time = SETTLING + window + TAIL;
        let events = (f64::from(rate) * time.as_secs_f64()).round();
        let (events, interval) = match rate {
            0 => (EVENTS_AROUND, time.as_secs_f64()),
            _ => (events.clamp(1.0, f64::from(u32::MAX)) as u32, 1.0 / f64::from(rate)),
        };
        let (placement, between) = (Placement::Free, Between::Asleep);
        let pace = Pace { interval_ns: interval * 1e9, events, ring, placement, between };
        let waiting = Self { waiter, rate, window, pace, expected: Answers::new() };
        Row::new(waiting, Length::Events(events))
    }
}

impl Subject for Waiting<'_> {
    fn record(&self) -> Record {
        self.waiter
            .record(super::VIEW.experiment)
            .in_cell(Key::TOPOLOGY, self.waiter.topology())
            .in_cell(Key::CONSUMERS, self.waiter.consumers())
            .in_cell(Key::RING, self.pace.ring)
            .in_cell(OFFERED, self.rate)
            .in_cell(WINDOW_SECONDS, self.window.as_secs_f64())
    }

    fn prepare(&mut self, events: u32) {
        self.pace.events = events;
        self.expected = self.waiter.expected(&self.pace);
    }

    /// Runs once and measures the cost. Without a load, two events say nothing about delays.
    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (self.waiter.topology(), self.waiter.name());
        let (paced, bill) = watch::over(self.window, || self.waiter.run(&self.pace));
        let paced = paced.map_err(|source| Error::Run { topology, contender, source })?;
        if paced.answers != self.expected {
            let (expected, found) = (self.expected.clone(), paced.answers);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        let [.., end_to_end] = paced.delays.segments;
        let delays = if self.rate > 0 { vec![(END_TO_END, end_to_end)] } else { Vec::new() };
        Ok(Measured { elapsed: paced.elapsed, figures: figures(bill), delays })
    }
}

/// Returns the figures of `bill`.
fn figures(bill: Option<Bill>) -> Figures {
    let Some(bill) = bill else { return Figures::new() };
    let percent = |cpu: Duration| Some(100.0 * cpu.as_secs_f64() / bill.seconds);
    known([
        (WAITING_CPU, percent(bill.cpu)),
        (SENDER_CPU, percent(bill.sender_cpu)),
        (WAKES, Some(bill.sleeps as f64 / bill.seconds)),
        (figure::INVOLUNTARY, Some(bill.preemptions as f64 / bill.seconds)),
    ])
}
