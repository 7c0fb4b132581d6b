//! What a power cut may leave of a journal on a real disk.
//!
//! A program writes a journal, and `strace` records its system calls. At each call, the test makes
//! disks that a power cut could leave then, opens each, and compares it with what the program had
//! confirmed. Unlike a kill, this shows a sync that is missing.
//!
//! A sync counts once it has returned, and covers what had ended when it began. Otherwise any subset
//! of the changes of names and of the sectors may be lost, which includes all that ext4 may lose with
//! its default options, where changes of names stay in order. There are too many subsets to try each:
//! every moment is tried with the loss of everything, and some moments with random losses.
//!
//! Linux with `strace`: `bash ci/power_cut.sh` runs it.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process};

use lapwing::Disruptor;
use lapwing_journal::faults::{Crash, Loss, Recording, SimulatedDisk};
use lapwing_journal::{Journal, Options, Plain, SyncPolicy};

/// The folder, and how the program ends.
const FOLDER: &str = "LAPWING_JOURNAL_FOLDER";
const END: &str = "LAPWING_JOURNAL_END";
/// Events of a run.
const EVENTS: u64 = 72;
/// Events that are published at once.
const BURST: u64 = 6;
/// The longest pause between two bursts, if nothing is synced.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// How long a sync takes at least.
const SYNC_US: u64 = 500;
/// Moments between two that are tried with further losses.
const STRIDE: usize = 8;

type Event = [u64; 8];

fn options() -> Options {
    Options::new().segment_bytes(2048)
}

/// The program: journals some events, and prints how far they are synced.
#[test]
#[ignore = "the test `what_was_confirmed_survives_a_power_cut_at_any_call` starts it"]
fn journal_and_end() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let journal: Journal<Event> = options().open(&folder).unwrap();
    let from = journal.next_sequence();
    let (mut producer, consumers) = Disruptor::single_producer(64, || [0; 8])
        .first_sequence(from)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
        .stage("confirm")
        .read_batch(|events, first| confirm(first + events.len() as u64))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for event in from..from + EVENTS {
        if event % BURST == 0 {
            // So that there are several frames.
            journal.wait_synced(event, LONGEST_PAUSE).unwrap();
        }
        producer.publish(|slot| *slot = [event; 8]).unwrap();
    }
    drop(producer);
    running.shutdown().unwrap();
    journal.remove_before(from).unwrap();
    match env::var(END).unwrap().as_str() {
        "close" => journal.close().unwrap(),
        _ => process::abort(),
    }
    confirm(from + EVENTS).unwrap();
}

/// Prints that all events below `end` are safe.
fn confirm(end: u64) -> std::io::Result<()> {
    std::io::stdout().write_all(format!("confirmed {end}\n").as_bytes())
}

/// Runs programs, one after the other, on one folder.
struct Runs {
    work: tempfile::TempDir,
    folder: PathBuf,
    recording: Recording,
}

impl Runs {
    fn new() -> Self {
        let work = tempfile::tempdir().unwrap();
        let folder = work.path().canonicalize().unwrap().join("new/folder");
        let recording = Recording::new(&[&folder]);
        Self { work, folder, recording }
    }

    /// Runs a program. It ends as `end` says, or is killed at the given sync of a folder.
    fn run(&mut self, end: &str, killed_at: Option<usize>) {
        let trace = self.work.path().join("trace");
        // The kill needs a rule of its own for the call.
        let mut strace = Recording::strace(&trace, if killed_at.is_some() { 0 } else { SYNC_US });
        if let Some(number) = killed_at {
            strace.args(["-e", &format!("inject=fsync:signal=SIGKILL:when={number}")]);
        }
        let output = strace
            .arg(env::current_exe().unwrap())
            .args(["--exact", "journal_and_end", "--ignored", "--nocapture", "--test-threads=1"])
            .env(FOLDER, &self.folder)
            .env(END, end)
            .output()
            .expect("strace runs");
        let is_ended = output.status.success() || end == "abort" || killed_at.is_some();
        assert!(is_ended, "{}", String::from_utf8_lossy(&output.stderr));
        self.recording.add(&fs::read_to_string(trace).unwrap()).unwrap();
    }

    /// The moments at which something was confirmed, and what.
    fn confirmations(&self) -> Vec<(usize, u64)> {
        let sent = self.recording.sent().filter(|(_, number, _)| *number == 1);
        sent.filter_map(|(moment, _, bytes)| Some((moment, confirmed(bytes)?))).collect()
    }

    /// Checks what a power cut may leave at each moment.
    fn check(&self) {
        let confirmations = self.confirmations();
        let confirmed_at = |moment| {
            let earlier = confirmations.iter().filter(|(at, _)| *at <= moment);
            earlier.map(|(_, end)| *end).max().unwrap_or(0)
        };
        for (index, moment) in self.recording.moments().into_iter().enumerate() {
            let confirmed = confirmed_at(moment);
            if confirmed > 0 {
                assert_eq!(self.recording.unsynced_folder(moment), None, "moment={moment}");
            }
            self.check_one(moment, Loss::All, 0, confirmed);
            if index % STRIDE == 0 {
                for loss in [Loss::Torn, Loss::Sectors, Loss::Ordered, Loss::None] {
                    self.check_one(moment, loss, moment as u64, confirmed);
                }
            }
        }
    }

    fn check_one(&self, moment: usize, loss: Loss, seed: u64, confirmed: u64) {
        let disk = self.recording.disk(&self.folder, moment);
        disk.crash(Crash::Power { seed, loss });
        let end = check(&disk, confirmed).unwrap_or_else(|error| {
            panic!("moment={moment} loss={loss:?} seed={seed} confirmed={confirmed}: {error}")
        });
        // What is found must stay.
        disk.crash(Crash::Power { seed, loss: Loss::All });
        check(&disk, end).unwrap_or_else(|error| {
            panic!("after recovery: moment={moment} loss={loss:?} seed={seed}: {error}")
        });
    }
}

/// Opens a journal, which must have all events below `confirmed`. Returns the end of it.
fn check(disk: &SimulatedDisk, confirmed: u64) -> Result<u64, String> {
    let opened = options().prepare_ahead(false).open_simulated::<Event, Plain>(disk);
    let journal = opened.map_err(|error| error.to_string())?;
    let end = journal.next_sequence();
    if end < confirmed {
        return Err(format!("end={end}"));
    }
    let mut next = journal.recovered().oldest;
    let reader = journal.read(next).map_err(|error| error.to_string())?;
    let each = |sequence, event: &Event| {
        assert_eq!((sequence, *event), (next, [next; 8]));
        next += 1;
    };
    reader.for_each([0; 8], each).map_err(|error| error.to_string())?;
    assert_eq!(next, end);
    Ok(end)
}

fn confirmed(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (_, number) = text.rsplit_once("confirmed ")?;
    number.trim_end().parse().ok()
}

#[test]
#[ignore = "needs strace: ci/power_cut.sh"]
fn what_was_confirmed_survives_a_power_cut_at_any_call() {
    let mut runs = Runs::new();
    for end in ["abort", "close", "abort"] {
        runs.run(end, None);
    }
    assert_eq!(runs.confirmations().last().map(|(_, end)| *end), Some(3 * EVENTS));
    runs.check();
}

/// A program that is killed leaves names and data that no sync covers. What the next one confirms
/// must not rely on them.
#[test]
#[ignore = "needs strace: ci/power_cut.sh"]
fn what_a_killed_program_has_left_is_durable_before_the_next_one_confirms() {
    for killed_at in 1..5 {
        let mut runs = Runs::new();
        runs.run("close", Some(killed_at));
        runs.run("abort", None);
        assert!(!runs.confirmations().is_empty());
        runs.check();
    }
}
