//! The table of `lapwing oversubscribed`: a line for each cell.

use super::Record;
use crate::load::sharing::Crowd;
use crate::machine::Machine;
use crate::report::settings::Settings;
use crate::report::{Missing, distinct, table};

/// Whose lag behind the first, and behind itself, is shown.
const OWN: &str = "lapwing";

/// All `records`, and what a reader must know about them.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let settings = settings(records);
    let columns = columns(records, settings);
    let mut header = vec!["ns per event".to_owned()];
    header.extend(columns.iter().map(|column| column.heading.clone()));
    let own = columns.iter().find(|column| column.contender == OWN);
    let own = own.map_or(OWN, |column| &column.heading);
    header.extend(["first".to_owned(), format!("{own} x first"), format!("{own} x 1P-1C")]);
    let header = header.iter().map(String::as_str).collect::<Vec<_>>();
    let mut lines = table::empty(&header, 1);
    for crowd in distinct(records.iter().map(Record::crowd)) {
        let cell = records.iter().filter(|record| record.crowd() == crowd).collect::<Vec<_>>();
        lines.add_row(line(crowd, &cell, &columns, settings));
    }

    // The rivals from the right.
    let rivals = columns.iter().rev().filter(|column| column.contender != OWN);
    let rivals = rivals.map(|column| column.heading.as_str()).collect::<Vec<_>>();
    let mut closing = vec![table::fitted(lines, &rivals)];
    closing.extend(table::absences(missing));
    closing.extend(notes(records, machine));
    closing.join("\n")
}

/// A column of figures: a contender, and which of its settings if it has a column for each.
struct Column {
    contender: &'static str,
    /// None if there is one row of it in each cell, whatever its setting.
    setting: Option<String>,
    heading: String,
}

impl Column {
    fn has(&self, record: &Record, settings: Settings) -> bool {
        let is_of = |setting: &String| *setting == setting_of(record, settings);
        record.contender == self.contender && self.setting.as_ref().is_none_or(is_of)
    }
}

/// How the columns say what they are set to.
fn settings(records: &[Record]) -> Settings {
    Settings::of(records.iter().map(|record| record.placement.as_deref()))
}

fn setting_of(record: &Record, settings: Settings) -> String {
    settings.name(record.wait, record.placement.as_deref())
}

/// A column for each contender; for Lapwing one for each strategy and placement that was asked for.
fn columns(records: &[Record], settings: Settings) -> Vec<Column> {
    let own = records.iter().filter(|one| one.contender == OWN);
    let own_settings = distinct(own.map(|own| setting_of(own, settings)));
    let column = |contender: &'static str| -> Vec<Column> {
        if contender != OWN || own_settings.len() < 2 {
            return vec![Column { contender, setting: None, heading: contender.to_owned() }];
        }
        let each = own_settings.iter().map(|setting| {
            let heading = format!("{contender} {setting}");
            Column { contender, setting: Some(setting.clone()), heading }
        });
        each.collect()
    };
    distinct(records.iter().map(|record| record.contender)).into_iter().flat_map(column).collect()
}

/// The line of one cell.
fn line(crowd: Crowd, cell: &[&Record], columns: &[Column], settings: Settings) -> Vec<String> {
    let of_column = |column: &Column| cell.iter().find(|record| column.has(record, settings));
    let mut line = vec![crowd.to_string()];
    line.extend(columns.iter().map(|column| {
        of_column(column).map_or_else(|| table::NONE.to_owned(), |record| figure(record))
    }));
    let first = cell.iter().max_by(|one, other| {
        let speed = |record: &Record| record.speed.median_events_per_second;
        speed(one).total_cmp(&speed(other))
    });
    let first = first.and_then(|first| columns.iter().find(|column| column.has(first, settings)));
    line.push(first.map_or_else(|| table::NONE.to_owned(), |first| first.heading.clone()));
    let own = cell.iter().find(|record| record.contender == OWN);
    let times = |ratio: Option<f64>| table::or_none(ratio, |ratio| format!("{ratio:.2}"));
    line.push(times(own.and_then(|own| own.times_first())));
    line.push(times(own.and_then(|own| own.times_one_to_one)));
    line
}

/// The median, and how a rival waited that was tried in several ways.
fn figure(record: &Record) -> String {
    let nanoseconds = table::rounded(record.nanoseconds());
    match record.contender {
        "disruptor" | "lmax" => format!("{nanoseconds} {}", record.wait),
        _ => nanoseconds,
    }
}

/// What a reader must know about the numbers.
fn notes(records: &[Record], machine: &Machine) -> Vec<String> {
    let mut notes = vec![
        "each event is handled by one of the consumers; ns: from one event to the next, of all producers \
         together, the median of the runs"
            .to_owned(),
        format!(
            "{OWN}: one ring, a group of workers, in every cell; x first and x 1P-1C: times as long as the \
             first of the line, and as itself with one thread at each end"
        ),
        "std-mpsc: a channel for each consumer, dealt to in turn; disruptor and lmax: each consumer sees \
         all events and handles its own; they wait as named, the fastest of their ways"
            .to_owned(),
        table::verified(records.iter().map(|record| &record.speed)),
    ];
    let crowded = records.iter().any(|one| one.speed.threads > machine.available_parallelism());
    if crowded {
        notes.push(format!(
            "more threads than the {} usable CPUs in most cells: that is what is measured here",
            machine.available_parallelism()
        ));
    }
    notes.extend(settings(records).note());
    notes.extend(table::disturbance(machine));
    notes
}
