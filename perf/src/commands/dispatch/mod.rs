//! `lapwing dispatch`: the order-dispatch pipeline of `nonblocking-dispatch-bench`, with its keys,
//! segments and techniques, and two techniques of Lapwing.
//!
//! ```text
//! strategy(N) --submit--> orchestrator --dispatch--> gateway(M): holds each order for D
//! strategy(N) <--return-- orchestrator <-completion- gateway(M)         sampler: orders in flight
//! ```
//!
//! The tested technique carries `submit` and `completion`, which have several senders and one
//! receiver. The other hand-offs are the same for all queues. Differences from the original:
//!
//! - The due times of orders do not move (`sched_lag`).
//! - A stamp stays when an order is offered again.
//! - The lateness of the gateway is reported.
//! - Memory is touched and a round warms up before anything counts.
//! - Both sides of the orchestrator alternate.
//! - Each strategy checks each of its orders.
//!
//! ```text
//! arguments -> config_file -> config       layout, schedule
//! cell -> techniques -> play -> roles -> hand_off -> order
//!   |---> run -> segments       \---> work
//!   \---> record -> table
//! ```

mod arguments; // the flags
mod cell; // one technique with one amount of work, run once a round
mod config; // the keys and their default values
mod config_file; // the parser of the file, and its errors
mod hand_off; // the interface of a hand-off, and the case of a full one
mod layout; // the assignment of roles to threads
mod order; // an order and its stamps
mod play; // one run
mod random; // the original's random numbers
mod record; // one block of the report
mod roles; // strategy, orchestrator, gateway, sampler
mod run; // a run with a right answer
mod schedule; // the due times of orders
mod segments; // from times to percentiles
mod table; // the output of results
mod techniques; // the compared techniques
mod work; // the orchestrator's work

pub(crate) use self::arguments::DispatchArguments;

use self::cell::Cell;
use self::config::Config;
use self::layout::Layout;
use self::order::Payload;
use self::play::Setting;
use self::record::Record;
use self::schedule::Schedule;
use self::techniques::TechniqueName;
use self::work::Pace;
use crate::commands::old_session::Session;
use crate::load::paced::Clock;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::output;

/// The time for which a strategy waits without progress before it treats its orders as lost. It is
/// far longer than any scheduler delays a thread.
const PATIENCE_NS: u64 = 10_000_000_000;

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &DispatchArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.json.as_deref())?;
    let (config, payload) = (arguments.config(), arguments.payload);
    let layout = Layout::new(&config, layout::cpus());
    let techniques = arguments.techniques();
    output::print(&table::banner(&config, &layout, payload, techniques.len()))?;

    let records = measure(&techniques, (&config, &layout), payload, Progress::new)?;
    session.end(&records, &[], |machine| table::of(&records, &layout, machine))
}

/// Runs each of `techniques` with each amount of work, in rounds.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    techniques: &[TechniqueName],
    (config, layout): (&Config, &Layout),
    payload: Payload,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let (clock, schedule) = (Clock::new(), Schedule::new(config));
    let setting = Setting {
        config,
        schedule: &schedule,
        layout,
        clock: &clock,
        pace: Pace::measure(),
        orch_work_ns: 0,
        patience_ns: PATIENCE_NS,
    };
    let works = config.orch_work_sweep.iter();
    let mut cells = works
        .flat_map(|&orch_work_ns| {
            let setting = Setting { orch_work_ns, ..setting };
            techniques.iter().map(move |&technique| Cell::new(technique, payload, setting))
        })
        .collect::<Vec<_>>();
    let progress = progress(harness::steps(cells.len(), config.repeats));
    harness::measure(&mut cells, config.repeats, &progress)?;
    Ok(cells.iter().filter_map(Cell::record).collect())
}

#[cfg(test)]
mod tests;
