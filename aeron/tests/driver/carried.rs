//! What is carried: every event, once, in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use lapwing::{Disruptor, Stage};
use lapwing_aeron::{Notice, Publisher, Rejected, Stream, Subscriber};

use crate::fixture::{Driver, Receiving, eventually, send, sending, with_driver, with_options};

const EVENTS: u64 = 200_000;

/// A port that no other test uses at the same time.
pub(crate) fn udp() -> Stream {
    static PORT: AtomicU16 = AtomicU16::new(0);
    let port = 24_300 + PORT.fetch_add(1, Ordering::Relaxed);
    Stream::new(&format!("aeron:udp?endpoint=127.0.0.1:{port}|term-length=64k"), 7).unwrap()
}

pub(crate) fn ipc() -> Stream {
    Stream::new("aeron:ipc?term-length=64k", 7).unwrap()
}

fn carries_all(driver: &Driver, stream: Stream) {
    let client = driver.client();
    let receiving = Receiving::start(Subscriber::plain(&client, stream.clone()));
    let publisher = Publisher::plain(&client, stream);
    let figures = publisher.figures();
    let (mut producer, running) = sending(publisher, Stage::new("send"));
    for number in 0..EVENTS {
        producer.publish(|event| *event = number).unwrap();
    }
    running.shutdown().unwrap();
    eventually("all events", || receiving.received.count() as u64 == EVENTS);
    let (ended, received) = receiving.stop();
    assert_eq!(ended, Ok(()));
    assert!(received.events.lock().unwrap().iter().copied().eq(0..EVENTS));
    assert!(!received.has(|notice| matches!(notice, Notice::Gap { .. })));
    assert!(received.has(|notice| matches!(notice, Notice::PublisherSeen { first: 0, .. })));
    assert_eq!((figures.sent(), figures.dropped()), (EVENTS, 0));
}

#[test]
fn ipc_carries_every_event_once_and_in_order() {
    with_driver(|driver| carries_all(driver, ipc()));
}

#[test]
fn udp_carries_every_event_once_and_in_order() {
    with_driver(|driver| carries_all(driver, udp()));
}

/// The driver drops a tenth of all packets, data and control, at both of its ends.
const LOSS: [&str; 6] = [
    "-Daeron.SendChannelEndpoint.supplier=io.aeron.driver.ext.DebugSendChannelEndpointSupplier",
    "-Daeron.ReceiveChannelEndpoint.supplier=io.aeron.driver.ext.DebugReceiveChannelEndpointSupplier",
    "-Daeron.debug.receive.data.loss.rate=0.1",
    "-Daeron.debug.receive.data.loss.seed=1",
    "-Daeron.debug.send.control.loss.rate=0.1",
    "-Daeron.debug.send.control.loss.seed=2",
];

/// Whether the driver has noticed lost packets: how often stands at the head of its loss report.
fn has_lost_packets(driver: &Driver) -> bool {
    let report = std::fs::read(driver.client().dir().join("loss-report.dat")).unwrap();
    report.first_chunk().is_some_and(|count| u64::from_le_bytes(*count) > 0)
}

#[test]
fn udp_carries_every_event_once_and_in_order_though_packets_are_lost() {
    with_options(&LOSS, |driver| {
        carries_all(driver, udp());
        assert!(has_lost_packets(driver));
    });
}

#[test]
fn events_of_several_fragments_arrive_whole() {
    with_driver(|driver| {
        let client = driver.client();
        let stream = Stream::new("aeron:udp?endpoint=127.0.0.1:24290|term-length=1m", 7).unwrap();
        let text = |number: usize| format!("{number}/").repeat(100 + 37 * (number % 50));
        let encode = |line: &String, bytes: &mut Vec<u8>| bytes.extend(line.as_bytes());
        let mut publisher = Publisher::encoding(&client, stream.clone(), encode);
        let decode = |bytes: &[u8], line: &mut String| {
            *line = std::str::from_utf8(bytes)?.to_owned();
            Ok(())
        };
        let mut subscriber = Subscriber::decoding(&client, stream, decode);
        subscriber.open(Duration::from_secs(5)).unwrap();
        assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());

        let (mut sent, consumers) = Disruptor::single_producer(64, String::new)
            .stage("send")
            .read_batch_handler(publisher)
            .build()
            .unwrap();
        let sending = consumers.start().unwrap();
        let ring = Disruptor::single_producer(16, String::new).stage("all").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let (mut next, mut expected) = (0, 0);
        eventually("all lines", || {
            if next < 500 && sent.try_publish(|line| *line = text(next)).is_ok() {
                next += 1;
            }
            subscriber.poll_into(&mut producer, |_| {}).unwrap();
            if let Ok(mut batch) = poller.poll() {
                for (_, line) in batch.iter() {
                    assert_eq!(*line, text(expected));
                    expected += 1;
                }
            }
            expected == 500
        });
        sending.shutdown().unwrap();
    });
}

#[test]
fn a_ring_smaller_than_a_message_gets_every_event() {
    with_driver(|driver| {
        let client = driver.client();
        let mut subscriber = Subscriber::<u64>::plain(&client, ipc());
        subscriber.open(Duration::from_secs(5)).unwrap();
        let mut publisher = Publisher::plain(&client, ipc());
        assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());
        let events: Vec<u64> = (0..1000).collect();
        send(&mut publisher, &events, 0); // 167 in a message

        let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let (mut received, mut polls_of_a_full_ring) = (Vec::new(), 0);
        eventually("all events", || {
            let polled = subscriber.poll_into(&mut producer, |_| {}).unwrap();
            polls_of_a_full_ring += usize::from(polled.ring_is_full);
            while let Ok(mut batch) = poller.poll() {
                received.extend(batch.iter().map(|(_, event)| *event));
            }
            received.len() == events.len()
        });
        assert_eq!(received, events);
        assert!(polls_of_a_full_ring > 0);
    });
}

#[test]
fn an_event_of_another_size_or_schema_is_rejected() {
    with_driver(|driver| {
        let client = driver.client();
        let receiving = Receiving::start(Subscriber::plain(&client, ipc()).schema(3));
        let mut other_size = Publisher::<u32>::plain(&client, ipc()).schema(3);
        let mut other_schema = Publisher::<u64>::plain(&client, ipc()).schema(4);
        let mut right = Publisher::<u64>::plain(&client, ipc()).schema(3);
        for connected in [
            other_size.wait_for_subscriber(Duration::from_secs(5)),
            other_schema.wait_for_subscriber(Duration::from_secs(5)),
            right.wait_for_subscriber(Duration::from_secs(5)),
        ] {
            assert_eq!(connected, Ok(true));
        }
        send(&mut other_size, &[1, 2], 0);
        send(&mut other_schema, &[1, 2], 0);
        send(&mut right, &[5, 6], 0);
        let received = &receiving.received;
        let rejects = |expected: Rejected| {
            received.has(
                |notice| matches!(notice, Notice::Rejected { reason, .. } if *reason == expected),
            )
        };
        eventually("the size", || rejects(Rejected::EventSize { expected: 8, found: 4 }));
        eventually("the schema", || rejects(Rejected::Schema { expected: 3, found: 4 }));
        eventually("the right events", || received.count() == 2);
        let (ended, received) = receiving.stop();
        assert_eq!((ended, &*received.events.lock().unwrap()), (Ok(()), &vec![5, 6]));
    });
}

#[test]
fn a_decoder_that_panics_leaves_the_subscriber_usable_and_loses_nothing() {
    with_driver(|driver| {
        let client = driver.client();
        let encode = |number: &u64, bytes: &mut Vec<u8>| bytes.extend(number.to_le_bytes());
        let mut publisher = Publisher::encoding(&client, ipc(), encode);
        let mut panics = 1;
        let decode = move |bytes: &[u8], number: &mut u64| {
            *number = u64::from_le_bytes(bytes.try_into()?);
            if *number == 5 && panics > 0 {
                panics -= 1;
                panic!("a decoder has panicked, as it should");
            }
            Ok(())
        };
        let mut subscriber = Subscriber::decoding(&client, ipc(), decode);
        subscriber.open(Duration::from_secs(5)).unwrap();
        assert!(publisher.wait_for_subscriber(Duration::from_secs(5)).unwrap());
        send(&mut publisher, &[0, 1, 2, 3, 4, 5, 6, 7], 0);
        send(&mut publisher, &[8, 9], 8);

        let ring = Disruptor::single_producer(64, || 0_u64).stage("all").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let (mut received, mut caught) = (Vec::new(), 0);
        eventually("all numbers", || {
            let polled = AssertUnwindSafe(|| subscriber.poll_into(&mut producer, |_| {}));
            match catch_unwind(polled) {
                Ok(polled) => drop(polled.unwrap()),
                Err(_) => caught += 1,
            }
            if let Ok(mut batch) = poller.poll() {
                received.extend(batch.iter().map(|(_, number)| *number));
            }
            received.len() == 10
        });
        assert!(received.into_iter().eq(0..10));
        assert_eq!(caught, 1);
    });
}
