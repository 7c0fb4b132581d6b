//! The table of `lapwing contention`, beside the paper's.

use super::Record;
use crate::machine::Machine;
use crate::report::table;

/// The columns; from the third on they hold numbers.
const COLUMNS: [&str; 6] =
    ["a counter incremented by", "case", "ns", "min .. max", "x one thread", "ns in the paper"];

/// All `records`, in their order, and what a reader must know about them.
pub(super) fn of(records: &[Record], machine: &Machine) -> String {
    let mut lines = table::empty(&COLUMNS, 2);
    for record in records {
        lines.add_row(row(record));
    }
    let most_threads = records.iter().map(|record| record.speed.threads).max().unwrap_or(1);
    let mut closing = vec![
        table::fitted(lines, &["min .. max", "case", "ns in the paper"]),
        "ns: from one increment to the next, of whichever thread; the paper: Java, Westmere, 2011"
            .to_owned(),
        table::verified(records.iter().map(|record| &record.speed)),
    ];
    if most_threads > machine.available_parallelism() {
        closing.push(
            "two threads on one CPU take turns and do not contend: their rows mean nothing here"
                .to_owned(),
        );
    }
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn row(record: &Record) -> [String; COLUMNS.len()] {
    let Record { contender: case, speed, .. } = record;
    let nanoseconds = |events_per_second: f64| 1e9 / events_per_second;
    [
        case.description().to_owned(),
        case.name().to_owned(),
        table::rounded(nanoseconds(speed.median_events_per_second)),
        table::or_none(speed.spread(|run| nanoseconds(run.events_per_second)), table::range),
        table::or_none(speed.ratio_to_baseline, |ratio| table::rounded(1.0 / ratio)),
        table::or_none(record.nanoseconds_in_paper, table::rounded),
    ]
}
