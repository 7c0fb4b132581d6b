//! `lapwing throughput`: from arguments to rows, from rows to a report.

use crate::cli::{ThroughputArguments, each_once};
use crate::contenders::{Contender, ContenderName};
use crate::error::Error;
use crate::harness::{self, Schedule};
use crate::machine::Machine;
use crate::neighbours::Neighbours;
use crate::progress::Progress;
use crate::report::{self, Record, json, table};
use crate::row::Row;
use crate::topologies::Topology;
use crate::workload::Workload;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "throughput";

/// What is compared, over what, how often.
pub(crate) struct Plan {
    /// The configurations.
    pub(crate) topologies: Vec<Topology>,
    /// Who runs each of them.
    pub(crate) contenders: Vec<Box<dyn Contender>>,
    /// What every row moves; calibration may set the number of events.
    pub(crate) workload: Workload,
    /// How many runs, and how long.
    pub(crate) schedule: Schedule,
}

/// Measures and reports what `arguments` ask for.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ThroughputArguments) -> Result<(), Error> {
    if let Some(path) = &arguments.json {
        json::check(path)?;
    }
    let mut machine = Machine::detect();
    report::print(&machine.to_string())?;

    let records = measure(&plan(arguments), &mut machine)?;
    report::print(&table::detailed(&records))?;
    report::print(&table::closing(&records, &machine))?;

    if let Some(path) = &arguments.json {
        json::write(path, &machine, &records)?;
    }
    Ok(())
}

/// Runs every contender of `plan` in each of its topologies; notes in `machine` how busy others
/// kept it.
///
/// # Errors
///
/// The first wrong answer or failed run.
pub(crate) fn measure(plan: &Plan, machine: &mut Machine) -> Result<Vec<Record>, Error> {
    let mut rows = rows(plan);
    let progress = Progress::new(harness::steps(rows.len(), &plan.schedule));
    let neighbours = Neighbours::watch();
    harness::measure(&mut rows, &plan.schedule, &progress)?;
    machine.cpus_used_by_others = neighbours.cpus_used();
    Ok(Record::of_rows(BENCHMARK, &rows))
}

/// One row for each contender in each topology.
pub(crate) fn rows(plan: &Plan) -> Vec<Row<'_>> {
    let mut rows = Vec::with_capacity(plan.topologies.len() * plan.contenders.len());
    for topology in &plan.topologies {
        for contender in &plan.contenders {
            rows.push(Row::new(*topology, contender.as_ref(), plan.workload));
        }
    }
    rows
}

/// The plan that `arguments` describe.
fn plan(arguments: &ThroughputArguments) -> Plan {
    let waits = each_once(&arguments.wait, &[]);
    let contenders = each_once(&arguments.contender, &ContenderName::ALL);
    Plan {
        topologies: each_once(&arguments.topology, &Topology::ALL),
        contenders: contenders.into_iter().flat_map(|contender| contender.enlist(&waits)).collect(),
        workload: Workload {
            events: arguments.events.unwrap_or(1),
            ring: arguments.ring,
            event_bytes: arguments.event_bytes,
            publish: arguments.publish,
        },
        schedule: Schedule {
            runs: arguments.runs,
            run_time: arguments.seconds_per_run,
            events: arguments.events,
        },
    }
}
