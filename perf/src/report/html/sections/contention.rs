//! The cost of an increment, beside the paper's Table 1.

use super::naming::{Named, panels};
use super::speeds;
use crate::load::increments::Case;
use crate::report::html::format::{self, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::plots::rows::Key;
use crate::report::html::records::Speed;

const LEAD: &str = "The cost of an increment of a 64-bit counter: on one thread, with a lock, with \
    compare-and-swap, and with contention by a second thread. Because of this cost, a Disruptor \
    has one writer per word.";
const CAPTION: &str = "Nanoseconds from one increment to the next over all threads; shorter is \
    better. Blue is this machine. Yellow is the paper's machine (Java, Westmere, 2011), if the \
    paper has the case.";

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
        id: "contention",
        title: "Contention",
        lead: LEAD.into(),
        figures: vec![Figure::new("contention", CAPTION, &picture)],
        tables: vec![table(records)],
        notes: Vec::new(),
    }))
}

/// Returns the description of the case, as in `lapwing contention`.
fn description(speed: &Speed) -> String {
    let known = Case::ALL.into_iter().find(|case| case.name() == speed.contender);
    known.map_or_else(|| speed.contender.clone(), |case| case.description().to_owned())
}

fn bars(records: &[Speed]) -> Bars {
    let row = |speed: &Speed| {
        let value = speeds::nanoseconds(speed.median_events_per_second);
        let bar = Bar {
            value,
            role: Role::Own,
            spread: speeds::spread(speed, speeds::nanoseconds),
            reference: speed.nanoseconds_in_paper,
            text: format!("{} ns", figure(value)),
            note: speed
                .nanoseconds_in_paper
                .map(|paper| format!("paper {}", figure(paper)))
                .unwrap_or_default(),
        };
        Row { label: description(speed), is_own: false, bars: vec![Some(bar)] }
    };
    let panels = panels(records);
    let group = |(pinned, title): &(bool, String)| Group {
        heading: if panels.len() > 1 { title.clone() } else { String::new() },
        rows: records.iter().filter(|one| one.is_pinned() == *pinned).map(row).collect(),
    };
    let keys = [Key::block(Role::Own, "this machine"), Key::block(Role::Reference, "the paper")];
    Bars {
        title: "nanoseconds for one increment".into(),
        panels: vec![String::new()],
        groups: panels.iter().map(group).collect(),
        keys: keys.to_vec(),
        label: number,
        is_linear: false,
    }
}

fn table(records: &[Speed]) -> Table {
    let words = ["a counter incremented by", "case", "pinned"];
    let numbers =
        ["ns", "min .. max", "× plain", "ns in the paper", "CPUs", "threads", "increments", "runs"];
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for speed in records {
        let cells = vec![
            description(speed),
            speed.contender.clone(),
            speed.pinned_cell(),
            figure(speeds::nanoseconds(speed.median_events_per_second)),
            speeds::spread_cell(speed, speeds::nanoseconds),
            optional(speed.ratio_to_baseline.map(|ratio| 1.0 / ratio)),
            optional(speed.nanoseconds_in_paper),
            optional(speeds::cpus(speed)),
            format::count(speed.threads.map(|threads| threads as u64)),
            format::count(speed.events),
            speed.runs.len().to_string(),
        ];
        table.add(false, cells);
    }
    table
}
