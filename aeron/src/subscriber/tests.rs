//! The intake with rings of its own, without a driver.

use std::time::Duration;

use lapwing::error::RingError;
use lapwing::{Disruptor, Poller, SingleProducer};

use super::intake::{Intake, Kept, Unfinished};
use super::unpack::{Encoded, Plain, Unpack};
use crate::frame::{Frame, VARIABLE};
use crate::notice::{Notice, Rejected};

struct Bench<E: 'static> {
    kept: Kept<E>,
    producer: SingleProducer<E>,
    poller: Poller<E>,
    notices: Vec<Notice>,
}

impl<E: Default + Clone + Send + Sync> Bench<E> {
    fn new(capacity: usize, unpack: Box<dyn Unpack<E>>) -> Self {
        let ring = Disruptor::single_producer(capacity, E::default).stage("all").poller();
        let (producer, mut consumers) = ring.build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        Self { kept: Kept::new(unpack), producer, poller, notices: Vec::new() }
    }

    fn take(&mut self, message: &[u8]) -> Result<(), Unfinished> {
        let mut on_notice = |notice| self.notices.push(notice);
        let (kept, producer) = (&mut self.kept, &mut self.producer);
        Intake::new(kept, producer, &mut on_notice, Duration::ZERO).take(1, message)
    }

    /// Takes what the ring holds.
    fn drain(&mut self) -> Vec<E> {
        let mut events = Vec::new();
        while let Ok(mut batch) = self.poller.poll() {
            events.extend_from_slice(batch.as_slice());
            if batch.is_empty() {
                break;
            }
            batch.consume_all();
        }
        events
    }
}

fn plain(capacity: usize) -> Bench<u64> {
    Bench::new(capacity, Box::new(Plain::new()))
}

/// A message of plain events, each equal to its sequence.
fn message(after: u64, first: u64, count: u64) -> Vec<u8> {
    let frame = Frame { after, first, count: count as u32, ..Frame::new(0, 8, 99) };
    let events = (first..first + count).flat_map(u64::to_ne_bytes);
    frame.as_bytes().iter().copied().chain(events).collect()
}

/// A message of encoded events.
fn lines(first: u64, lines: &[&str]) -> Vec<u8> {
    let frame =
        Frame { after: first, first, count: lines.len() as u32, ..Frame::new(0, VARIABLE, 99) };
    let mut message = frame.as_bytes().to_vec();
    for line in lines {
        message.extend((line.len() as u32).to_ne_bytes());
        message.extend(line.as_bytes());
    }
    message
}

/// Decodes lines, except those that begin with `!`.
fn decoder() -> Box<dyn Unpack<String>> {
    Box::new(Encoded(|bytes: &[u8], line: &mut String| {
        if bytes.starts_with(b"!") {
            return Err("no".into());
        }
        line.clear();
        line.push_str(std::str::from_utf8(bytes)?);
        Ok(())
    }))
}

fn missing(notices: &[Notice]) -> Vec<(u64, u64)> {
    let gap = |notice: &Notice| match notice {
        Notice::Gap { missing, .. } => Some((missing.start, missing.end)),
        _ => None,
    };
    notices.iter().filter_map(gap).collect()
}

#[test]
fn a_message_larger_than_the_ring_arrives_in_parts_and_once() {
    let mut bench = plain(4);
    let message = message(0, 0, 10);
    let mut events = Vec::new();
    for attempt in 0.. {
        let taken = bench.take(&message);
        events.extend(bench.drain());
        if taken.is_ok() {
            break;
        }
        assert_eq!(taken, Err(Unfinished::Full));
        assert!(attempt < 10);
    }
    assert!(events.into_iter().eq(0..10));
    assert_eq!(bench.notices, [Notice::PublisherSeen { publisher: 99, first: 0 }]);
}

#[test]
fn a_gap_is_told_once_although_its_message_comes_again() {
    let mut bench = plain(2);
    bench.take(&message(0, 0, 2)).unwrap();
    assert_eq!(bench.take(&message(8, 9, 2)), Err(Unfinished::Full));
    assert_eq!(bench.take(&message(8, 9, 2)), Err(Unfinished::Full));
    assert_eq!(bench.drain(), [0, 1]);
    bench.take(&message(8, 9, 2)).unwrap();
    assert_eq!(bench.drain(), [9, 10]);
    assert_eq!(missing(&bench.notices), [(2, 8)]);
}

#[test]
fn a_message_of_another_kind_is_skipped_with_a_notice() {
    let mut bench = plain(8);
    bench.take(b"not a message of ours").unwrap();
    bench.take(&lines(0, &["a"])).unwrap();
    bench.take(&message(0, 0, 1)).unwrap();
    assert_eq!(bench.drain(), [0]);
    let rejected = |reason| Notice::Rejected { session: 1, reason };
    assert_eq!(bench.notices[0], rejected(Rejected::NotLapwing));
    let reason = Rejected::EventSize { expected: 8, found: VARIABLE };
    assert_eq!(bench.notices[1], rejected(reason));
}

#[test]
fn a_ring_that_has_ended_ends_the_poll() {
    let mut bench = plain(8);
    bench.producer.close();
    assert_eq!(bench.take(&message(0, 0, 1)), Err(Unfinished::Stopped(RingError::Closed)));
}

#[test]
fn an_event_that_cannot_be_decoded_is_skipped_alone() {
    let mut bench = Bench::new(8, decoder());
    bench.take(&lines(5, &["a", "b", "!", "c", "!"])).unwrap();
    assert_eq!(bench.drain(), ["a", "b", "c"]);
    let skipped: Vec<u64> = bench
        .notices
        .iter()
        .filter_map(|notice| match notice {
            Notice::Undecodable { sequence, reason, .. } if reason == "no" => Some(*sequence),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [7, 9]);
    bench.take(&lines(10, &["d"])).unwrap();
    assert_eq!(missing(&bench.notices), []);
}

#[test]
fn encoded_events_arrive_once_through_a_small_ring() {
    let mut bench = Bench::new(2, decoder());
    let message = lines(0, &["a", "!", "b", "c", "d", "e"]);
    let mut events = Vec::new();
    while bench.take(&message).is_err() {
        events.extend(bench.drain());
    }
    events.extend(bench.drain());
    assert_eq!(events, ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_body_that_is_cut_off_is_told_and_does_no_harm() {
    let mut bench = Bench::new(8, decoder());
    let mut message = lines(0, &["a", "bcdefg"]);
    message.truncate(message.len() - 3);
    bench.take(&message).unwrap();
    assert_eq!(bench.drain(), ["a"]);
    assert!(
        matches!(&bench.notices[1], Notice::Undecodable { sequence: 1, .. }),
        "{:?}",
        bench.notices
    );
}

#[test]
fn plain_events_may_lie_across_their_alignment() {
    let mut bench = plain(8);
    let mut shifted = vec![0];
    shifted.extend(message(0, 0, 3));
    bench.take(&shifted[1..]).unwrap();
    bench.take(&message(3, 3, 1)).unwrap();
    assert_eq!(bench.drain(), [0, 1, 2, 3]);
}
