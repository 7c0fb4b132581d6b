//! Producers and consumers that share the events, with more threads than CPUs.

use super::naming::Named;
use super::speeds;
use crate::report::html::format::{self, NONE, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::plots::rows::Key;
use crate::report::html::records::Speed;

const LEAD: &str = "One to eight producers and one to eight consumers that share the events, on \
    the CPUs of this machine. Exactly one of the consumers handles each event. Lapwing has a ring \
    with a group of workers and its default settings in every cell.";
const CAPTION: &str = "Nanoseconds from one event to the next over all producers; shorter is \
    better. Blue is Lapwing, with the fastest and the slowest run. Yellow is the fastest rival.";

/// Returns the section, if there are `records`.
///
/// # Errors
///
/// The error of `plotters`.
pub(super) fn section(records: &[Speed]) -> Drawn<Option<Section>> {
    if records.is_empty() {
        return Ok(None);
    }
    let picture = bars(records).draw()?;
    Ok(Some(Section {
        id: "oversubscribed",
        title: "More threads than CPUs",
        lead: LEAD.into(),
        figures: vec![Figure::new("oversubscribed", CAPTION, &picture)],
        tables: vec![table(records)],
        notes: Vec::new(),
    }))
}

/// Returns the numbers of producers and consumers, in the words of the command.
fn crowd(speed: &Speed) -> String {
    let crowd = speed.producers.zip(speed.consumers);
    crowd.map_or_else(
        || NONE.to_owned(),
        |(producers, consumers)| format!("{producers}P-{consumers}C"),
    )
}

/// Returns the cells, in the order of their first records.
fn crowds(records: &[Speed]) -> Vec<String> {
    crate::report::distinct(records.iter().map(crowd))
}

fn bars(records: &[Speed]) -> Bars {
    let row = |crowd_of_row: String| {
        let cell = || records.iter().filter(|speed| crowd(speed) == crowd_of_row);
        let own = cell().find(|speed| speed.is_own());
        let rivals = cell().filter(|speed| !speed.is_own());
        let best = rivals.max_by(|one, other| {
            one.median_events_per_second.total_cmp(&other.median_events_per_second)
        });
        let bar = own.map(|own| bar(own, best));
        Row { label: crowd_of_row, is_own: false, bars: vec![bar] }
    };
    let rows = crowds(records).into_iter().map(row).collect();
    let keys = [Key::block(Role::Own, "Lapwing"), Key::block(Role::Reference, "the best other")];
    Bars {
        title: "nanoseconds per event".into(),
        panels: vec![String::new()],
        groups: vec![Group { heading: String::new(), rows }],
        keys: keys.to_vec(),
        label: number,
        is_linear: false,
    }
}

/// Returns the bar of Lapwing's time in a cell, with that of the `best` rival as its reference.
fn bar(own: &Speed, best: Option<&Speed>) -> Bar {
    let value = speeds::nanoseconds(own.median_events_per_second);
    let reference = best.map(|best| speeds::nanoseconds(best.median_events_per_second));
    let note = best.zip(reference).map(|(best, ns)| format!("{} {}", best.contender, figure(ns)));
    Bar {
        value,
        role: Role::Own,
        spread: speeds::spread(own, speeds::nanoseconds),
        reference,
        text: format!("{} ns", figure(value)),
        note: note.unwrap_or_default(),
    }
}

fn table(records: &[Speed]) -> Table {
    let words = ["cell", "contender", "wait", "pinned"];
    let numbers = ["ns per event", "min .. max", "× first", "× 1P-1C", "CPUs", "threads", "runs"];
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for speed in records {
        let cells = vec![
            crowd(speed),
            speed.contender.clone(),
            speed.wait_cell(),
            speed.pinned_cell(),
            figure(speeds::nanoseconds(speed.median_events_per_second)),
            speeds::spread_cell(speed, speeds::nanoseconds),
            optional(speed.ratio_to_baseline.map(|ratio| 1.0 / ratio)),
            optional(speed.times_one_to_one),
            optional(speeds::cpus(speed)),
            format::count(speed.threads.map(|threads| threads as u64)),
            speed.runs.len().to_string(),
        ];
        table.add(speed.is_own(), cells);
    }
    table
}
