//! The tables of `lapwing async`: streams, wake-ups and idle tasks, a line for each contender of a cell.

use lapwing_lab_stats::Percentiles;

use super::{CAPACITY, ENDS, LOAD, WAKE_UP, WAY};
use crate::load::tasks::stream::LOST;
use crate::record::{Record, by, figure};
use crate::view::{Column, Table, column, text};

/// Returns a table for each kind of load that was measured.
pub(super) fn of(records: &[&Record]) -> Vec<Table> {
    let parts = by(records, |record| match &*record.text(LOAD) {
        "wake-up" => "Wake-ups",
        "idle" => "Idle tasks",
        _ => "Streams",
    });
    let table = |(caption, records): (&str, Vec<&Record>)| {
        let columns = match caption {
            "Wake-ups" => wake_ups(),
            "Idle tasks" => idle(),
            _ => streams(),
        };
        Table::of(caption, &records, columns)
    };
    parts.into_iter().map(table).collect()
}

fn streams<'a>() -> Vec<Column<'a>> {
    vec![
        column::label("load", LOAD),
        column::label("way", WAY),
        column::number("ends", ENDS),
        column::number("slots", CAPACITY).leaves(3),
        column::contender(),
        column::rate(),
        column::quartiles().leaves(2),
        column::ratio_to("x best rival"),
        Column::numbers("lost %", |record| Some(text::rounded(100.0 * record.median(LOST)?)))
            .leaves(4),
        column::cpus().leaves(1),
    ]
}

fn wake_ups<'a>() -> Vec<Column<'a>> {
    let delay =
        |name, percentile: fn(&Percentiles) -> f64| column::delay(name, WAKE_UP, percentile);
    vec![
        column::contender(),
        delay("50 % ns", |delays| delays.p50_ns),
        delay("99 % ns", |delays| delays.p99_ns),
        delay("max ns", |delays| delays.max_ns),
    ]
}

fn idle<'a>() -> Vec<Column<'a>> {
    vec![
        column::number("tasks", ENDS),
        column::contender(),
        Column::numbers("CPU %", |record| {
            Some(format!("{:.2}", 100.0 * record.median(figure::CPUS)?))
        }),
    ]
}

/// Returns the geometric mean of Lapwing's ratios to the best rival of each cell, and the lowest, for each load and way.
pub(super) fn notes(records: &[&Record]) -> Vec<String> {
    let own = records.iter().copied().filter(|record| record.is_own() && record.ratio.is_some());
    let own = own.collect::<Vec<_>>();
    let ways = by(&own, |record| [record.text(LOAD), record.text(WAY)].join(", "));
    let note = |(way, records): (String, Vec<&Record>)| {
        let ratios = records.iter().filter_map(|record| Some(record.ratio.as_ref()?.median));
        let lowest = ratios.clone().fold(f64::INFINITY, f64::min);
        let mean = (ratios.map(f64::ln).sum::<f64>() / records.len() as f64).exp();
        format!(
            "lapwing, {way}: geometric mean of the ratios to the best rival that loses nothing {}, lowest {}",
            text::rounded(mean),
            text::rounded(lowest)
        )
    };
    ways.into_iter().map(note).collect()
}
