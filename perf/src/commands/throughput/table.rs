//! The table of `lapwing throughput`.

use super::Record;
use crate::contenders::WaitName;
use crate::load::topologies::Topology;
use crate::machine::Machine;
use crate::report::Missing;
use crate::report::settings::{DEFAULT_PLACEMENT, Settings};
use crate::report::{distinct, strategies, table};

/// The columns of [`detailed`]; from the fourth on they hold numbers. One has the baseline's name.
const COLUMNS: usize = 9;

/// Whose strategies are compared with each other.
const OWN: &str = "lapwing";

/// Every record: a block for each topology, its rows ordered by speed; then a line for each contender that is `missing`.
pub(crate) fn detailed(records: &[Record], missing: &[Missing]) -> String {
    let baseline = records.iter().find_map(|record| record.speed.baseline).unwrap_or("baseline");
    let times = format!("x {baseline}");
    let columns: [&str; COLUMNS] = [
        "topology",
        "contender",
        "wait",
        "M events/s",
        "min .. max",
        &times,
        "95 %",
        "events/batch",
        "CPUs",
    ];
    let settings = settings(records);
    let mut lines = table::empty(&columns, 3);
    for topology in topologies(records) {
        let mut block = of_topology(records, topology);
        block.sort_by(|left, right| speed(right).total_cmp(&speed(left)));
        for (position, record) in block.into_iter().enumerate() {
            let heading = if position == 0 { heading(topology) } else { String::new() };
            lines.add_row(detailed_row(heading, record, settings));
        }
    }
    let lines =
        table::fitted(lines, &["95 %", "CPUs", "min .. max", &times, "wait", "events/batch"]);
    [lines].into_iter().chain(table::absences(missing)).collect::<Vec<_>>().join("\n")
}

/// What a reader must know about the numbers above it.
pub(crate) fn closing(records: &[Record], machine: &Machine) -> String {
    let speeds = records.iter().map(|record| &record.speed);
    let mut lines = vec![table::verified(speeds) + " at every consumer"];

    let cpus = machine.available_parallelism();
    let is_crowded = |row: &&Record| row.speed.threads > cpus;
    let crowded = topologies(records)
        .into_iter()
        .filter(|topology| of_topology(records, *topology).iter().any(is_crowded));
    let names = crowded.map(Topology::name).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        lines.push(format!(
            "more threads than the {cpus} usable CPUs, so the scheduler counts: {names}"
        ));
    }
    let pinned = topologies(records)
        .into_iter()
        .filter(|topology| of_topology(records, *topology).iter().any(|row| row.speed.pinned));
    let names = pinned.map(Topology::name).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        lines.push(format!("each thread bound to a CPU of its own: {names}"));
    }
    lines.extend(topologies(records).into_iter().filter_map(|topology| {
        let own = of_topology(records, topology).into_iter().filter(|row| {
            row.contender == OWN && row.placement.as_deref() == Some(DEFAULT_PLACEMENT)
        });
        let rows = own.map(|row| (row.wait, &row.speed));
        strategies::default_against_best(topology.name(), WaitName::Adaptive.name(), rows)
    }));
    lines.extend(settings(records).note());
    lines.extend(table::disturbance(machine));
    lines.join("\n")
}

/// One row of [`detailed`].
fn detailed_row(heading: String, record: &Record, settings: Settings) -> [String; COLUMNS] {
    let Record { contender, wait, placement, speed: row, .. } = record;
    [
        heading,
        (*contender).to_owned(),
        settings.name(wait, placement.as_deref()),
        millions(row.median_events_per_second),
        table::or_none(row.spread(|run| run.events_per_second / 1e6), table::range),
        table::or_none(row.ratio_to_baseline, table::rounded),
        table::or_none(row.ratio_interval, |(low, high)| table::interval(low, high)),
        table::or_none(row.events_per_batch(), table::rounded),
        table::or_none(row.cpus(), table::rounded),
    ]
}

/// How the rows say what they are set to.
fn settings(records: &[Record]) -> Settings {
    Settings::of(records.iter().map(|record| record.placement.as_deref()))
}

/// Its median, in events per second.
fn speed(record: &Record) -> f64 {
    record.speed.median_events_per_second
}

/// A topology with its shape.
fn heading(topology: Topology) -> String {
    format!("{} {}", topology.name(), topology.shape())
}

/// The topologies of `records`, each once, in the order of their first record.
fn topologies(records: &[Record]) -> Vec<Topology> {
    distinct(records.iter().map(|record| record.topology))
}

/// The records of one topology.
fn of_topology(records: &[Record], topology: Topology) -> Vec<&Record> {
    let block = records.iter().filter(|record| record.topology == topology);
    block.collect()
}

/// A number of events per second, in millions.
fn millions(events_per_second: f64) -> String {
    table::rounded(events_per_second / 1e6)
}
