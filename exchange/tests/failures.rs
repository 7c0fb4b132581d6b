//! What the service and the gateway do when the disk fails.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::Gateway;
use exchange::gateway::wire::Order;
use exchange::plain::PlainExchange;
use exchange::service::{Entry, Input, Opened, Output, Service, Settings};
use exchange::types::{Command, PackedCommand};
use lapwing::{EventHandler, Sequence};
use lapwing_journal::faults::SimulatedDisk;
use lapwing_journal::{Options, Plain, Snapshots};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The simulated disks of an exchange.
#[derive(Clone, Default)]
struct Disks {
    journal: SimulatedDisk,
    snapshots: SimulatedDisk,
}

impl Disks {
    /// Recovers the exchange, with small rings and small segments.
    fn open(&self) -> Opened {
        let mut settings = Settings::default();
        settings.snapshot_every = 100;
        (settings.input_slots, settings.output_slots) = (64, 64);
        let options = Options::new().segment_bytes(8192).prepare_ahead(false);
        let journal = options.open_simulated::<Input, Plain>(&self.journal).unwrap();
        let snapshots = Snapshots::open_simulated(&self.snapshots).unwrap();
        Service::open_with(settings, journal, snapshots).unwrap()
    }

    fn start(&self) -> (Service, Entry, Receiver<Output>) {
        let (sender, reports) = channel();
        let collect = Collect(move |output| _ = sender.send(output));
        let (service, entry) = self.open().start(collect, Collect(|_| {})).unwrap();
        (service, entry, reports)
    }
}

/// Calls a function for each report.
struct Collect<F>(F);

impl<F: FnMut(Output)> EventHandler<Output> for Collect<F> {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        (self.0)(*output);
    }
}

fn commands(count: usize) -> Vec<Command> {
    Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() }.flow().into_commands()
}

/// Publishes commands from a thread until all are in the ring, or the ring takes no more.
fn publish(mut entry: Entry, commands: Vec<Command>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for (tag, command) in (1..).zip(&commands) {
            let command = PackedCommand::from(command);
            let input = Input { command, tag, received_ns: 0, session: 7 };
            if entry.publish(|slot| *slot = input).is_err() {
                break;
            }
        }
    })
}

fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < PATIENCE, "not in time: {what}");
        thread::yield_now();
    }
}

/// Returns what `run` returns, unless it takes too long.
fn in_time<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    thread::spawn(move || done.send(run()));
    result.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("not in time: {what}"))
}

#[test]
fn a_full_disk_delays_reports_and_loses_none() {
    let (disks, commands) = (Disks::default(), commands(1_000));
    let (service, entry, reports) = disks.start();
    disks.journal.set_space(Some(0)); // no second segment
    let publishing = publish(entry, commands.clone());
    wait_until("the journal finds the disk full", || disks.journal.times_full() > 0);
    disks.journal.set_space(None);
    publishing.join().unwrap();
    let state = service.shutdown().unwrap().state();
    let mut plain = PlainExchange::default();
    let mut expected = 0;
    for command in &commands {
        plain.apply(command, &mut |_| expected += 1);
    }
    assert_eq!((reports.iter().count(), state), (expected, plain.state()));
}

#[test]
fn a_journal_that_fails_ends_a_matching_stage_that_waits_for_it() {
    let disks = Disks::default();
    let (service, entry, _reports) = disks.start();
    disks.journal.set_space(Some(0));
    let publishing = publish(entry, commands(1_000));
    // Reports wait for the journal, so matching soon finds the output ring full.
    wait_until("the journal finds the disk full", || disks.journal.times_full() > 1);
    disks.journal.fail_write(0);
    disks.journal.set_space(None);
    wait_until("the service has failed", || service.has_failed());
    in_time("the publisher ends", move || publishing.join().unwrap());
    let ended = in_time("the shutdown ends", move || service.shutdown().map(drop));
    let cause = ended.unwrap_err().to_string();
    assert!(cause.contains("stage=\"journal\"") && cause.contains("cannot write"), "{cause}");
}

#[test]
fn a_failure_during_the_shutdown_ends_it() {
    let disks = Disks::default();
    let (service, entry, _reports) = disks.start();
    disks.journal.set_space(Some(0));
    let publishing = publish(entry, commands(1_000));
    wait_until("the journal finds the disk full", || disks.journal.times_full() > 1);
    let ended = thread::spawn(move || service.shutdown().map(drop));
    in_time("the publisher ends", move || publishing.join().unwrap());
    disks.journal.fail_write(0);
    disks.journal.set_space(None);
    let ended = in_time("the shutdown ends", move || ended.join().unwrap());
    let cause = ended.unwrap_err().to_string();
    assert!(cause.contains("stage=\"journal\"") && cause.contains("cannot write"), "{cause}");
}

#[test]
fn clients_see_the_end_of_an_exchange_whose_sync_fails() {
    let disks = Disks::default();
    let gateway = Gateway::start(disks.open(), "127.0.0.1:0").unwrap();
    let address = gateway.address();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let mut subscriber = client::subscribe(address, 0).unwrap();
    let send = |sender: &mut client::OrderSender, tag| {
        let command = PackedCommand::from(&commands(1)[0]);
        sender.send(&[Order { tag, command }]).unwrap();
    };
    send(&mut sender, 1);
    let (receiver, first) = in_time("the first answer", move || {
        let first = receiver.receive();
        (receiver, first)
    });
    assert_eq!(first.unwrap().unwrap().tag, 1);
    assert!(!gateway.has_failed());

    disks.journal.fail_syncs(1);
    send(&mut sender, 2);
    wait_until("the exchange has failed", || gateway.has_failed());
    let ended = in_time("the shutdown ends", move || gateway.shutdown().map(drop));
    // The error is still there when the connections end.
    let cause = ended.as_ref().unwrap_err().to_string();
    assert!(cause.contains("cannot sync a segment"), "{cause}");
    let mut receiver = receiver;
    let rest = in_time("the connections end", move || {
        while subscriber.receive().unwrap().is_some() {}
        receiver.receive().unwrap()
    });
    assert_eq!(rest, None); // the second command is not answered
    drop(ended);
}

#[test]
fn a_snapshot_that_finds_no_space_is_left_out() {
    let (disks, commands) = (Disks::default(), commands(1_000));
    let (service, entry, _reports) = disks.start();
    disks.snapshots.set_space(Some(0));
    publish(entry, commands.clone()).join().unwrap();
    wait_until("a snapshot finds the disk full", || disks.snapshots.times_full() > 0);
    assert!(!service.has_failed());
    let state = service.shutdown().unwrap().state();
    let opened = disks.open();
    assert_eq!(opened.recovery().snapshot, 0);
    assert_eq!(opened.engine().state(), state);
}

#[test]
fn a_snapshot_that_cannot_be_written_ends_the_exchange() {
    let disks = Disks::default();
    let (service, entry, _reports) = disks.start();
    disks.snapshots.fail_write(0);
    publish(entry, commands(1_000)).join().unwrap();
    wait_until("the service has failed", || service.has_failed());
    let ended = in_time("the shutdown ends", move || service.shutdown().map(drop));
    let cause = ended.unwrap_err().to_string();
    assert!(cause.contains("cannot write a snapshot"), "{cause}");
}
