//! Round trips of a number: nanoseconds one way.

use super::naming::{Labels, Named, panels};
use super::speeds;
use crate::report::distinct;
use crate::report::html::format::{self, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::records::Speed;

const LEAD: &str = "The time of a number to another thread, without other load: half of a round \
    trip. Two bare words in memory are the limit of the machine. The same program in other \
    languages shows that the limit does not depend on Rust. Without a pause, the two threads run \
    in lockstep. With a pause before each number, the other thread has waited for a while.";
const CAPTION: &str = "Nanoseconds one way; shorter is better. The bar is the median run, and the \
    thin line spans the fastest and the slowest run.";

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
        id: "ping-pong",
        title: "Ping-pong",
        lead: LEAD.into(),
        figures: vec![Figure::new("ping-pong", CAPTION, &picture)],
        tables: vec![table(records)],
        notes: Vec::new(),
    }))
}

/// Returns nanoseconds one way, from round trips per second.
pub(super) fn one_way(exchanges_per_second: f64) -> f64 {
    speeds::nanoseconds(exchanges_per_second) / 2.0
}

/// Returns the panels with their titles. Pinned and unpinned rows are separate, as are rows with
/// and without a pause. The fastest row of each panel is first.
fn sorted(records: &[Speed]) -> Vec<(String, Vec<&Speed>)> {
    let mut all = Vec::new();
    for (pinned, heading) in panels(records) {
        let here = records.iter().filter(|one| one.is_pinned() == pinned).collect::<Vec<_>>();
        for pause_ns in distinct(here.iter().map(|one| one.pause_ns)) {
            let alike = here.iter().copied().filter(|one| one.pause_ns == pause_ns);
            let mut sorted = alike.collect::<Vec<_>>();
            sorted.sort_by(|one, other| {
                other.median_events_per_second.total_cmp(&one.median_events_per_second)
            });
            let pause = pause_ns.map(|pause| format!(", after pauses of {pause} ns"));
            all.push((heading.clone() + &pause.unwrap_or_default(), sorted));
        }
    }
    all
}

fn bars(records: &[Speed]) -> Bars {
    let labels = Labels::of(records);
    let row = |speed: &Speed| {
        let value = one_way(speed.median_events_per_second);
        let bar = Bar {
            value,
            role: if speed.is_own() { Role::Own } else { Role::Rival },
            spread: speeds::spread(speed, one_way),
            reference: None,
            text: format!("{} ns", figure(value)),
            note: speeds::cpus_note(speed),
        };
        Row { label: labels.label(speed), is_own: speed.is_own(), bars: vec![Some(bar)] }
    };
    let group = |(heading, speeds): (String, Vec<&Speed>)| {
        let rows = speeds.into_iter().map(row).collect();
        Group { heading, rows }
    };
    Bars {
        title: "nanoseconds one way".into(),
        panels: vec![String::new()],
        groups: sorted(records).into_iter().map(group).collect(),
        keys: Vec::new(),
        label: number,
        is_linear: false,
    }
}

fn table(records: &[Speed]) -> Table {
    let words = ["through", "wait", "pinned"];
    let numbers = ["pause, ns", "ns one way", "min .. max", "× bare", "CPUs", "exchanges", "runs"];
    let mut table = Table::new("Medians over the runs, the fastest first", &words, &numbers);
    for (_, speeds) in sorted(records) {
        for speed in speeds {
            let cells = vec![
                speed.contender.clone(),
                speed.wait_cell(),
                speed.pinned_cell(),
                format::count(speed.pause_ns),
                figure(one_way(speed.median_events_per_second)),
                speeds::spread_cell(speed, one_way),
                optional(speed.ratio_to_baseline.map(|ratio| 1.0 / ratio)),
                optional(speeds::cpus(speed)),
                format::count(speed.events),
                speed.runs.len().to_string(),
            ];
            table.add(speed.is_own(), cells);
        }
    }
    table
}
