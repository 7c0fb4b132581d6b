//! The processes of a run, from outside: starts them, tells them what to do, and puts their reports
//! together. They are killed when the crew is dropped.

use std::process::Command;
use std::time::Duration;
use std::{env, thread};

use super::order::{Order, Reply, Report};
use super::{Setup, Way};
use crate::foreign::{Child, ChildError};
use crate::load::processes::{Amount, Called, Got, Sent};
use crate::machine::threads;
use crate::measure::crew::RunError;

/// The subcommand of a process.
const SUBCOMMAND: &str = "process-end";
/// The longest time for an order, besides the time that it asks for: hundreds of times what the
/// slowest contender needs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time from the begin of an idle run to its window. Readers without events sleep by then, if
/// they ever do.
const SETTLING: Duration = Duration::from_millis(150);
/// The time from the end of the window to that of the run.
const TAIL: Duration = Duration::from_millis(50);

/// The processes of a run.
pub(crate) struct Crew {
    /// The writer or caller, and then the readers or the one that echoes. A contender of threads
    /// has one.
    members: Vec<Child>,
    is_threads: bool,
}

/// A stream that ended.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// From the first event at the writer to the last one at the last reader.
    pub(crate) elapsed: Duration,
    /// CPU time of all processes meanwhile.
    pub(crate) cpu: Duration,
    pub(crate) sent: Sent,
    /// One for each reader.
    pub(crate) got: Vec<Got>,
}

/// A time without events.
#[derive(Debug)]
pub(crate) struct Idled {
    /// CPU time of each process within the window, the writer's first.
    pub(crate) cpu: Vec<Duration>,
    /// The empty stream that ended it.
    pub(crate) streamed: Streamed,
}

impl Crew {
    /// Starts one writer and the readers of `setup`.
    ///
    /// # Errors
    ///
    /// A process that does not start, or a contender that refuses.
    pub(crate) fn to_stream(setup: &Setup) -> Result<Self, RunError> {
        let mut crew = Self::start(setup, 1 + setup.readers)?;
        crew.order(0, Order::Create(Way::There))?;
        if !crew.is_threads {
            crew.all(|member| (member > 0).then(|| Order::Open(Way::There, member - 1)))?;
            crew.all(|member| Some(Order::Begin(setup.cpus.get(member).copied())))?;
        }
        Ok(crew)
    }

    /// Starts one process that calls and one that echoes.
    ///
    /// # Errors
    ///
    /// A process that does not start, or a contender that refuses.
    pub(crate) fn to_exchange(setup: &Setup) -> Result<Self, RunError> {
        let mut crew = Self::start(setup, 2)?;
        if crew.is_threads {
            crew.order(0, Order::Create(Way::There))?;
            crew.order(0, Order::Create(Way::Back))?;
            return Ok(crew);
        }
        let ways = [Way::There, Way::Back];
        crew.all(|member| Some(Order::Create(ways[member])))?;
        crew.all(|member| Some(Order::Open(ways[1 - member], 0)))?;
        crew.all(|member| Some(Order::Begin(setup.cpus.get(member).copied())))?;
        Ok(crew)
    }

    fn start(setup: &Setup, processes: usize) -> Result<Self, RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::Foreign(error.to_string());
        let setup_line = serde_json::to_string(setup).map_err(|error| failed(&error))?;
        let program = env::current_exe().map_err(|error| failed(&error))?;
        let is_threads = setup.contender.is_threads();
        let count = if is_threads { 1 } else { processes };
        let child = |_| Child::start(Command::new(&program).arg(SUBCOMMAND).arg(&setup_line));
        let members = (0..count).map(child).collect::<Result<_, ChildError>>()?;
        Ok(Self { members, is_threads })
    }

    /// Sends `amount` to all readers.
    ///
    /// # Errors
    ///
    /// A process that failed, or did not answer in time.
    pub(crate) fn stream(&mut self, amount: &Amount) -> Result<Streamed, RunError> {
        self.begin_stream(amount)?;
        self.end_stream(amount)
    }

    /// Lets all processes wait, and measures their CPU time over `window`.
    ///
    /// # Errors
    ///
    /// A process that failed, or did not answer in time.
    pub(crate) fn idle(&mut self, window: Duration) -> Result<Idled, RunError> {
        let amount = Amount { delay: SETTLING + window + TAIL, ..Amount::events(0) };
        self.begin_stream(&amount)?;
        thread::sleep(SETTLING);
        let before = self.cpu();
        thread::sleep(window);
        let after = self.cpu();
        let cpu = after.iter().zip(&before).map(|(after, before)| after.saturating_sub(*before));
        Ok(Idled { cpu: cpu.collect(), streamed: self.end_stream(&amount)? })
    }

    /// Sends `amount` there and back one by one, after a `pause` before each.
    ///
    /// # Errors
    ///
    /// A process that failed, or did not answer in time.
    pub(crate) fn exchange(
        &mut self,
        amount: &Amount,
        pause: Duration,
    ) -> Result<Called, RunError> {
        if self.is_threads {
            self.tell(0, Order::Exchange(*amount, pause))?;
        } else {
            self.tell(1, Order::Echo)?;
            self.tell(0, Order::Call(*amount, pause))?;
        }
        let reports = self.hear_all(patience(amount))?;
        let called = reports.into_iter().find_map(|report| report.called);
        called.ok_or_else(|| RunError::Foreign("the caller has no result".to_owned()))
    }

    /// Ends all processes: each drops its ends first, the writer's before those of the readers.
    ///
    /// # Errors
    ///
    /// A process that failed, or did not answer in time.
    pub(crate) fn end(mut self) -> Result<(), RunError> {
        (0..self.members.len()).try_for_each(|member| self.order(member, Order::End).map(drop))
    }

    fn begin_stream(&mut self, amount: &Amount) -> Result<(), RunError> {
        if self.is_threads {
            return self.tell(0, Order::Stream(*amount));
        }
        (1..self.members.len()).try_for_each(|reader| self.tell(reader, Order::Read))?;
        self.tell(0, Order::Write(*amount))
    }

    fn end_stream(&mut self, amount: &Amount) -> Result<Streamed, RunError> {
        let reports = self.hear_all(patience(amount))?;
        let cpu = reports.iter().map(|report| report.cpu).sum();
        let sent = reports.iter().find_map(|report| report.sent.clone());
        let sent = sent.ok_or_else(|| RunError::Foreign("the writer has no result".to_owned()))?;
        let got = reports.into_iter().flat_map(|report| report.got).collect::<Vec<_>>();
        let ended_ns = got.iter().map(|got| got.ended_ns).max().unwrap_or(sent.began_ns);
        let elapsed = Duration::from_nanos(ended_ns.saturating_sub(sent.began_ns));
        Ok(Streamed { elapsed, cpu, sent, got })
    }

    /// Returns the CPU time of each process so far.
    fn cpu(&self) -> Vec<Duration> {
        let used = |member: &Child| threads::cpu_of(member.id()).unwrap_or_default();
        self.members.iter().map(used).collect()
    }

    /// Gives one member an order, and waits for its report.
    fn order(&mut self, member: usize, order: Order) -> Result<Report, RunError> {
        self.tell(member, order)?;
        self.hear(member, PATIENCE)
    }

    /// Gives each member its order, if it has one, and waits for their reports.
    fn all(&mut self, order: impl Fn(usize) -> Option<Order>) -> Result<(), RunError> {
        let orders = (0..self.members.len()).filter_map(|member| Some((member, order(member)?)));
        let orders = orders.collect::<Vec<_>>();
        orders.iter().try_for_each(|(member, order)| self.tell(*member, *order))?;
        orders.iter().try_for_each(|(member, _)| self.hear(*member, PATIENCE).map(drop))
    }

    /// Waits for the reports of all members. Readers are the first: one that has lost an event says
    /// so, and the writer may wait for it without end.
    fn hear_all(&mut self, patience: Duration) -> Result<Vec<Report>, RunError> {
        (0..self.members.len()).rev().map(|member| self.hear(member, patience)).collect()
    }

    fn tell(&mut self, member: usize, order: Order) -> Result<(), RunError> {
        let line = serde_json::to_string(&order);
        let line = line.map_err(|error| RunError::Foreign(error.to_string()))?;
        Ok(self.members[member].tell(&line)?)
    }

    fn hear(&mut self, member: usize, patience: Duration) -> Result<Report, RunError> {
        let line = self.members[member].hear(patience)?;
        let reply =
            serde_json::from_str::<Reply>(&line).map_err(|_| ChildError::nonsense(&line))?;
        reply.map_err(|reason| RunError::Foreign(format!("process {member}: {reason}")))
    }
}

fn patience(amount: &Amount) -> Duration {
    let asked = if amount.time == Duration::MAX { Duration::ZERO } else { amount.time };
    PATIENCE + asked + amount.delay
}
