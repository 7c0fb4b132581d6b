//! Latency below saturation: end-to-end percentile curves, and a table with each hop.

use super::naming::{Labels, Named, panels};
use crate::measure::statistics;
use crate::report::distinct;
use crate::report::html::format::{self, count, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::Axis;
use crate::report::html::plots::lines::{Lines, Panel, Series, Whose};
use crate::report::html::records::{Latency, Segment};

/// The segment from the first stamp to the last.
pub(super) const END_TO_END: &str = "end-to-end";

const LEAD: &str = "The delay of an event through the pipeline of three steps, at a load below \
    saturation. It counts from the intended send, so an event that is sent late counts as slow. \
    The dashed line is one thread without a hand-off. It shows the overhead of the clock and the \
    system.";
const CAPTION: &str = "End-to-end latency at each percentile; lower is better. At 99.9 %, one \
    event in a thousand took longer than the line. For each contender, the plot shows the wait \
    with the lowest 99th percentile.";
const PAPER: &str = "For comparison, the paper's Table 3 (Java, Core i7-2720QM, 2011), per hop: \
    Disruptor mean 52 ns, 99 % below 128 ns, 99.99 % below 8,192 ns; ArrayBlockingQueue mean \
    32,757 ns, 99 % below 2,097,152 ns.";

/// Returns the section, if there are `records`.
///
/// # Errors
///
/// The error of `plotters`.
pub(super) fn section(records: &[Latency]) -> Drawn<Option<Section>> {
    if records.is_empty() {
        return Ok(None);
    }
    let picture = lines(records).draw()?;
    Ok(Some(Section {
        id: "latency",
        title: "Latency",
        lead: LEAD.into(),
        figures: vec![Figure::new("latency", CAPTION, &picture)],
        tables: vec![hops(records), loads(records)],
        notes: vec![PAPER.into()],
    }))
}

/// Returns the end-to-end segment, or else the last segment.
pub(super) fn end_to_end(latency: &Latency) -> Option<&Segment> {
    let named = latency.segments.iter().find(|segment| segment.name == END_TO_END);
    named.or_else(|| latency.segments.last())
}

fn lines(records: &[Latency]) -> Lines {
    let labels = Labels::of(records);
    let others = records.iter().filter(|one| !one.is_own() && !one.is_floor());
    let names = distinct(others.map(|one| &*one.contender));
    let mut drawn = Vec::new();
    for (pinned, title) in panels(records) {
        let in_panel = records.iter().filter(|one| one.is_in(pinned)).collect::<Vec<_>>();
        let series = best(&in_panel).into_iter().filter_map(|latency| {
            let segment = end_to_end(latency)?;
            Some(Series {
                name: name(&labels, latency),
                whose: whose(latency, names.iter().position(|name| *name == latency.contender)),
                points: curve(segment),
                crossed: Vec::new(),
                is_marked: false,
            })
        });
        drawn.push(Panel { title, series: series.collect() });
    }
    let points = || drawn.iter().flat_map(|panel| &panel.series).flat_map(|one| &one.points);
    let up = points().map(|(_, ns)| *ns);
    Lines {
        across: Axis::percentiles(points().map(|(percentile, _)| *percentile)),
        up: Axis::logarithmic("latency, logarithmic", up, format::time),
        panels: drawn,
    }
}

/// Returns the name of a line, which says whether the load was too high.
fn name(labels: &Labels<'_>, latency: &Latency) -> String {
    let label = labels.label(latency);
    if latency.saturated { format!("{label}, saturated") } else { label }
}

/// Returns the contender to which the line of `latency` belongs. `position` is its number among
/// rivals.
pub(super) fn whose(latency: &Latency, position: Option<usize>) -> Whose {
    if latency.is_own() {
        Whose::Own
    } else if latency.is_floor() {
        Whose::Floor
    } else {
        Whose::Other(position.unwrap_or(0))
    }
}

/// Returns, for each contender, the record with the lowest 99th percentile.
fn best<'a>(records: &[&'a Latency]) -> Vec<&'a Latency> {
    let p99 = |latency: &Latency| end_to_end(latency).map_or(f64::MAX, |one| one.p99_ns);
    let contenders = distinct(records.iter().map(|one| &*one.contender));
    let best_of = |contender: &str| {
        let own = records.iter().filter(|one| one.contender == contender);
        own.min_by(|one, other| p99(one).total_cmp(&p99(other))).copied()
    };
    contenders.into_iter().filter_map(best_of).collect()
}

/// Returns the points of `segment`: its curve, or its percentiles.
fn curve(segment: &Segment) -> Vec<(f64, f64)> {
    let mut points = segment.curve.clone();
    if points.is_empty() {
        let known = [
            (0.0, segment.min_ns),
            (50.0, Some(segment.p50_ns)),
            (90.0, segment.p90_ns),
            (99.0, Some(segment.p99_ns)),
            (99.9, Some(segment.p99_9_ns)),
            (99.99, segment.p99_99_ns),
        ];
        points.extend(known.into_iter().filter_map(|(percentile, ns)| Some((percentile, ns?))));
    }
    points.retain(|(percentile, _)| *percentile < 100.0);
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

fn hops(records: &[Latency]) -> Table {
    let words = ["contender", "wait", "pinned", "part"];
    let numbers = ["events", "min", "mean", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "max"];
    let mut table = Table::new("Nanoseconds for each hop and end to end", &words, &numbers);
    for latency in records {
        for segment in &latency.segments {
            let mut cells = vec![
                latency.contender.clone(),
                latency.wait_cell(),
                latency.pinned_cell(),
                segment.name.clone(),
            ];
            cells.extend(percentiles(segment));
            table.add(latency.is_own(), cells);
        }
    }
    table
}

/// Returns the cells from the number of events to the maximum.
pub(super) fn percentiles(segment: &Segment) -> [String; 9] {
    [
        count(segment.count),
        optional(segment.min_ns),
        optional(segment.mean_ns),
        figure(segment.p50_ns),
        optional(segment.p90_ns),
        figure(segment.p99_ns),
        figure(segment.p99_9_ns),
        optional(segment.p99_99_ns),
        optional(segment.max_ns),
    ]
}

fn loads(records: &[Latency]) -> Table {
    let words = ["contender", "wait", "pinned", "saturated"];
    let numbers = ["interval, ns", "achieved, events/s", "CPUs", "threads", "runs"];
    let mut table = Table::new("The load of the measurement", &words, &numbers);
    for latency in records {
        let achieved = latency.runs.iter().filter_map(|run| run.achieved_per_second);
        let cells = vec![
            latency.contender.clone(),
            latency.wait_cell(),
            latency.pinned_cell(),
            saturated_cell(latency),
            optional(latency.interval_ns),
            optional(statistics::median(achieved)),
            optional(cpus(latency)),
            count(latency.threads.map(|threads| threads as u64)),
            latency.runs.len().to_string(),
        ];
        table.add(latency.is_own(), cells);
    }
    table
}

/// Returns whether the load was too high, for a cell.
pub(super) fn saturated_cell(latency: &Latency) -> String {
    if latency.saturated { "yes" } else { "no" }.to_owned()
}

/// Returns the median of the CPUs in use.
pub(super) fn cpus(latency: &Latency) -> Option<f64> {
    statistics::median(latency.runs.iter().filter_map(|run| run.cpus))
}
