//! A follower that was away, a leader that restarts, a leader that has lost its journal, and streams that are full,
//! refused or shared.
//!
//! The programs run against Aeron's Java driver. Without Java or its jar, the tests pass and say that
//! they did not run. Each wait has a limit, so a hang is a failure.

#[path = "../../examples/common/driver.rs"]
mod driver;
mod ends;
mod program;

use std::sync::atomic::{AtomicBool, Ordering};
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
use lapwing_aeron::{Client, Publisher, Stream, Subscriber};

use driver::Driver;
use ends::{FakeFollower, FakeLeader, SMALL, STREAM};
use program::{Place, Program};

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

fn with_driver(test: impl FnOnce(&Place)) {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _limit = limit();
    if let Some(driver) = Driver::start(&OPTIONS).unwrap() {
        test(&Place::new(driver.dir()));
    }
}

fn commands() -> Vec<Command> {
    first_commands(6_000)
}

fn first_commands(count: usize) -> Vec<Command> {
    let mix = Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() };
    let mut commands = mix.flow().into_commands();
    commands.truncate(count);
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
    with_driver(|place| {
        let commands = commands();
        let mut leader = place.leader("journal");
        // Before the first start of the follower, and while it is killed.
        send(&mut leader, 0, &commands[..1_000]);
        let mut follower = place.follower();
        follower.wait_for("following: next=1000");
        send(&mut leader, 1_000, &commands[1_000..2_000]);
        follower.kill();
        send(&mut leader, 2_000, &commands[2_000..3_000]);
        let mut follower = place.follower();
        follower.wait_for("following: next=3000");
        send(&mut leader, 3_000, &commands[3_000..]);
        follower.wait_for("state: sequence=6000");
        assert_eq!(leader.end(), ended(&commands));
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_leader_that_restarts_continues_with_its_follower() {
    with_driver(|place| {
        let commands = commands();
        let mut leader = place.leader("follower");
        let mut follower = place.follower();
        send(&mut leader, 0, &commands[..2_000]);
        leader.kill();
        let mut leader = place.leader("follower");
        send(&mut leader, 2_000, &commands[2_000..]);
        leader.kill();
        // Each answer has waited for the follower.
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_follower_takes_over_by_udp() {
    with_driver(|place| {
        let commands = commands();
        let (there, back) =
            ("aeron:udp?endpoint=127.0.0.1:40131", "aeron:udp?endpoint=127.0.0.1:40132");
        let channels = ["--channel", there, "--back-channel", back];
        let mut leader = place.leader_with(&channels);
        let mut follower = place.follower_with(&channels);
        send(&mut leader, 0, &commands);
        leader.kill();
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn answers_wait_for_a_follower_that_is_away() {
    with_driver(|place| {
        let commands = commands();
        let mut leader = place.leader("follower");
        let follower = place.follower();
        send(&mut leader, 0, &commands[..2_000]);
        drop(follower);
        // The leader has synced these and cannot answer them. The next follower releases the answers.
        thread::scope(|scope| {
            let sending = scope.spawn(|| send(&mut leader, 2_000, &commands[2_000..]));
            let mut follower = place.follower();
            sending.join().unwrap();
            assert_eq!(follower.end_after("promote"), ended(&commands));
        });
        // Without a follower, the leader still ends.
        assert_eq!(leader.end(), ended(&commands));
    });
}

#[test]
fn a_leader_that_has_lost_its_journal_is_refused() {
    with_driver(|place| {
        let commands = commands();
        let mut leader = place.leader("follower");
        let mut follower = place.follower();
        send(&mut leader, 0, &commands[..2_000]);
        leader.kill();
        let empty = tempfile::tempdir().unwrap();
        let _leader = Program::leader(place.aeron(), empty.path(), "journal");
        let error = follower.failure();
        assert!(
            error.contains("the leader has commands below 0, and this follower below 2000"),
            "{error}"
        );
    });
}

#[test]
fn a_follower_far_behind_catches_up_by_streams_that_hold_little() {
    with_driver(|place| {
        let commands = first_commands(50_000);
        let small = ["--channel", SMALL, "--back-channel", SMALL, "--acknowledge", "journal"];
        let mut leader = place.leader_with(&small);
        send(&mut leader, 0, &commands);
        // Its ring and the stream of its confirmations fill up. Neither program may wait for the other.
        let mut follower = place.follower_with(&small[..4]);
        follower.wait_for("following: next=50000");
        let ended = ended(&commands);
        assert_eq!(leader.end(), ended);
        assert_eq!(follower.end_after("promote"), ended);
    });
}

#[test]
fn a_leader_hears_a_follower_that_does_not_take_its_answer() {
    with_driver(|place| {
        let commands = first_commands(2_000);
        let mut leader = place.leader_with(&["--channel", SMALL]);
        let mut follower = FakeFollower::new(place.aeron(), SMALL);
        thread::scope(|scope| {
            let sending = scope.spawn(|| send(&mut leader, 0, &commands));
            follower.take_live_up_to(2_000);
            // The stream holds a part of what the follower asks for.
            follower.ask_and_take_one(0);
            follower.confirm(2_000);
            sending.join().unwrap();
        });
        assert_eq!(leader.end(), ended(&commands));
    });
}

#[test]
fn a_follower_whose_confirmations_nobody_takes_takes_over() {
    with_driver(|place| {
        let commands = first_commands(20_000);
        let small = ["--channel", SMALL, "--back-channel", SMALL];
        let mut leader = FakeLeader::new(place.aeron(), SMALL, 1);
        let mut follower = place.follower_with(&small);
        leader.answer_with_the_end(0);
        follower.wait_for("following: next=0");
        let filled = leader.ship_until_confirmations_stop(&commands);
        // More than the follower's ring holds.
        leader.ship(filled as u64, &commands[filled..]);
        follower.wait_for("state: sequence=20000");
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_takeover_applies_the_live_commands_after_those_that_were_sent_again() {
    with_driver(|place| {
        let commands = first_commands(4);
        let mut leader = FakeLeader::new(place.aeron(), "aeron:ipc", 1);
        let mut follower = place.follower();
        leader.answer_with_the_end(0);
        follower.wait_for("following: next=0");
        // The leader dies in the middle of its answer: it hears nothing.
        leader.become_deaf();
        leader.ship(0, &commands[..1]);
        leader.ship(2, &commands[2..]);
        leader.send_again(1, &commands[1..2]);
        follower.say("promote");
        let promoted = follower.wait_for("promoted: ");
        assert!(promoted.starts_with("promoted: commands=4 "), "{promoted}");
        assert_eq!(follower.end(), ended(&commands));
    });
}

#[test]
fn a_second_leader_ends_the_follower_with_an_error() {
    with_driver(|place| {
        let commands = first_commands(100);
        let mut leader = FakeLeader::new(place.aeron(), "aeron:ipc", 1);
        let mut follower = place.follower();
        leader.answer_with_the_end(0);
        follower.wait_for("following: next=0");
        leader.ship(0, &commands[..50]);
        let mut second = FakeLeader::new(place.aeron(), "aeron:ipc", 2);
        second.answer_with_the_end(50);
        follower.wait_for("following: next=50");
        drop(second);
        // The first leader serves clients as before.
        leader.ship(50, &commands[50..]);
        leader.answer_until(|| follower.has_ended());
        let error = follower.failure();
        assert!(error.contains("two leaders run"), "{error}");
    });
}

#[test]
fn a_follower_asks_the_third_leader_if_two_have_gone_meanwhile() {
    with_driver(|place| {
        let commands = first_commands(100);
        let first = FakeLeader::new(place.aeron(), "aeron:ipc", 1);
        let mut follower = place.follower();
        // The follower asks, so it leaves the live stream alone.
        let mut third = FakeLeader::new(place.aeron(), "aeron:ipc", 3);
        third.wait_for_question();
        drop(first);
        drop(FakeLeader::new(place.aeron(), "aeron:ipc", 2));
        third.answer_with_the_end(0);
        follower.wait_for("following: next=0");
        third.ship(0, &commands);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| third.answer_until(|| is_over.load(Ordering::Relaxed)));
            follower.wait_for("following: next=100");
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(follower.end_after("promote"), ended(&commands));
    });
}

#[test]
fn a_follower_that_takes_nothing_stops_no_leader_whose_journal_answers() {
    with_driver(|place| {
        let commands = first_commands(20_000);
        let channels = ["--channel", SMALL, "--acknowledge", "journal"];
        let mut leader = place.leader_with(&channels);
        // It is connected, and its disk is full.
        let stream = Stream::new(SMALL, STREAM).unwrap();
        let mut stuck = Subscriber::<u64>::plain(&Client::new(place.aeron()), stream);
        stuck.open(Duration::from_secs(5)).unwrap();
        send(&mut leader, 0, &commands);
        drop(stuck);
        let mut follower = place.follower_with(&channels[..2]);
        follower.wait_for("following: next=20000");
        let ended = ended(&commands);
        assert_eq!(leader.end(), ended);
        assert_eq!(follower.end_after("promote"), ended);
    });
}

#[test]
fn a_message_of_another_form_does_not_stop_the_confirmations() {
    with_driver(|place| {
        let commands = commands();
        let mut leader = place.leader("follower");
        let mut follower = place.follower();
        send(&mut leader, 0, &commands[..1_000]);
        let back = Stream::ipc(STREAM + 2);
        let mut foreign = Publisher::plain(&Client::new(place.aeron()), back).schema(77);
        ends::send_all(&mut foreign, &[1_u64, 2, 3], 0);
        send(&mut leader, 1_000, &commands[1_000..]);
        let ended = ended(&commands);
        assert_eq!(leader.end(), ended);
        assert_eq!(follower.end_after("promote"), ended);
    });
}

#[test]
fn a_leader_that_cannot_hear_its_follower_ends_with_the_cause() {
    with_driver(|place| {
        // An address of another machine.
        let back = ["--back-channel", "aeron:udp?endpoint=192.0.2.1:40133"];
        let mut leader = place.leader_with(&back);
        let error = leader.failure();
        assert!(error.contains("the media driver refuses"), "{error}");
    });
}

#[test]
fn a_follower_whose_address_is_in_use_does_not_start() {
    let (aeron, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut follower = Program::follower_with(aeron.path(), own.path(), &["--address", &address]);
    let error = follower.failure();
    assert!(error.contains(&format!("cannot listen at {address}")), "{error}");
}
