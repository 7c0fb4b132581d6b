//! One section per benchmark, with its plots, its table and its text.

mod contention; // an increment, beside the paper's
mod dispatch; // the order-dispatch pipeline
mod idle; // the cost of waiting
mod latency; // percentile curves
mod limits; // percent of the limits of the machine
mod naming; // labels of rows, pinned or not
mod oversubscribed; // more threads than CPUs
mod perftest; // LMAX's own tests
mod ping_pong; // round trips of a number
mod rates; // channels under load, and graphs beside busy threads
mod speeds; // the common part of all throughput records
mod sweep; // latency against load
mod throughput; // the paper's five configurations

use super::page::{Absent, Section};
use super::plots::Drawn;
use super::read::Data;

/// Returns the benchmarks in the order of the page, each with its section if there are records.
///
/// # Errors
///
/// The error of `plotters`.
pub(crate) fn all(data: &Data) -> Drawn<Vec<(&'static str, Option<Section>)>> {
    Ok(vec![
        ("throughput", throughput::section(&data.throughput)?),
        ("latency", latency::section(&data.latency)?),
        ("sweep", sweep::section(&data.sweep)?),
        ("oversubscribed", oversubscribed::section(&data.oversubscribed)?),
        ("channels", rates::channels(&data.channels)),
        ("neighbours", rates::neighbours(&data.neighbours)),
        ("idle", idle::section(&data.idle, &data.lone_event)?),
        ("ping-pong", ping_pong::section(&data.ping_pong)?),
        ("limits", limits::section(data)?),
        ("contention", contention::section(&data.contention)?),
        ("dispatch", dispatch::section(&data.dispatch)?),
        ("perftest", perftest::section(&data.perftest)),
    ])
}

/// Returns the command that measures `benchmark`.
pub(crate) fn absent(benchmark: &'static str) -> Absent {
    let command = format!("lapwing {benchmark} --json FOLDER/{benchmark}.json");
    Absent { benchmark, command }
}
