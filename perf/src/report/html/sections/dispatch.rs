//! The order-dispatch pipeline: the time of its segments, and the main result without the venue.

use super::naming::is_own;
use crate::report::distinct;
use crate::report::html::format::{self, NONE, count, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::plots::Drawn;
use crate::report::html::plots::dots::{DotRows, Dots};
use crate::report::html::plots::stacks::{Stack, Stacks};
use crate::report::html::records::{Dispatch, Segment};

/// The main result: the round trip without the venue's delay.
const HEADLINE: &str = "rt-venue";
/// Rows that are not part of the pipeline's own time: sums, the venue's delay, and lateness before
/// the send or at the venue.
const NOT_PARTS: [&str; 5] = ["rt-venue", "round-trip", "venue-svc", "sched-lag", "venue-late"];

const LEAD: &str = "An order goes from a strategy through one orchestrator to a gateway, waits \
    there for the venue, and comes back. All techniques carry the same orders. orch_work is the \
    work of the orchestrator for each order.";
const PARTS_CAPTION: &str = "The median of each segment without the venue's delay; shorter is \
    better. Medians of segments do not add up to the median of the round trip, which the next plot \
    shows. The round trip can be several times as long if orders wait in different segments at \
    different times.";
const HEADLINE_CAPTION: &str = "The round trip without the venue's delay (rt-venue); further left \
    is better. The distance from the first mark to the last is the additional delay of the slowest \
    of a thousand orders over the median.";

/// Returns the section, if there are `records`.
///
/// # Errors
///
/// The error of `plotters`.
pub(super) fn section(records: &[Dispatch]) -> Drawn<Option<Section>> {
    if records.is_empty() {
        return Ok(None);
    }
    let mut figures = Vec::new();
    let stacks = stacks(records);
    if !stacks.names.is_empty() {
        figures.push(Figure::new("dispatch-segments", PARTS_CAPTION, &stacks.draw()?));
    }
    let dots = dots(records);
    if !dots.groups.is_empty() {
        figures.push(Figure::new("dispatch", HEADLINE_CAPTION, &dots.draw()?));
    }
    Ok(Some(Section {
        id: "dispatch",
        title: "Order dispatch",
        lead: LEAD.into(),
        figures,
        tables: vec![headlines(records), segments(records)],
        notes: held_up(records).into_iter().collect(),
    }))
}

/// Returns the rows whose orders in flight deviate from Little's law.
fn held_up(records: &[Dispatch]) -> Option<String> {
    let off = records.iter().filter(|dispatch| {
        dispatch.in_flight.is_some_and(|in_flight| in_flight.as_expected == Some(false))
    });
    let name = |dispatch: &Dispatch| {
        format!("{} at {}", dispatch.contender, format::time(dispatch.orch_work_ns))
    };
    let names = off.map(name).collect::<Vec<_>>().join(", ");
    let what = "The orders in flight deviate from Little's law, so the pipeline was overloaded or \
        held up";
    (!names.is_empty()).then(|| format!("{what}: {names}."))
}

/// Returns whether `segment` is part of the pipeline's own time.
fn is_part(segment: &&Segment) -> bool {
    !NOT_PARTS.contains(&&*segment.name.replace('_', "-"))
}

fn headline(dispatch: &Dispatch) -> Option<&Segment> {
    dispatch.segments.iter().find(|segment| segment.name.replace('_', "-") == HEADLINE)
}

/// Returns the records for each amount of work, under a heading.
fn by_work(records: &[Dispatch]) -> Vec<(String, Vec<&Dispatch>)> {
    let works = distinct(records.iter().map(|dispatch| dispatch.orch_work_ns));
    let group = |work: f64| {
        let own = records.iter().filter(|one| one.orch_work_ns.total_cmp(&work).is_eq()).collect();
        (format!("orch_work {}", format::time(work)), own)
    };
    works.into_iter().map(group).collect()
}

fn stacks(records: &[Dispatch]) -> Stacks {
    let segments = records.iter().flat_map(|dispatch| dispatch.segments.iter().filter(is_part));
    let names = distinct(segments.map(|segment| segment.name.clone()));
    let stack = |dispatch: &&Dispatch| {
        let of = |name: &String| dispatch.segments.iter().find(|segment| segment.name == *name);
        let parts = names.iter().map(|name| of(name).map_or(0.0, |segment| segment.p50_ns / 1e3));
        let parts = parts.collect::<Vec<_>>();
        Stack {
            label: dispatch.contender.clone(),
            is_own: is_own(&dispatch.contender),
            text: format::precise_time(parts.iter().sum::<f64>() * 1e3),
            parts,
        }
    };
    let groups = by_work(records).into_iter();
    Stacks {
        title: "microseconds, the sum of the medians of the segments".into(),
        groups: groups.map(|(work, own)| (work, own.iter().map(stack).collect())).collect(),
        names,
    }
}

fn dots(records: &[Dispatch]) -> DotRows {
    let row = |dispatch: &&Dispatch| {
        let segment = headline(dispatch)?;
        let values = vec![segment.p50_ns, segment.p99_ns, segment.p99_9_ns];
        let text =
            values.iter().map(|ns| format::precise_time(*ns)).collect::<Vec<_>>().join(" / ");
        let label = dispatch.contender.clone();
        Some(Dots { is_own: is_own(&label), label, values, text })
    };
    let groups = by_work(records).into_iter();
    let groups = groups.map(|(work, own)| (work, own.iter().filter_map(row).collect::<Vec<_>>()));
    DotRows {
        title: "round trip without the venue's delay".into(),
        names: ["50 %", "99 %", "99.9 %"].map(str::to_owned).to_vec(),
        groups: groups.filter(|(_, rows)| !rows.is_empty()).collect(),
    }
}

fn headlines(records: &[Dispatch]) -> Table {
    let words = ["technique"];
    let numbers = [
        "orch_work, ns",
        "rt-venue 50 %, ns",
        "99 %",
        "99.9 %",
        "50 % of repeats",
        "99 % of repeats",
        "in flight, mean",
        "peak",
        "highest",
        "expected",
        "full",
        "stalled repeats",
        "worst gap, ns",
        "CPUs",
        "threads",
        "orders",
        "repeats",
    ];
    let mut table = Table::new(
        "The main result and its validity: no queue was full, and the orders in flight match \
         Little's law",
        &words,
        &numbers,
    );
    for dispatch in records {
        table.add(is_own(&dispatch.contender), headline_cells(dispatch));
    }
    table
}

fn headline_cells(dispatch: &Dispatch) -> Vec<String> {
    let segment = headline(dispatch);
    let range = |[min, max]: [f64; 2]| format::range(min, max);
    let spread = dispatch.rt_venue_spread;
    let spread_cell = |spread: Option<[f64; 2]>| spread.map_or_else(|| NONE.to_owned(), range);
    vec![
        dispatch.contender.clone(),
        figure(dispatch.orch_work_ns),
        optional(segment.map(|segment| segment.p50_ns)),
        optional(segment.map(|segment| segment.p99_ns)),
        optional(segment.map(|segment| segment.p99_9_ns)),
        spread_cell(spread.map(|spread| spread.p50_ns)),
        spread_cell(spread.map(|spread| spread.p99_ns)),
        optional(dispatch.in_flight.and_then(|in_flight| in_flight.steady_mean)),
        optional(dispatch.in_flight.map(|in_flight| in_flight.median_peak)),
        optional(dispatch.in_flight.map(|in_flight| in_flight.max)),
        optional(dispatch.in_flight.map(|in_flight| in_flight.expected)),
        dispatch.full.map_or_else(|| NONE.to_owned(), format::grouped),
        dispatch.stalls.map_or_else(|| NONE.to_owned(), |stalls| format::grouped(stalls.runs)),
        optional(dispatch.stalls.map(|stalls| stalls.worst_gap_ns)),
        optional(dispatch.cpus),
        count(dispatch.threads.map(|threads| threads as u64)),
        count(dispatch.orders),
        count(dispatch.repeats),
    ]
}

fn segments(records: &[Dispatch]) -> Table {
    let words = ["technique", "part"];
    let numbers = ["orch_work, ns", "50 %, ns", "99 %", "99.9 %"];
    let mut table = Table::new("Each segment, medians over the repeats", &words, &numbers);
    for dispatch in records {
        for segment in &dispatch.segments {
            let cells = vec![
                dispatch.contender.clone(),
                segment.name.clone(),
                figure(dispatch.orch_work_ns),
                figure(segment.p50_ns),
                figure(segment.p99_ns),
                figure(segment.p99_9_ns),
            ];
            table.add(is_own(&dispatch.contender), cells);
        }
    }
    table
}
