//! Tests what a poller shows, what it releases and when, and the graph after it has left.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, One, PATIENCE, ProducerOf, watched};
use lapwing::consumer::Exclusive;
use lapwing::error::{
    HaltCause, PollError, PublishError, RingError, StartError, TakeError, TryPublishError,
};
use lapwing::graph::Graph;
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, Poller, Stage};

crate::common::for_both_producers! {
    miri_poll_shows_events_in_order_and_is_empty_without_any,
    poll_max_limits_the_batch_and_shows_the_rest_later,
    poll_max_of_any_number_shows_only_available_events,
    poll_ends_a_batch_at_the_wrap,
    poll_respects_max_batch_of_its_stage,
    full_ring_is_shown_whole,
    wait_returns_when_an_event_is_published,
    wait_timeout_waits_for_its_timeout_and_loses_no_event,
    wait_ends_when_the_ring_is_closed,
    miri_batch_releases_only_consumed_events,
    miri_batch_releases_early_and_keeps_the_rest,
    miri_forgotten_batch_comes_again,
    exclusive_poller_changes_events_for_the_stages_after_it,
    poller_is_closed_only_when_drained,
    miri_dropped_poller_holds_back_nothing,
    last_poller_to_leave_halts_the_ring,
    pipeline_of_pollers_survives_the_one_in_the_middle,
    miri_poller_shares_a_thread_with_its_producer,
    poller_that_was_not_taken_fails_the_start,
    taking_a_poller_says_why_it_cannot,
    poller_after_a_stage_sees_its_events_when_it_has_finished,
    poller_that_spins_downstream_of_one_that_leaves_reads_its_events,
}

fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (producer, mut consumers) =
        K::ring(capacity, || 0).stage("poller").poller().build().unwrap();
    let poller = consumers.take_poller("poller").unwrap();
    (producer, poller)
}

/// Publishes numbers that are their own sequences.
fn publish<K: Kind>(producer: &mut ProducerOf<u64, K>, sequences: std::ops::Range<u64>) {
    for sequence in sequences {
        assert_eq!(producer.try_publish(|event| *event = sequence), Ok(sequence));
    }
}

/// Returns what a poll shows, without consuming it.
fn shown(poller: &mut Poller<u64>) -> Result<Vec<u64>, PollError> {
    poller.poll().map(|batch| batch.as_slice().to_vec())
}

/// Consumes the available events.
fn consume(poller: &mut Poller<u64>) -> Result<Vec<u64>, PollError> {
    poller.poll().map(|mut batch| batch.iter().map(|(_, event)| *event).collect())
}

fn miri_poll_shows_events_in_order_and_is_empty_without_any<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    assert_eq!(shown(&mut poller), Err(PollError::Empty));
    publish::<K>(&mut producer, 0..3);
    assert_eq!(poller.sequence(), 0);
    {
        let mut batch = poller.poll().unwrap();
        assert_eq!((batch.len(), batch.first_sequence()), (3, 0));
        assert_eq!(batch.iter().len(), 3);
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(0, &0), (1, &1), (2, &2)]);
        assert!(batch.is_empty());
        assert_eq!(batch.iter().next(), None);
    }
    assert_eq!(poller.sequence(), 3);
    assert_eq!(shown(&mut poller), Err(PollError::Empty));
}

fn poll_max_limits_the_batch_and_shows_the_rest_later<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(8);
    assert_eq!(poller.poll_max(0).err(), Some(PollError::Empty));
    publish::<K>(&mut producer, 0..5);
    {
        let mut none = poller.poll_max(0).unwrap();
        assert!(none.is_empty());
        none.consume_all();
        assert_eq!(none.iter().next(), None);
    }
    assert_eq!(poller.sequence(), 0);
    for sequence in 0..2 {
        let mut one = poller.poll_max(1).unwrap();
        assert_eq!(one.iter().collect::<Vec<_>>(), [(sequence, &sequence)]);
    }
    let mut rest = poller.poll_max(100).unwrap();
    assert_eq!(rest.as_slice(), [2, 3, 4]);
    rest.consume_all();
}

/// A sequence below 0 must not wrap around to a huge number, which would make a slice of nearly all
/// memory.
fn poll_max_of_any_number_shows_only_available_events<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(8);
    for max in [usize::MAX, usize::MAX - 1, usize::MAX >> 1, 1 << 62] {
        let first = poller.sequence();
        publish::<K>(&mut producer, first..first + 2);
        while poller.sequence() < first + 2 {
            let mut batch = poller.poll_max(max).unwrap();
            assert!((1..=2).contains(&batch.len()), "max={max}, len={}", batch.len());
            batch.consume_all();
        }
    }
}

fn poll_ends_a_batch_at_the_wrap<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..3);
    assert_eq!(consume(&mut poller), Ok(vec![0, 1, 2]));
    publish::<K>(&mut producer, 3..6);
    assert_eq!(consume(&mut poller), Ok(vec![3]));
    assert_eq!(consume(&mut poller), Ok(vec![4, 5]));
    assert_eq!(consume(&mut poller), Err(PollError::Empty));
}

fn poll_respects_max_batch_of_its_stage<K: Kind>() {
    let stage = Stage::new("poller").max_batch(3);
    let (mut producer, mut consumers) = K::ring(8, || 0).stage(stage).poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    publish::<K>(&mut producer, 0..8);
    assert_eq!(consume(&mut poller), Ok(vec![0, 1, 2]));
    assert_eq!(poller.wait().unwrap().as_slice(), [3, 4, 5]);
    assert_eq!(poller.poll_max(2).unwrap().as_slice(), [3, 4]);
    assert_eq!(poller.poll_max(usize::MAX >> 1).unwrap().as_slice(), [3, 4, 5]);
}

fn full_ring_is_shown_whole<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity as usize);
        for lap in 0..3 {
            let sequences = lap * capacity..(lap + 1) * capacity;
            publish::<K>(&mut producer, sequences.clone());
            assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
            assert_eq!(consume(&mut poller), Ok(sequences.collect()));
        }
    }
}

fn wait_returns_when_an_event_is_published<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    let thread = thread::spawn(move || {
        let mut seen = Vec::new();
        while let Ok(mut batch) = poller.wait() {
            seen.extend(batch.iter().map(|(_, event)| *event));
        }
        seen
    });
    for number in 0..100 {
        producer.publish(|event| *event = number).unwrap();
    }
    drop(producer);
    assert_eq!(thread.join().unwrap(), (0..100).collect::<Vec<_>>());
}

fn wait_timeout_waits_for_its_timeout_and_loses_no_event<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    let begin = Instant::now();
    assert_eq!(poller.wait_timeout(MOMENT).err(), Some(PollError::Empty));
    assert!(begin.elapsed() >= MOMENT);
    assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(PollError::Empty));
    publish::<K>(&mut producer, 0..1);
    assert_eq!(poller.wait_timeout(Duration::ZERO).unwrap().as_slice(), [0]);
    assert_eq!(poller.wait_timeout(Duration::MAX).unwrap().as_slice(), [0]);
    poller.wait_timeout(PATIENCE).unwrap().consume_all();
    producer.close();
    assert_eq!(poller.wait_timeout(PATIENCE).err(), Some(PollError::Closed));
}

fn wait_ends_when_the_ring_is_closed<K: Kind>() {
    let (producer, mut poller) = ring_with_poller::<K>(4);
    let thread = thread::spawn(move || poller.wait().err());
    producer.close();
    assert_eq!(thread.join().unwrap(), Some(RingError::Closed));
}

fn miri_batch_releases_only_consumed_events<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..4);
    drop(poller.poll().unwrap());
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    poller.poll().unwrap().consume(1);
    publish::<K>(&mut producer, 4..5);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    {
        let mut batch = poller.poll().unwrap();
        assert_eq!(batch.iter().take(2).count(), 2);
        assert_eq!(batch.as_slice(), [3]);
        assert_eq!((batch.len(), batch.first_sequence()), (1, 3));
        assert_eq!(batch.iter().next(), Some((3, &3)));
        batch.consume(7);
    }
    publish::<K>(&mut producer, 5..8);
    assert_eq!(consume(&mut poller), Ok(vec![4, 5, 6, 7]));
}

fn miri_batch_releases_early_and_keeps_the_rest<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..4);
    {
        let mut batch = poller.poll().unwrap();
        batch.release();
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
        batch.consume(2);
        batch.release();
        publish::<K>(&mut producer, 4..6);
        assert_eq!((batch.as_slice(), batch.first_sequence()), (&[2, 3][..], 2));
    }
    assert_eq!(consume(&mut poller), Ok(vec![2, 3]));
    assert_eq!(consume(&mut poller), Ok(vec![4, 5]));
}

fn miri_forgotten_batch_comes_again<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    publish::<K>(&mut producer, 0..2);
    let mut batch = poller.poll().unwrap();
    batch.consume_all();
    mem::forget(batch);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(consume(&mut poller), Ok(vec![0, 1]));
    publish::<K>(&mut producer, 2..4);
}

fn exclusive_poller_changes_events_for_the_stages_after_it<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || 0_u64).stage("writer").poller_mut().stage("reader").poller().build().unwrap();
    let mut writer: Poller<u64, Exclusive> = consumers.take_poller_mut("writer").unwrap();
    let mut reader = consumers.take_poller("reader").unwrap();
    publish::<K>(&mut producer, 0..4);
    assert_eq!(shown(&mut reader), Err(PollError::Empty));
    {
        let mut batch = writer.poll_max(3).unwrap();
        batch.as_mut_slice()[0] += 10;
        assert_eq!(
            batch
                .iter_mut()
                .map(|(sequence, event)| (sequence, mem::replace(event, *event * 2)))
                .last(),
            Some((2, 2))
        );
        assert_eq!(batch.iter_mut().next(), None);
    }
    assert_eq!(consume(&mut reader), Ok(vec![20, 2, 4]));
    for (_, event) in writer.poll().unwrap().iter_mut() {
        *event = 9;
    }
    assert_eq!(consume(&mut reader), Ok(vec![9]));
}

fn poller_is_closed_only_when_drained<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..2);
    drop(producer);
    assert_eq!(shown(&mut poller), Ok(vec![0, 1]));
    poller.wait().unwrap().consume(1);
    assert_eq!(consume(&mut poller), Ok(vec![1]));
    assert_eq!(shown(&mut poller), Err(PollError::Closed));
    assert_eq!(poller.wait().err(), Some(RingError::Closed));
    assert_eq!(poller.wait_timeout(PATIENCE).err(), Some(PollError::Closed));
    assert_eq!(poller.poll_max(0).err(), Some(PollError::Closed));
}

fn miri_dropped_poller_holds_back_nothing<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(2, || 0_u64)
        .side_by_side(|side| side.stage("goes").poller().stage("stays").poller())
        .build()
        .unwrap();
    let mut goes = consumers.take_poller("goes").unwrap();
    let mut stays = consumers.take_poller("stays").unwrap();
    publish::<K>(&mut producer, 0..2);
    consume(&mut stays).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    goes.poll().unwrap().consume(1);
    drop(goes);
    publish::<K>(&mut producer, 2..4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(consume(&mut stays), Ok(vec![2, 3]));
}

fn last_poller_to_leave_halts_the_ring<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(2);
    drop(poller);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Halted(HaltCause::NoConsumers)));
}

fn pipeline_of_pollers_survives_the_one_in_the_middle<K: Kind>() {
    let pipeline = K::ring(4, || 0_u64)
        .stage("first")
        .poller()
        .stage("middle")
        .poller()
        .stage("last")
        .poller();
    let (mut producer, mut consumers) = pipeline.build().unwrap();
    let mut first = consumers.take_poller("first").unwrap();
    let mut middle = consumers.take_poller("middle").unwrap();
    let mut last = consumers.take_poller("last").unwrap();
    publish::<K>(&mut producer, 0..4);
    first.poll().unwrap().consume(3);
    middle.poll().unwrap().consume(1);
    assert_eq!(shown(&mut last), Ok(vec![0]));
    drop(middle);
    // Now the last stage depends on the first.
    assert_eq!(consume(&mut last), Ok(vec![0, 1, 2]));
    assert_eq!(shown(&mut last), Err(PollError::Empty));
    drop(first);
    assert_eq!(consume(&mut last), Ok(vec![3]));
    publish::<K>(&mut producer, 4..8);
    producer.close();
    assert_eq!(consume(&mut last), Ok(vec![4, 5, 6, 7]));
    assert_eq!(shown(&mut last), Err(PollError::Closed));
}

fn miri_poller_shares_a_thread_with_its_producer<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    for sequence in 0..7 {
        publish::<K>(&mut producer, sequence..sequence + 1);
        assert_eq!(consume(&mut poller), Ok(vec![sequence]));
    }
    publish::<K>(&mut producer, 7..8);
    drop(producer);
    assert_eq!(consume(&mut poller), Ok(vec![7]));
    assert_eq!(shown(&mut poller), Err(PollError::Closed));
}

fn poller_that_was_not_taken_fails_the_start<K: Kind>() {
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .side_by_side(|side| side.stage("untaken").poller().stage("reader").read(|_, _, _| {}))
        .build()
        .unwrap();
    let error = consumers.start().unwrap_err();
    assert!(matches!(&error, StartError::UntakenPoller { stage } if stage == "untaken"), "{error}");
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
}

fn taking_a_poller_says_why_it_cannot<K: Kind>() {
    let (_producer, mut consumers) = K::ring(2, || 0_u64)
        .stage("reads")
        .poller()
        .stage("writes")
        .poller_mut()
        .stage("handler")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    assert!(matches!(consumers.take_poller("unknown").err(), Some(TakeError::UnknownName { .. })));
    assert!(matches!(consumers.take_poller("handler").err(), Some(TakeError::WrongType { .. })));
    assert!(matches!(consumers.take_poller("writes").err(), Some(TakeError::WrongType { .. })));
    assert!(matches!(consumers.take_poller_mut("reads").err(), Some(TakeError::WrongType { .. })));
    let _reads = consumers.take_poller("reads").unwrap();
    let _writes = consumers.take_poller_mut("writes").unwrap();
    assert!(matches!(consumers.take_poller("reads").err(), Some(TakeError::AlreadyTaken { .. })));
    assert!(matches!(
        consumers.take_poller_mut("writes").err(),
        Some(TakeError::AlreadyTaken { .. })
    ));
}

fn poller_after_a_stage_sees_its_events_when_it_has_finished<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("double")
        .write(|event, _, _| *event *= 2)
        .stage("poller")
        .poller()
        .build()
        .unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    publish::<K>(&mut producer, 0..4);
    assert_eq!(shown(&mut poller), Err(PollError::Empty));
    let running = consumers.start().unwrap();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.extend(poller.wait().unwrap().iter().map(|(_, event)| *event));
    }
    assert_eq!(seen, [0, 2, 4, 6]);
    running.shutdown().unwrap();
    assert_eq!(shown(&mut poller), Err(PollError::Closed));
}

/// Across the wrap, in limited batches, and to the end of a closed ring.
fn poller_that_spins_downstream_of_one_that_leaves_reads_its_events<K: Kind>() {
    const EVENTS: u64 = 100;
    const LEFT_AT: u64 = 41;
    let graph = K::ring(8, || 0_u64)
        .stage("first")
        .max_batch(5)
        .poller_mut()
        .stage("second")
        .wait(BusySpin)
        .max_batch(3)
        .poller();
    let (mut producer, mut consumers) = graph.build().unwrap();
    let mut first: Poller<u64, Exclusive> = consumers.take_poller_mut("first").unwrap();
    let mut second = consumers.take_poller("second").unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            (0..EVENTS).for_each(|event| assert_eq!(producer.publish(|e| *e = event), Ok(event)));
        });
        scope.spawn(move || {
            while first.sequence() < LEFT_AT {
                let mut batch = first.wait().unwrap();
                let left = (LEFT_AT - batch.first_sequence()) as usize;
                batch.iter_mut().take(left).for_each(|(_, event)| *event += 1000);
            }
        });
        while let Ok(mut batch) = second.wait() {
            assert!(batch.len() <= 3, "{batch:?}");
            for (sequence, event) in batch.iter() {
                let changed = if sequence < LEFT_AT { 1000 } else { 0 };
                assert_eq!(*event, sequence + changed);
            }
        }
    });
    assert_eq!(second.sequence(), EVENTS);
}

/// A poller of a graph is like one of a builder.
#[test]
fn graph_poller_is_taken_by_its_name() {
    watched(|| {
        let mut graph = Graph::new();
        let write = graph.stage("write").poller_mut();
        graph.stage("read").after(write).poller();
        let (mut producer, mut consumers) =
            Disruptor::single_producer(2, || 0_u64).graph(graph).build().unwrap();
        let (mut write, mut read) =
            (consumers.take_poller_mut("write").unwrap(), consumers.take_poller("read").unwrap());
        publish::<One>(&mut producer, 0..1);
        assert_eq!(shown(&mut read), Err(PollError::Empty));
        write.poll().unwrap().iter_mut().for_each(|(_, event)| *event = 5);
        assert_eq!(consume(&mut read), Ok(vec![5]));
    });
}
