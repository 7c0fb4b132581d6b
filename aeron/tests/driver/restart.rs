//! A driver that is absent, is killed, and comes back.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::{Outcome, Retries};
use lapwing::{Disruptor, SingleProducer, Stage};
use lapwing_aeron::{
    Client, Notice, OpenError, Publisher, ReceiveError, SendError, Stream, Subscriber,
    WhenNotConnected,
};

use crate::carried::{ipc, udp};
use crate::fixture::{
    DRIVER_TIMEOUT, Driver, Receiving, assert_each_gap_is_told, eventually, send, sending,
    with_driver,
};

/// How long a client may take to notice a dead driver.
const NOTICED: Duration = Duration::from_secs(15);

#[test]
fn without_a_driver_both_ends_say_so_at_once() {
    let client = Client::new("/dev/shm/lapwing-aeron-no-driver");
    let start = Instant::now();
    let mut publisher = Publisher::plain(&client, Stream::ipc(7));
    let error = publisher.send(&[7_u64], 0).unwrap_err().to_string();
    assert_eq!(error, "no media driver runs in /dev/shm/lapwing-aeron-no-driver");
    let mut subscriber = Subscriber::<u64>::plain(&client, Stream::ipc(7));
    let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
    let (mut producer, _consumers) = ring.build().unwrap();
    let error = subscriber.poll_into(&mut producer, |_| {}).unwrap_err();
    assert!(matches!(error, ReceiveError::Open(OpenError::NoDriver { .. })), "{error}");
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_killed_driver_halts_the_ring_and_ends_the_subscriber_with_its_name() {
    with_driver(|driver| {
        let client = driver.client();
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        let (mut producer, running) = sending(Publisher::plain(&client, ipc()), Stage::new("send"));
        producer.publish(|event| *event = 0).unwrap();
        eventually("the first event", || receiving.received.count() == 1);
        driver.kill();
        let start = Instant::now();
        while producer.publish(|event| *event = 1).is_ok() {
            assert!(start.elapsed() < NOTICED);
        }
        let error = running.join().unwrap_err();
        let outcome = error.report().stages().next().unwrap().outcome().clone();
        let Outcome::Failed { message, .. } = outcome else { panic!("{outcome:?}") };
        assert!(message.starts_with("the media driver has gone while stream 7"), "{message}");
        let (ended, _) = receiving.join();
        assert!(matches!(ended, Err(ReceiveError::DriverGone { .. })), "{ended:?}");
        assert!(start.elapsed() < NOTICED);
        let again = Publisher::<u64>::plain(&client, ipc()).open(Duration::from_secs(1));
        eventually("no driver", || matches!(&again, Err(OpenError::NoDriver { .. })));
    });
}

/// Kills the driver while Aeron has events that the subscriber has not polled, and starts another
/// one once the clients must have noticed.
fn lose_events_in_flight(driver: &mut Driver, producer: &mut SingleProducer<u64>, sent: &mut u64) {
    for _ in 0..500 {
        producer.publish(|event| *event = *sent).unwrap();
        *sent += 1;
    }
    thread::sleep(Duration::from_millis(200)); // the publisher sends them
    driver.kill();
    thread::sleep(DRIVER_TIMEOUT + Duration::from_secs(2));
    driver.restart();
}

/// Sends through a kill and a restart of the driver, and returns what has arrived.
fn through_a_restart(driver: &mut Driver, stream: &Stream) {
    let client = driver.client();
    let again = Retries::of_event().pause(Duration::from_millis(50)).attempts(1000);
    let publisher =
        Publisher::plain(&client, stream.clone()).when_not_connected(WhenNotConnected::Wait);
    let id = publisher.id();
    let (mut producer, running) = sending(publisher, Stage::new("send").on_error(again));
    let mut subscriber = Subscriber::plain(&client, stream.clone());

    let (mut received, mut gaps) = (Vec::<u64>::new(), Vec::new());
    let ring = Disruptor::single_producer(64, || 0_u64).stage("all").poller();
    let (mut filled, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    let (mut sent, mut was_gone, mut is_restarted) = (0, false, false);
    let start = Instant::now();
    while received.last().is_none_or(|last| *last < 20_000) || !is_restarted {
        assert!(start.elapsed() < Duration::from_secs(50), "{} {sent} {was_gone}", received.len());
        if received.len() < 2000 || was_gone {
            for _ in 0..10 {
                if sent <= 20_000 && producer.try_publish(|event| *event = sent).is_ok() {
                    sent += 1;
                }
            }
        } else if !is_restarted {
            lose_events_in_flight(driver, &mut producer, &mut sent);
            is_restarted = true;
        }
        let polled = subscriber.poll_into(&mut filled, |notice| {
            if let Notice::Gap { publisher, missing } = notice {
                assert_eq!(publisher, id);
                gaps.push(missing);
            }
        });
        match polled {
            Ok(_) => {}
            Err(ReceiveError::DriverGone { .. }) => was_gone = true,
            Err(ReceiveError::Open(OpenError::NoDriver { .. })) => {}
            Err(error) => panic!("{error}"),
        }
        if let Ok(mut batch) = poller.poll() {
            received.extend(batch.iter().map(|(_, event)| *event));
        }
    }
    assert!(was_gone);
    running.shutdown().unwrap();
    assert!(!gaps.is_empty(), "events in flight are lost");
    assert_each_gap_is_told(&received, gaps);
}

#[test]
fn both_ends_continue_after_a_restart_by_ipc() {
    with_driver(|driver| through_a_restart(driver, &ipc()));
}

#[test]
fn both_ends_continue_after_a_restart_by_udp() {
    with_driver(|driver| through_a_restart(driver, &udp()));
}

#[test]
fn a_driver_that_is_stopped_is_an_error_and_no_hang() {
    with_driver(|driver| {
        // The client does not count it as dead during this test.
        let client = Client::new(driver.client().dir()).driver_timeout(Duration::from_secs(40));
        Publisher::<u64>::plain(&client, ipc()).open(Duration::from_secs(5)).unwrap();
        driver.signal("-STOP");
        let mut publisher = Publisher::<u64>::plain(&client, ipc());
        let error = publisher.open(Duration::from_millis(200)).unwrap_err();
        assert!(matches!(error, OpenError::TimedOut { .. }), "{error}");
        let mut error = None;
        eventually("no answer", || {
            error = publisher.send(&[7], 0).err();
            error.is_some()
        });
        let is_expected = |error| matches!(error, SendError::Open(OpenError::TimedOut { .. }));
        assert!(error.is_some_and(is_expected));
        driver.signal("-CONT");
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        send(&mut publisher, &[7], 0);
        eventually("the event", || receiving.received.count() == 1);
        assert_eq!(receiving.stop().0, Ok(()));
    });
}

#[test]
fn a_halt_ends_a_publisher_that_waits_for_a_driver() {
    let client = Client::new("/dev/shm/lapwing-aeron-no-driver");
    let again = Retries::of_event().pause(Duration::from_millis(10)).attempts(1_000_000);
    let stage = Stage::new("send").on_error(again);
    let (mut producer, running) = sending(Publisher::plain(&client, Stream::ipc(7)), stage);
    producer.publish(|event| *event = 7).unwrap();
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    running.halt();
    assert!(running.join().is_err());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_client_that_two_ends_share_reconnects_once_for_both() {
    with_driver(|driver| {
        let client = driver.client();
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        let mut publisher = Publisher::<u64>::plain(&client, ipc());
        assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());
        driver.kill();
        let (ended, _) = receiving.join();
        assert!(matches!(ended, Err(ReceiveError::DriverGone { .. })), "{ended:?}");
        driver.restart();
        let error = publisher.send(&[7], 0).unwrap_err().to_string();
        assert!(error.starts_with("the media driver has gone"), "{error}");
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());
        send(&mut publisher, &[7], 0);
        let received = Arc::clone(&receiving.received);
        eventually("the event", || received.count() == 1);
        assert_eq!(receiving.stop().0, Ok(()));
    });
}
