//! Runs with a fixed length: channels under load, and graphs beside busy threads. Each has a table,
//! because its cells differ in several values at once.

use super::naming::is_own;
use crate::report::html::format::{self, NONE, count, figure, optional};
use crate::report::html::page::{Section, Table};
use crate::report::html::records::Rates;
use crate::report::settings;

const CHANNELS: &str = "Bounded channels from senders to one receiver, and round trips of values, \
    one at a time. Both run on an idle machine, beside busy threads of another process, and with \
    all threads of a run on one CPU.";
const NEIGHBOURS: &str = "The five configurations of the paper beside busy threads of another \
    process, which preempt threads in the middle of a run.";
/// The columns of both tables.
const FIGURES: [&str; 8] = [
    "rate",
    "quartiles",
    "× first",
    "CPUs",
    "voluntary/s",
    "involuntary/s",
    "runs below a tenth, %",
    "least : most served",
];

/// Returns the section of channels, if there are `records`.
pub(super) fn channels(records: &[Rates]) -> Option<Section> {
    let words = ["beside", "traffic", "payload", "contender", "wait"];
    let numbers = [&["busy threads", "senders", "slots"], &FIGURES[..], &["longest send"]].concat();
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for record in records {
        let mut cells = vec![
            word(record.beside.as_deref()),
            word(record.traffic.as_deref()),
            word(record.payload.as_deref()),
            record.contender.clone(),
            record.wait.clone(),
            count(record.busy_threads),
            count(record.senders),
            count(record.capacity),
        ];
        cells.extend(figures(record));
        cells.push(record.longest_send_ns.map_or_else(|| NONE.to_owned(), format::precise_time));
        table.add(is_own(&record.contender), cells);
    }
    section("channels", "Channels under load", CHANNELS, table)
}

/// Returns the section of graphs beside busy threads, if there are `records`.
pub(super) fn neighbours(records: &[Rates]) -> Option<Section> {
    let words = ["topology", "contender", "wait"];
    let numbers = [&["busy threads", "slots"], &FIGURES[..7]].concat();
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for record in records {
        let mut cells = vec![
            word(record.topology.as_deref()),
            record.contender.clone(),
            settings::setting(&record.wait, record.placement.as_deref()),
            count(record.busy_threads),
            count(record.ring),
        ];
        cells.extend(figures(record).into_iter().take(7));
        table.add(is_own(&record.contender), cells);
    }
    section("neighbours", "Graphs beside busy threads", NEIGHBOURS, table)
}

fn section(id: &'static str, title: &'static str, lead: &str, table: Table) -> Option<Section> {
    let has_rows = !table.rows.is_empty();
    let lead = lead.into();
    has_rows.then(|| Section { id, title, lead, tables: vec![table], ..Section::default() })
}

fn figures(record: &Rates) -> [String; FIGURES.len()] {
    let [low, high] = record.quartiles_per_second.map(format::rate);
    [
        format::rate(record.median_per_second),
        format!("{low} .. {high}"),
        optional(record.ratio_to_first),
        optional(record.cpus),
        optional(record.voluntary_per_second),
        optional(record.involuntary_per_second),
        figure(100.0 * record.stalled_share),
        optional(record.fairness),
    ]
}

fn word(text: Option<&str>) -> String {
    text.unwrap_or(NONE).to_owned()
}
