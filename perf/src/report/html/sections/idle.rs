//! The cost of waiting, and the delay of an event to parked threads.

use super::naming::is_own;
use crate::report::distinct;
use crate::report::html::format::{count, figure, grouped, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::records::{Idle, LoneEvent};
use crate::report::settings::{Settings, setting};

const LEAD: &str = "The cost of waiting for events: CPU time and wake-ups of the process without \
    its sending thread, with each wait strategy, from no load to a million events per second.";
const CAPTION: &str =
    "CPU time in percent of one CPU; shorter is better. The note is the median delay.";

/// Returns the section, if there are `loads` or `events`.
///
/// # Errors
///
/// The error of `plotters`.
pub(super) fn section(loads: &[Idle], events: &[LoneEvent]) -> Drawn<Option<Section>> {
    if loads.is_empty() && events.is_empty() {
        return Ok(None);
    }
    let picture = bars(loads).draw()?;
    Ok(Some(Section {
        id: "idle",
        title: "What waiting costs",
        lead: LEAD.into(),
        figures: vec![Figure::new("idle", CAPTION, &picture)],
        tables: vec![of_loads(loads), of_events(events)],
        notes: Vec::new(),
    }))
}

/// Returns the number of waiting consumers and their graph.
fn graph(idle: &Idle) -> String {
    let how = if idle.topology == "pipeline" { "in a row" } else { "side by side" };
    format!("{} {how}", idle.consumers)
}

fn bars(loads: &[Idle]) -> Bars {
    let settings = Settings::of(loads.iter().map(|idle| idle.placement.as_deref()));
    let row = |idle: &Idle| {
        let Idle { contender, wait, placement, .. } = idle;
        let bar = idle.cpu_percent.map(|percent| Bar {
            value: percent,
            role: if is_own(contender) { Role::Own } else { Role::Rival },
            spread: None,
            reference: None,
            text: format!("{} %", figure(percent)),
            note: idle.p50_ns.map(|ns| format!("{} ns", grouped(ns))).unwrap_or_default(),
        });
        let setting = settings.name(wait, placement.as_deref());
        let label = format!("{contender} {setting}, {}", graph(idle));
        Row { label, is_own: is_own(contender), bars: vec![bar] }
    };
    let group = |rate: u64| Group {
        heading: format!("{} events per second", grouped(rate as f64)),
        rows: loads.iter().filter(|idle| idle.offered_per_second == rate).map(row).collect(),
    };
    Bars {
        title: "percent of one CPU".into(),
        panels: vec![String::new()],
        groups: distinct(loads.iter().map(|idle| idle.offered_per_second))
            .into_iter()
            .map(group)
            .collect(),
        keys: Vec::new(),
        label: number,
        is_linear: true,
    }
}

fn of_loads(loads: &[Idle]) -> Table {
    let words = ["contender", "wait", "consumers"];
    let numbers =
        ["events/s", "CPU %", "wake-ups/s", "involuntary/s", "p50 ns", "p99 ns", "sender CPU %"];
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for idle in loads {
        let cells = vec![
            idle.contender.clone(),
            setting(&idle.wait, idle.placement.as_deref()),
            graph(idle),
            count(Some(idle.offered_per_second)),
            optional(idle.cpu_percent),
            optional(idle.wakes_per_second),
            optional(idle.involuntary_per_second),
            optional(idle.p50_ns),
            optional(idle.p99_ns),
            optional(idle.sender_cpu_percent),
        ];
        table.add(is_own(&idle.contender), cells);
    }
    table
}

fn of_events(events: &[LoneEvent]) -> Table {
    let words = ["through", "wait"];
    let numbers = ["consumers", "half have it, ns", "× bare", "the last has it, ns", "× bare"];
    let mut table = Table::new("A single event after an idle period", &words, &numbers);
    for event in events {
        let cells = vec![
            event.contender.clone(),
            setting(&event.wait, event.placement.as_deref()),
            count(Some(event.consumers)),
            figure(event.half_ns),
            optional(event.half_times_bare),
            figure(event.last_ns),
            optional(event.last_times_bare),
        ];
        table.add(is_own(&event.contender), cells);
    }
    table
}
