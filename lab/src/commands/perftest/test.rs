//! The definition of one of LMAX's tests: its name, parameters, work and answer.

use hdrhistogram::Histogram;

use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, RunError};
use crate::measure::run::Pass;

/// One of LMAX's performance tests, with the parameters of version 4.0.
#[derive(Debug)]
pub(crate) struct PerfTest {
    /// The class in LMAX's sources.
    pub(super) name: &'static str,
    /// Producers and consumers.
    pub(super) shape: &'static str,
    /// Threads of one run.
    pub(super) threads: usize,
    /// Slots of the ring, or of each ring.
    pub(super) ring: usize,
    /// The wait strategy of the consumers. Producers have Lapwing's default, because LMAX's
    /// strategy does not apply to them either.
    pub(super) wait: &'static str,
    /// Size of one event in its slot.
    pub(super) event_bytes: usize,
    /// Events that LMAX's test moves in one run. A batch of ten counts as ten.
    pub(super) lmax_events: u32,
    /// LMAX's operations per event. The numbers of an array count individually.
    pub(super) operations_per_event: u32,
    /// Returns the right answers for this many events.
    pub(super) expected: fn(u32) -> Answers,
    /// The work.
    pub(super) work: Work,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Its speed.
    Throughput(fn(Load) -> Result<Pass, RunError>),
    /// Its speed, and the time of each round trip.
    Latency(fn(Load) -> Result<Delayed, RunError>),
}

/// A run, and the time of each round trip.
#[derive(Debug)]
pub(super) struct Delayed {
    pub(super) pass: Pass,
    /// In nanoseconds. `None` if the test has no round trips.
    pub(super) delays: Option<Histogram<u64>>,
}

/// The number of events and slots of one run, and the placement of its threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Events of all producers together.
    pub(super) events: u32,
    /// Slots of the ring, or of each ring.
    pub(super) ring: usize,
    /// The placement of the threads.
    pub(super) placement: Placement,
}

impl PartialEq for PerfTest {
    /// Tests are identified by their names.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Returns the sum `0 + 1 + ..` of this many numbers.
pub(super) fn sum_below(events: u32) -> u64 {
    let events = u64::from(events);
    events * events.saturating_sub(1) / 2
}
