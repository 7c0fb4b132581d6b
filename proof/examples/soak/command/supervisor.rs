//! The parent: starts the child, stops and continues it, reads its figures, and notices when it is
//! silent.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use lapwing_lab_stats::OwnChild;
use lapwing_proof::threads::Fault;
use rustix::process::{Pid, Signal, kill_process};

use super::watch::HANG;
use super::weather::log_uniform;
use super::wire::{Line, State};
use super::{IS_INTERRUPTED, Task, memory, report};

/// Least and most time between two stops, in microseconds.
const RUNNING_US: (f64, f64) = (500_000.0, 20_000_000.0);
/// Least and most time of a stop, in microseconds.
const STOPPED_US: (f64, f64) = (1_000.0, 2_000_000.0);
/// Time between two lines of the report.
const REPORT: Duration = Duration::from_secs(60);
/// The child prints a line each second. Without one for this time it hangs, as does its watch.
const SILENCE: Duration = HANG.saturating_add(Duration::from_secs(30));
/// How often the parent checks for Ctrl-C and for stops.
const NAP: Duration = Duration::from_millis(5);

/// What a soak found.
#[derive(Clone, Debug, Default)]
pub(super) struct Result {
    /// The figures.
    pub(super) state: State,
    /// The violation, with everything that helps to repeat it.
    pub(super) violation: Option<String>,
    /// The time that it took.
    pub(super) elapsed: Duration,
}

/// The child and what is known of it.
struct Supervisor {
    process: OwnChild,
    lines: Receiver<Line>,
    draw: Rng,
    /// When the child is stopped, or continued if it `is_stopped`.
    changes_at: Instant,
    is_stopped: bool,
    stops: u64,
    heard_at: Instant,
    state: State,
}

/// Runs `task` in a child.
///
/// # Errors
///
/// The child does not start, or the lines of the report cannot be printed.
pub(super) fn run(task: Task) -> std::io::Result<Result> {
    let started_at = Instant::now();
    let mut supervisor = Supervisor::start(task)?;
    let violation = supervisor.watch(started_at)?;
    let Supervisor { mut state, stops, .. } = supervisor;
    count_stops(&mut state.faults, stops);
    Ok(Result { state, violation, elapsed: started_at.elapsed() })
}

fn count_stops(faults: &mut BTreeMap<String, u64>, stops: u64) {
    faults.insert(Fault::Stop.name().to_owned(), stops);
}

impl Supervisor {
    fn start(task: Task) -> std::io::Result<Self> {
        let mut process = OwnChild::start(task.command_line(), &memory::ALLOCATOR)?;
        let (send, lines) = mpsc::channel();
        let output = process.output();
        thread::spawn(move || output.map(|output| read(output, &send)));
        let mut draw = Rng::with_seed(task.seed ^ 0x7374_6f70_0000);
        let changes_at = Instant::now() + log_uniform(&mut draw, RUNNING_US);
        Ok(Self {
            process,
            lines,
            draw,
            changes_at,
            is_stopped: false,
            stops: 0,
            heard_at: Instant::now(),
            state: State::default(),
        })
    }

    /// Watches the child until it ends. Returns its violation.
    fn watch(&mut self, started_at: Instant) -> std::io::Result<Option<String>> {
        let mut report_at = started_at + REPORT;
        loop {
            match self.lines.recv_timeout(NAP) {
                Ok(Line::Beat(state)) => (self.state, self.heard_at) = (state, Instant::now()),
                Ok(Line::Done(state)) => {
                    self.state = state;
                    return Ok(None);
                }
                Ok(Line::Violation { text, snapshots, state }) => {
                    self.state = state;
                    return Ok(Some(format!("{text}\n{snapshots}")));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Some("the child has ended without a result".to_owned()));
                }
            }
            if IS_INTERRUPTED.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if self.heard_at.elapsed() > SILENCE {
                return Ok(Some(format!("the child is silent for {SILENCE:?}")));
            }
            self.stop_or_continue();
            if Instant::now() >= report_at {
                report_at += REPORT;
                let mut state = self.state.clone();
                count_stops(&mut state.faults, self.stops);
                super::print(&report::line(&state, started_at.elapsed()))?;
            }
        }
    }

    /// Stops the child, or continues it, if the time has come.
    fn stop_or_continue(&mut self) {
        if Instant::now() < self.changes_at {
            return;
        }
        let (signal, range) = if self.is_stopped {
            (Signal::CONT, RUNNING_US)
        } else {
            self.stops += 1;
            (Signal::STOP, STOPPED_US)
        };
        self.is_stopped = !self.is_stopped;
        // An error means that the child has ended, and the next line says how.
        let _ended = Pid::from_raw(self.process.id() as i32).map(|pid| kill_process(pid, signal));
        self.changes_at = Instant::now() + log_uniform(&mut self.draw, range);
    }
}

/// Sends each line of the child.
fn read(output: ChildStdout, lines: &mpsc::Sender<Line>) {
    let parsed = BufReader::new(output).lines().map_while(std::result::Result::ok);
    for line in parsed.filter_map(|text| serde_json::from_str(&text).ok()) {
        if lines.send(line).is_err() {
            return;
        }
    }
}
