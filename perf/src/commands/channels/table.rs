//! The tables of `lapwing channels`: a line for each cell, or for each contender if each send was timed.

use super::Record;
use super::case::{Case, TrafficName};
use crate::contenders::channels::ChannelName;
use crate::machine::Machine;
use crate::report::{Missing, distinct, rates, table};

/// The contender that is compared with the best rival of each cell.
const OWN: &str = ChannelName::Lapwing.name();
/// The columns of the rates; from the fifth on they hold numbers.
const RATES: [&str; 14] = [
    "beside",
    "traffic",
    "payload",
    "wait",
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
/// The columns of the tails; from the fourth on they hold numbers.
const TAILS: [&str; 11] = [
    "beside",
    "payload",
    "contender",
    "senders",
    "slots",
    "rate",
    "x first",
    "longest send",
    "least : most served",
    "CPUs",
    "switches/s",
];

/// All `records`, and what a reader must know about them.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let (tails, rates): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record.case().traffic == TrafficName::Tails);
    let mut lines = Vec::new();
    if !rates.is_empty() {
        lines.extend([rates_of(&rates), String::new()]);
        lines.extend(standings(&rates));
    }
    if !tails.is_empty() {
        lines.push(tails_of(&tails));
    }
    let absent = missing.iter();
    lines.extend(
        absent.map(|Missing { contender, reason }| {
            format!("not in every cell: {contender}: {reason}")
        }),
    );
    lines.extend(notes(records));
    lines.extend(table::disturbance(machine));
    lines.join("\n")
}

/// A line for each cell, or for each strategy of Lapwing in it.
fn rates_of(records: &[&Record]) -> String {
    let mut lines = table::empty(&RATES, 4);
    for case in distinct(records.iter().map(|record| record.case())) {
        let rival = best_rival(records, case);
        let own = owns(records).filter(|own| own.case() == case).collect::<Vec<_>>();
        if own.is_empty() {
            lines.add_row(rate_line(case, None, rival));
        }
        for own in own {
            lines.add_row(rate_line(case, Some(own), rival));
        }
    }
    let least_needed =
        ["switches/s", "CPUs", "stalled %", "quartiles", "wait", "its rate", "slots"];
    table::fitted(lines, &least_needed)
}

fn rate_line(case: Case, own: Option<&Record>, rival: Option<&Record>) -> [String; RATES.len()] {
    let summary = own.map(|own| &own.summary);
    let text = |text: Option<String>| table::or_none(text, |text| text);
    [
        case.beside.name().to_owned(),
        case.traffic.name().to_owned(),
        case.payload.name().to_owned(),
        text(own.map(|own| own.wait.to_owned())),
        case.senders.to_string(),
        case.capacity.to_string(),
        text(summary.map(|summary| table::rate(summary.median_per_second))),
        text(summary.map(rates::quartiles)),
        text(rival.map(|rival| rival.contender.to_owned())),
        text(rival.map(|rival| table::rate(rival.summary.median_per_second))),
        table::or_none(
            summary.zip(rival).and_then(|(own, rival)| rates::ratio(own, &rival.summary)),
            table::rounded,
        ),
        text(summary.map(rates::stalled)),
        table::or_none(summary.and_then(|summary| summary.cpus), table::rounded),
        text(summary.map(rates::switches)),
    ]
}

/// In how many cells Lapwing is first, for each of its strategies.
fn standings(records: &[&Record]) -> Vec<String> {
    let standing = |wait: &str| {
        let of_wait = owns(records).filter(|own| own.wait == wait);
        let ratios = of_wait.filter_map(|own| {
            let rival = best_rival(records, own.case())?;
            rates::ratio(&own.summary, &rival.summary)
        });
        rates::standing(&format!("{OWN} {wait}"), &ratios.collect::<Vec<_>>())
    };
    distinct(owns(records).map(|own| own.wait)).into_iter().map(standing).collect()
}

/// A line for each contender of each cell, the fastest first.
fn tails_of(records: &[&Record]) -> String {
    let mut lines = table::empty(&TAILS, 3);
    for case in distinct(records.iter().map(|record| record.case())) {
        let mut cell = records.iter().filter(|record| record.case() == case).collect::<Vec<_>>();
        let rate = |record: &Record| record.summary.median_per_second;
        cell.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
        for record in cell {
            lines.add_row(tail_line(case, record));
        }
    }
    table::fitted(lines, &["switches/s", "CPUs", "x first", "slots"])
}

fn tail_line(case: Case, record: &Record) -> [String; TAILS.len()] {
    let summary = &record.summary;
    let contender = match record.contender {
        OWN => format!("{OWN} {}", record.wait),
        rival => rival.to_owned(),
    };
    [
        case.beside.name().to_owned(),
        case.payload.name().to_owned(),
        contender,
        case.senders.to_string(),
        case.capacity.to_string(),
        table::rate(summary.median_per_second),
        table::or_none(summary.ratio_to_first, table::rounded),
        table::or_none(summary.longest_send_ns, table::time),
        table::or_none(summary.fairness, |share| format!("{share:.3}")),
        table::or_none(summary.cpus, table::rounded),
        rates::switches(summary),
    ]
}

/// The rows of Lapwing.
fn owns<'a>(records: &[&'a Record]) -> impl Iterator<Item = &'a Record> {
    records.iter().copied().filter(|record| record.contender == OWN)
}

/// The fastest other contender of a cell.
fn best_rival<'a>(records: &[&'a Record], case: Case) -> Option<&'a Record> {
    let cell = records.iter().copied().filter(|record| record.case() == case);
    rates::fastest(cell.filter(|record| record.contender != OWN), |record| &record.summary)
}

/// What a reader must know about the numbers.
fn notes(records: &[Record]) -> Vec<String> {
    let runs = records.iter().map(|record| record.summary.runs.len()).sum::<usize>();
    let busy = records.iter().map(|record| record.busy_threads).max().unwrap_or(0);
    let beside = format!(
        "busy: beside busy threads of another process, {busy} in all; one-cpu: all threads of the run share one CPU; \
         stalled: runs below a tenth of the median"
    );
    let mut notes = vec![rates::NOTE.to_owned(), beside];
    let rows = records.iter().map(|record| (record.contender, &record.summary));
    notes.extend(rates::all_stalled(rows));
    notes.push(format!("all verified: {} rows, {runs} runs, every value came once", records.len()));
    notes
}
