//! A follower that was away, a leader that restarts, and a leader that has lost its journal.
//!
//! The programs run against Aeron's Java driver. Without Java or its jar, the tests pass and say that
//! they did not run. Each wait has a limit, so a hang is a failure.

#[path = "../../examples/common/driver.rs"]
mod driver;
mod program;

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use exchange::Exchange;
use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::wire::Order;
use exchange::plain::PlainExchange;
use exchange::types::{Command, PackedCommand};

use driver::Driver;
use program::Program;

/// Short timeouts: a process that dies is noticed after 2 s.
const OPTIONS: [&str; 5] = [
    "-XX:TieredStopAtLevel=1",
    "-Daeron.timer.interval=100ms",
    "-Daeron.client.liveness.timeout=2s",
    "-Daeron.image.liveness.timeout=1s",
    "-Daeron.publication.linger.timeout=1s",
];

/// Drivers and programs share two CPUs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Time limit of a test. A client that gets no answer would wait without end.
const LIMIT: Duration = Duration::from_secs(100);

/// Ends the process if it is not dropped in time. The programs end with their standard input.
fn limit() -> Sender<()> {
    let (done, finished) = channel();
    thread::spawn(move || {
        if finished.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            eprintln!("the test hangs");
            std::process::exit(1);
        }
    });
    done
}

fn with_driver(test: impl FnOnce(&Path)) {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _limit = limit();
    if let Some(driver) = Driver::start(&OPTIONS).unwrap() {
        test(driver.dir());
    }
}

fn commands() -> Vec<Command> {
    let mix = Mix { accounts: 20, resting: 100, commands: 6_000, ..Mix::default() };
    let mut commands = mix.flow().into_commands();
    commands.truncate(6_000);
    commands
}

/// Sends commands, and waits until all are answered.
fn send(leader: &mut Program, first: usize, commands: &[Command]) {
    let (mut sender, mut receiver) = client::connect(leader.address()).unwrap();
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    let orders: Vec<Order> = (first as u64 + 1..).zip(commands).map(order).collect();
    sender.send(&orders).unwrap();
    let last = orders.last().unwrap().tag;
    loop {
        let answer = receiver.receive().unwrap().expect("the leader has closed the connection");
        if (answer.tag, answer.is_last) == (last, 1) {
            return;
        }
    }
}

/// What a program tells at its end after these commands.
fn ended(commands: &[Command]) -> String {
    let mut plain = PlainExchange::default();
    commands.iter().for_each(|command| plain.apply(command, &mut |_| {}));
    let state = plain.state();
    format!("ended: commands={} hash={:016x}", state.commands, state.hash())
}

#[test]
fn a_follower_that_was_away_catches_up_from_the_journal_of_its_leader() {
    with_driver(|aeron| {
        let commands = commands();
        let (folder, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut leader = Program::leader(aeron, folder.path(), "journal");
        // Before the first start of the follower, and while it is killed.
        send(&mut leader, 0, &commands[..1_000]);
        let mut follower = Program::follower(aeron, own.path());
        follower.wait_for("following: next=1000");
        send(&mut leader, 1_000, &commands[1_000..2_000]);
        follower.kill();
        send(&mut leader, 2_000, &commands[2_000..3_000]);
        let mut follower = Program::follower(aeron, own.path());
        follower.wait_for("following: next=3000");
        send(&mut leader, 3_000, &commands[3_000..]);
        follower.wait_for("state: sequence=6000");
        assert_eq!(leader.end(), ended(&commands));
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_leader_that_restarts_continues_with_its_follower() {
    with_driver(|aeron| {
        let commands = commands();
        let (folder, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut leader = Program::leader(aeron, folder.path(), "follower");
        let mut follower = Program::follower(aeron, own.path());
        send(&mut leader, 0, &commands[..2_000]);
        leader.kill();
        let mut leader = Program::leader(aeron, folder.path(), "follower");
        send(&mut leader, 2_000, &commands[2_000..]);
        leader.kill();
        // Each answer has waited for the follower.
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_follower_takes_over_by_udp() {
    with_driver(|aeron| {
        let commands = commands();
        let (folder, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (there, back) =
            ("aeron:udp?endpoint=127.0.0.1:40131", "aeron:udp?endpoint=127.0.0.1:40132");
        let channels = ["--channel", there, "--back-channel", back];
        let mut leader = Program::leader_with(aeron, folder.path(), &channels);
        let mut follower = Program::follower_with(aeron, own.path(), &channels);
        send(&mut leader, 0, &commands);
        leader.kill();
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn answers_wait_for_a_follower_that_is_away() {
    with_driver(|aeron| {
        let commands = commands();
        let (folder, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut leader = Program::leader(aeron, folder.path(), "follower");
        let follower = Program::follower(aeron, own.path());
        send(&mut leader, 0, &commands[..2_000]);
        drop(follower);
        // The leader has synced these and cannot answer them. The next follower releases the answers.
        thread::scope(|scope| {
            let sending = scope.spawn(|| send(&mut leader, 2_000, &commands[2_000..]));
            let mut follower = Program::follower(aeron, own.path());
            sending.join().unwrap();
            assert_eq!(follower.end_after("promote"), ended(&commands));
        });
        // Without a follower, the leader still ends.
        assert_eq!(leader.end(), ended(&commands));
    });
}

#[test]
fn a_leader_that_has_lost_its_journal_is_refused() {
    with_driver(|aeron| {
        let commands = commands();
        let (folder, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut leader = Program::leader(aeron, folder.path(), "follower");
        let mut follower = Program::follower(aeron, own.path());
        send(&mut leader, 0, &commands[..2_000]);
        leader.kill();
        let empty = tempfile::tempdir().unwrap();
        let _leader = Program::leader(aeron, empty.path(), "journal");
        let error = follower.failure();
        assert!(
            error.contains("the leader has commands below 0, and this follower below 2000"),
            "{error}"
        );
    });
}
