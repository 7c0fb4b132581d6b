//! The tables of `lapwing-lab processes`: streams, round trips and idle processes, a line for each
//! row of a cell.

use lapwing_lab_stats::median;

use super::{
    BASELINE, HALF_P50, HALF_P99, IDLE_ALL, IDLE_READER, IDLE_WRITER, LEFT, LOAD, PAUSE_US,
    PUBLISH, VIEW, WAITS_BY,
};
use crate::contenders::processes::Across;
use crate::record::{Key, Record, by, by_cell, figure};
use crate::view::{Bar, Bars, Chart, Column, Table, column, text};

/// Returns a table for each load that was measured.
pub(super) fn of(records: &[&Record]) -> Vec<Table> {
    let loads = by(records, |record| record.text(LOAD));
    let tables = loads.into_iter().map(|(load, records)| match &*load {
        "stream" => table("Streams", &sorted(&records, by_rate), streams()),
        "idle" => table("Idle processes", &records, idle()),
        "pause" => {
            let pause = records.first().map_or_else(String::new, |record| record.text(PAUSE_US));
            let caption = format!("A single event after a pause of {pause} us: one way");
            table(&caption, &sorted(&records, by_half), round_trips(&records))
        }
        _ => {
            let columns = round_trips(&records);
            table("Single events back to back: one way", &sorted(&records, by_half), columns)
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

fn round_trips<'a>(records: &'a [&'a Record]) -> Vec<Column<'a>> {
    let times = |record: &Record| times_as_long(records, record).map(text::rounded);
    vec![
        column::contender(),
        column::setting(),
        column::label("waits by", WAITS_BY),
        column::median("p50 ns", HALF_P50, column::same),
        column::range(HALF_P50, column::same).leaves(2),
        column::median("p99 ns", HALF_P99, column::same),
        Column::numbers("x lapwing-shared", times).leaves(1),
    ]
}

/// Returns the median of the per-round ratios of the median time to that of `lapwing-shared`. A ratio
/// of rates would compare means, which a few preemptions decide.
fn times_as_long(records: &[&Record], record: &Record) -> Option<f64> {
    let baseline = |other: &&&Record| other.contender == BASELINE && other.cell == record.cell;
    let baseline = records.iter().find(baseline)?;
    let rounds = record.each(HALF_P50).zip(baseline.each(HALF_P50));
    median(rounds.map(|(one, other)| one / other))
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
        percent("all CPU %", IDLE_ALL),
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
             both ends if they sleep; p50 and p99: medians of those of each run; ratios are of p50"
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
                    iceoryx2, disruptor-mp, ringfire and aeron-ipc poll for room, the others sleep";
        notes.push(both.to_owned());
    }
    if records.iter().any(|record| record.contender == Across::AeronIpc.name()) {
        let driver = "aeron-ipc: its media driver is one process more, whose CPU time counts";
        notes.push(driver.to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::runner::known;

    /// A row of round trips whose rounds had these medians.
    fn record(contender: &str, halves: [f64; 3]) -> Record {
        let mut record = Record::new(VIEW.experiment, contender, 2).in_cell(LOAD, "back-to-back");
        let run = |half| known([(HALF_P50, Some(half)), (HALF_P99, Some(900.0))]);
        record.runs = halves.map(run).into();
        record
    }

    #[test]
    fn the_ratio_of_single_events_is_that_of_their_medians_in_each_round() {
        let own = record(BASELINE, [100.0, 200.0, 100.0]);
        let rival = record("pipe", [300.0, 400.0, 500.0]);
        let tables = of(&[&rival, &own]);
        let cells = |row: usize| tables[0].rows[row].cells.join("|");
        assert_eq!(cells(0), "lapwing-shared|||100|100 .. 200|900|1.00");
        assert_eq!(cells(1), "pipe|||400|300 .. 500|900|3.00");
        assert!(tables[0].rows[0].is_own && !tables[0].rows[1].is_own);
    }

    #[test]
    fn files_that_are_left_are_said() {
        let mut tidy = record(BASELINE, [1.0; 3]);
        tidy.runs[0].insert(LEFT.to_owned(), 0.0);
        let mut untidy = record("disruptor-mp", [1.0; 3]);
        untidy.runs[1].insert(LEFT.to_owned(), 3.0);
        assert_eq!(leavers(&[&tidy]), None);
        assert!(leavers(&[&tidy, &untidy]).unwrap().ends_with("removed: disruptor-mp 3"));
    }
}
