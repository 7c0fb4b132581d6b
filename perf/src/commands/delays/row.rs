//! A row of a delay table: the carrier of the events, its load, and its runs.

use serde::Serialize;

use super::TOPOLOGY;
use crate::contenders::{Contender, Entry};
use crate::load::paced::{Delays, Pace, Paced, THREADS, nobody};
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::harness::Timed;

/// A contender that achieves less than this fraction of a load does not sustain it.
const SUSTAINED: f64 = 0.95;

/// The carrier of the events.
#[derive(Clone, Copy)]
pub(crate) enum Carrier<'a> {
    /// The baseline without a hand-off: the sender is also all stages.
    Nobody,
    /// A contender with its best setting.
    Entry(&'a Entry),
}

/// A carrier under a load, and its runs.
pub(crate) struct Row<'a> {
    carrier: Carrier<'a>,
    /// The setting that it runs with.
    chosen: usize,
    /// The load.
    pub(crate) pace: Pace,
    /// The counted runs, one per round.
    pub(crate) runs: Vec<Run>,
    /// The delays of all of them.
    pub(crate) delays: Delays,
}

/// One counted run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Run {
    /// Received events per second at the last stage.
    pub(crate) achieved_per_second: f64,
    /// Mean number of CPUs in use, or `None` if the system does not report CPU time.
    pub(crate) cpus: Option<f64>,
    /// Percentiles of the end-to-end path.
    p50_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    max_ns: u64,
}

impl<'a> Row<'a> {
    /// Creates a row that has not run.
    pub(crate) fn new(carrier: Carrier<'a>, pace: Pace) -> Self {
        Self { carrier, chosen: 0, pace, runs: Vec::new(), delays: Delays::new() }
    }

    /// Returns the contender with its setting, or `None` for the baseline without a hand-off.
    fn contender(&self) -> Option<&dyn Contender> {
        match self.carrier {
            Carrier::Nobody => None,
            Carrier::Entry(entry) => Some(entry.candidates[self.chosen].as_ref()),
        }
    }

    /// Returns the name in a report.
    pub(crate) fn name(&self) -> &'static str {
        self.contender().map_or("no-hand-off", Contender::name)
    }

    /// Returns the wait of the contender's threads.
    pub(crate) fn wait(&self) -> &'static str {
        self.contender().map_or("none", Contender::wait)
    }

    /// Returns the placement of its consumers on threads, or `None` if it is not Lapwing.
    pub(crate) fn placement(&self) -> Option<String> {
        self.contender().and_then(Contender::placement)
    }

    /// Returns the wait of its threads, and its placement if it is Lapwing.
    fn setting(&self) -> String {
        self.contender().map_or_else(|| self.wait().to_owned(), Contender::setting)
    }

    /// Returns the number of working threads.
    pub(crate) fn threads(&self) -> usize {
        self.contender().map_or(1, |contender| contender.threads(1, THREADS - 1))
    }

    /// Runs once and checks the answer.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    pub(crate) fn pass(&self) -> Result<Paced, Error> {
        let (topology, contender) = (TOPOLOGY, self.name());
        let paced = self.run().map_err(|source| Error::Run { topology, contender, source })?;
        let expected = self.pace.expected();
        if paced.answers != expected {
            let (events, found) = (self.pace.events, paced.answers);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        Ok(paced)
    }

    fn run(&self) -> Result<Paced, RunError> {
        self.contender()
            .map_or_else(|| nobody::run(&self.pace), |contender| contender.paced(&self.pace))
    }

    /// Selects the setting with the shortest median delay.
    fn choose(&mut self) -> Result<(), Error> {
        let Carrier::Entry(Entry { candidates }) = self.carrier else { return Ok(()) };
        let mut best = (0, u64::MAX);
        for candidate in (0..candidates.len()).filter(|_| candidates.len() > 1) {
            self.chosen = candidate;
            let median = self.pass()?.delays.end_to_end().value_at_quantile(0.5);
            if median < best.1 {
                best = (candidate, median);
            }
        }
        self.chosen = best.0;
        Ok(())
    }
}

impl Timed for Row<'_> {
    fn label(&self) -> String {
        format!("{} {} at {:.0}/s", self.name(), self.setting(), self.pace.per_second())
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.choose()
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.pass().map(drop)
    }

    fn measure(&mut self) -> Result<(), Error> {
        let paced = self.pass()?;
        self.runs.push(Run::new(&self.pace, &paced));
        self.delays.add(&paced.delays);
        Ok(())
    }
}

impl Run {
    /// Returns the figures of `paced`.
    pub(crate) fn new(pace: &Pace, paced: &Paced) -> Self {
        let seconds = paced.seconds_under_load();
        let way = paced.delays.end_to_end();
        Self {
            achieved_per_second: f64::from(pace.events) / seconds,
            cpus: paced.cpu_time.map(|time| time.as_secs_f64() / paced.elapsed.as_secs_f64()),
            p50_ns: way.value_at_quantile(0.5),
            p99_ns: way.value_at_quantile(0.99),
            p99_9_ns: way.value_at_quantile(0.999),
            max_ns: way.max(),
        }
    }

    /// Returns whether it sustained the load of `pace`.
    pub(crate) fn sustains(&self, pace: &Pace) -> bool {
        self.achieved_per_second >= SUSTAINED * pace.per_second()
    }
}
