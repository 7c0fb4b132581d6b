//! The tables of `lapwing-lab channels`: a line for each cell, and for each contender of a cell if each send was timed.

use lapwing_lab_stats::median;

use super::{BESIDE, CAPACITY, PAYLOAD, SENDERS, TAILS, TRAFFIC};
use crate::load::traffic::{FAIRNESS, LONGEST_SEND_NS};
use crate::record::{Key, Record, by_cell, fastest, in_rounds};
use crate::view::{Column, Table, column, notes as shared, text};

/// Returns the table of rates, and that of the tails.
pub(super) fn of(records: &[&Record]) -> Vec<Table> {
    let (tails, rates) = parts(records);
    let rates = (!rates.is_empty()).then(|| table_of_rates(&rates));
    let tails = (!tails.is_empty()).then(|| table_of_tails(&tails));
    rates.into_iter().chain(tails).collect()
}

/// Returns in how many cells Lapwing is first, which runs stalled, and what else ran on the machine.
pub(super) fn notes(records: &[&Record]) -> Vec<String> {
    let mut notes = shared::standings(&parts(records).1);
    notes.extend(shared::stalled(records));
    let busy = records.iter().filter_map(|record| record.number(Key::BUSY_THREADS));
    if let Some(most) = busy.reduce(f64::max).filter(|most| *most > 0.0) {
        notes.push(format!("busy: beside {most} busy threads of another process"));
    }
    if records.iter().any(|record| record.text(BESIDE) == "one-cpu") {
        notes.push("one-cpu: all threads of a run share one CPU".to_owned());
    }
    notes
}

/// Returns the records in which each send was timed, and the others.
fn parts<'a>(records: &[&'a Record]) -> (Vec<&'a Record>, Vec<&'a Record>) {
    records.iter().copied().partition(|record| record.text(TRAFFIC) == TAILS)
}

/// Returns a line for each cell, or for each strategy of Lapwing in it, beside the fastest other channel.
fn table_of_rates(records: &[&Record]) -> Table {
    let words = ["beside", "traffic", "payload", "wait"];
    let numbers = [
        "senders",
        "slots",
        "lapwing",
        "quartiles",
        "best rival",
        "its rate",
        "lapwing : rival",
        "stalled %",
        "CPUs",
        "switches/s",
    ];
    let mut table = Table::empty("", &words, &numbers);
    for cell in by_cell(records) {
        let (owns, rivals): (Vec<_>, Vec<_>) =
            cell.iter().copied().partition(|record| record.is_own());
        let rival = fastest(&rivals).map(|index| rivals[index]);
        if owns.is_empty() {
            table.add(false, line(cell[0], None, rival));
        }
        for own in owns {
            table.add(false, line(own, Some(own), rival));
        }
    }
    table.leaving(&["switches/s", "CPUs", "stalled %", "quartiles", "wait", "its rate", "slots"])
}

/// Returns the line of the cell of `record`.
fn line(record: &Record, own: Option<&Record>, rival: Option<&Record>) -> Vec<String> {
    let of = |record: Option<&Record>, column: Column<'_>| {
        record.map_or_else(|| text::NONE.to_owned(), |record| column.cell(record))
    };
    let ratio = own.zip(rival).and_then(|(own, rival)| median(in_rounds(own, rival)));
    vec![
        record.text(BESIDE),
        record.text(TRAFFIC),
        record.text(PAYLOAD),
        of(own, column::setting()),
        record.text(SENDERS),
        record.text(CAPACITY),
        of(own, column::rate()),
        of(own, column::quartiles()),
        of(rival, column::contender()),
        of(rival, column::rate()),
        ratio.map_or_else(|| text::NONE.to_owned(), text::rounded),
        of(own, column::stalled()),
        of(own, column::cpus()),
        of(own, column::switches()),
    ]
}

/// Returns a line for each contender of each cell, the fastest first.
fn table_of_tails(records: &[&Record]) -> Table {
    let mut cells = by_cell(records);
    for cell in &mut cells {
        cell.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
    }
    let contender = |record: &Record| match record.is_own() {
        true => format!("{} {}", record.contender, record.setting()),
        false => record.contender.clone(),
    };
    let columns = vec![
        column::label("beside", BESIDE),
        column::label("payload", PAYLOAD),
        Column::words("contender", contender),
        column::number("senders", SENDERS),
        column::number("slots", CAPACITY).leaves(4),
        column::rate(),
        column::ratio_to("x first").leaves(3),
        Column::numbers("longest send", |record| {
            Some(text::time(record.range(LONGEST_SEND_NS)?.1))
        }),
        Column::numbers("least : most served", |record| {
            Some(format!("{:.3}", record.median(FAIRNESS)?))
        }),
        column::cpus().leaves(2),
        column::switches().leaves(1),
    ];
    Table::of("Each send timed", &cells.concat(), columns)
}
