//! `lapwing oversubscribed`: several producers, and several consumers that share the events, on the
//! CPUs of this machine.

mod arguments; // the flags
mod cell; // a number of producers and a number of consumers
mod lane; // one contender in one cell
mod record; // the record of a row
mod table; // the table
#[cfg(test)]
mod tests; // every contender, a wrong answer, the format of the JSON and of the table

pub(crate) use self::arguments::OversubscribedArguments;
use self::cell::Cell;
use self::record::Record;
use crate::commands::old_session::Session;
use crate::contenders::{Contender, Entry, Roster};
use crate::load::sharing::{Crowd, Sharing};
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::schedule::Schedule;
use crate::report::Missing;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "oversubscribed";
/// The reason why a contender does not take part.
const CANNOT: &str = "events shared among its consumers are not measured";

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &OversubscribedArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let Roster { entries, missing } = sharing_only(arguments.roster(), arguments.ring);
    let (crowds, ring) = (arguments.crowds(), arguments.ring);
    let records = measure(&crowds, &entries, ring, arguments.schedule(), Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Returns the contenders of `roster` that share events over a ring of this many slots.
fn sharing_only(mut roster: Roster, ring: usize) -> Roster {
    let mut kept = Vec::new();
    for entry in roster.entries {
        match refusal(&entry, ring) {
            None => kept.push(entry),
            Some(missing) => roster.missing.push(missing),
        }
    }
    roster.entries = kept;
    roster
}

/// Returns the reason why `entry` does not take part, if there is one.
fn refusal(entry: &Entry, ring: usize) -> Option<Missing> {
    let reason = |contender: &dyn Contender| {
        let Some(shares) = contender.sharing() else { return Some(CANNOT.to_owned()) };
        let fewest = shares.fewest_slots();
        (ring < fewest).then(|| format!("its ring has at least {fewest} slots: slots={ring}"))
    };
    entry.candidates.iter().find_map(|candidate| {
        let contender = candidate.name().to_owned();
        reason(candidate.as_ref()).map(|reason| Missing { contender, reason })
    })
}

/// Runs each of `entries` in each cell.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    crowds: &[Crowd],
    entries: &[Entry],
    ring: usize,
    schedule: Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let cells = crowds.iter().map(|&crowd| {
        // Calibration settles the number of events.
        let sharing = Sharing { crowd, events: 1, ring, placement: schedule.placement };
        Cell::new(entries, sharing, schedule)
    });
    let mut cells = cells.collect::<Vec<_>>();
    let progress = progress(harness::steps(cells.len(), schedule.runs));
    harness::measure(&mut cells, schedule.runs, &progress)?;
    Ok(Record::of_cells(&cells))
}
