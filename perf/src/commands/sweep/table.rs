//! The table of `lapwing sweep`: a line for each contender and load.

use crate::commands::delays::Record;
use crate::machine::Machine;
use crate::report::Missing;
use crate::report::settings::Settings;
use crate::report::table;

/// The columns; from the third on they hold numbers.
const COLUMNS: [&str; 9] =
    ["contender", "wait", "offered/s", "achieved/s", "50 % ns", "90 %", "99 %", "99.9 %", "CPUs"];

/// All `records`, the `missing` contenders, and notes for the reader.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let settings = Record::settings(records);
    let mut lines = table::empty(&COLUMNS, 2);
    for record in records {
        lines.add_row(row(record, settings));
    }
    let runs = records.iter().map(|record| record.runs.len()).sum::<usize>();
    let mut closing = vec![table::fitted(lines, &["CPUs", "90 %", "wait", "99.9 %"])];
    closing.extend(table::absences(missing));
    closing.extend([
        format!(
            "all verified: {} rows, {runs} runs, every event in order at the end",
            records.len()
        ),
        "saturated: the load was too much, so the delays grow with time and the curve ends"
            .to_owned(),
    ]);
    let threads = records.iter().map(|record| record.threads).max().unwrap_or(1);
    let cpus = machine.available_parallelism();
    if threads > cpus {
        closing.push(format!("{threads} threads on {cpus} usable CPUs, so the scheduler counts"));
    }
    closing.extend(settings.note());
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn row(record: &Record, settings: Settings) -> Vec<String> {
    let mark = if record.saturated { " (saturated)" } else { "" };
    let mut row = vec![
        record.contender.to_owned(),
        settings.name(record.wait, record.placement.as_deref()),
        format!("{:.0}", record.offered_per_second),
        format!("{:.0}{mark}", record.achieved_per_second),
    ];
    row.extend(record.segments.iter().flat_map(|way| {
        [way.p50_ns, way.p90_ns, way.p99_ns, way.p99_9_ns].map(|delay| delay.to_string())
    }));
    row.push(table::or_none(record.cpus(), table::rounded));
    row
}
