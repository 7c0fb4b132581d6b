//! The tables of `lapwing latency`: the whole way, and each hop.

use crate::commands::delays::{Record, Segment};
use crate::load::paced::Clock;
use crate::machine::Machine;
use crate::report::Missing;
use crate::report::table;

/// The columns of the whole way; from the third on they hold numbers.
const COLUMNS: [&str; 12] = [
    "end to end, ns",
    "wait",
    "min",
    "mean",
    "50 %",
    "90 %",
    "99 %",
    "99.9 %",
    "99.99 %",
    "max",
    "events/s",
    "CPUs",
];
/// The columns of the hops; from the third on they hold numbers.
const HOPS: [&str; 8] =
    ["per hop, ns", "wait", "mean of 1", "of 2", "of 3", "99 % of 1", "of 2", "of 3"];

/// All `records`, the shortest median first, the `missing` contenders, and notes for the reader.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let mut sorted = records.iter().collect::<Vec<_>>();
    sorted.sort_by_key(|record| record.segments.last().map(|way| way.p50_ns));
    let settings = Record::settings(records);
    let mut ways = table::empty(&COLUMNS, 2);
    let mut hops = table::empty(&HOPS, 2);
    for record in sorted {
        let setting = settings.name(record.wait, record.placement.as_deref());
        ways.add_row(way(record, setting.clone()));
        hops.add_row(per_hop(record, setting));
    }
    let mut lines = vec![
        table::fitted(ways, &["CPUs", "events/s", "90 %", "min", "wait", "99.99 %", "mean"]),
        String::new(),
        table::fitted(hops, &["wait"]),
    ];
    lines.extend(table::absences(missing));
    lines.extend(notes(records, machine));
    lines.join("\n")
}

fn way(record: &Record, setting: String) -> Vec<String> {
    let mark = if record.saturated { " (saturated)" } else { "" };
    let mut row = vec![format!("{}{mark}", record.contender), setting];
    row.extend(record.segments.last().into_iter().flat_map(percentiles));
    row.push(format!("{:.0}", record.achieved_per_second));
    row.push(table::or_none(record.cpus(), table::rounded));
    row
}

fn percentiles(way: &Segment) -> [String; 8] {
    let Segment { min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, max_ns, .. } = way;
    let [min, p50, p90, p99, p99_9, p99_99, max] =
        [min_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, max_ns].map(u64::to_string);
    [min, format!("{mean_ns:.0}"), p50, p90, p99, p99_9, p99_99, max]
}

fn per_hop(record: &Record, setting: String) -> Vec<String> {
    let hops = &record.segments[..record.segments.len() - 1];
    let mut row = vec![record.contender.to_owned(), setting];
    row.extend(hops.iter().map(|hop| format!("{:.0}", hop.mean_ns)));
    row.extend(hops.iter().map(|hop| hop.p99_ns.to_string()));
    row
}

/// What a reader must know about the numbers.
fn notes(records: &[Record], machine: &Machine) -> Vec<String> {
    let runs = records.iter().map(|record| record.runs.len()).sum::<usize>();
    let mut notes = vec![
        format!(
            "all verified: {} rows, {runs} runs, every event in order at the end",
            records.len()
        ),
        format!(
            "a delay begins when the event was to be sent; a look at the clock takes {:.0} ns, and \
             no-hand-off shows what this machine adds by itself",
            Clock::new().cost()
        ),
    ];
    let threads = records.iter().map(|record| record.threads).max().unwrap_or(1);
    let cpus = machine.available_parallelism();
    if threads > cpus {
        notes.push(format!(
            "{threads} threads on {cpus} usable CPUs: above the median this is the scheduler"
        ));
    }
    if records.iter().any(|record| record.saturated) {
        notes
            .push("saturated: it could not take the load, so its delays grow with time".to_owned());
    }
    notes.extend(Record::settings(records).note());
    notes.extend(table::disturbance(machine));
    notes
}
