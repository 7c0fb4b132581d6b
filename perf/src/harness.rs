//! How runs become comparable: contenders are interleaved in rounds, each round in another order,
//! and a first round only warms up. A run whose answer is wrong ends everything. Not here: what a run
//! is (`row`, `contention`), threads and the clock (`crew`), how results are shown (`report`).
//!
//! ```text
//! calibrate each row | warm-up round | round 1 | round 2 | ..    a round: every row once, shuffled
//! ```

use std::time::Duration;

use crate::calibration::{self, Verdict};
use crate::error::Error;
use crate::progress::Progress;
use crate::run::{Pass, Run};

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

/// Something that is run once a round, and compared with others of its kind.
pub(crate) trait Timed {
    /// Its name in a progress line.
    fn label(&self) -> String;

    /// Events of its next run.
    fn events(&self) -> u32;

    /// Sets the events of its runs.
    fn set_events(&mut self, events: u32);

    /// Runs once and checks the answer.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn run(&self) -> Result<Pass, Error>;

    /// Keeps a checked run.
    fn record(&mut self, run: Run);
}

/// Settles the number of events of a run.
fn calibrate(row: &mut impl Timed, schedule: &Schedule) -> Result<(), Error> {
    if let Some(events) = schedule.events {
        row.set_events(events);
        return Ok(());
    }
    row.set_events(calibration::PILOT_EVENTS);
    loop {
        let pilot = row.run()?;
        match calibration::judge(row.events(), pilot.elapsed, schedule.run_time) {
            Verdict::Again(events) => row.set_events(events),
            Verdict::Settled(events) => {
                row.set_events(events);
                return Ok(());
            }
        }
    }
}

/// Takes fewer events from now on if the warm-up took longer than asked: pilots are short, and a
/// contender may slow down when its queue fills or its threads crowd the machine.
fn shorten(row: &mut impl Timed, schedule: &Schedule, warm_up: &Pass) {
    if schedule.events.is_none() && warm_up.elapsed > schedule.run_time {
        let events = row.events();
        row.set_events(calibration::fitted(events, warm_up.elapsed, schedule.run_time));
    }
}

/// Runs every row once per round.
///
/// # Errors
///
/// The first wrong answer or failed run; nothing is reported then.
pub(crate) fn measure(
    rows: &mut [impl Timed],
    schedule: &Schedule,
    progress: &Progress,
) -> Result<(), Error> {
    progress.stage("calibrating");
    for row in rows.iter_mut() {
        progress.step(&row.label());
        calibrate(row, schedule)?;
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
                row.record(Run::new(row.events(), &pass));
            } else {
                shorten(row, schedule, &pass);
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
