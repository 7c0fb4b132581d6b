//! How runs become comparable: contenders are interleaved in rounds, each round in another order,
//! and a first round only warms up. A run whose answer is wrong ends everything. Not here: threads
//! and the clock (`crew`), how results are shown (`report`).
//!
//! ```text
//! calibrate each row | warm-up round | round 1 | round 2 | ..    a round: every row once, shuffled
//! ```

use std::time::Duration;

use serde::Serialize;

use crate::calibration::{self, Verdict};
use crate::contenders::{BASELINE, Contender, Pass};
use crate::crew::Answers;
use crate::error::Error;
use crate::report::Progress;
use crate::statistics::median;
use crate::topologies::Topology;
use crate::workload::Workload;

/// Seed of the order within rounds: the same on every machine, so that a report can be repeated.
const ORDER_SEED: u64 = 0x1A97;

/// How many runs, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Rounds that count.
    pub(crate) runs: u32,
    /// Time that one run should take, if `events` is not given.
    pub(crate) run_time: Duration,
    /// Events of one run; none to calibrate each row.
    pub(crate) events: Option<u32>,
}

/// One timed run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Run {
    /// Events of all producers, per second of the whole run.
    pub(crate) events_per_second: f64,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
}

/// One contender in one topology.
pub(crate) struct Row<'a> {
    /// The topology to run.
    pub(crate) topology: Topology,
    /// Who runs it.
    pub(crate) contender: &'a dyn Contender,
    /// How much it moves; the number of events is settled by calibration.
    pub(crate) workload: Workload,
    /// The right answers for this workload.
    expected: Answers,
    /// The runs that count, one for each round.
    pub(crate) runs: Vec<Run>,
}

impl<'a> Row<'a> {
    /// A row that has not run yet.
    pub(crate) fn new(
        topology: Topology,
        contender: &'a dyn Contender,
        workload: Workload,
    ) -> Self {
        Self { topology, contender, workload, expected: Answers::new(), runs: Vec::new() }
    }

    /// The median speed of its runs; zero before the first one.
    pub(crate) fn median_events_per_second(&self) -> f64 {
        median(self.runs.iter().map(|run| run.events_per_second)).unwrap_or(0.0)
    }

    /// The name of the row in a progress line.
    fn label(&self) -> String {
        let contender = self.contender.name();
        format!("{} {contender} {}", self.topology.name(), self.contender.wait())
    }

    /// Sets the number of events and computes their answers.
    fn set_events(&mut self, events: u32) {
        self.workload.events = events;
        self.expected = self.topology.expected(&self.workload);
    }

    /// Runs once and checks the answer.
    fn run(&self) -> Result<Pass, Error> {
        let topology = self.topology.name();
        let contender = self.contender.name();
        let pass = self
            .contender
            .run(self.topology, &self.workload)
            .map_err(|source| Error::Run { topology, contender, source })?;

        if pass.answers == self.expected {
            return Ok(pass);
        }
        Err(Error::WrongAnswer {
            topology,
            contender,
            events: self.workload.events,
            expected: self.expected.clone(),
            found: pass.answers,
        })
    }

    /// Settles the number of events of a run.
    fn calibrate(&mut self, schedule: &Schedule) -> Result<(), Error> {
        if let Some(events) = schedule.events {
            self.set_events(events);
            return Ok(());
        }
        self.set_events(calibration::PILOT_EVENTS);
        loop {
            let pilot = self.run()?;
            let events = self.workload.events;
            match calibration::judge(events, pilot.elapsed, schedule.run_time) {
                Verdict::Again(events) => self.set_events(events),
                Verdict::Settled(events) => {
                    self.set_events(events);
                    return Ok(());
                }
            }
        }
    }

    /// Takes fewer events from now on if the warm-up took longer than asked: pilots are short, and
    /// a contender may slow down when its queue fills or its threads crowd the machine.
    fn shorten(&mut self, schedule: &Schedule, warm_up: &Pass) {
        if schedule.events.is_some() || warm_up.elapsed <= schedule.run_time {
            return;
        }
        let events = self.workload.events;
        self.set_events(calibration::fitted(events, warm_up.elapsed, schedule.run_time));
    }

    /// Keeps a checked run.
    fn record(&mut self, pass: &Pass) {
        self.runs.push(Run {
            events_per_second: f64::from(self.workload.events) / pass.elapsed.as_secs_f64(),
            events_per_batch: pass.events_per_batch,
        });
    }
}

/// Runs every row once per round.
///
/// # Errors
///
/// The first wrong answer or failed run; nothing is reported then.
pub(crate) fn measure(
    rows: &mut [Row<'_>],
    schedule: &Schedule,
    progress: &Progress,
) -> Result<(), Error> {
    progress.stage("calibrating");
    for row in rows.iter_mut() {
        progress.step(&row.label());
        row.calibrate(schedule)?;
    }

    let mut order = (0..rows.len()).collect::<Vec<_>>();
    let mut random = fastrand::Rng::with_seed(ORDER_SEED);
    for round in 0..=schedule.runs {
        let counts = round > 0;
        progress.stage(&round_name(round, schedule.runs));
        random.shuffle(&mut order);
        for index in &order {
            let row = &mut rows[*index];
            progress.step(&row.label());
            let pass = row.run()?;
            if counts {
                row.record(&pass);
            } else {
                row.shorten(schedule, &pass);
            }
        }
    }
    progress.finish();
    Ok(())
}

/// Runs of a whole measurement, as progress counts them: a calibration counts as one.
pub(crate) fn steps(rows: usize, schedule: &Schedule) -> u64 {
    rows as u64 * (u64::from(schedule.runs) + 2)
}

/// How progress calls a round.
fn round_name(round: u32, rounds: u32) -> String {
    match round {
        0 => "warm-up round".to_owned(),
        _ => format!("round {round} of {rounds}"),
    }
}

/// The median, over rounds, of a row's speed relative to the baseline's in the same round and
/// topology; none if the baseline did not run.
pub(crate) fn ratio_to_baseline(row: &Row<'_>, rows: &[Row<'_>]) -> Option<f64> {
    let baseline = rows
        .iter()
        .find(|other| other.topology == row.topology && other.contender.name() == BASELINE)?;
    let rounds = row.runs.iter().zip(&baseline.runs);
    median(rounds.map(|(own, base)| own.events_per_second / base.events_per_second))
}
