//! The counts of a case, what its waits tell, and the watchdog that ends a hang.

use std::fmt;
use std::fs::{self, DirEntry};
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::ends::{Inbox, Next, Receives, Receiving, SENDERS, Sending, Sends, drive};
use crate::executors::{Executor, Task};
use crate::giving_up::Random;

/// How many times slower than a plain build a test may be: `ci/sanitizers.sh` and `ci/processors.sh` set the variable.
const SLOWER: u32 = if option_env!("LAPWING_SLOW_TESTS").is_some() { 10 } else { 1 };

/// Longest wait of a call, with all futures of it that are dropped. A wait usually takes less than a millisecond.
const LONGEST: Duration = Duration::from_secs(1).saturating_mul(SLOWER);

/// Time without a value that makes a hang.
const HANG: Duration = Duration::from_secs(60).saturating_mul(SLOWER);

/// Period of the watchdog.
const TICK: Duration = Duration::from_millis(20);

/// Cases run one at a time, so that they do not wait for each other's threads.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The counts of an asynchronous call.
pub(crate) struct Tally {
    call: &'static str,
    values: AtomicU64,
    drops: AtomicU64,
    longest_ns: AtomicU64,
}

impl Tally {
    pub(crate) fn count_drop(&self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_values(&self, values: u64) {
        self.values.fetch_add(values, Ordering::Relaxed);
    }

    fn drops(&self) -> u64 {
        self.drops.load(Ordering::Relaxed)
    }

    fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed))
    }
}

/// What was sent and received.
#[derive(Default)]
struct Ledger {
    /// How many values each sender has sent.
    sent: [u64; SENDERS as usize],
    received: Vec<Inbox>,
}

/// A case that runs.
pub(crate) struct Probe {
    executor: Executor,
    case: String,
    /// How many futures of each call are dropped.
    goal: u64,
    tallies: Vec<Arc<Tally>>,
    /// How many values were received.
    moved: AtomicU64,
    /// How long threads were [ready without a CPU](without_cpu), when the watchdog last looked.
    without_cpu_ns: AtomicU64,
    ledger: Mutex<Ledger>,
    complaints: Mutex<Vec<String>>,
}

/// What a wait began with.
pub(crate) struct Start {
    time: Instant,
    moved: u64,
    without_cpu_ns: u64,
}

impl Probe {
    /// Prepares a case with these calls.
    pub(crate) fn new(
        executor: Executor,
        case: String,
        goal: u64,
        calls: &[&'static str],
    ) -> Arc<Self> {
        let tally = |&call| Tally {
            call,
            values: AtomicU64::new(0),
            drops: AtomicU64::new(0),
            longest_ns: AtomicU64::new(0),
        };
        Arc::new(Self {
            executor,
            case,
            goal,
            tallies: calls.iter().map(tally).map(Arc::new).collect(),
            moved: AtomicU64::new(0),
            without_cpu_ns: AtomicU64::new(without_cpu()),
            ledger: Mutex::default(),
            complaints: Mutex::default(),
        })
    }

    /// Returns the task of a sender with this number.
    pub(crate) fn sends<S: Sends>(self: &Arc<Self>, number: u64, sender: S) -> Task {
        let (probe, tally) = (Arc::clone(self), self.tally(S::CALL));
        let next = Next { sender: number, index: 0 };
        let end = Sending { sender, next, probe, tally: Arc::clone(&tally) };
        Box::pin(drive(end, Arc::clone(self), tally, self.executor, Random(number)))
    }

    /// Returns the task of a receiver with this number.
    pub(crate) fn receives<R: Receives>(self: &Arc<Self>, number: u64, receiver: R) -> Task {
        let (probe, tally) = (Arc::clone(self), self.tally(R::CALL));
        let end = Receiving { receiver, inbox: Inbox::default(), probe, tally: Arc::clone(&tally) };
        let random = Random(SENDERS + number);
        Box::pin(drive(end, Arc::clone(self), tally, self.executor, random))
    }

    fn tally(&self, call: &str) -> Arc<Tally> {
        let tally = self.tallies.iter().find(|tally| tally.call == call);
        Arc::clone(tally.expect("the case has this call"))
    }

    /// Runs the tasks, and joins the threads beside them.
    pub(crate) fn run(self: &Arc<Self>, tasks: Vec<Task>, threads: Vec<JoinHandle<()>>) -> Report {
        let (alive, is_alive) = mpsc::channel();
        let watched = Arc::clone(self);
        let dog = thread::spawn(move || watched.watch(&is_alive));
        self.executor.run(tasks);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(alive);
        dog.join().expect("the watchdog only waits");
        self.report()
    }

    /// Ends the process if no value moves for a long time.
    fn watch(&self, is_alive: &mpsc::Receiver<()>) {
        let mut last = (Instant::now(), self.moved());
        loop {
            if is_alive.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            self.without_cpu_ns.store(without_cpu(), Ordering::Relaxed);
            if self.moved() != last.1 {
                last = (Instant::now(), self.moved());
            } else if last.0.elapsed() > HANG {
                let report = self.report();
                // Not `eprintln`, whose output the test runner would keep.
                let _ = writeln!(io::stderr(), "no value for {HANG:?}: {report}");
                process::abort();
            }
        }
    }

    /// Whether each call has had enough futures dropped.
    pub(crate) fn is_done(&self) -> bool {
        self.tallies.iter().all(|tally| tally.drops() >= self.goal)
    }

    /// Whether a call has had more futures dropped than another one.
    pub(crate) fn is_ahead(&self, tally: &Tally) -> bool {
        self.tallies.iter().any(|other| other.drops() < tally.drops())
    }

    /// Whether this call has had fewer futures dropped than another one.
    pub(crate) fn is_behind(&self, call: &str) -> bool {
        let own = self.tallies.iter().find(|tally| tally.call == call).map(|tally| tally.drops());
        self.tallies.iter().any(|other| Some(other.drops()) > own)
    }

    pub(crate) fn count_moved(&self, values: u64) {
        self.moved.fetch_add(values, Ordering::Relaxed);
    }

    fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    pub(crate) fn note_sent(&self, next: Next) {
        self.ledger.lock().unwrap().sent[next.sender as usize] = next.index;
    }

    pub(crate) fn note_received(&self, inbox: Inbox) {
        self.ledger.lock().unwrap().received.push(inbox);
    }

    pub(crate) fn start_wait(&self) -> Start {
        let without_cpu_ns = self.without_cpu_ns.load(Ordering::Relaxed);
        Start { time: Instant::now(), moved: self.moved(), without_cpu_ns }
    }

    /// Notes how long a call took. On a busy machine a thread that is ready may get no CPU for a second. This time is
    /// not counted: if a wake-up is lost, threads sleep, and none is ready.
    pub(crate) fn end_wait(&self, tally: &Tally, start: Start) {
        let wait = start.time.elapsed();
        tally.longest_ns.fetch_max(wait.as_nanos() as u64, Ordering::Relaxed);
        if wait <= LONGEST {
            return;
        }
        let busy = Duration::from_nanos(without_cpu().saturating_sub(start.without_cpu_ns));
        if wait.saturating_sub(busy) > LONGEST {
            self.complaints.lock().unwrap().push(format!(
                "{}: a wait of {wait:?}; values received meanwhile={}, threads without a CPU for {busy:?}",
                tally.call,
                self.moved() - start.moved,
            ));
        }
    }

    fn report(&self) -> Report {
        let ledger = self.ledger.lock().unwrap();
        let missing = |inbox: &Inbox| -> u64 {
            ledger.sent.iter().zip(inbox.next).map(|(sent, next)| sent.saturating_sub(next)).sum()
        };
        let received = &ledger.received;
        Report {
            executor: self.executor,
            case: self.case.clone(),
            tallies: self.tallies.clone(),
            lost: received.iter().map(|inbox| inbox.lost + missing(inbox)).sum(),
            doubled: received.iter().map(|inbox| inbox.doubled).sum(),
            complaints: self.complaints.lock().unwrap().clone(),
        }
    }
}

/// Returns for how many nanoseconds the threads of this process were ready and had no CPU, in all. It is 0 where the
/// system does not tell.
fn without_cpu() -> u64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return 0 };
    let of_thread = |thread: DirEntry| {
        // Time on a CPU, time without one, number of times.
        let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        times.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    threads.flatten().filter_map(of_thread).sum()
}

/// Runs a case while no other one runs.
pub(crate) fn alone<R>(case: impl FnOnce() -> R) -> R {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    case()
}

/// What came of a case.
pub(crate) struct Report {
    executor: Executor,
    case: String,
    tallies: Vec<Arc<Tally>>,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// The waits that took too long.
    pub(crate) complaints: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { executor, case, tallies, lost, doubled, .. } = self;
        for (number, tally) in tallies.iter().enumerate() {
            let (call, values) = (tally.call, tally.values.load(Ordering::Relaxed));
            let (drops, longest) = (tally.drops(), tally.longest().as_secs_f64() * 1e3);
            if number > 0 {
                writeln!(f)?;
            }
            write!(
                f,
                "{executor:18} {case:14} {call:19} values={values:<9} drops={drops:<8} \
                 lost={lost} doubled={doubled} longest wait={longest:.1} ms"
            )?;
        }
        Ok(())
    }
}
