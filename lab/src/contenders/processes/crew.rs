//! The processes of a run, from outside: starts them, tells them what to do, and puts their reports
//! together. They are killed when the crew is dropped.

use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

use super::order::{Order, Reply, Report};
use super::{Entry, Setup, Way, aeron_ipc, words};
use crate::foreign::{Child, ChildError, Program};
use crate::load::processes::{Amount, Called, Got, Sent};
use crate::machine::threads;
use crate::measure::crew::RunError;

/// The subcommand of a process.
const SUBCOMMAND: &str = "process-end";
/// What a driver is told: to say when it serves, and to end.
const BEGIN: &str = "begin";
const END: &str = "end";
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
    /// Whether the members are not this program: they obey words, and do not report CPU time.
    is_foreign: bool,
    /// The process that the contender needs besides. It ends last.
    driver: Option<Child>,
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
    /// CPU time of each process within the window, the writer's first, the driver's last.
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
    pub(crate) fn to_stream(entry: &Entry, setup: &Setup) -> Result<Self, RunError> {
        let mut crew = Self::start(entry, setup, 1 + setup.readers)?;
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
    pub(crate) fn to_exchange(entry: &Entry, setup: &Setup) -> Result<Self, RunError> {
        let mut crew = Self::start(entry, setup, 2)?;
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

    fn start(entry: &Entry, setup: &Setup, processes: usize) -> Result<Self, RunError> {
        match &entry.program {
            Some(program) => Self::start_foreign(program, setup, processes),
            None => Self::start_own(setup, processes),
        }
    }

    fn start_own(setup: &Setup, processes: usize) -> Result<Self, RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::Foreign(error.to_string());
        let setup_line = serde_json::to_string(setup).map_err(|error| failed(&error))?;
        let program = env::current_exe().map_err(|error| failed(&error))?;
        let is_threads = setup.contender.is_threads();
        let count = if is_threads { 1 } else { processes };
        let child = |_| Child::start(Command::new(&program).arg(SUBCOMMAND).arg(&setup_line));
        let members = (0..count).map(child).collect::<Result<_, ChildError>>()?;
        Ok(Self { members, is_threads, is_foreign: false, driver: None })
    }

    /// Starts the driver and the members together, because a JVM takes its time.
    fn start_foreign(program: &Program, setup: &Setup, processes: usize) -> Result<Self, RunError> {
        let mut driver = aeron_ipc::driver(program, setup)?;
        let child = |_| Child::start(&mut aeron_ipc::end(program, setup));
        let members = (0..processes).map(child).collect::<Result<_, ChildError>>()?;
        words::report(&driver.ask(BEGIN, PATIENCE)?)?;
        Ok(Self { members, is_threads: false, is_foreign: true, driver: Some(driver) })
    }

    /// Sends `amount` to all readers.
    ///
    /// # Errors
    ///
    /// A process that failed, or did not answer in time.
    pub(crate) fn stream(&mut self, amount: &Amount) -> Result<Streamed, RunError> {
        let (before, begin) = (self.unreported_cpu(), Instant::now());
        self.begin_stream(amount)?;
        let mut streamed = self.end_stream(amount)?;
        let cpu = self.unreported_cpu().saturating_sub(before);
        // This takes longer than the stream, and processes that spin go on meanwhile.
        let part = streamed.elapsed.as_secs_f64() / begin.elapsed().as_secs_f64();
        streamed.cpu += cpu.mul_f64(part.min(1.0));
        Ok(streamed)
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
        (0..self.members.len()).try_for_each(|member| self.order(member, Order::End).map(drop))?;
        if let Some(driver) = &mut self.driver {
            words::report(&driver.ask(END, PATIENCE)?)?;
        }
        Ok(())
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
        self.members.iter().chain(&self.driver).map(cpu_of).collect()
    }

    /// Returns the CPU time so far of the processes whose reports do not have it.
    fn unreported_cpu(&self) -> Duration {
        let members = if self.is_foreign { &*self.members } else { &[] };
        members.iter().chain(&self.driver).map(cpu_of).sum()
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
        let line = if self.is_foreign {
            words::line(&order).ok_or_else(|| format!("not for a process: {order:?}"))
        } else {
            serde_json::to_string(&order).map_err(|error| error.to_string())
        };
        Ok(self.members[member].tell(&line.map_err(RunError::Foreign)?)?)
    }

    fn hear(&mut self, member: usize, patience: Duration) -> Result<Report, RunError> {
        let line = self.members[member].hear(patience)?;
        let reply = if self.is_foreign {
            words::report(&line).map_err(|error| error.to_string())
        } else {
            serde_json::from_str::<Reply>(&line).map_err(|_| ChildError::nonsense(&line))?
        };
        reply.map_err(|reason| RunError::Foreign(format!("process {member}: {reason}")))
    }
}

/// Returns the CPU time of a process so far.
fn cpu_of(process: &Child) -> Duration {
    threads::cpu_of(process.id()).unwrap_or_default()
}

fn patience(amount: &Amount) -> Duration {
    let asked = if amount.time == Duration::MAX { Duration::ZERO } else { amount.time };
    PATIENCE + asked + amount.delay
}
