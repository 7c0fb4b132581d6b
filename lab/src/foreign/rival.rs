//! Requests of the benchmarks to the children of one rival. The first request for a task starts a
//! child, so unused tasks cost nothing. Each task has its own child, because a JVM compiles for the
//! code that it has run. A child that fails is ended, and the next request starts another.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::child::{Child, ChildError};
use super::program::Program;
use super::reply::{self, Ran};
use crate::load::exchange::Exchange;
use crate::load::paced::{self, Pace, Paced};
use crate::load::sharing::{Crowd, Sharing};
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::machine::placement::Placement;
use crate::measure::run::Pass;

/// Additional time for the first reply: a JVM starts and warms up, on a busy machine.
const START: Duration = Duration::from_secs(120);
/// The maximum time per event: hundreds of times that of the slowest rival on two CPUs.
const PER_EVENT: Duration = Duration::from_millis(1);

/// A rival with its setting, and its children.
#[derive(Debug)]
pub(crate) struct Rival {
    program: Arc<Program>,
    /// The setting, as arguments of the program.
    arguments: &'static [&'static str],
    /// The child of each requested task. The key is the words of a request that name the task.
    children: Mutex<BTreeMap<String, Child>>,
    /// Additional time for a reply, beside the events.
    patience: Duration,
}

impl Rival {
    /// Creates the rival that runs `program` with `arguments`.
    pub(crate) fn new(program: Arc<Program>, arguments: &'static [&'static str]) -> Self {
        Self { program, arguments, children: Mutex::default(), patience: START }
    }

    /// Runs `topology` once.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no result.
    pub(crate) fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, ChildError> {
        let Workload { events, ring, event_bytes, publish, placement } = *workload;
        let task = format!("run {}", topology.name());
        let bytes = event_bytes.bytes();
        let cpus = Cpus { placement, threads: topology.threads() };
        let details = format!("{events} {ring} {bytes} {publish} {cpus}");
        let ran = Ran::read(&self.ask(&task, &details, PER_EVENT * events)?)?;
        let handed_over = f64::from(events) * topology.consumers() as f64;
        Ok(pass(ran, handed_over))
    }

    /// Exchanges numbers once, without a pause.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no result.
    pub(crate) fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, ChildError> {
        let Exchange { exchanges, placement, .. } = exchange;
        let cpus = Cpus { placement, threads: 2 };
        let details = format!("{slots} {exchanges} {cpus}");
        let ran = Ran::read(&self.ask("ping-pong", &details, PER_EVENT * exchanges)?)?;
        Ok(pass(ran, f64::from(exchanges)))
    }

    /// Sends timed events through a pipeline of three stages.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no result.
    pub(crate) fn paced(&self, pace: &Pace) -> Result<Paced, ChildError> {
        let Pace { interval_ns, events, ring, placement, .. } = *pace;
        let cpus = Cpus { placement, threads: paced::THREADS };
        let details = format!("{interval_ns} {events} {ring} {cpus}");
        let schedule = Duration::from_secs_f64(interval_ns * 1e-9 * f64::from(events));
        let work = schedule + PER_EVENT * events;
        reply::paced(&self.ask("latency", &details, work)?, events)
    }

    /// Shares events among consumers once.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no result.
    pub(crate) fn share(&self, sharing: &Sharing) -> Result<Pass, ChildError> {
        let Sharing { crowd, events, ring, placement } = *sharing;
        let Crowd { producers, consumers } = crowd;
        let cpus = Cpus { placement, threads: crowd.threads() };
        let details = format!("{producers} {consumers} {events} {ring} {cpus}");
        let ran = Ran::read(&self.ask("share", &details, PER_EVENT * events)?)?;
        // Each consumer receives every event.
        Ok(pass(ran, f64::from(events) * f64::from(consumers)))
    }

    /// Returns the reply of the child for `task`. The timeout depends on its `work`.
    fn ask(&self, task: &str, details: &str, work: Duration) -> Result<String, ChildError> {
        // No code that panics runs between request and reply, so the children stay usable.
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = match children.remove(task) {
            Some(child) => child,
            None => Child::start(self.program.command().args(self.arguments))?,
        };
        let reply = child.ask(&format!("{task} {details}"), self.patience + work)?;
        children.insert(task.to_owned(), child);
        Ok(reply)
    }
}

/// Returns the pass of a run whose consumers received `handed_over` events in total.
fn pass(ran: Ran, handed_over: f64) -> Pass {
    let Ran { elapsed, cpu_time, batches, answers } = ran;
    let events_per_batch = handed_over / batches as f64;
    Pass { elapsed, cpu_time: Some(cpu_time), answers, events_per_batch }
}

/// The last word of a request: the placement of the threads.
struct Cpus {
    placement: Placement,
    threads: usize,
}

impl Display for Cpus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = self.placement.cpus(self.threads);
        if cpus.is_empty() {
            return formatter.write_str("free");
        }
        let numbers = cpus.iter().map(|cpu| cpu.id.to_string()).collect::<Vec<_>>();
        write!(formatter, "pinned:{}", numbers.join(","))
    }
}
