//! How the records of `lapwing-lab dispatch` are shown: each segment, then whether the load was what it should be, then
//! the headline as the original publishes it.

use super::trial::{
    EXPECTED_IN_FLIGHT, FULL, LAYOUT, LONGEST_GAP_NS, LONGEST_WAIT_NS, ORCH_WORK_NS, PEAK,
    PERCENTILES, Percentile, ROWS, RT_VENUE, STEADY_MEAN,
};
use crate::record::{OWN, Record, by_cell};
use crate::view::{Bar, Bars, Chart, Column, Table, View, column, text};

/// How its records are shown.
pub(crate) const VIEW: View = View {
    experiment: "dispatch",
    title: "Order dispatch",
    lead: "An order goes from a strategy through one orchestrator to a gateway, waits there for the venue, and comes \
           back. All techniques carry the same orders; orch_work is the work of the orchestrator for each order. A \
           time is a percentile of each run, and then the median over the runs.",
    tables,
    charts,
    notes,
};

/// A longer gap counts as a stall.
const STALL_NS: f64 = 10e6;
/// The relative deviation of orders in flight from Little's law that is accepted.
const TOLERANCE: f64 = 0.1;

/// What a reader must know, and of which records.
type Note = (&'static str, fn(&Record) -> bool);

fn tables(records: &[&Record]) -> Vec<Table> {
    let cells = by_cell(records);
    let mut tables = cells.iter().map(|cell| segments(cell)).collect::<Vec<_>>();
    tables.extend([spread(records), load(records)]);
    tables.extend(PERCENTILES.map(|percentile| headline(&cells, percentile)));
    tables
}

/// Returns the percentiles of each segment, for each technique with one amount of work.
fn segments(cell: &[&Record]) -> Table {
    let caption = format!("orch_work = {} ns, microseconds", cell[0].text(ORCH_WORK_NS));
    let numbers = PERCENTILES.map(|percentile| percentile.name);
    let mut table = Table::empty(caption, &["technique", "segment"], &numbers);
    for record in cell {
        for row in ROWS {
            let mut cells = vec![record.contender.clone(), row.to_owned()];
            let times = PERCENTILES.map(|percentile| record.median(&percentile.of(row)));
            cells.extend(times.map(microseconds));
            table.add(is_own(record), cells);
        }
    }
    table
}

/// Returns the range of the runs, and the CPUs.
fn spread(records: &[&Record]) -> Table {
    let mut columns = vec![work(), technique()];
    columns.extend(PERCENTILES[..2].iter().map(|percentile| {
        Column::numbers(&format!("{}, us", percentile.name), |record| {
            let (low, high) = record.range(&percentile.of(RT_VENUE))?;
            Some(text::interval(low / 1e3, high / 1e3))
        })
    }));
    columns.push(column::cpus());
    Table::of("rt-venue from run to run", records, columns)
}

/// Returns whether the load was what it should be.
fn load(records: &[&Record]) -> Table {
    let whole = |number: f64| format!("{number:.0}");
    let mut columns = vec![
        work(),
        technique(),
        Column::numbers("peak", move |record| record.median(PEAK).map(whole)),
        Column::numbers("max", move |record| longest(record, PEAK).map(whole)),
        Column::numbers("mean", move |record| record.median(STEADY_MEAN).map(whole)),
        Column::numbers("expected", move |record| record.number(EXPECTED_IN_FLIGHT).map(whole)),
        Column::numbers("stalled", |record| {
            Some(format!("{}/{}", stalls(record), record.runs.len()))
        }),
        Column::numbers("gap, us", |record| Some(microseconds(longest(record, LONGEST_GAP_NS)))),
        Column::numbers("full", move |record| Some(whole(full(record)))),
    ];
    if records.iter().any(|record| full(record) > 0.0) {
        columns.push(Column::numbers("wait, us", |record| {
            Some(microseconds(longest(record, LONGEST_WAIT_NS)))
        }));
    }
    Table::of("orders in flight, stalls and full hand-offs", records, columns)
}

/// Returns one percentile of `rt-venue`: a line for each amount of work, a column for each technique.
fn headline(cells: &[Vec<&Record>], percentile: Percentile) -> Table {
    let mut techniques = Vec::<&str>::new();
    for record in cells.iter().flatten() {
        if !techniques.contains(&&*record.contender) {
            techniques.push(&record.contender);
        }
    }
    let caption = format!("{RT_VENUE} {}, us", percentile.name);
    let mut table = Table::empty(caption, &["orch_work, ns"], &techniques);
    for cell in cells {
        let time = |technique: &&str| {
            let record = cell.iter().find(|record| record.contender == *technique);
            microseconds(record.and_then(|record| record.median(&percentile.of(RT_VENUE))))
        };
        let work = cell[0].text(ORCH_WORK_NS);
        table.add(false, [work].into_iter().chain(techniques.iter().map(time)).collect());
    }
    table
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let [median, _, slowest] = PERCENTILES;
    vec![
        bars(VIEW.experiment, "Half of the orders are at most this slow.", records, median),
        bars("dispatch-tail", "One order of a thousand is slower.", records, slowest),
    ]
}

fn bars(name: &str, meaning: &str, records: &[&Record], percentile: Percentile) -> Chart {
    let figure = percentile.of(RT_VENUE);
    let bar = |record: &&Record| Bar {
        name: record.contender.clone(),
        value: record.median(&figure).unwrap_or(0.0) / 1e3,
        range: record.range(&figure).map(|(low, high)| (low / 1e3, high / 1e3)),
        is_own: is_own(record),
    };
    let group = |cell: &Vec<&Record>| {
        let heading = format!("orch_work {} ns", cell[0].text(ORCH_WORK_NS));
        (heading, cell.iter().map(bar).collect())
    };
    let caption = format!(
        "The round trip without the venue's delay, {}: {meaning} The bar is the median run, the thin line spans the \
         runs.",
        percentile.name
    );
    let groups = by_cell(records).iter().map(group).collect();
    Chart::bars(name, &caption, Bars { unit: "microseconds".to_owned(), groups })
}

/// Returns what a reader must know.
fn notes(records: &[&Record]) -> Vec<String> {
    let mut lines = vec![
        "rt-venue: round trip without the time at the venue; venue_late is part of venue_svc, and sched_lag of neither"
            .to_owned(),
        "in flight: peak and mean are medians of the runs, the mean should be the expected one; stalled: runs in which \
         a thread could not run for more than 10 ms, with the longest gap of all; full: orders that found a hand-off \
         full, with their longest wait for room"
            .to_owned(),
    ];
    lines.extend(records.first().map(|record| record.text(LAYOUT)));
    let notes: [Note; 3] = [
        (
            "orders in flight are more than 10 % off rate times mean delay, so the pipeline was overloaded or held up",
            |record| is_as_expected(record) == Some(false),
        ),
        ("a thread was kept from its work for more than 10 ms", |record| stalls(record) > 0),
        ("a hand-off was full, so this is backpressure too", |record| full(record) > 0.0),
    ];
    for (note, applies) in notes {
        let named =
            |record: &&Record| format!("{} at {} ns", record.contender, record.text(ORCH_WORK_NS));
        let names = records.iter().filter(|record| applies(record)).map(named).collect::<Vec<_>>();
        if !names.is_empty() {
            lines.push(format!("{note}: {}", names.join(", ")));
        }
    }
    if records.iter().any(|record| is_as_expected(record).is_none()) {
        lines.push(
            "no check by Little's law: the window is not longer than the longest delay".to_owned(),
        );
    }
    lines
}

/// Returns whether the mean of orders in flight is within a tenth of the expected value, or `None` without a mean.
fn is_as_expected(record: &Record) -> Option<bool> {
    let (mean, expected) = (record.median(STEADY_MEAN)?, record.number(EXPECTED_IN_FLIGHT)?);
    Some((mean - expected).abs() <= TOLERANCE * expected)
}

/// Returns the number of runs in which a thread could not run for more than 10 ms.
fn stalls(record: &Record) -> usize {
    record.each(LONGEST_GAP_NS).filter(|gap| *gap > STALL_NS).count()
}

/// Returns the orders that found a hand-off full, over all runs.
fn full(record: &Record) -> f64 {
    record.each(FULL).sum()
}

/// Returns the largest value of a figure.
fn longest(record: &Record, figure: &str) -> Option<f64> {
    record.range(figure).map(|(_, most)| most)
}

fn is_own(record: &Record) -> bool {
    record.contender.starts_with(OWN)
}

fn technique<'a>() -> Column<'a> {
    Column::words("technique", |record| record.contender.clone())
}

fn work<'a>() -> Column<'a> {
    Column::words("orch_work, ns", |record| record.text(ORCH_WORK_NS))
}

/// Returns nanoseconds as a number of microseconds.
fn microseconds(ns: Option<f64>) -> String {
    ns.map_or_else(|| text::NONE.to_owned(), |ns| text::rounded(ns / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Figures;

    /// A record of runs with these means of orders in flight, gaps and orders that found a hand-off full.
    fn record(runs: &[(Option<f64>, f64, f64)]) -> Record {
        let mut record = Record::new("dispatch", "std-mpsc", 3)
            .in_cell(ORCH_WORK_NS, 500_u64)
            .with_fact(EXPECTED_IN_FLIGHT, Some(100.0));
        let figures = |(mean, gap, full): &(Option<f64>, f64, f64)| {
            let mut figures = Figures::from([(LONGEST_GAP_NS.to_owned(), *gap)]);
            figures.insert(FULL.to_owned(), *full);
            figures.extend(mean.map(|mean| (STEADY_MEAN.to_owned(), mean)));
            figures
        };
        record.runs = runs.iter().map(figures).collect();
        record
    }

    #[test]
    fn a_load_that_was_not_what_it_should_be_is_named() {
        let right = record(&[(Some(91.0), 10e6, 0.0), (Some(109.0), 0.0, 0.0)]);
        let text = notes(&[&right]).join("\n");
        assert!(!text.contains("std-mpsc") && !text.contains("no check"), "{text}");

        let wrong = record(&[(Some(112.0), 11e6, 0.0), (Some(111.0), 0.0, 3.0)]);
        let text = notes(&[&wrong]).join("\n");
        for note in ["more than 10 % off", "more than 10 ms", "backpressure too"] {
            assert!(text.contains(note), "{text}");
        }
        assert_eq!(text.matches("std-mpsc at 500 ns").count(), 3, "{text}");
        assert_eq!((stalls(&wrong), full(&wrong)), (1, 3.0));

        let unknown = record(&[(None, 0.0, 0.0)]);
        assert!(notes(&[&unknown]).join("\n").contains("no check by Little's law"));
    }
}
