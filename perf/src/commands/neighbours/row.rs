//! The timed work: one contender in one cell. A run has a given number of events, as in
//! `throughput`. The number follows the speed from run to run, because beside busy threads one run
//! can be a thousand times as fast as the next.

use std::time::Duration;

use crate::contenders::{Contender, Entry};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::machine::placement::Placement;
use crate::machine::switches::Switches;
use crate::measure::calibration;
use crate::measure::crew::Answers;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::sample::Sample;
use crate::measure::settling::Settling;

/// Events of the first pilot. The number is small because a spinning contender can need a time
/// slice per lap of a small ring.
const PILOT_EVENTS: u32 = 500;
/// Events of a run, at least.
const FEWEST_EVENTS: u32 = 100;
/// A run that exceeds its length by this factor, or falls below it by this factor, changes the
/// number of events.
const TOLERANCE: f64 = 2.0;
/// The maximum increase of that number by one run.
const MAX_GROWTH: u32 = 10;

/// One contender in one cell.
pub(super) struct Row<'a> {
    pub(super) topology: Topology,
    entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    pub(super) workload: Workload,
    /// Busy threads of another process during the runs.
    pub(super) busy_threads: u32,
    run_time: Duration,
    /// The right answers for this workload.
    expected: Answers,
    /// The counted runs, one per round.
    pub(super) runs: Vec<Sample>,
}

impl<'a> Row<'a> {
    /// Creates a row that has not run.
    pub(super) fn new(
        topology: Topology,
        entry: &'a Entry,
        (ring, busy_threads): (usize, u32),
        run_time: Duration,
    ) -> Self {
        let workload = Workload {
            events: 0, // calibration settles it
            ring,
            event_bytes: EventBytes::B8,
            publish: Publish::One,
            placement: Placement::Free,
        };
        let (expected, runs) = (Answers::new(), Vec::new());
        Self { topology, entry, chosen: 0, workload, busy_threads, run_time, expected, runs }
    }

    /// Returns the contender with its setting.
    pub(super) fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }

    /// Returns the threads of a run.
    pub(super) fn threads(&self) -> usize {
        self.contender().threads(self.topology.producers(), self.topology.consumers())
    }

    /// Runs once and checks the answer. Returns the length of the run and its figures.
    fn pass(&self) -> Result<(Duration, Sample), Error> {
        let (topology, contender) = (self.topology.name(), self.contender().name());
        let before = Switches::so_far();
        let pass = self.contender().run(self.topology, &self.workload);
        let pass = pass.map_err(|source| Error::Run { topology, contender, source })?;
        let switches = Switches::rates(before, pass.elapsed);
        let events = self.workload.events;
        let pass = pass.checked(topology, contender, events, &self.expected)?;
        let seconds = pass.elapsed.as_secs_f64();
        let sample = Sample {
            per_second: f64::from(events) / seconds,
            cpus: pass.cpu_time.map(|time| time.as_secs_f64() / seconds),
            voluntary_per_second: None,
            involuntary_per_second: None,
            longest_send_ns: None,
            fairness: None,
        };
        Ok((pass.elapsed, sample.with_switches(switches)))
    }

    /// Changes the number of events if the last run was far too long or far too short.
    fn follow(&mut self, elapsed: Duration) {
        let times = elapsed.as_secs_f64() / self.run_time.as_secs_f64();
        if !(1.0 / TOLERANCE..=TOLERANCE).contains(&times) {
            let events = self.workload.events;
            let fitted = calibration::fitted(events, elapsed, self.run_time);
            self.set_events(fitted.min(events.saturating_mul(MAX_GROWTH)));
        }
    }
}

impl Settling for Row<'_> {
    fn candidates(&self) -> usize {
        self.entry.candidates.len()
    }

    fn choose(&mut self, candidate: usize) {
        self.chosen = candidate;
    }

    fn pilot_events(&self) -> u32 {
        PILOT_EVENTS
    }

    fn events(&self) -> u32 {
        self.workload.events
    }

    fn set_events(&mut self, events: u32) {
        let events = events.max(FEWEST_EVENTS);
        if self.workload.events != events {
            self.workload.events = events;
            self.expected = self.topology.expected(&self.workload);
        }
    }

    /// Returns `None`: the speed of a cell is not known in advance.
    fn given_events(&self) -> Option<u32> {
        None
    }

    fn pilot(&self) -> Result<(Duration, f64), Error> {
        let (elapsed, sample) = self.pass()?;
        Ok((elapsed, sample.per_second))
    }
}

impl Timed for Row<'_> {
    fn label(&self) -> String {
        let contender = self.contender();
        format!("{} {} {}", self.topology.name(), contender.name(), contender.setting())
    }

    /// Selects the fastest candidate, beside the same busy threads as in the counted runs.
    fn settle(&mut self) -> Result<(), Error> {
        self.settle_for(self.run_time)
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        let (elapsed, _) = self.pass()?;
        self.follow(elapsed);
        Ok(())
    }

    fn measure(&mut self) -> Result<(), Error> {
        let (elapsed, sample) = self.pass()?;
        self.runs.push(sample);
        self.follow(elapsed);
        Ok(())
    }
}
