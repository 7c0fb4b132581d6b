//! Latency against load: flat at first, then a steep rise (J curve).

use super::latency::{cpus, end_to_end, percentiles, saturated_cell, whose};
use super::naming::{Labels, Named, panels};
use crate::report::distinct;
use crate::report::html::format::{self, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::Axis;
use crate::report::html::plots::lines::{Lines, Panel, Series};
use crate::report::html::records::{Latency, Segment};

const LEAD: &str = "The latency at rising loads. The paper claims that the curve of a queue is a \
    J, while the Disruptor stays almost flat until it is saturated. The dashed line is one thread \
    without a hand-off.";
const CAPTION: &str = "End-to-end latency against the offered load; lower and further right is \
    better. A flat line sustains its load, and a rising line queues. A cross marks a load that the \
    contender did not sustain. A rival has its best wait at each load.";

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
        id: "sweep",
        title: "Latency against load",
        lead: LEAD.into(),
        figures: vec![Figure::new("sweep", CAPTION, &picture)],
        tables: vec![table(records)],
        notes: Vec::new(),
    }))
}

/// Returns a percentile of each record, by panel.
fn lines(records: &[Latency]) -> Lines {
    type Percentile = (&'static str, fn(&Segment) -> f64);
    let percentiles: [Percentile; 2] = [
        ("half of the events (50 %)", |segment| segment.p50_ns),
        ("99 of 100 events (99 %)", |segment| segment.p99_ns),
    ];
    let pinnings = panels(records);
    let mut drawn = Vec::new();
    for (pinned, pinning) in &pinnings {
        for (name, percentile) in percentiles {
            let title = format!("{name}, {pinning}");
            drawn.push(Panel { title, series: series(records, *pinned, percentile) });
        }
    }
    let points = || drawn.iter().flat_map(|panel| &panel.series).flat_map(|one| &one.points);
    let (across, up) = (points().map(|(load, _)| *load), points().map(|(_, ns)| *ns));
    Lines {
        across: Axis::logarithmic(
            "offered load, events per second, logarithmic",
            across,
            format::rate,
        ),
        up: Axis::logarithmic("latency, logarithmic", up, format::time),
        panels: drawn,
    }
}

/// Returns the line of a record. A rival has one line, with its best wait at each load. Lapwing has
/// one line per wait.
fn line(labels: &Labels<'_>, record: &Latency) -> String {
    if record.is_own() { labels.label(record) } else { record.contender.clone() }
}

/// Returns the lines of one panel.
fn series(records: &[Latency], pinned: bool, percentile: fn(&Segment) -> f64) -> Vec<Series> {
    let labels = Labels::of(records);
    let others = records.iter().filter(|one| !one.is_own() && !one.is_floor());
    let names = distinct(others.map(|one| line(&labels, one)));
    let in_panel = records.iter().filter(|one| one.is_in(pinned));
    let whose = |one: &Latency| {
        let label = line(&labels, one);
        whose(one, names.iter().position(|name| *name == label))
    };
    let drawn = distinct(in_panel.clone().map(|one| (line(&labels, one), whose(one))));
    let series = drawn.into_iter().map(|(name, whose)| {
        let own = in_panel.clone().filter(|one| line(&labels, one) == name);
        let mut points = own
            .filter_map(|one| {
                let ns = percentile(end_to_end(one)?);
                Some(((one.offered_per_second?, ns), one.saturated))
            })
            .collect::<Vec<_>>();
        points.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
        let crossed = points.iter().filter(|(_, saturated)| *saturated);
        Series {
            whose,
            name,
            crossed: crossed.map(|(point, _)| *point).collect(),
            points: points.iter().map(|(point, _)| *point).collect(),
            is_marked: true,
        }
    });
    series.collect()
}

fn table(records: &[Latency]) -> Table {
    let words = ["contender", "wait", "pinned", "saturated"];
    let numbers = [
        "offered/s",
        "achieved/s",
        "events",
        "min",
        "mean",
        "50 %",
        "90 %",
        "99 %",
        "99.9 %",
        "99.99 %",
        "max",
        "CPUs",
    ];
    let mut table = Table::new("End-to-end nanoseconds at each load", &words, &numbers);
    for latency in records {
        let mut cells = vec![
            latency.contender.clone(),
            latency.wait_cell(),
            latency.pinned_cell(),
            saturated_cell(latency),
            optional(latency.offered_per_second),
            optional(latency.achieved_per_second),
        ];
        cells.extend(end_to_end(latency).into_iter().flat_map(percentiles));
        cells.push(optional(cpus(latency)));
        table.add(latency.is_own(), cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rival_that_waits_in_two_ways_has_one_line() {
        let record = |contender: &str, wait: &str, placement: Option<&str>, offered: f64| {
            let segment = json!({ "name": "end-to-end", "count": 1, "min_ns": 1.0, "mean_ns": 2.0,
                "p50_ns": 2.0, "p90_ns": 3.0, "p99_ns": 4.0, "p99_9_ns": 5.0 });
            let record = json!({ "contender": contender, "wait": wait, "placement": placement,
                "topology": "pipeline", "verified": true, "offered_per_second": offered,
                "segments": [segment] });
            serde_json::from_value::<Latency>(record).unwrap()
        };
        let records = [
            record("lapwing", "adaptive", None, 1e3),
            record("lapwing", "blocking", None, 1e3),
            record("rival", "spin", None, 1e3),
            record("rival", "yield", None, 1e4),
        ];
        let lines = series(&records, false, |segment| segment.p50_ns);
        let names = lines.iter().map(|line| (line.name.as_str(), line.points.len()));
        let expected = [("lapwing (adaptive)", 1), ("lapwing (blocking)", 1), ("rival", 2)];
        assert!(names.eq(expected));

        let placed = |placement| record("lapwing", "adaptive", Some(placement), 1e3);
        let lines = series(&[placed("own"), placed("1")], false, |segment| segment.p50_ns);
        let names = lines.iter().map(|line| line.name.as_str());
        assert!(names.eq(["lapwing (adaptive own)", "lapwing (adaptive 1)"]));
    }
}
