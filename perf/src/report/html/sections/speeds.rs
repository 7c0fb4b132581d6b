//! The common part of all throughput records: spread, batches, CPUs.

use crate::measure::statistics::{self, Spread};
use crate::report::html::format::{self, NONE};
use crate::report::html::records::Speed;

/// Returns events per second, in millions.
pub(crate) fn millions(events_per_second: f64) -> f64 {
    events_per_second / 1e6
}

/// Returns nanoseconds from one event to the next.
pub(crate) fn nanoseconds(events_per_second: f64) -> f64 {
    1e9 / events_per_second
}

/// Returns the range of the runs, each speed formatted by `unit`.
pub(crate) fn spread(speed: &Speed, unit: fn(f64) -> f64) -> Option<Spread> {
    statistics::spread(speed.runs.iter().map(|run| unit(run.events_per_second)))
}

/// Returns the range of the runs, for a cell.
pub(crate) fn spread_cell(speed: &Speed, unit: fn(f64) -> f64) -> String {
    let range = |spread: Spread| format::range(spread.min, spread.max);
    spread(speed, unit).map_or_else(|| NONE.to_owned(), range)
}

/// Returns the median of the CPUs in use.
pub(crate) fn cpus(speed: &Speed) -> Option<f64> {
    statistics::median(speed.runs.iter().filter_map(|run| run.cpus))
}

/// Returns the CPUs as a note beside a bar.
pub(crate) fn cpus_note(speed: &Speed) -> String {
    cpus(speed).map(|cpus| format!("{cpus:.1} CPUs")).unwrap_or_default()
}

/// Returns the median of the mean batch sizes of the runs.
pub(crate) fn events_per_batch(speed: &Speed) -> Option<f64> {
    statistics::median(speed.runs.iter().filter_map(|run| run.events_per_batch))
}

/// Returns the row that it is compared with, for a cell.
pub(crate) fn baseline_cell(speed: &Speed) -> String {
    speed.baseline.as_deref().unwrap_or(NONE).to_owned()
}

/// Returns the interval of the ratio, for a cell.
pub(crate) fn interval_cell(speed: &Speed) -> String {
    let range = |[low, high]: [f64; 2]| format::range(low, high);
    speed.ratio_interval.map_or_else(|| NONE.to_owned(), range)
}
