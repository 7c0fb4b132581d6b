//! LMAX's own performance tests. They are a table, because each counts something else.

use super::latency::percentiles;
use super::naming::Named;
use super::speeds;
use crate::report::html::format::{NONE, count, figure, optional};
use crate::report::html::page::{Section, Table};
use crate::report::html::records::Speed;

const LEAD: &str = "The performance tests of the Disruptor's repository, by their names and with \
    their parameters. Each test counts what LMAX counts, so rows compare with LMAX's figures and \
    not with each other.";

/// Returns the section, if there are `records`.
pub(super) fn section(records: &[Speed]) -> Option<Section> {
    if records.is_empty() {
        return None;
    }
    Some(Section {
        id: "perftest",
        title: "LMAX's performance tests",
        lead: LEAD.into(),
        tables: tables(records),
        ..Section::default()
    })
}

/// Returns the speeds, and the round trips if a test measures them.
fn tables(records: &[Speed]) -> Vec<Table> {
    let numbers = ["events", "min", "mean", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "max"];
    let mut delays = Table::new("Nanoseconds of round trips", &["test", "part"], &numbers);
    for speed in records {
        for segment in &speed.segments {
            let test = speed.topology.clone().unwrap_or_default();
            let mut cells = vec![test, segment.name.clone()];
            cells.extend(percentiles(segment));
            delays.add(speed.is_own(), cells);
        }
    }
    let mut tables = vec![table(records), delays];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn table(records: &[Speed]) -> Table {
    let words = ["test", "shape", "contender", "wait", "pinned", "baseline"];
    let numbers = [
        "M operations/s",
        "min .. max",
        "× baseline",
        "events/batch",
        "CPUs",
        "threads",
        "ring",
        "bytes",
        "events",
        "runs",
    ];
    let mut table = Table::new("Medians over the runs", &words, &numbers);
    for speed in records {
        let cells = vec![
            speed.topology.clone().unwrap_or_else(|| NONE.to_owned()),
            speed.shape.clone().unwrap_or_else(|| NONE.to_owned()),
            speed.contender.clone(),
            speed.wait_cell(),
            speed.pinned_cell(),
            speeds::baseline_cell(speed),
            figure(speeds::millions(speed.median_events_per_second)),
            speeds::spread_cell(speed, speeds::millions),
            optional(speed.ratio_to_baseline),
            optional(speeds::events_per_batch(speed)),
            optional(speeds::cpus(speed)),
            count(speed.threads.map(|threads| threads as u64)),
            count(speed.ring),
            count(speed.event_bytes),
            count(speed.events),
            speed.runs.len().to_string(),
        ];
        table.add(speed.is_own(), cells);
    }
    table
}
