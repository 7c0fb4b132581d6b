//! How the default strategy waits where a yield takes a time slice: it polls, sleeps once, and parks.
//!
//! | step | longest | pays if | taken if |
//! |---|---|---|---|
//! | poll | 50 µs, the cost of a wake-up | the other side is running: an exchange then takes a microsecond | the process has a CPU for each thread of the ring |
//! | sleep once | 65 µs, most of it timer slack | events follow each other: the thread then finds a batch, and costs the other side nothing | the threads run on several CPUs, or several consumers wait for the same event |
//! | park | until woken | always | always |
//!
//! Where the threads of the ring share one CPU, neither a poll nor a sleep lets the other side work:
//! the poll keeps its CPU from it, and the sleep leaves the CPU to the busy thread. A park hands the
//! CPU over, and the wake-up there is a few microseconds away. See E77 in `lab/results/experiments.md`.
//!
//! Not here: how a ring detects busy threads (`cpu_load`) and that its threads share a CPU
//! (`meeting`).

use std::time::Instant;

use super::cpu_load::CpuLoad;
use super::usual_wait::{PARKING, POLLS_PER_CLOCK};
use super::waiter::SHORTEST_SLEEP;
use super::{Step, Waiting};
use crate::sync::now;

/// The phase of a wait beside busy threads. A wait takes them in this order, and may skip `Spin`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum BesideBusyThreads {
    /// Yields, which is refused until it is time to try again.
    #[default]
    Yield,
    /// Polls until this time.
    Spin(Instant),
    Sleep,
    Parked,
}

impl BesideBusyThreads {
    /// The first step of a wait of a thread that `consumes` events or publishes them.
    pub(super) fn begin(&mut self, load: CpuLoad<'_>, consumes: bool) -> Step {
        load.record_cpu(consumes);
        self.enter(Self::Yield, Step::Yield)
    }

    /// The next step; `None` after the last one.
    pub(super) fn next(&mut self, waiting: &Waiting<'_>) -> Option<Step> {
        Some(match *self {
            Self::Yield if waiting.load.hands_over_its_cpu() => {
                self.enter(Self::Parked, Step::Park)
            }
            Self::Yield if waiting.load.has_a_cpu_for_each_thread() && waiting.may_spin() => {
                self.enter(Self::Spin(now() + PARKING), Step::Poll(POLLS_PER_CLOCK))
            }
            Self::Spin(until) if now() < until && waiting.may_spin() => Step::Poll(POLLS_PER_CLOCK),
            Self::Yield | Self::Spin(_) => self.enter(Self::Sleep, Step::Sleep(SHORTEST_SLEEP)),
            Self::Sleep => self.enter(Self::Parked, Step::Park),
            Self::Parked => return None,
        })
    }

    fn enter(&mut self, phase: Self, step: Step) -> Step {
        *self = phase;
        step
    }
}
