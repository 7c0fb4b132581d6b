//! `lapwing soak`: every topology of the library under changing load and injected faults, with every
//! event checked. It measures no rival.
//!
//! ```text
//! supervisor ──(SIGSTOP, SIGCONT)──> child ──> watch                    stalls and hangs
//!     ^                                |  └──> weather                  CPUs and busy threads
//!     └────────── wire ────────────────┘  └──> plan ──> ring, channels  one episode after the other
//!
//! ring ──> wiring ──> station ──> checker, tally                        what consumers check
//!     ├──> feed ──> pace                                                what producers do
//!     └──> disturb ──> faults ──> orders                                what goes wrong
//! ```
//!
//! Everything that is drawn comes from one seed; `plan` and `faults` do the drawing. The promise is in
//! `violation`: one variant for each way to break it.

mod arguments; // the flags
mod board; // what all threads share
mod channels; // the life of a channel
mod checker; // each event once, in order, whole
mod child; // the process that does the work
mod disturb; // carries out faults
mod event; // the payload and its marks
mod faults; // kinds of faults, and when they are due
mod feed; // a producer
mod guests; // pollers, and consumers that join
mod kind; // one producer or several
mod memory; // memory growth
mod orders; // how a fault reaches a thread
mod pace; // the rhythm of a producer
mod plan; // what a seed determines
mod report; // what is printed
mod ring; // the life of a ring
mod station; // the handlers
mod supervisor; // the parent of the child
mod tally; // events that workers share
mod taps; // the readers of a tap
mod violation; // what is refused
mod waits; // wait strategies by name
mod watch; // stalls and hangs
mod weather; // CPUs taken away, busy threads
mod wire; // lines from the child to its parent
mod wiring; // the graph of a plan
mod world; // what one ring shares

pub(crate) use self::arguments::{SoakArguments, SoakChildArguments};
use self::child::Task;
use self::report::Record;
use crate::machine::child::end_with_parent;
use crate::machine::{Machine, Neighbours};
use crate::measure::error::Error;
use crate::output;

/// The subcommand of the child process.
const SUBCOMMAND: &str = "soak-child";

/// Runs the soak as `arguments` request, and prints its report.
///
/// # Errors
///
/// A violation, memory that grows, or a report that cannot be written.
pub(crate) fn run(arguments: &SoakArguments) -> Result<(), Error> {
    let (mut machine, neighbours) = (Machine::detect(), Neighbours::watch());
    output::print(&machine.to_string())?;
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..));
    output::print(&format!("soak: --seed {seed}"))?;
    let task = Task { seed, only: arguments.episode, time: arguments.minutes };
    let result = supervisor::run(&task)?;
    machine.cpus_used_by_others = neighbours.cpus_used();
    output::print(&report::table(seed, &result, machine.cpus_used_by_others))?;
    if let Some(path) = &arguments.json {
        let file =
            serde_json::json!({ "machine": machine, "results": [Record::new(seed, &result)] });
        let refused = |source| Error::Json { path: path.clone(), source };
        std::fs::write(path, format!("{file:#}\n")).map_err(refused)?;
    }
    if let Some(violation) = result.violation {
        return Err(Error::Soak(violation));
    }
    if report::leaks(&result.state) {
        return Err(Error::Soak(format!("memory grows; --seed {seed}")));
    }
    Ok(())
}

/// In the child: does what the parent asks for.
///
/// # Errors
///
/// The parent has closed the pipe, or the system refuses a thread.
pub(crate) fn serve(arguments: &SoakChildArguments) -> Result<(), Error> {
    end_with_parent()?;
    Ok(child::run(arguments.task())?)
}
