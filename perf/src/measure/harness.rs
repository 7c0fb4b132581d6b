//! How runs become comparable: contenders are interleaved in rounds, each round in another order,
//! and a first round only warms up. A run whose answer is wrong ends everything; Ctrl-C ends it with what
//! was measured. Not here: what a run is (`row`, `latency`), threads and the clock (`crew`), how results
//! are shown (`report`).
//!
//! ```text
//! settle each row | warm-up round | round 1 | round 2 | ..    a round: every row once, shuffled
//! ```

use crate::measure::error::Error;
use crate::measure::interrupt;
use crate::measure::progress::Progress;

/// Seed of the order within rounds: the same on every machine, so that a report can be repeated.
const ORDER_SEED: u64 = 0x1A97;

/// Something that is run once a round, and compared with others of its kind.
pub(crate) trait Timed {
    /// Its name in a progress line.
    fn label(&self) -> String;

    /// Finds what it needs to know before the rounds: how many events, which wait strategy.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn settle(&mut self) -> Result<(), Error>;

    /// Runs once without counting.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    fn warm_up(&mut self) -> Result<(), Error>;

    /// Runs once, checks the answer and keeps the run.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    fn measure(&mut self) -> Result<(), Error>;
}

/// Runs every row once for each of `rounds`, after a round that does not count. Rows may lack runs if
/// it was interrupted.
///
/// # Errors
///
/// The first wrong answer or failed run; nothing is reported then.
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

/// Lets each of `rows`, in this `order`, take one `step`, until it is interrupted.
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

/// Steps of a whole measurement, as progress counts them.
pub(crate) fn steps(rows: usize, rounds: u32) -> u64 {
    rows as u64 * (u64::from(rounds) + 2)
}

/// How progress calls a round.
fn round_name(round: u32, rounds: u32) -> String {
    match round {
        0 => "warm-up round".to_owned(),
        _ => format!("round {round} of {rounds}"),
    }
}
