//! The table of `lapwing neighbours`: a block for each cell, its rows ordered by speed.

use super::Record;
use crate::machine::Machine;
use crate::report::settings::Settings;
use crate::report::{Missing, distinct, rates, table};

/// The contender that is compared with the best rival of each cell.
const OWN: &str = "lapwing";

/// The columns; from the sixth on they hold numbers.
const COLUMNS: [&str; 11] = [
    "busy threads",
    "topology",
    "slots",
    "contender",
    "wait",
    "rate",
    "quartiles",
    "x first",
    "stalled %",
    "CPUs",
    "switches/s",
];

/// All `records`, and what a reader must know about them.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let settings = Settings::of(records.iter().map(|record| record.placement.as_deref()));
    let mut lines = table::empty(&COLUMNS, 5);
    for cell in distinct(records.iter().map(Record::cell)) {
        let mut block = records.iter().filter(|record| record.cell() == cell).collect::<Vec<_>>();
        let rate = |record: &Record| record.summary.median_per_second;
        block.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
        for (position, record) in block.into_iter().enumerate() {
            lines.add_row(line(record, position == 0, settings));
        }
    }
    let least_needed = ["switches/s", "stalled %", "CPUs", "quartiles", "wait", "slots"];
    let mut closing = vec![table::fitted(lines, &least_needed), String::new()];
    closing.extend(standings(records, settings));
    closing.extend(table::absences(missing));
    closing.extend(notes(records, settings));
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

/// One row; only the first of a block names the cell.
fn line(record: &Record, names_cell: bool, settings: Settings) -> [String; COLUMNS.len()] {
    let cell = |text: String| if names_cell { text } else { String::new() };
    let summary = &record.summary;
    [
        cell(record.busy_threads.to_string()),
        cell(format!("{} {}", record.topology.name(), record.topology.shape())),
        cell(record.ring.to_string()),
        record.contender.to_owned(),
        setting(record, settings),
        table::rate(summary.median_per_second),
        rates::quartiles(summary),
        table::or_none(summary.ratio_to_first, table::rounded),
        rates::stalled(summary),
        table::or_none(summary.cpus, table::rounded),
        rates::switches(summary),
    ]
}

fn setting(record: &Record, settings: Settings) -> String {
    settings.name(record.wait, record.placement.as_deref())
}

/// In how many cells Lapwing is faster than the best rival, for each of its settings.
fn standings(records: &[Record], settings: Settings) -> Vec<String> {
    let owns = || records.iter().filter(|record| record.contender == OWN);
    let best_rival = |own: &Record| {
        let cell = records.iter().filter(|record| record.cell() == own.cell());
        rates::fastest(cell.filter(|record| record.contender != OWN), |record| &record.summary)
    };
    let standing = |name: String| {
        let of_setting = owns().filter(|own| setting(own, settings) == name);
        let ratios = of_setting
            .filter_map(|own| rates::ratio(&own.summary, &best_rival(own)?.summary))
            .collect::<Vec<_>>();
        rates::standing(&format!("{OWN} {name}"), &ratios)
    };
    distinct(owns().map(|own| setting(own, settings))).into_iter().map(standing).collect()
}

/// What a reader must know about the numbers.
fn notes(records: &[Record], settings: Settings) -> Vec<String> {
    let runs = records.iter().map(|record| record.summary.runs.len()).sum::<usize>();
    let mut notes = vec![rates::NOTE.to_owned()];
    let ways = "busy threads compute in another process; rivals wait as named, the fastest of their ways; stalled: runs \
                below a tenth of the median";
    notes.push(ways.to_owned());
    let rows = records.iter().map(|record| (record.contender, &record.summary));
    notes.extend(rates::all_stalled(rows));
    notes.extend(settings.note());
    notes.push(format!("all verified: {} rows, {runs} runs, the right answer", records.len()));
    notes
}
