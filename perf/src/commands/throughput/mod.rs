//! `lapwing throughput`: rows from arguments, and a report from rows.

mod arguments; // the flags
mod lane; // one contender in one topology
mod record; // the record of a row
pub(crate) mod table; // the tables on standard output
#[cfg(test)]
mod tests; // the format of the JSON, the tables

pub(crate) use self::arguments::ThroughputArguments;
use self::lane::Lane;
pub(crate) use self::record::Record;
use crate::commands::session::Session;
use crate::contenders::{Entry, Roster};
use crate::flags::values::each_once;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::row::Row;
use crate::measure::schedule::Schedule;
use crate::report::Missing;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "throughput";

/// The topologies, the workload and the number of runs.
pub(crate) struct Plan {
    /// The configurations.
    pub(crate) topologies: Vec<Topology>,
    /// The workload of every row. Calibration can set the number of events.
    pub(crate) workload: Workload,
    /// The number and length of runs.
    pub(crate) schedule: Schedule,
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ThroughputArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let plan = plan(arguments);
    let Roster { entries, mut missing } = arguments.roster();
    missing.extend(refusals(&plan, &entries));

    let records = measure(&plan, &entries, Progress::new)?;
    session.end(&records, &missing, |machine| {
        [table::detailed(&records, &missing), table::closing(&records, machine)].join("\n")
    })
}

/// Returns those of `entries` that do not take part in a topology of `plan`.
fn refusals(plan: &Plan, entries: &[Entry]) -> Vec<Missing> {
    let ring = plan.workload.ring;
    let topologies = plan.topologies.iter();
    topologies
        .flat_map(|&topology| entries.iter().filter_map(move |entry| entry.refusal(topology, ring)))
        .collect()
}

/// Runs each of `entries` in each topology of `plan`.
///
/// # Errors
///
/// The first wrong answer or failed run.
pub(crate) fn measure(
    plan: &Plan,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let Plan { topologies, workload, schedule } = plan;
    let lanes = topologies.iter().flat_map(|&topology| {
        let fits = move |entry: &&Entry| entry.refusal(topology, workload.ring).is_none();
        entries.iter().filter(fits).map(move |entry| Lane::new(topology, entry, *workload))
    });
    let mut rows = lanes.map(|lane| Row::new(lane, *schedule)).collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule.runs));
    harness::measure(&mut rows, schedule.runs, &progress)?;
    Ok(Record::of_rows(&rows))
}

/// Returns the plan that `arguments` describe.
fn plan(arguments: &ThroughputArguments) -> Plan {
    let schedule = arguments.schedule.schedule();
    Plan {
        topologies: each_once(&arguments.topology, &Topology::ALL),
        workload: Workload {
            events: 1, // calibration settles it
            ring: arguments.ring,
            event_bytes: arguments.event_bytes,
            publish: arguments.publish,
            placement: schedule.placement,
        },
        schedule,
    }
}
