//! Events per second: bars by configuration, with pinned and unpinned rows separate.

use std::slice;

use super::naming::{Labels, Named, panels};
use super::speeds;
use crate::load::topologies::Topology;
use crate::report::distinct;
use crate::report::html::format::{self, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::records::Speed;

const LEAD: &str = "Events per second in each configuration of the Disruptor paper: the median of \
    the runs of each contender. All contenders do the same checked work.";
const CAPTION: &str = "Million events per second; longer is better. The bar is the median run, and \
    the thin line spans the slowest and the fastest run. The number beside it is the CPUs in use.";

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
        id: "throughput",
        title: "Throughput",
        lead: format!("{LEAD} {}", standing(records)),
        figures: vec![Figure::new("throughput", CAPTION, &picture)],
        tables: vec![table(records)],
        notes: Vec::new(),
    }))
}

/// Returns the number of comparisons in which Lapwing is the fastest.
fn standing(records: &[Speed]) -> String {
    let mut won = 0;
    let mut groups = 0;
    for key in distinct(records.iter().map(|speed| (key(speed), speed.is_pinned()))) {
        let group = records.iter().filter(|speed| (self::key(speed), speed.is_pinned()) == key);
        let best = |own: bool| {
            let speeds = group.clone().filter(|speed| speed.is_own() == own);
            speeds.map(|speed| speed.median_events_per_second).fold(0.0, f64::max)
        };
        let (own, other) = (best(true), best(false));
        if own > 0.0 && other > 0.0 {
            groups += 1;
            won += usize::from(own > other);
        }
    }
    match groups {
        0 => String::new(),
        _ => format!("Lapwing's best row is the fastest in {won} of {groups} comparisons."),
    }
}

/// The values that comparable rows have in common: configuration, size, ring, batching.
type Key = (String, Option<u64>, Option<u64>, Option<String>);

fn key(speed: &Speed) -> Key {
    let topology = speed.topology.clone().unwrap_or_default();
    (topology, speed.event_bytes, speed.ring, speed.publish.clone())
}

/// Returns the heading of the rows of `key`, with the workload if there are several.
fn heading((topology, bytes, ring, publish): &Key, with_workload: bool) -> String {
    let known = Topology::ALL.into_iter().find(|known| known.name() == topology);
    let mut text = topology.clone();
    if let Some(known) = known {
        text = format!("{text} {}", known.shape());
    }
    if with_workload {
        let bytes = bytes.map(|bytes| format!(", {bytes} bytes"));
        let ring = ring.map(|ring| format!(", ring {ring}"));
        let publish = publish.as_ref().map(|publish| format!(", {publish}"));
        text.extend([bytes, ring, publish].into_iter().flatten());
    }
    text
}

fn bars(records: &[Speed]) -> Bars {
    let panels = panels(records);
    let labels = Labels::of(records);
    let keys = distinct(records.iter().map(key));
    let workloads = distinct(keys.iter().map(|(_, bytes, ring, publish)| (bytes, ring, publish)));
    let group = |key: &Key, panels: &[(bool, String)]| {
        let block = records.iter().filter(|speed| {
            self::key(speed) == *key
                && panels.iter().any(|(pinned, _)| speed.is_pinned() == *pinned)
        });
        let heading = heading(key, workloads.len() > 1);
        Group { heading, rows: rows(&block.collect::<Vec<_>>(), panels, &labels) }
    };
    let mut bars = Bars {
        title: "million events per second".into(),
        groups: Vec::new(),
        panels: Vec::new(),
        keys: Vec::new(),
        label: number,
        is_linear: false,
    };
    if side_by_side(records, &keys, &panels) {
        bars.groups = keys.iter().map(|key| group(key, &panels)).collect();
        bars.panels = panels.into_iter().map(|(_, title)| title).collect();
        return bars;
    }
    bars.panels = vec![String::new()];
    for panel in &panels {
        let mut groups =
            keys.iter().map(|key| group(key, slice::from_ref(panel))).collect::<Vec<_>>();
        groups.retain(|group| !group.rows.is_empty());
        for group in &mut groups {
            group.heading = format!("{}, {}", group.heading, panel.1);
        }
        bars.groups.append(&mut groups);
    }
    bars
}

/// Returns whether each configuration ran both pinned and unpinned. Otherwise one panel would be
/// mostly empty, as on two CPUs, where four threads cannot be pinned.
fn side_by_side(records: &[Speed], keys: &[Key], panels: &[(bool, String)]) -> bool {
    let has = |key: &Key, pinned: bool| {
        records.iter().any(|speed| self::key(speed) == *key && speed.is_pinned() == pinned)
    };
    keys.iter().all(|key| panels.iter().all(|(pinned, _)| has(key, *pinned)))
}

/// Returns one row per label, the fastest first in the first panel that has them.
fn rows(block: &[&Speed], panels: &[(bool, String)], labels: &Labels<'_>) -> Vec<Row> {
    let row = |label: &String| {
        let own = block.iter().filter(|speed| labels.label(**speed) == *label);
        let in_panel = |&(pinned, _): &(bool, String)| {
            own.clone().find(|speed| speed.is_pinned() == pinned).map(|speed| bar(speed))
        };
        let is_own = own.clone().any(|speed| speed.is_own());
        Row { label: label.clone(), is_own, bars: panels.iter().map(in_panel).collect() }
    };
    let labels = distinct(block.iter().map(|speed| labels.label(*speed)));
    let mut rows = labels.iter().map(row).collect::<Vec<_>>();
    let speeds = |row: &Row| {
        row.bars.iter().map(|bar| bar.as_ref().map_or(0.0, |bar| bar.value)).collect::<Vec<_>>()
    };
    rows.sort_by(|one, other| {
        speeds(other).partial_cmp(&speeds(one)).unwrap_or(std::cmp::Ordering::Equal)
    });
    rows
}

fn bar(speed: &Speed) -> Bar {
    let value = speeds::millions(speed.median_events_per_second);
    Bar {
        value,
        role: if speed.is_own() { Role::Own } else { Role::Rival },
        spread: speeds::spread(speed, speeds::millions),
        reference: None,
        text: figure(value),
        note: speeds::cpus_note(speed),
    }
}

fn table(records: &[Speed]) -> Table {
    let words = ["configuration", "contender", "wait", "pinned", "baseline"];
    let numbers = [
        "M events/s",
        "min .. max",
        "× baseline",
        "interval",
        "events/batch",
        "CPUs",
        "threads",
        "ring",
        "bytes",
        "events",
        "runs",
    ];
    let mut table =
        Table::new("Medians over the runs, the fastest of each block first", &words, &numbers);
    for key in distinct(records.iter().map(|speed| (key(speed), speed.is_pinned()))) {
        let block = records.iter().filter(|speed| (self::key(speed), speed.is_pinned()) == key);
        let mut block = block.collect::<Vec<_>>();
        block.sort_by(|one, other| {
            other.median_events_per_second.total_cmp(&one.median_events_per_second)
        });
        for speed in block {
            table.add(speed.is_own(), cells(speed));
        }
    }
    table
}

fn cells(speed: &Speed) -> Vec<String> {
    vec![
        heading(&key(speed), false),
        speed.contender.clone(),
        speed.wait_cell(),
        speed.pinned_cell(),
        speeds::baseline_cell(speed),
        figure(speeds::millions(speed.median_events_per_second)),
        speeds::spread_cell(speed, speeds::millions),
        optional(speed.ratio_to_baseline),
        speeds::interval_cell(speed),
        optional(speeds::events_per_batch(speed)),
        optional(speeds::cpus(speed)),
        format::count(speed.threads.map(|threads| threads as u64)),
        format::count(speed.ring),
        format::count(speed.event_bytes),
        format::count(speed.events),
        speed.runs.len().to_string(),
    ]
}
