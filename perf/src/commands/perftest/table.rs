//! The tables of `lapwing perftest`: a line for each test, and the round trips.

use lapwing_lab_stats::Percentiles;

use super::record::Record;
use crate::machine::Machine;
use crate::report::table;

/// The columns of the tests; from the third on they hold numbers.
const COLUMNS: [&str; 8] =
    ["test", "shape", "M ops/s", "min .. max", "events/batch", "batch %", "CPUs", "threads"];
/// The columns of the round trips; from the second on they hold numbers.
const ROUND_TRIPS: [&str; 8] =
    ["round trip, ns", "count", "min", "mean", "50 %", "99 %", "99.9 %", "max"];

/// All `records`, in their order, and what a reader must know about them.
pub(super) fn of(records: &[Record], machine: &Machine) -> String {
    let cpus = machine.available_parallelism();
    let mut tests = table::empty(&COLUMNS, 2);
    for record in records {
        tests.add_row(row(record));
    }
    let mut round_trips = table::empty(&ROUND_TRIPS, 1);
    let mut segments = records.iter().flat_map(|record| &record.segments).peekable();
    let has_round_trips = segments.peek().is_some();
    segments.for_each(|segment| {
        round_trips.add_row(round_trip(segment));
    });

    let mut lines = vec![table::fitted(tests, &["min .. max", "CPUs", "events/batch", "shape"])];
    if has_round_trips {
        lines.push(format!("\n{}", table::fitted(round_trips, &["count", "min", "99.9 %"])));
        lines.push(
            "round-trip-corrected: as LMAX counts, with those that were not sent meanwhile"
                .to_owned(),
        );
    }
    lines.push(
        "ops: as LMAX counts, each number of an array; batch %: its BatchPercent, 1 - batches / events"
            .to_owned(),
    );
    lines.push(table::verified(records.iter().map(|record| &record.speed)));
    if records.iter().any(|record| record.speed.threads > cpus) {
        lines.push(format!(
            "on {cpus} usable CPUs the scheduler counts where there are more threads"
        ));
    }
    lines.extend(table::disturbance(machine));
    lines.join("\n")
}

fn row(record: &Record) -> [String; COLUMNS.len()] {
    let Record { topology: test, shape, speed, .. } = record;
    [
        (*test).to_owned(),
        (*shape).to_owned(),
        table::rounded(speed.median_events_per_second / 1e6),
        table::or_none(speed.spread(|run| run.events_per_second / 1e6), table::range),
        table::or_none(speed.events_per_batch(), table::rounded),
        table::or_none(record.batch_percent(), |percent| format!("{percent:.2}")),
        table::or_none(speed.cpus(), table::rounded),
        speed.threads.to_string(),
    ]
}

fn round_trip(segment: &Percentiles) -> [String; ROUND_TRIPS.len()] {
    let Percentiles { name, count, min_ns, mean_ns, p50_ns, p99_ns, p99_9_ns, max_ns, .. } =
        segment;
    [
        name.clone(),
        count.to_string(),
        min_ns.to_string(),
        format!("{mean_ns:.0}"),
        p50_ns.to_string(),
        p99_ns.to_string(),
        p99_9_ns.to_string(),
        max_ns.to_string(),
    ]
}
