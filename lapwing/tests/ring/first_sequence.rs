//! Tests where a ring begins, and that it behaves the same from any sequence: also where the lap
//! numbers of stamps wrap, and at the highest possible start.

use std::sync::mpsc;
use std::thread;

use crate::calls::{Call, Expected, Size};
use crate::common::{Kind, Lcg, ON_PURPOSE, ProducerOf, quiet_panics, repeats, watched};
use crate::rings::{drain, on_event, ring_from, run, with_pollers};
use lapwing::consumer::Outcome;
use lapwing::error::{BuildError, PollError, PublishError, TryPublishError};
use lapwing::lifecycle::Backlog;
use lapwing::{Disruptor, MAX_FIRST_SEQUENCE, Sequence};

crate::common::for_both_producers! {
    miri_ring_begins_at_its_first_sequence,
    first_sequence_that_is_too_high_is_refused,
    each_call_answers_alike_wherever_a_ring_begins,
    nothing_is_seen_before_it_is_published_wherever_a_ring_begins,
    miri_events_pass_across_the_laps_whose_stamps_wrap,
    graph_drains_wherever_a_ring_begins,
    ring_that_is_closed_before_its_first_event_ends,
    stage_that_left_hands_on_where_the_ring_began,
    acknowledgement_begins_with_the_ring,
    panic_names_the_sequence_and_counts_from_the_first,
    handler_gets_an_error_on_its_own_full_ring_at_any_first_sequence,
}

/// Something could wrap near these values: the lap of a stamp at 31 and 32 bits, an index at 32
/// bits, and the end.
fn beginnings(capacity: u64) -> Vec<Sequence> {
    let laps = [1, 1 << 31, 1 << 32, (1 << 31) + (1 << 32)];
    let around = laps.into_iter().map(|lap: u64| lap * capacity);
    let around = around.chain([1 << 31, 1 << 32, 1 << 53, MAX_FIRST_SEQUENCE]);
    let beginnings = around.flat_map(|sequence| {
        [sequence - 2 * capacity.min(sequence / 2), sequence - 1, sequence, sequence + 1]
    });
    let mut beginnings: Vec<_> =
        beginnings.filter(|&sequence| sequence <= MAX_FIRST_SEQUENCE).collect();
    beginnings.sort_unstable();
    beginnings.dedup();
    beginnings
}

fn miri_ring_begins_at_its_first_sequence<K: Kind>() {
    let (mut producer, mut poller) = ring_from::<K>(4, 1_000);
    assert_eq!((poller.sequence(), poller.poll().err()), (1_000, Some(PollError::Empty)));
    assert_eq!(producer.publish(|event| *event = 1), Ok(1_000));
    let mut batch = producer.claim_batch(2).unwrap();
    assert_eq!((batch.sequences(), batch.slots().first_sequence()), (1_001..1_003, 1_001));
    batch.publish().unwrap();
    assert_eq!(drain(&mut poller), [(1_000, 1), (1_001, 0), (1_002, 0)]);
    assert_eq!(poller.sequence(), 1_003);
}

fn first_sequence_that_is_too_high_is_refused<K: Kind>() {
    for requested in [MAX_FIRST_SEQUENCE + 1, 1 << 63, (1 << 63) - 1, u64::MAX] {
        let ring = K::ring(4, || -> u64 { unreachable!("no event is made") });
        let refused =
            ring.first_sequence(requested).stage("poller").poller().build().err().unwrap();
        assert_eq!(refused, BuildError::FirstSequence { requested });
        assert!(refused.to_string().ends_with(&format!("requested={requested}")), "{refused}");
    }
    assert!(
        K::ring(4, || 0).first_sequence(MAX_FIRST_SEQUENCE).stage("p").poller().build().is_ok()
    );
}

/// One call after another, until the ring is full and one more would wait.
fn each_call_answers_alike_wherever_a_ring_begins<K: Kind>() {
    for capacity in [1_usize, 2, 8] {
        let sizes = [Size::UpTo(3), Size::One, Size::Batch(capacity), Size::UpTo(usize::MAX)];
        for first in beginnings(capacity as u64) {
            let (mut producer, mut poller) = ring_from::<K>(capacity, first);
            let mut next = first;
            for call in sizes.into_iter().flat_map(Call::all) {
                let free = capacity - (next - poller.sequence()) as usize;
                assert_eq!(producer.free_slots(), free);
                let expected = call.expected(capacity, next, free, false);
                if let Expected::Answers(expected) = expected {
                    let answer = call.make(&mut producer, next);
                    assert_eq!(answer, expected, "{call:?} first={first}");
                    next = answer.ok().flatten().map_or(next, |range| range.end);
                } else {
                    let there = poller.sequence()..next;
                    assert!(drain(&mut poller).into_iter().eq(there.map(|at| (at, at))));
                }
            }
        }
    }
}

/// With several producers, a stamp of 0 must not appear published in the last of 2^31 laps.
fn nothing_is_seen_before_it_is_published_wherever_a_ring_begins<K: Kind>() {
    for capacity in [1, 2, 8] {
        for first in beginnings(capacity as u64) {
            let (mut producer, mut poller) = ring_from::<K>(capacity, first);
            for sequence in first..first + 3 * capacity as u64 {
                assert_eq!(poller.poll().err(), Some(PollError::Empty), "sequence={sequence}");
                let mut claim = producer.claim().unwrap();
                *claim = sequence;
                assert_eq!(poller.poll().map(|batch| batch.len()), Err(PollError::Empty));
                assert_eq!(claim.publish(), Ok(sequence));
                assert_eq!(drain(&mut poller), [(sequence, sequence)]);
            }
        }
    }
}

/// Some claims are given up, which leave tombstones with several producers.
fn miri_events_pass_across_the_laps_whose_stamps_wrap<K: Kind>() {
    for capacity in [1, 4] {
        let laps = if cfg!(miri) { 3 } else { 20 };
        for last_lap in [1 << 31, 1 << 32, MAX_FIRST_SEQUENCE / capacity] {
            let first = (last_lap - laps / 2) * capacity;
            let (mut producer, mut poller) = ring_from::<K>(capacity as usize, first);
            let (mut size, mut published) = (Lcg(last_lap), Vec::new());
            while published.last().is_none_or(|&(sequence, _)| sequence < first + laps * capacity) {
                drop(producer.claim().unwrap());
                published.extend(drain(&mut poller)); // passes the tombstone and returns no event
                let mut batch = producer.claim_up_to(size.below(capacity) as usize + 1).unwrap();
                let sequences = batch.sequences();
                for (event, sequence) in batch.slots().iter_mut().zip(sequences.clone()) {
                    *event = sequence;
                }
                assert_eq!(batch.publish(), Ok(sequences.clone()));
                let seen = drain(&mut poller);
                assert!(seen.iter().copied().eq(sequences.map(|at| (at, at))), "{seen:?}");
                published.extend(seen);
            }
            let given_up = published.last().unwrap().0 + 1 - first - published.len() as u64;
            assert_eq!(given_up > 0, K::IS_MULTI);
        }
    }
}

fn graph_drains_wherever_a_ring_begins<K: Kind>() {
    for first in [5, (1 << 31) * 8 - 20, (1 << 32) * 8 - 21, MAX_FIRST_SEQUENCE] {
        let events = repeats(1_000);
        let mut seen = Vec::new();
        let check = on_event(|event: &u64, sequence, _| assert_eq!(*event / 2, sequence));
        let collect = on_event(|event: &u64, sequence, _| seen.push((sequence, *event / 2)));
        let ring = K::ring(8, || 0_u64)
            .first_sequence(first)
            .stage("double")
            .write(|event, _, _| *event *= 2)
            .parallel(|parallel| {
                parallel.stage("check").read(check).stage("pass").read(on_event(|_, _, _| {}))
            });
        let report = run(ring.stage("collect").read(collect), |mut producer| {
            for sequence in first..first + events {
                assert_eq!(producer.publish(|event| *event = sequence), Ok(sequence));
            }
        });
        assert!(report.stages().all(|stage| stage.processed() == events), "{report:?}");
        assert!(seen.into_iter().eq((first..first + events).map(|at| (at, at))));
    }
}

fn ring_that_is_closed_before_its_first_event_ends<K: Kind>() {
    let ring = K::ring(8, || 0_u64).first_sequence(77);
    let ring = ring.stage("all").read(on_event(|_, _, _| unreachable!()));
    let (producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(running.backlog(), [Backlog { stage: "all".to_owned(), events: 0 }]);
    drop(producer);
    let report = running.join().unwrap();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), stage.processed()), (&Outcome::Drained, 0));
}

fn stage_that_left_hands_on_where_the_ring_began<K: Kind>() {
    let ring = K::ring(2, || 0_u64).first_sequence(77).stage("gone").poller();
    let (mut producer, [gone, mut stays]) =
        with_pollers(ring.stage("stays").poller(), ["gone", "stays"]);
    drop(gone);
    for sequence in 77..87 {
        assert_eq!(producer.try_publish(|event| *event = sequence), Ok(sequence));
        assert_eq!(drain(&mut stays), [(sequence, sequence)]);
    }
}

fn acknowledgement_begins_with_the_ring<K: Kind>() {
    let ring = K::ring(1, || 0_u64).first_sequence(77).stage("journal").acknowledged().poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    assert_eq!(disk.acknowledged(), 77);
    assert_eq!(producer.try_publish(|_| {}), Ok(77));
    journal.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    disk.acknowledge(78).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Ok(78));
}

fn panic_names_the_sequence_and_counts_from_the_first<K: Kind>() {
    quiet_panics();
    let bad = on_event(|_: &u64, sequence, _| assert!(sequence < 79, "{ON_PURPOSE}"));
    let ring = K::ring(8, || 0_u64).first_sequence(77).stage("bad").max_batch(1).read(bad);
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    drop(producer);
    let finished = consumers.into_iter().next().unwrap().run();
    let is_third = matches!(finished.outcome(), Outcome::Panicked { sequence: 79, .. });
    assert!(is_third, "{finished:?}");
    assert_eq!(finished.processed(), 2);
}

fn handler_gets_an_error_on_its_own_full_ring_at_any_first_sequence<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let echo = on_event(move |_: &u64, _, _| {
        let Ok(mut producer) = producers.try_recv() else { return };
        assert_eq!(producer.publish(|_| {}), Ok(MAX_FIRST_SEQUENCE));
        assert_eq!(producer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
    });
    let ring = K::ring(2, || 0_u64).first_sequence(MAX_FIRST_SEQUENCE - 1);
    let (mut producer, consumers) = ring.stage("echo").read(echo).build().unwrap();
    producer.publish(|_| {}).unwrap();
    hand_over.send(producer).unwrap();
    consumers.start().unwrap().join().unwrap();
}

/// A clone has no cached state, and claims the same way.
#[test]
fn clones_continue_together_from_the_first_sequence() {
    watched(|| {
        const FIRST: Sequence = (1 << 34) - 3; // the lap number wraps after three events
        let events = repeats(5_000);
        let ring = Disruptor::multi_producer(8, || 0_u64).first_sequence(FIRST);
        let (producer, [mut poller]) = with_pollers(ring.stage("all").poller(), ["all"]);
        thread::scope(|scope| {
            for mut producer in [producer.clone(), producer.clone(), producer] {
                scope.spawn(move || {
                    for _ in 0..events {
                        let mut claim = producer.claim().unwrap();
                        *claim = claim.sequence();
                        claim.publish().unwrap();
                    }
                });
            }
            let mut next = FIRST;
            while let Ok(mut batch) = poller.wait() {
                for (sequence, event) in batch.iter() {
                    assert_eq!((sequence, *event), (next, next));
                    next += 1;
                }
            }
            assert_eq!(next, FIRST + 3 * events);
        });
    });
}
