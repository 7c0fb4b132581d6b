//! The service against the plain exchange: reports, recovery, snapshots, failures.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use exchange::Exchange;
use exchange::flows::mix::Mix;
use exchange::plain::PlainExchange;
use exchange::service::{Entry, Input, Output, Service, Settings};
use exchange::types::{Command, PackedCommand, PackedReport};
use lapwing::{EventHandler, Sequence};

/// Hands on all reports.
struct Collect(Sender<Output>);

impl EventHandler<Output> for Collect {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        // Some tests do not read them.
        let _ = self.0.send(*output);
    }
}

fn commands(count: usize) -> Vec<Command> {
    Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() }.flow().into_commands()
}

fn settings(folder: Option<&Path>) -> Settings {
    let mut settings = Settings::default();
    settings.folder = folder.map(Path::to_owned);
    settings.snapshot_every = 100;
    (settings.input_slots, settings.output_slots) = (64, 64);
    settings
}

/// Starts a service. The reports come out of the receiver.
fn start(settings: Settings) -> (Service, Entry, Receiver<Output>) {
    let (sender, reports) = channel();
    let (ignored, _) = channel();
    let opened = Service::open(settings).unwrap();
    let (service, entry) = opened.start(Collect(sender), Collect(ignored)).unwrap();
    (service, entry, reports)
}

fn publish(entry: &mut Entry, commands: &[Command]) {
    for (tag, command) in (1..).zip(commands) {
        let command = PackedCommand::from(command);
        let input = Input { command, tag, received_ns: 0, session: 7 };
        entry.publish(|slot| *slot = input).unwrap();
    }
}

/// The reports of a plain exchange for commands that begin with `first`.
fn expected(plain: &mut PlainExchange, first: Sequence, commands: &[Command]) -> Vec<Output> {
    let mut outputs: Vec<Output> = Vec::new();
    for (index, command) in (0..).zip(commands) {
        let command_in = PackedCommand::from(command);
        let input = Input { command: command_in, tag: index + 1, received_ns: 0, session: 7 };
        plain.apply(command, &mut |report| {
            outputs.push(Output::new(&input, first + index, PackedReport::from(&report)));
        });
        outputs.last_mut().expect("a command has a report").is_last = 1;
    }
    outputs
}

#[test]
fn all_reports_are_those_of_the_plain_exchange() {
    let commands = commands(2_000);
    let (service, mut entry, reports) = start(settings(None));
    publish(&mut entry, &commands);
    drop(entry);
    let engine = service.shutdown().unwrap();
    let mut plain = PlainExchange::default();
    assert!(reports.iter().eq(expected(&mut plain, 0, &commands)));
    assert_eq!(engine.state(), plain.state());
}

#[test]
fn a_restart_goes_on_from_snapshot_and_journal() {
    let commands = commands(2_000);
    let folder = tempfile::tempdir().unwrap();
    let mut plain = PlainExchange::default();
    let mut done = 0;
    for part in [550, 1, 0, 700] {
        let opened = Service::open(settings(Some(folder.path()))).unwrap();
        assert_eq!(opened.engine().state(), plain.state());
        let found = opened.recovery();
        assert_eq!(found.snapshot + found.replayed, done);
        // Snapshots may be skipped, if they are offered faster than they are written.
        assert!(done < 550 || found.snapshot > 0);
        assert_eq!((found.cut_bytes, found.damaged.len()), (0, 0));
        drop(opened);

        let (service, mut entry, reports) = start(settings(Some(folder.path())));
        let next = &commands[done as usize..][..part];
        publish(&mut entry, next);
        drop(entry);
        service.shutdown().unwrap();
        assert!(reports.iter().eq(expected(&mut plain, done, next)));
        done += part as u64;
    }
}

#[test]
fn a_folder_serves_one_exchange_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (service, _entry, _reports) = start(settings(Some(folder.path())));
    let error = Service::open(settings(Some(folder.path()))).unwrap_err().to_string();
    assert!(error.contains("lock"), "{error}");
    service.shutdown().unwrap();
    Service::open(settings(Some(folder.path()))).unwrap();
}

#[test]
fn a_damaged_snapshot_is_left_out_and_named() {
    let commands = commands(500);
    let folder = tempfile::tempdir().unwrap();
    let (service, mut entry, _reports) = start(settings(Some(folder.path())));
    publish(&mut entry, &commands);
    let state = service.shutdown().unwrap().state();
    let snapshots = std::fs::read_dir(folder.path().join("snapshots")).unwrap();
    let latest = snapshots.map(|entry| entry.unwrap().path()).max().unwrap();
    let mut bytes = std::fs::read(&latest).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&latest, bytes).unwrap();

    let opened = Service::open(settings(Some(folder.path()))).unwrap();
    assert_eq!(opened.recovery().damaged, [latest]);
    assert_eq!(opened.engine().state(), state);
}
