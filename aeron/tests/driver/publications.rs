//! A publication at its limit, an image that is lost, a channel that the driver refuses.

use std::time::Duration;

use lapwing::consumer::Retries;
use lapwing::{Action, Stage};
use lapwing_aeron::{Notice, OpenError, Publisher, SendError, Stream, Subscriber};

use crate::carried::{ipc, udp};
use crate::fixture::{
    Driver, Receiving, assert_each_gap_is_told, error_of, eventually, send, sending, with_driver,
};

/// A stream whose publication may send 32 KiB before its largest position.
fn near_its_limit() -> Stream {
    let uri = "aeron:ipc?term-length=64k|init-term-id=0|term-id=2147483647|term-offset=32768";
    Stream::new(uri, 7).unwrap()
}

#[test]
fn a_publication_at_its_limit_halts_the_ring_with_a_message() {
    with_driver(|driver| {
        let client = driver.client();
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        let (mut producer, running) =
            sending(Publisher::plain(&client, near_its_limit()), Stage::new("send"));
        let mut count = 0;
        while producer.publish(|event| *event = count).is_ok() {
            count += 1;
        }
        let message = error_of(running);
        assert!(message.contains("is at its largest position"), "{message}");
        eventually("what was sent", || receiving.received.count() > 2000);
        let (ended, received) = receiving.stop();
        assert_eq!(ended, Ok(()));
        let events = received.events.lock().unwrap();
        assert!(events.iter().copied().eq(0..events.len() as u64));
    });
}

#[test]
fn a_publisher_at_its_limit_continues_with_a_new_publication_if_the_stage_retries() {
    with_driver(|driver| {
        let client = driver.client();
        let mut subscriber = Subscriber::plain(&client, ipc());
        subscriber.open(Duration::from_secs(5)).unwrap();
        let again = Retries::of_event().pause(Duration::from_millis(10)).attempts(1000);
        let publisher = Publisher::plain(&client, near_its_limit());
        let (mut producer, running) = sending(publisher, Stage::new("send").on_error(again));
        // Each publication takes about 3,800 events. All but the last are closed before the first
        // poll.
        let count = 20_000;
        for number in 0..count {
            producer.publish(|event| *event = number).unwrap();
        }
        running.shutdown().unwrap();
        let receiving = Receiving::start(subscriber);
        eventually("all events", || receiving.received.count() as u64 == count);
        let (ended, received) = receiving.stop();
        assert_eq!(ended, Ok(()));
        assert!(received.events.lock().unwrap().iter().copied().eq(0..count));
        assert!(!received.has(|notice| matches!(notice, Notice::Gap { .. })));
    });
}

#[test]
fn a_gap_behind_a_publication_at_its_limit_is_told_once_its_image_has_gone() {
    with_driver(|driver| {
        let client = driver.client();
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()));
        let publisher = Publisher::plain(&client, near_its_limit());
        // The batch at the limit is skipped.
        let (mut producer, running) = sending(publisher, Stage::new("send").on_error(Action::Skip));
        for number in 0..6000 {
            producer.publish(|event| *event = number).unwrap();
        }
        running.shutdown().unwrap();
        let received = &receiving.received;
        eventually("the end", || received.events.lock().unwrap().last() == Some(&5999));
        let (ended, received) = receiving.stop();
        assert_eq!(ended, Ok(()));
        let gaps = received.gaps();
        assert!(!gaps.is_empty());
        assert_each_gap_is_told(&received.events.lock().unwrap(), gaps);
    });
}

fn lost_image(driver: &Driver, stream: &Stream) {
    let client = driver.client();
    let receiving = Receiving::start(Subscriber::plain(&client, stream.clone()));
    let (mut producer, running) =
        sending(Publisher::plain(&client, stream.clone()), Stage::new("send"));
    for number in 0..3000 {
        producer.publish(|event| *event = number).unwrap();
    }
    running.shutdown().unwrap(); // drops the publisher
    let received = &receiving.received;
    eventually("a lost image", || {
        received.has(|notice| matches!(notice, Notice::ImageLost { .. }))
    });
    eventually("all events", || received.count() == 3000);

    let mut next = Publisher::<u64>::plain(&client, stream.clone());
    assert!(next.wait_for_subscriber(Duration::from_secs(5)).unwrap());
    send(&mut next, &[7], 50);
    let id = next.id();
    eventually("a new publisher", || {
        received.has(|notice| *notice == Notice::PublisherSeen { publisher: id, first: 50 })
    });
    assert_eq!(receiving.stop().0, Ok(()));
}

#[test]
fn a_lost_image_is_told_after_its_events_by_ipc() {
    with_driver(|driver| lost_image(driver, &ipc()));
}

#[test]
fn a_lost_image_is_told_after_its_events_by_udp() {
    with_driver(|driver| lost_image(driver, &udp()));
}

#[test]
fn a_channel_that_the_driver_refuses_is_an_error_that_names_it() {
    with_driver(|driver| {
        let client = driver.client();
        let stream = Stream::new("aeron:udp?endpoint=nowhere", 7).unwrap();
        let mut publisher = Publisher::<u64>::plain(&client, stream.clone());
        let error = publisher.open(Duration::from_secs(10)).unwrap_err();
        assert!(matches!(&error, OpenError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("endpoint=nowhere"), "{error}");
        assert!(matches!(publisher.send(&[7], 0), Ok(Action::Retry(_)) | Err(SendError::Open(_))));
        let mut subscriber = Subscriber::<u64>::plain(&client, stream);
        let error = subscriber.open(Duration::from_secs(10)).unwrap_err();
        assert!(matches!(error, OpenError::Refused { .. }), "{error}");
        // The client still serves others.
        assert_eq!(Publisher::<u64>::plain(&client, ipc()).open(Duration::from_secs(5)), Ok(()));
    });
}
