//! The tables on standard output, in Markdown, so that they can be pasted into a report as they
//! are.

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::machine::Machine;
use crate::report::Record;
use crate::statistics::{self, Spread};
use crate::topologies::Topology;

/// The columns of [`detailed`]; from the fourth on they hold numbers.
const COLUMNS: [&str; 7] =
    ["topology", "contender", "wait", "M events/s", "min .. max", "x baseline", "events/batch"];

/// CPUs that others may use on a machine that still counts as quiet.
const QUIET_CPUS: f64 = 0.1;

/// What stands where there is no value.
pub(crate) const NONE: &str = "-";

/// Every record: a block for each topology, its rows ordered by speed.
pub(crate) fn detailed(records: &[Record]) -> String {
    let mut table = empty(&COLUMNS, 3);
    for topology in topologies(records) {
        let mut block = of_topology(records, topology);
        block.sort_by(|left, right| {
            right.median_events_per_second.total_cmp(&left.median_events_per_second)
        });
        for (position, record) in block.into_iter().enumerate() {
            let heading = if position == 0 { heading(topology) } else { String::new() };
            table.add_row(detailed_row(heading, record));
        }
    }
    table.to_string()
}

/// One line for each topology, one column for each contender; the fastest of a line has a star.
pub(crate) fn summary(records: &[Record]) -> String {
    let contenders = contenders(records);
    let mut columns = vec!["M events/s"];
    columns.extend(&contenders);

    let mut table = empty(&columns, 1);
    for topology in topologies(records) {
        let block = of_topology(records, topology);
        let best = block.iter().map(|record| record.median_events_per_second).fold(0.0, f64::max);

        let mut row = vec![heading(topology)];
        row.extend(contenders.iter().map(|contender| {
            let record = block.iter().find(|record| record.contender == *contender);
            record.map_or_else(|| NONE.to_owned(), |record| starred(record, best))
        }));
        table.add_row(row);
    }
    format!("{table}\n* fastest of its line")
}

/// What a reader must know about the numbers above it.
pub(crate) fn closing(records: &[Record], machine: &Machine) -> String {
    let rows = records.len();
    let runs = records.iter().map(|record| record.runs.len()).sum::<usize>();
    let mut lines = vec![verified(rows, runs) + " at every consumer"];

    let cpus = machine.available_parallelism();
    let crowded = topologies(records).filter(|topology| topology.threads() > cpus);
    let names = crowded.map(Topology::name).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        lines.push(format!(
            "more threads than the {cpus} usable CPUs, so the scheduler counts: {names}"
        ));
    }
    lines.extend(disturbance(machine));
    lines.join("\n")
}

/// That every run gave the right answer: there is no report otherwise.
pub(crate) fn verified(rows: usize, runs: usize) -> String {
    format!("all verified: {rows} rows, {runs} runs, the right answer")
}

/// A warning, if others used the machine meanwhile.
pub(crate) fn disturbance(machine: &Machine) -> Option<String> {
    let others = machine.cpus_used_by_others.filter(|cpus| *cpus > QUIET_CPUS)?;
    Some(format!(
        "others used {others:.2} CPUs meanwhile: repeat on a quiet machine before you compare"
    ))
}

/// A table without rows, whose columns from `first_number` on are aligned to the right.
pub(crate) fn empty(columns: &[&str], first_number: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(columns.iter().map(Cell::new));
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// One row of [`detailed`].
fn detailed_row(heading: String, record: &Record) -> [String; COLUMNS.len()] {
    let spread = statistics::spread(record.runs.iter().map(|run| run.events_per_second / 1e6));
    let events_per_batch = statistics::median(record.runs.iter().map(|run| run.events_per_batch));
    let none = || NONE.to_owned();
    [
        heading,
        record.contender.to_owned(),
        record.wait.to_owned(),
        millions(record.median_events_per_second),
        spread.map_or_else(none, range),
        record.ratio_to_baseline.map_or_else(none, rounded),
        events_per_batch.map_or_else(none, rounded),
    ]
}

/// A cell of [`summary`].
fn starred(record: &Record, best: f64) -> String {
    let star = if record.median_events_per_second >= best { "*" } else { "" };
    format!("{}{star}", millions(record.median_events_per_second))
}

/// A topology with its shape.
fn heading(topology: Topology) -> String {
    format!("{} {}", topology.name(), topology.shape())
}

/// The topologies of `records`, each once, in the order of their first record.
fn topologies(records: &[Record]) -> impl Iterator<Item = Topology> {
    let mut seen = Vec::new();
    for record in records {
        if !seen.contains(&record.topology) {
            seen.push(record.topology);
        }
    }
    seen.into_iter()
}

/// The contenders of `records`, each once, in the order of their first record.
fn contenders(records: &[Record]) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for record in records {
        if !seen.contains(&record.contender) {
            seen.push(record.contender);
        }
    }
    seen
}

/// The records of one topology.
fn of_topology(records: &[Record], topology: Topology) -> Vec<&Record> {
    let block = records.iter().filter(|record| record.topology == topology);
    block.collect()
}

/// A range of numbers.
pub(crate) fn range(spread: Spread) -> String {
    format!("{} .. {}", rounded(spread.min), rounded(spread.max))
}

/// A number of events per second, in millions.
fn millions(events_per_second: f64) -> String {
    rounded(events_per_second / 1e6)
}

/// A number with as many decimals as a reader can use.
pub(crate) fn rounded(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
