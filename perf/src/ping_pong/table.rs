//! The table of `lapwing ping-pong`.

use super::Record;
use crate::machine::Machine;
use crate::report::table;
use crate::statistics;

/// The columns; from the third on they hold numbers.
const COLUMNS: [&str; 5] = ["through", "wait", "ns one way", "min .. max", "x bare"];

/// All `records`, the fastest first, and what a reader must know about them.
pub(super) fn of(
    records: &[Record],
    missing: &[(&'static str, String)],
    machine: &Machine,
) -> String {
    let mut sorted = records.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| {
        other.median_events_per_second.total_cmp(&one.median_events_per_second)
    });
    let mut lines = table::empty(&COLUMNS, 2);
    for record in sorted {
        lines.add_row(row(record));
    }
    let mut closing = vec![lines.to_string()];
    closing.extend(missing.iter().map(|(name, reason)| format!("not run: {name}: {reason}")));
    closing.push("one way: half of there and back, the mean of a run".to_owned());
    let runs = records.iter().map(|record| record.runs.len()).sum();
    closing.push(table::verified(records.len(), runs));
    if machine.available_parallelism() < 2 {
        closing.push("two threads on one CPU: this is the scheduler, not the machine".to_owned());
    }
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn row(record: &Record) -> [String; COLUMNS.len()] {
    let one_way = |exchanges_per_second: f64| 1e9 / exchanges_per_second / 2.0;
    let spread = statistics::spread(record.runs.iter().map(|run| one_way(run.events_per_second)));
    let or_none = |text: Option<String>| text.unwrap_or_else(|| table::NONE.to_owned());
    let times = record.ratio_to_baseline.map(|speed| table::rounded(1.0 / speed));
    [
        record.contender.to_owned(),
        record.wait.to_owned(),
        table::rounded(one_way(record.median_events_per_second)),
        or_none(spread.map(table::range)),
        or_none(times),
    ]
}
