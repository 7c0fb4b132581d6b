//! An exchange whose process has no free file descriptor. It is alone in its process, which has that
//! limit.
#![cfg(unix)]

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use exchange::flows::mix::Mix;
use exchange::service::{Input, Output, Service, Settings};
use exchange::types::PackedCommand;
use lapwing::{EventHandler, Sequence};
use lapwing_journal::{Options, Snapshots};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Hands on the number of each command that is answered.
struct Answered<F>(F);

impl<F: FnMut(u64)> EventHandler<Output> for Answered<F> {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        if output.is_last == 1 {
            (self.0)(output.sequence);
        }
    }
}

#[test]
fn a_segment_without_a_descriptor_delays_answers_and_loses_none() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().segment_bytes(8192).prepare_ahead(false);
    let journal = options.open::<Input>(folder.path()).unwrap();
    let snapshots = Snapshots::open(folder.path()).unwrap();
    let settings = Settings::default();
    let opened = Service::open_with(settings, journal, snapshots).unwrap();
    let (sender, answered) = channel();
    let count = move |sequence| _ = sender.send(sequence);
    let (service, mut entry) = opened.start(Answered(count), Answered(|_| {})).unwrap();

    let old = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..old }).unwrap();
    // Many segments, each of which needs a descriptor.
    let commands = Mix { accounts: 20, resting: 100, commands: 2_000, ..Mix::default() };
    let commands = commands.flow().into_commands();
    for (tag, command) in (1..).zip(&commands) {
        let command = PackedCommand::from(command);
        let input = Input { command, tag, received_ns: 0, session: 7 };
        entry.publish(|slot| *slot = input).unwrap();
    }
    thread::sleep(Duration::from_millis(500)); // several attempts to make a segment
    let has_failed = service.has_failed();
    setrlimit(Resource::Nofile, old).unwrap();
    assert!(!has_failed);
    let (begun, mut last) = (Instant::now(), 0);
    while last + 1 < commands.len() as u64 {
        last = answered.recv_timeout(PATIENCE).unwrap();
        assert!(begun.elapsed() < PATIENCE);
    }
    drop(entry);
    service.shutdown().unwrap();
}
