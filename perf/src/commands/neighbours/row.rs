//! One contender in one cell: what is timed. A run has a given number of events, as in `throughput`. The number follows
//! the speed from run to run: beside busy threads, one run may be a thousand times as fast as the next.

use std::time::Duration;

use crate::contenders::{Contender, Entry};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::machine::placement::Placement;
use crate::machine::switches::Switches;
use crate::measure::calibration::{self, Verdict};
use crate::measure::crew::Answers;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::sample::Sample;
use crate::measure::statistics::median;

/// Events of the first pilot: few, since a contender that spins may take a time slice for each lap of a small ring.
const PILOT_EVENTS: u32 = 500;
/// Events of a run, at least.
const FEWEST_EVENTS: u32 = 100;
/// Runs of a candidate in its audition.
const AUDITION_RUNS: usize = 3;
/// How much shorter they are than those that count.
const AUDITION_PART: u32 = 3;
/// A run that takes so many times as long as it should, or so small a part of that, changes the number of events.
const TOLERANCE: f64 = 2.0;
/// By how much one run may change that number upwards.
const MAX_GROWTH: u32 = 10;

/// One contender in one cell.
pub(super) struct Row<'a> {
    pub(super) topology: Topology,
    entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    pub(super) workload: Workload,
    /// Threads of another process that compute meanwhile.
    pub(super) busy_threads: u32,
    run_time: Duration,
    /// The right answers for this workload.
    expected: Answers,
    /// The runs that count, one for each round.
    pub(super) runs: Vec<Sample>,
}

impl<'a> Row<'a> {
    /// A contender that has not run yet.
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

    /// The contender with its setting.
    pub(super) fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }

    /// Threads of a run.
    pub(super) fn threads(&self) -> usize {
        self.contender().threads(self.topology.producers(), self.topology.consumers())
    }

    /// Has runs of `events` from now on.
    fn set_events(&mut self, events: u32) {
        let events = events.max(FEWEST_EVENTS);
        if self.workload.events != events {
            self.workload.events = events;
            self.expected = self.topology.expected(&self.workload);
        }
    }

    /// Runs once and checks the answer; how long it took, and what it was like.
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

    /// Settles the number of events of a run, which should take `run_time`.
    fn calibrate(&mut self, run_time: Duration) -> Result<(), Error> {
        self.set_events(PILOT_EVENTS);
        loop {
            let (elapsed, _) = self.pass()?;
            match calibration::judge(self.workload.events, elapsed, run_time) {
                Verdict::Again(events) => self.set_events(events),
                Verdict::Settled(events) => {
                    self.set_events(events);
                    return Ok(());
                }
            }
        }
    }

    /// Another number of events, if the last run took far too long or far too short a time.
    fn follow(&mut self, elapsed: Duration) {
        let times = elapsed.as_secs_f64() / self.run_time.as_secs_f64();
        if !(1.0 / TOLERANCE..=TOLERANCE).contains(&times) {
            let events = self.workload.events;
            let fitted = calibration::fitted(events, elapsed, self.run_time);
            self.set_events(fitted.min(events.saturating_mul(MAX_GROWTH)));
        }
    }

    /// The median speed of the candidate that is chosen now, over a few runs.
    fn audition(&mut self) -> Result<f64, Error> {
        self.calibrate(self.run_time / AUDITION_PART)?;
        let rates = (0..AUDITION_RUNS).map(|_| Ok(self.pass()?.1.per_second));
        Ok(median(rates.collect::<Result<Vec<_>, Error>>()?).unwrap_or(0.0))
    }
}

impl Timed for Row<'_> {
    fn label(&self) -> String {
        let contender = self.contender();
        format!("{} {} {}", self.topology.name(), contender.name(), contender.setting())
    }

    /// The fastest candidate, beside the same busy threads as in the runs that count.
    fn settle(&mut self) -> Result<(), Error> {
        if self.entry.candidates.len() > 1 {
            let mut best = (0, 0.0);
            for candidate in 0..self.entry.candidates.len() {
                self.chosen = candidate;
                let speed = self.audition()?;
                if speed > best.1 {
                    best = (candidate, speed);
                }
            }
            self.chosen = best.0;
        }
        self.calibrate(self.run_time)
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
