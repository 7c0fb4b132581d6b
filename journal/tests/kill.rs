//! A process that journals is killed, again and again. What it has confirmed must be there.
//!
//! This does not lose the system's memory: the tests `faults` and `power_cut` do. It shows that a
//! process may end at any instruction, and that the lock of a dead process is free.
//! `LAPWING_JOURNAL_KILLS` sets the number of kills.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lapwing::Disruptor;
use lapwing_journal::{Journal, Options, SyncPolicy};

const FOLDER: &str = "LAPWING_JOURNAL_FOLDER";
const KILLS: &str = "LAPWING_JOURNAL_KILLS";

fn open(folder: &Path) -> Journal<[u64; 8]> {
    Options::new().segment_bytes(256 * 1024).open(folder).unwrap()
}

/// The process: journals without end, and prints the sequence after each batch that is synced.
#[test]
#[ignore = "the test `confirmed_events_survive_kills` starts it"]
fn journal_until_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let journal = open(Path::new(&folder));
    let from = journal.next_sequence();
    let (mut producer, consumers) = Disruptor::single_producer(4096, || [0; 8])
        .first_sequence(from)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
        .stage("confirm")
        .read_batch(|events, first| {
            let line = format!("confirmed {}\n", first + events.len() as u64);
            std::io::stdout().write_all(line.as_bytes())
        })
        .build()
        .unwrap();
    let _running = consumers.start().unwrap();
    for event in from.. {
        if producer.publish(|slot| *slot = [event; 8]).is_err() {
            break;
        }
    }
}

fn start(folder: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "journal_until_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the process run until it has confirmed, and for a moment longer. Returns what it confirmed.
fn run_and_kill(folder: &Path, moment: Duration) -> u64 {
    let mut child = start(folder);
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output.lines();
    let mut confirmed = 0;
    let mut killed = false;
    while let Some(Ok(line)) = lines.next() {
        let Some(number) = line.strip_prefix("confirmed ") else { continue };
        // The kill may cut the last line.
        confirmed = number.parse().ok().filter(|next| *next > confirmed).unwrap_or(confirmed);
        if !std::mem::replace(&mut killed, true) {
            std::thread::sleep(moment);
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    confirmed
}

#[test]
fn confirmed_events_survive_kills() {
    let kills = env::var(KILLS).map_or(20, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    for kill in 0..kills {
        let moment = Duration::from_micros(kill * 7919 % 20_000);
        let confirmed = run_and_kill(folder.path(), moment);
        let journal = open(folder.path());
        assert!(confirmed > 0 && journal.next_sequence() >= confirmed);
        let mut next = journal.recovered().oldest;
        let check = |sequence, event: &[u64; 8]| {
            assert_eq!((sequence, *event), (next, [next; 8]));
            next += 1;
        };
        journal.read(journal.recovered().oldest).unwrap().for_each([0; 8], check).unwrap();
        assert_eq!(next, journal.next_sequence());
        // The disk need not hold all runs.
        journal.remove_before(journal.next_sequence()).unwrap();
    }
}
