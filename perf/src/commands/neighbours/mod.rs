//! `lapwing neighbours`: the paper's five configurations beside busy threads of another process.

mod arguments; // the flags
mod record; // the record of a row
mod row; // one contender in one cell
mod table; // the table
#[cfg(test)]
mod tests; // whole measurements, the format of the JSON and of the table

use std::time::Duration;

pub(crate) use self::arguments::NeighboursArguments;
pub(crate) use self::record::Record;
use self::row::Row;
use crate::commands::session::Session;
use crate::contenders::{Entry, Roster};
use crate::load::topologies::Topology;
use crate::measure::error::Error;
use crate::measure::group::Group;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::report::Missing;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "neighbours";

/// The measured cases, and the number of runs.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The configurations.
    pub(crate) topologies: Vec<Topology>,
    /// Slots of the ring, and of every queue.
    pub(crate) rings: Vec<usize>,
    /// Busy threads of another process during the runs.
    pub(crate) busy_threads: Vec<u32>,
    /// Time that one run should take.
    pub(crate) run_time: Duration,
    /// Counted rounds.
    pub(crate) rounds: u32,
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &NeighboursArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.timed.json.as_deref())?;
    let plan = arguments.plan();
    let Roster { entries, mut missing } = arguments.roster();
    missing.extend(plan.refusals(&entries));
    let records = measure(&plan, &entries, Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Runs each of `entries` in each cell of `plan`.
///
/// # Errors
///
/// The first wrong answer or failed run.
pub(crate) fn measure(
    plan: &Plan,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut cells = plan.cells(entries);
    let progress = progress(harness::steps(cells.len(), plan.rounds));
    harness::measure(&mut cells, plan.rounds, &progress)?;
    Ok(Record::of_cells(&cells))
}

impl Plan {
    /// Returns the cells, ordered by busy threads, then by topology, then by slots.
    fn cells<'a>(&self, entries: &'a [Entry]) -> Vec<Group<Row<'a>>> {
        let mut cells = Vec::new();
        for &busy_threads in &self.busy_threads {
            for &topology in &self.topologies {
                for &ring in &self.rings {
                    let fits = |entry: &&Entry| entry.refusal(topology, ring).is_none();
                    let row =
                        |entry| Row::new(topology, entry, (ring, busy_threads), self.run_time);
                    let rows = entries.iter().filter(fits).map(row).collect();
                    let label = format!("{} {ring} beside {busy_threads}", topology.name());
                    cells.push(Group::new(label, rows, busy_threads));
                }
            }
        }
        cells
    }

    /// Returns those of `entries` that do not take part in a cell.
    fn refusals(&self, entries: &[Entry]) -> Vec<Missing> {
        let cells = self
            .topologies
            .iter()
            .flat_map(|&topology| self.rings.iter().map(move |&ring| (topology, ring)));
        cells
            .flat_map(|(topology, ring)| {
                entries.iter().filter_map(move |entry| entry.refusal(topology, ring))
            })
            .collect()
    }
}
