//! `lapwing sweep`: delays against load, from idle to saturation: the J curve of the paper's
//! conclusion.

mod arguments; // the flags
mod table; // the tables
#[cfg(test)]
mod tests; // the format of the JSON, the table, the end of a curve

use std::cell::Cell;
use std::rc::Rc;

pub(crate) use self::arguments::SweepArguments;
use crate::commands::delays::{Carrier, Record, Row, Run, Segment};
use crate::commands::old_session::Session;
use crate::contenders::{Entry, Roster};
use crate::load::paced::Pace;
use crate::measure::error::Error;
use crate::measure::harness::{self, Timed};
use crate::measure::progress::Progress;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "sweep";

/// Runs that decide whether a load is too high.
const TRIES: usize = 3;

/// One load of a curve.
struct Step<'a> {
    row: Row<'a>,
    /// Whether a smaller load of the same curve was already too high.
    ended: Rc<Cell<bool>>,
    /// Whether this load is left out for that reason.
    beyond: bool,
}

impl Step<'_> {
    /// Returns whether one of a few runs sustains the load. On a busy machine, one failure is not
    /// conclusive.
    fn is_sustained(&self) -> Result<bool, Error> {
        for _ in 0..TRIES {
            let run = Run::new(&self.row.pace, &self.row.pass()?);
            if run.sustains(&self.row.pace) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Timed for Step<'_> {
    fn label(&self) -> String {
        self.row.label()
    }

    /// Ends the curve at the first load that is too high. Higher loads give no more information and
    /// take longer.
    fn settle(&mut self) -> Result<(), Error> {
        self.beyond = self.ended.get();
        if self.beyond {
            return Ok(());
        }
        self.row.settle()?;
        self.ended.set(!self.is_sustained()?);
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        if self.beyond { Ok(()) } else { self.row.warm_up() }
    }

    fn measure(&mut self) -> Result<(), Error> {
        if self.beyond { Ok(()) } else { self.row.measure() }
    }
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &SweepArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.paced.json.as_deref())?;
    let Roster { entries, missing } = arguments.paced.roster();
    let records = measure(&entries, &arguments.paces(), arguments.paced.runs, Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Runs the baseline without a hand-off and each of `entries` at each of `paces`, which ascend.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    entries: &[Entry],
    paces: &[Pace],
    runs: u32,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let carriers = entries.iter().map(Carrier::Entry);
    let carriers = [Carrier::Nobody].into_iter().chain(carriers);
    let mut steps = carriers.flat_map(|carrier| curve(carrier, paces)).collect::<Vec<_>>();
    let progress = progress(harness::steps(steps.len(), runs));
    harness::measure(&mut steps, runs, &progress)?;

    let record = |Step { row, .. }: &Step<'_>| {
        Record::new(BENCHMARK, row, vec![Segment::end_to_end(&row.delays)])
    };
    Ok(steps.iter().filter_map(record).collect())
}

/// Returns the steps of one curve.
fn curve<'a>(carrier: Carrier<'a>, paces: &[Pace]) -> impl Iterator<Item = Step<'a>> {
    let ended = Rc::new(Cell::new(false));
    paces.iter().map(move |pace| Step {
        row: Row::new(carrier, *pace),
        ended: Rc::clone(&ended),
        beyond: false,
    })
}
