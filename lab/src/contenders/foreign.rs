//! A rival in another language as a contender. The threads and the clock are those of its process.

use std::sync::Arc;

use super::contender::{Contender, Entry, Shares};
use crate::foreign::{CppRival, JavaRival, Program, Rival, ToolError};
use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::machine::switches::Switches;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// The wait strategies of LMAX's consumers, as arguments of the program. The fastest one counts.
const LMAX_WAITS: [&[&str]; 4] = [&["busy-spin"], &["yielding"], &["sleeping"], &["blocking"]];

/// A rival in another language.
struct Foreign {
    name: &'static str,
    wait: &'static str,
    rival: Rival,
    /// Whether its program shares events among consumers.
    shares: bool,
}

/// Returns the LMAX Disruptor with each of its wait strategies.
///
/// # Errors
///
/// The missing tool, in a few words.
pub(super) fn lmax() -> Result<Entry, String> {
    let program = Arc::new(JavaRival::Lmax.build().map_err(|error| error.to_string())?);
    let candidate = |arguments: &'static [&'static str]| {
        let rival = Rival::new(Arc::clone(&program), arguments);
        let lmax = Foreign { name: "lmax", wait: arguments[0], rival, shares: true };
        Box::new(lmax) as Box<dyn Contender>
    };
    Ok(Entry::fastest_of(LMAX_WAITS.map(candidate).into()))
}

/// Returns `java.util.concurrent.ArrayBlockingQueue`.
///
/// # Errors
///
/// The missing tool, in a few words.
pub(super) fn array_blocking_queue() -> Result<Entry, String> {
    only("array-blocking-queue", "blocking", JavaRival::ArrayBlockingQueue.build())
}

/// Returns a mutex with two condition variables, in C++.
///
/// # Errors
///
/// The missing tool, in a few words.
pub(super) fn cpp_mutex_queue() -> Result<Entry, String> {
    only("cpp-mutex-queue", "condvar", CppRival::MutexQueue.build())
}

/// Returns Boost.Lockfree.
///
/// # Errors
///
/// The missing tool, in a few words.
pub(super) fn boost_lockfree() -> Result<Entry, String> {
    only("boost-lockfree", "yield", CppRival::BoostLockfree.build())
}

/// Returns `ReaderWriterQueue` and `ConcurrentQueue`.
///
/// # Errors
///
/// The missing tool, in a few words.
pub(super) fn moodycamel() -> Result<Entry, String> {
    only("moodycamel", "yield", CppRival::Moodycamel.build())
}

/// Returns the only setting of a rival, if it was `built`.
fn only(
    name: &'static str,
    wait: &'static str,
    built: Result<Program, ToolError>,
) -> Result<Entry, String> {
    let program = built.map_err(|error| error.to_string())?;
    let rival = Rival::new(Arc::new(program), &[]);
    Ok(Entry::only(Box::new(Foreign { name, wait, rival, shares: false })))
}

impl Contender for Foreign {
    fn name(&self) -> &'static str {
        self.name
    }

    fn wait(&self) -> &'static str {
        self.wait
    }

    /// Returns `None`: its threads are those of another process.
    fn switches(&self) -> Option<Switches> {
        None
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        Ok(self.rival.run(topology, workload)?)
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        Ok(self.rival.ping_pong(slots, exchange)?)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        Ok(self.rival.paced(pace)?)
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        self.shares.then_some(self as &dyn Shares)
    }
}

impl Shares for Foreign {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        Ok(self.rival.share(sharing)?)
    }
}
