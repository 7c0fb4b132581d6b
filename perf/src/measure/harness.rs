//! Interleaved rounds, which make runs comparable. Each round runs every row once, in a new order,
//! and the first round only warms up. A wrong answer ends the measurement. Ctrl-C ends it and keeps
//! the results so far. Runs are in `row` and `latency`, threads and the clock in `crew`, the output
//! in `report`.
//!
//! ```text
//! settle each row | warm-up round | round 1 | round 2 | ..    a round: every row once, shuffled
//! ```

use crate::measure::error::Error;
use crate::measure::interrupt;
use crate::measure::progress::Progress;

/// The seed of the order within rounds. It is the same on every machine, so that a report can be
/// repeated.
const ORDER_SEED: u64 = 0x1A97;

/// A row that runs once per round and is compared with others of its kind.
pub(crate) trait Timed {
    /// Returns its name in a progress line.
    fn label(&self) -> String;

    /// Determines the parameters of the rounds, such as the number of events and the wait strategy.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn settle(&mut self) -> Result<(), Error>;

    /// Runs once without counting.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn warm_up(&mut self) -> Result<(), Error>;

    /// Runs once, checks the answer and stores the run.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn measure(&mut self) -> Result<(), Error>;
}

/// Runs every row once in each of `rounds`, after a round that does not count. After an interrupt,
/// rows can lack runs.
///
/// # Errors
///
/// The first wrong answer or failed run. No results are reported in this case.
pub(crate) fn measure(
    rows: &mut [impl Timed],
    rounds: u32,
    progress: &Progress,
) -> Result<(), Error> {
    progress.stage("calibrating");
    let in_order = (0..rows.len()).collect::<Vec<_>>();
    each(rows, &in_order, progress, Timed::settle)?;

    let mut order = in_order;
    let mut random = fastrand::Rng::with_seed(ORDER_SEED);
    for round in 0..=rounds {
        if interrupt::requested() {
            break;
        }
        progress.stage(&round_name(round, rounds));
        random.shuffle(&mut order);
        let step = if round == 0 { Timed::warm_up } else { Timed::measure };
        each(rows, &order, progress, step)?;
    }
    progress.finish();
    Ok(())
}

/// Runs one `step` of each of `rows`, in this `order`, until an interrupt.
fn each<T: Timed>(
    rows: &mut [T],
    order: &[usize],
    progress: &Progress,
    step: impl Fn(&mut T) -> Result<(), Error>,
) -> Result<(), Error> {
    for index in order.iter().take_while(|_| !interrupt::requested()) {
        let row = &mut rows[*index];
        progress.step(&row.label());
        step(row)?;
    }
    Ok(())
}

/// Returns the number of steps of a whole measurement, as progress counts them.
pub(crate) fn steps(rows: usize, rounds: u32) -> u64 {
    rows as u64 * (u64::from(rounds) + 2)
}

/// Returns the name of a round in the progress.
fn round_name(round: u32, rounds: u32) -> String {
    match round {
        0 => "warm-up round".to_owned(),
        _ => format!("round {round} of {rounds}"),
    }
}
