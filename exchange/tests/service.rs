//! The service against the plain exchange: reports, recovery, snapshots, failures.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use exchange::Exchange;
use exchange::flows::mix::Mix;
use exchange::plain::PlainExchange;
use exchange::service::{Confirmed, Entry, Input, Output, Service, ServiceError, Settings};
use exchange::types::{Command, PackedCommand, PackedReport};
use lapwing::{Action, EventHandler, Sequence};

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

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

#[test]
fn a_further_stage_gets_each_command_with_its_sequence() {
    let commands = commands(2_000);
    for has_folder in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (sender, shipped) = channel();
        let (ignored, _) = channel();
        let opened = Service::open(settings(has_folder.then(|| folder.path()))).unwrap();
        let opened = opened.after_synced(move |inputs, first| {
            for (sequence, input) in (first..).zip(inputs) {
                let _ = sender.send((sequence, input.command));
            }
            Ok(Action::Continue)
        });
        let (service, mut entry) =
            opened.start(Collect(ignored.clone()), Collect(ignored)).unwrap();
        publish(&mut entry, &commands);
        drop(entry);
        service.shutdown().unwrap();
        assert!(shipped.iter().eq((0..).zip(commands.iter().map(PackedCommand::from))));
    }
}

#[test]
fn answers_wait_for_a_confirmation() {
    let commands = commands(100);
    let confirmed = Arc::new(Confirmed::new(0));
    let (sender, reports) = channel();
    let (ignored, _) = channel();
    let opened = Service::open(settings(None)).unwrap().confirmed_by(Arc::clone(&confirmed));
    let (service, mut entry) = opened.start(Collect(sender), Collect(ignored)).unwrap();
    let mut plain = PlainExchange::default();
    // `durable` handles a batch as a whole, so each command is confirmed before the next one.
    for (sequence, command) in (0..).zip(&commands) {
        publish(&mut entry, std::slice::from_ref(command));
        assert!(reports.try_recv().is_err(), "an answer came before its confirmation");
        confirmed.note(sequence + 1);
        for expected in expected(&mut plain, sequence, std::slice::from_ref(command)) {
            assert_eq!(reports.recv_timeout(PATIENCE), Ok(expected));
        }
    }
    // An exchange whose other process is gone can end.
    publish(&mut entry, &commands[..1]);
    confirmed.give_up();
    drop(entry);
    let error = service.shutdown().unwrap_err();
    assert!(matches!(error, ServiceError::Stage(_)), "{error}");
    assert!(error.to_string().contains("not confirmed"), "{error}");
    assert!(reports.try_recv().is_err());
}

#[test]
fn the_engine_is_shown_every_so_many_commands() {
    let commands = commands(1_050);
    let (shown, states) = channel();
    let (ignored, _) = channel();
    let opened = Service::open(settings(None)).unwrap().watch(100, move |sequence, engine| {
        let _ = shown.send((sequence, engine.state().hash()));
    });
    let (service, mut entry) = opened.start(Collect(ignored.clone()), Collect(ignored)).unwrap();
    publish(&mut entry, &commands);
    drop(entry);
    service.shutdown().unwrap();
    let mut plain = PlainExchange::default();
    let expected: Vec<_> = (1..)
        .zip(&commands)
        .filter_map(|(sequence, command)| {
            plain.apply(command, &mut |_| {});
            (sequence % 100 == 0).then(|| (sequence, plain.state().hash()))
        })
        .collect();
    assert_eq!(states.iter().collect::<Vec<_>>(), expected);
}

/// The start opened the journal before it looked at the snapshots. It cut what a snapshot proved to
/// be synced, or made a new journal in place of one that was missing, and only then failed.
#[test]
fn a_start_changes_no_journal_that_ends_before_its_snapshot() {
    let (folder, commands) = (tempfile::tempdir().unwrap(), commands(500));
    let (service, mut entry, _reports) = start(settings(Some(folder.path())));
    publish(&mut entry, &commands);
    service.shutdown().unwrap();
    let (journal, kept) = (folder.path().join("journal"), folder.path().join("kept"));
    std::fs::rename(&journal, &kept).unwrap();

    let error = Service::open(settings(Some(folder.path()))).unwrap_err().to_string();
    assert!(error.contains("synced events are unreadable"), "{error}");
    std::fs::remove_dir_all(&journal).unwrap();
    std::fs::rename(&kept, &journal).unwrap();
    let opened = Service::open(settings(Some(folder.path()))).unwrap();
    let recovered = opened.recovery().snapshot + opened.recovery().replayed;
    assert_eq!(recovered, commands.len() as u64);
}
