//! The tables of `lapwing-lab processes`: streams, round trips and idle processes, a line for each
//! row of a cell.

use super::{
    BASELINE, HALF_P50, HALF_P99, IDLE_ALL, IDLE_READER, IDLE_WRITER, LEFT, LOAD, PAUSE_US,
    PUBLISH, VIEW, WAITS_BY,
};
use crate::record::{Key, Record, by, by_cell, figure};
use crate::view::{Bar, Bars, Chart, Column, Table, column};

/// Returns a table for each load that was measured.
pub(super) fn of(records: &[&Record]) -> Vec<Table> {
    let loads = by(records, |record| record.text(LOAD));
    let tables = loads.into_iter().map(|(load, records)| match &*load {
        "stream" => table("Streams", &sorted(&records, by_rate), streams()),
        "idle" => table("Idle processes", &records, idle()),
        "pause" => {
            let pause = records.first().map_or_else(String::new, |record| record.text(PAUSE_US));
            let caption = format!("A single event after a pause of {pause} us: one way");
            table(&caption, &sorted(&records, by_half), round_trips())
        }
        _ => {
            table("Single events back to back: one way", &sorted(&records, by_half), round_trips())
        }
    });
    tables.collect()
}

/// Returns a table in which the rows of this repository's way between processes stand out.
fn table(caption: &str, records: &[&Record], columns: Vec<Column<'_>>) -> Table {
    let mut table = Table::of(caption, records, columns);
    for (row, record) in table.rows.iter_mut().zip(records) {
        row.is_own = record.contender == BASELINE;
    }
    table
}

/// Returns the records of each cell in this order.
fn sorted<'a>(records: &[&'a Record], order: fn(&Record) -> f64) -> Vec<&'a Record> {
    let mut cells = by_cell(records);
    for cell in &mut cells {
        cell.sort_by(|one, other| order(one).total_cmp(&order(other)));
    }
    cells.concat()
}

/// The fastest first.
fn by_rate(record: &Record) -> f64 {
    -record.rate()
}

/// The shortest first.
fn by_half(record: &Record) -> f64 {
    record.median(HALF_P50).unwrap_or(f64::INFINITY)
}

fn streams<'a>() -> Vec<Column<'a>> {
    vec![
        column::number("readers", Key::CONSUMERS),
        column::number("bytes", Key::EVENT_BYTES),
        column::number("slots", Key::RING).leaves(1),
        column::label("publish", PUBLISH).leaves(2),
        column::contender(),
        column::setting(),
        column::median("M events/s", figure::PER_SECOND, column::millions),
        column::range(figure::PER_SECOND, column::millions).leaves(5),
        column::ratio_to("x lapwing-shared"),
        column::batch().leaves(3),
        column::cpus().leaves(4),
    ]
}

fn round_trips<'a>() -> Vec<Column<'a>> {
    vec![
        column::contender(),
        column::setting(),
        column::label("waits by", WAITS_BY),
        column::median("p50 ns", HALF_P50, column::same),
        column::range(HALF_P50, column::same).leaves(2),
        column::median("p99 ns", HALF_P99, column::same),
        column::times_as_long("x lapwing-shared").leaves(1),
    ]
}

fn idle<'a>() -> Vec<Column<'a>> {
    let percent = |name, figure: &'static str| {
        Column::numbers(name, move |record: &Record| Some(format!("{:.2}", record.median(figure)?)))
    };
    vec![
        column::contender(),
        column::setting(),
        column::label("waits by", WAITS_BY),
        percent("writer CPU %", IDLE_WRITER).leaves(1),
        percent("reader CPU %", IDLE_READER).leaves(2),
        percent("both CPU %", IDLE_ALL),
        column::range(IDLE_ALL, column::same).leaves(3),
    ]
}

/// Returns the rates of streams as bars.
pub(super) fn charts(records: &[&Record]) -> Vec<Chart> {
    let streams = records.iter().copied().filter(|record| record.text(LOAD) == "stream");
    let cells = by_cell(&sorted(&streams.collect::<Vec<_>>(), by_rate));
    let groups = cells.iter().map(|cell| {
        let [readers, bytes, slots] = [Key::CONSUMERS, Key::EVENT_BYTES, Key::RING]
            .map(|key| cell.first().map_or_else(String::new, |record| record.text(key)));
        let heading = format!("{readers} readers, events of {bytes} bytes, {slots} slots");
        (heading, cell.iter().map(|record| Bar::of(record, column::millions)).collect())
    });
    let groups = groups.collect::<Vec<_>>();
    if groups.is_empty() {
        return Vec::new();
    }
    let caption = "Millions of events per second to each reader; longer is better. The bar is the \
                   median run, the thin line spans the slowest and the fastest run.";
    let bars = Bars { unit: "million events per second".to_owned(), groups };
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

/// Returns how to read the tables, and who leaves files behind.
pub(super) fn notes(records: &[&Record]) -> Vec<String> {
    let has = |load: &str| records.iter().any(|record| record.text(LOAD) == load);
    let mut notes = Vec::new();
    if has("back-to-back") || has("pause") {
        notes.push(
            "one way: half of a round trip, with one read of the clock, and with the wake-ups of \
             both ends if they sleep; p50 and p99: medians of those of each run"
                .to_owned(),
        );
    }
    if has("idle") {
        notes.push(
            "idle: the reader waits for an event, and the writer is attached and has nothing to \
             send; CPU %: of one CPU, all threads of a process"
                .to_owned(),
        );
    }
    if has("stream") {
        let both = "streams: a contender with several ways to wait has the fastest; the writers of \
                    iceoryx2, disruptor-mp and ringfire poll for room, the others sleep";
        notes.push(both.to_owned());
    }
    notes.push("lapwing: threads of one process, for comparison; all others: processes".to_owned());
    notes.extend(leavers(records));
    notes
}

/// Returns which contenders leave files behind when all their processes have ended in order.
fn leavers(records: &[&Record]) -> Option<String> {
    let named = by(records, |record| record.contender.clone());
    let most = named.into_iter().filter_map(|(contender, records)| {
        let files = records.iter().filter_map(|record| Some(record.range(LEFT)?.1));
        let most = files.fold(0.0, f64::max);
        (most > 0.0).then(|| format!("{contender} {most:.0}"))
    });
    let most = most.collect::<Vec<_>>();
    let line =
        "most files left after a run whose processes ended in order, which were then removed";
    (!most.is_empty()).then(|| format!("{line}: {}", most.join(", ")))
}
