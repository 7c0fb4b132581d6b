//! The table of `lapwing limits`.

use super::Record;
use crate::machine::Machine;
use crate::report::table;

/// The columns; from the second on they hold numbers, but for the last.
const COLUMNS: [&str; 8] =
    ["limit", "bytes", "ns", "min .. max", "M events/s", "GB/s", "CPUs", "setting"];

/// All `records`, in their order, and what a reader must know about them.
pub(super) fn of(records: &[Record], machine: &Machine) -> String {
    let mut lines = table::empty(&COLUMNS, 1);
    for record in records {
        lines.add_row(row(record));
    }
    let mut closing = vec![
        table::fitted(lines, &["CPUs", "min .. max", "setting", "GB/s"]),
        "exchange: one way of a number that goes there and back, two bare words; stamp-exchange: the next slot of"
            .to_owned(),
        "a ring each way, stamped; slot-exchange: a cursor and the next slot each way; stream: events in blocks"
            .to_owned(),
        "from thread to thread; ring-stream: the same in the memory of a ring of 65,536 events; singles: one by one,"
            .to_owned(),
        "through a ring of 65,536 words and a cursor; small-singles: of 1,024; claims: three threads take numbers"
            .to_owned(),
        "from one counter, and write and stamp a word for each; claims-read: and a fourth reads them; solo-ring: one"
            .to_owned(),
        "thread through Lapwing's ring; solo-loop: without a ring".to_owned(),
        table::verified(records.iter().map(|record| &record.speed)),
    ];
    let is_pair = |record: &Record| record.speed.threads == 2;
    if records.iter().any(is_pair) && machine.available_parallelism() < 2 {
        closing.push(
            "two threads on one CPU take turns: exchanges and stream are no limits here".to_owned(),
        );
    }
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn row(record: &Record) -> [String; COLUMNS.len()] {
    let Record { contender, event_bytes, speed, .. } = record;
    let nanoseconds = |events_per_second: f64| 1e9 / events_per_second;
    let median = speed.median_events_per_second;
    // Numbers that wait for a response, or that no thread reads, move few bytes.
    let moves_bytes = !["exchange", "stamp-exchange", "slot-exchange", "claims", "claims-read"]
        .contains(&record.contender);
    let gigabytes = moves_bytes.then_some(median * *event_bytes as f64 / 1e9);
    [
        (*contender).to_owned(),
        event_bytes.to_string(),
        table::rounded(nanoseconds(median)),
        table::or_none(speed.spread(|run| nanoseconds(run.events_per_second)), table::range),
        table::rounded(median / 1e6),
        table::or_none(gigabytes, table::rounded),
        table::or_none(speed.cpus(), table::rounded),
        setting(record),
    ]
}

/// What was chosen, as it was fastest.
fn setting(record: &Record) -> String {
    let kibibytes = |bytes: usize| bytes >> 10;
    match (record.ring, record.block_bytes.zip(record.buffer_bytes)) {
        (Some(slots), _) => format!("{slots} slots"),
        (None, Some((block, buffer))) => {
            let lines = record.wait.map_or_else(String::new, |lines| format!(", {lines}"));
            format!("{} KiB blocks, {} KiB{lines}", kibibytes(block), kibibytes(buffer))
        }
        (None, None) => record.wait.unwrap_or(table::NONE).to_owned(),
    }
}
