//! A subscriber that is slow, is lost, is killed or never comes; rings that end meanwhile.

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::Outcome;
use lapwing::error::{RingError, TryPublishError};
use lapwing::{Disruptor, Running, SingleProducer, Stage};
use lapwing_aeron::{
    Client, Notice, Publisher, PublisherFigures, ReceiveError, Stream, Subscriber, WhenNotConnected,
};

use crate::carried::{ipc, udp};
use crate::fixture::{
    Driver, Receiving, assert_each_gap_is_told, error_of, eventually, sending, with_driver,
};

/// Publishes until ring and stream are full. Returns the number of events.
fn fill(producer: &mut SingleProducer<u64>) -> u64 {
    let (mut count, mut last) = (0, Instant::now());
    while last.elapsed() < Duration::from_millis(500) {
        match producer.try_publish(|event| *event = count) {
            Ok(_) => (count, last) = (count + 1, Instant::now()),
            Err(TryPublishError::Full) => thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
    count
}

/// A subscription that is open, and a ring that is sending to it.
fn connected(
    driver: &Driver,
    stream: &Stream,
    policy: WhenNotConnected,
) -> (Subscriber<u64>, SingleProducer<u64>, Running<'static>, PublisherFigures) {
    let client = driver.client();
    let mut subscriber = Subscriber::plain(&client, stream.clone());
    subscriber.open(Duration::from_secs(5)).unwrap();
    let mut publisher = Publisher::plain(&client, stream.clone()).when_not_connected(policy);
    assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());
    let figures = publisher.figures();
    let (producer, running) = sending(publisher, Stage::new("send"));
    (subscriber, producer, running, figures)
}

fn slow_subscriber(driver: &Driver, stream: &Stream) {
    let (subscriber, mut producer, running, figures) =
        connected(driver, stream, WhenNotConnected::Fail);
    let count = fill(&mut producer);
    assert!(count > 1024, "the stream takes some, the ring the rest: {count}");
    assert!(figures.refused() > 0 && figures.sent() < count);
    let receiving = Receiving::start(subscriber);
    eventually("all events", || receiving.received.count() as u64 == count);
    running.shutdown().unwrap();
    let (ended, received) = receiving.stop();
    assert_eq!(ended, Ok(()));
    assert!(received.events.lock().unwrap().iter().copied().eq(0..count));
}

#[test]
fn a_slow_subscriber_holds_the_ring_and_loses_nothing_by_ipc() {
    with_driver(|driver| slow_subscriber(driver, &ipc()));
}

#[test]
fn a_slow_subscriber_holds_the_ring_and_loses_nothing_by_udp() {
    with_driver(|driver| slow_subscriber(driver, &udp()));
}

#[test]
fn a_halt_ends_a_publisher_that_is_held_back() {
    with_driver(|driver| {
        let (_subscriber, mut producer, running, _) =
            connected(driver, &ipc(), WhenNotConnected::Wait);
        fill(&mut producer);
        let start = Instant::now();
        running.halt();
        let report = running.join().unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5));
        let outcome = report.report().stages().next().unwrap().outcome().clone();
        assert!(matches!(outcome, Outcome::Halted), "{outcome:?}");
    });
}

#[test]
fn a_halt_ends_a_publisher_that_waits_for_a_subscriber() {
    with_driver(|driver| {
        let publisher = Publisher::plain(&driver.client(), ipc());
        let (mut producer, running) = sending(publisher, Stage::new("send"));
        producer.publish(|event| *event = 7).unwrap();
        thread::sleep(Duration::from_millis(100));
        running.halt();
        assert!(running.join().is_err());
    });
}

#[test]
fn a_stop_flag_ends_a_subscriber_whose_ring_is_full() {
    with_driver(|driver| {
        let (mut subscriber, mut sent, running, _) =
            connected(driver, &ipc(), WhenNotConnected::Fail);
        for number in 0..100 {
            sent.publish(|event| *event = number).unwrap();
        }
        let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let _poller = consumers.take_poller("all").unwrap(); // it never polls
        eventually("a full ring", || {
            subscriber.poll_into(&mut producer, |_| {}).unwrap().ring_is_full
        });
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let runs = scope.spawn(|| subscriber.run(&mut producer, &stop, |_| {}));
            thread::sleep(Duration::from_millis(100));
            stop.store(true, std::sync::atomic::Ordering::Release);
            assert_eq!(runs.join().unwrap(), Ok(()));
        });
        running.shutdown().unwrap();
    });
}

#[test]
fn a_ring_that_is_closed_ends_the_subscriber() {
    with_driver(|driver| {
        let (mut subscriber, mut sent, running, _) =
            connected(driver, &ipc(), WhenNotConnected::Fail);
        sent.publish(|event| *event = 7).unwrap();
        let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
        let (mut producer, _consumers) = ring.build().unwrap();
        producer.close();
        let ended = subscriber.run(&mut producer, &AtomicBool::new(false), |_| {});
        assert_eq!(ended, Err(ReceiveError::Ring(RingError::Closed)));
        running.shutdown().unwrap();
    });
}

/// Publishes the next number.
fn publish_next(producer: &mut SingleProducer<u64>, next: &mut u64) {
    producer.publish(|event| *event = *next).unwrap();
    *next += 1;
}

#[test]
fn events_without_a_subscriber_are_dropped_counted_and_a_gap_when_it_is_back() {
    with_driver(|driver| {
        let (mut subscriber, mut sent, running, figures) =
            connected(driver, &ipc(), WhenNotConnected::Drop);
        let ring = Disruptor::single_producer(1024, || 0_u64).stage("all").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let mut received = Vec::new();
        let mut gaps = Vec::new();
        let mut receive = |subscriber: &mut Subscriber<u64>, received: &mut Vec<u64>| {
            let on_notice = |notice| {
                if let Notice::Gap { missing, .. } = notice {
                    gaps.push(missing)
                }
            };
            subscriber.poll_into(&mut producer, on_notice).unwrap();
            if let Ok(mut batch) = poller.poll() {
                received.extend(batch.iter().map(|(_, event)| *event));
            }
        };
        let mut next = 0;
        publish_next(&mut sent, &mut next);
        eventually("the first", || {
            receive(&mut subscriber, &mut received);
            !received.is_empty()
        });

        subscriber.close();
        eventually("a drop", || {
            publish_next(&mut sent, &mut next);
            figures.dropped() > 0
        });
        for _ in 0..5000 {
            publish_next(&mut sent, &mut next); // the ring is not held
        }
        eventually("all dropped", || figures.sent() + figures.dropped() == next);
        assert!(figures.dropped() >= 5000 && !figures.is_connected());

        let back = next;
        eventually("an event", || {
            publish_next(&mut sent, &mut next);
            receive(&mut subscriber, &mut received);
            received.last().is_some_and(|last| *last > back)
        });
        assert!(figures.is_connected());
        running.shutdown().unwrap();
        assert_each_gap_is_told(&received, gaps);
    });
}

#[test]
fn a_publisher_without_a_subscriber_fails_by_its_policy() {
    with_driver(|driver| {
        for (policy, least) in [
            (WhenNotConnected::Fail, Duration::ZERO),
            (WhenNotConnected::WaitFor(Duration::from_millis(300)), Duration::from_millis(300)),
        ] {
            let publisher = Publisher::plain(&driver.client(), ipc()).when_not_connected(policy);
            let start = Instant::now();
            let (mut producer, running) = sending(publisher, Stage::new("send"));
            producer.publish(|event| *event = 7).unwrap();
            let message = error_of(running);
            let expected =
                "no subscriber is connected to stream 7 of aeron:ipc?term-length=64k: waited=";
            assert!(message.starts_with(expected), "{message}");
            assert!(start.elapsed() >= least);
        }
    });
}

/// Name of the test below and of the variable that makes it a subscriber, in a process that is
/// killed.
const CHILD: &str = "LAPWING_AERON_CHILD";

#[test]
#[ignore = "it is the child process of another test"]
fn child_process_that_subscribes() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let client = Client::new(dir);
    let mut subscriber = Subscriber::<u64>::plain(&client, ipc());
    subscriber.open(Duration::from_secs(5)).unwrap();
    thread::sleep(Duration::from_secs(60)); // it never polls
}

#[test]
fn a_subscriber_that_is_killed_holds_the_ring_until_the_driver_notices() {
    with_driver(|driver| {
        let client = driver.client();
        let mut publisher =
            Publisher::plain(&client, ipc()).when_not_connected(WhenNotConnected::Fail);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "subscribers::child_process_that_subscribes"])
            .env(CHILD, client.dir())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert!(publisher.wait_for_subscriber(Duration::from_secs(20)).unwrap());
        let (mut producer, running) = sending(publisher, Stage::new("send"));
        fill(&mut producer);
        assert!(producer.try_publish(|_| {}).is_err(), "a subscriber that lives holds the ring");
        child.kill().unwrap();
        child.wait().unwrap();
        let start = Instant::now();
        let message = error_of(running);
        assert!(message.starts_with("no subscriber is connected"), "{message}");
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    });
}
