//! Tests where a ring begins, and that it behaves the same from any sequence: also where the lap
//! numbers of stamps wrap, and at the highest possible start.

use std::sync::mpsc;
use std::thread;

use crate::common::{Kind, Lcg, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{BatchError, BuildError, PollError, PublishError, TryPublishError};
use lapwing::lifecycle::Backlog;
use lapwing::producer::WhenFull;
use lapwing::{Disruptor, MAX_FIRST_SEQUENCE, Poller, Sequence};

crate::common::for_both_producers! {
    miri_ring_begins_at_its_first_sequence,
    first_sequence_that_is_too_high_is_refused,
    ring_that_begins_in_the_middle_of_a_lap_is_as_large_as_any,
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

fn ring_with_poller<K: Kind>(
    capacity: usize,
    first: Sequence,
) -> (ProducerOf<u64, K>, Poller<u64>) {
    let ring = K::ring(capacity, || 0).first_sequence(first).stage("poller").poller();
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, consumers.take_poller("poller").unwrap())
}

/// Consumes all available events, also past the wrap.
fn drain(poller: &mut Poller<u64>) -> Vec<(Sequence, u64)> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(sequence, event)| (sequence, *event)));
    }
    events
}

fn miri_ring_begins_at_its_first_sequence<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4, 1_000);
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

fn ring_that_begins_in_the_middle_of_a_lap_is_as_large_as_any<K: Kind>() {
    for capacity in [1, 2, 8] {
        for first in beginnings(capacity as u64) {
            let (mut producer, mut poller) = ring_with_poller::<K>(capacity, first);
            assert_eq!(producer.free_slots(), capacity);
            let end = first + capacity as u64;
            for sequence in first..end {
                assert_eq!(producer.try_publish(|event| *event = sequence), Ok(sequence));
            }
            assert_eq!(producer.free_slots(), 0);
            assert_eq!(producer.try_publish(|_| unreachable!()), Err(TryPublishError::Full));
            assert_eq!(producer.claim_up_to_or(1, WhenFull::Refuse).err(), Some(BatchError::Full));
            assert_eq!(drain(&mut poller), (first..end).map(|at| (at, at)).collect::<Vec<_>>());
        }
    }
}

/// With several producers, a stamp of 0 must not appear published in the last of 2^31 laps.
fn nothing_is_seen_before_it_is_published_wherever_a_ring_begins<K: Kind>() {
    for capacity in [1, 2, 8] {
        for first in beginnings(capacity as u64) {
            let (mut producer, mut poller) = ring_with_poller::<K>(capacity, first);
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
            let (mut producer, mut poller) = ring_with_poller::<K>(capacity as usize, first);
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
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .first_sequence(first)
            .stage("double")
            .write(|event, _, _| *event *= 2)
            .side_by_side(|side| {
                side.stage("check")
                    .read(|event, sequence, _| assert_eq!(*event / 2, sequence))
                    .stage("pass")
                    .read(|_, _, _| {})
            })
            .stage("collect")
            .read(|event, sequence, _| seen.push((sequence, *event / 2)))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for number in 0..events {
                let sequence = producer.publish(|event| *event = first + number).unwrap();
                assert_eq!(sequence, first + number);
            }
            let report = running.shutdown().unwrap();
            assert!(report.stages().all(|stage| stage.processed() == events), "{report:?}");
        });
        assert!(seen.into_iter().eq((first..first + events).map(|at| (at, at))));
    }
}

fn ring_that_is_closed_before_its_first_event_ends<K: Kind>() {
    let ring = K::ring(8, || 0_u64).first_sequence(77).stage("all").read(|_, _, _| unreachable!());
    let (producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let nothing = [Backlog { stage: "all".to_owned(), events: 0 }];
    assert_eq!(running.backlog(), nothing);
    drop(producer);
    let report = running.join().unwrap();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), stage.processed()), (&Outcome::Drained, 0));
}

fn stage_that_left_hands_on_where_the_ring_began<K: Kind>() {
    let ring = K::ring(2, || 0_u64).first_sequence(77);
    let (mut producer, mut consumers) =
        ring.stage("gone").poller().stage("stays").poller().build().unwrap();
    drop(consumers.take_poller("gone").unwrap());
    let mut stays = consumers.take_poller("stays").unwrap();
    for sequence in 77..87 {
        assert_eq!(producer.try_publish(|event| *event = sequence), Ok(sequence));
        assert_eq!(drain(&mut stays), [(sequence, sequence)]);
    }
}

fn acknowledgement_begins_with_the_ring<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(1, || 0_u64)
        .first_sequence(77)
        .stage("journal")
        .acknowledged()
        .poller()
        .build()
        .unwrap();
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
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .first_sequence(77)
        .stage("bad")
        .max_batch(1)
        .read(|_, sequence, _| {
            assert!(sequence < 79, "{ON_PURPOSE}");
        })
        .build()
        .unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    drop(producer);
    let finished = consumers.into_iter().next().unwrap().run();
    let is_third = matches!(finished.outcome(), Outcome::Panicked { sequence: 79, .. });
    assert!(is_third, "{finished:?}");
    assert_eq!(finished.processed(), 2);
}

fn handler_gets_an_error_on_its_own_full_ring_at_any_first_sequence<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .first_sequence(MAX_FIRST_SEQUENCE - 1)
        .stage("echo")
        .read(move |_, _, _| {
            let Ok(mut producer) = producers.try_recv() else { return };
            assert_eq!(producer.publish(|_| {}), Ok(MAX_FIRST_SEQUENCE));
            assert_eq!(producer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
        })
        .build()
        .unwrap();
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
        let (producer, mut consumers) = Disruptor::multi_producer(8, || 0_u64)
            .first_sequence(FIRST)
            .stage("all")
            .poller()
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        thread::scope(|scope| {
            for _ in 0..3 {
                let mut producer = producer.clone();
                scope.spawn(move || {
                    for _ in 0..events {
                        let mut claim =
                            producer.claim_or(WhenFull::Timeout(PATIENCE)).unwrap().unwrap();
                        *claim = claim.sequence();
                        claim.publish().unwrap();
                    }
                });
            }
            drop(producer);
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
