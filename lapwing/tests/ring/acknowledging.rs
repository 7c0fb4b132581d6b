//! Tests when the events of a stage with acknowledgements are released.

use std::sync::mpsc;
use std::thread;

use crate::common::{Kind, repeats, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{
    AcknowledgeError, HaltCause, PollError, PublishError, RingError, StartError, TakeError,
    TryPublishError,
};
use lapwing::{Action, Disruptor};

crate::common::for_both_producers! {
    miri_c63_deferred_acknowledgement_holds_producer_and_dependants,
    acknowledgement_ahead_of_its_stage_releases_nothing_early,
    acknowledgement_of_what_does_not_exist_is_an_error_and_changes_nothing,
    acknowledgement_never_goes_back,
    clones_acknowledge_for_the_same_stage,
    last_acknowledger_that_is_dropped_too_early_halts_the_ring,
    acknowledger_that_is_dropped_when_all_is_acknowledged_halts_nothing,
    stage_that_stopped_needs_no_acknowledgement,
    dropped_poller_needs_no_acknowledgement,
    untaken_acknowledger_is_an_error_of_start,
    taking_an_unknown_acknowledger_is_an_error,
    two_stages_each_have_their_own_acknowledger,
    c63_every_event_reaches_the_reply_only_after_its_acknowledgement,
}

fn miri_c63_deferred_acknowledgement_holds_producer_and_dependants<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(2, || 0_u64)
        .stage("journal")
        .acknowledged()
        .poller()
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let mut reply = consumers.take_poller("reply").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    assert_eq!(reply.poll().err(), Some(PollError::Empty));
    journal.poll().unwrap().consume_all();
    assert_eq!(reply.poll().err(), Some(PollError::Empty), "handled, not acknowledged");
    disk.acknowledge(1).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "the reply has it");
    reply.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(2));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
}

fn acknowledgement_ahead_of_its_stage_releases_nothing_early<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(1, || 0_u64).stage("journal").acknowledged().poller().build().unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish(|event| *event = 7).unwrap();
    disk.acknowledge(1).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "the journal has it");
    assert_eq!(journal.poll().unwrap().iter().next(), Some((0, &7)));
    assert_eq!(producer.try_publish(|_| {}), Ok(1));
}

fn acknowledgement_of_what_does_not_exist_is_an_error_and_changes_nothing<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || 0_u64).stage("journal").acknowledged().poller().build().unwrap();
    let _journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    for sequence in [3, 1 << 62, u64::MAX - 1, u64::MAX] {
        let error = AcknowledgeError { sequence, published: 2 };
        assert_eq!(disk.acknowledge(sequence), Err(error));
    }
    assert_eq!(disk.acknowledged(), 0);
}

fn acknowledgement_never_goes_back<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || 0_u64).stage("journal").acknowledged().poller().build().unwrap();
    let _journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    for (sequence, furthest) in [(0, 0), (2, 2), (1, 2), (0, 2), (3, 3)] {
        disk.acknowledge(sequence).unwrap();
        assert_eq!(disk.acknowledged(), furthest);
    }
}

fn clones_acknowledge_for_the_same_stage<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || 0_u64).stage("journal").acknowledged().poller().build().unwrap();
    let _journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    let threads = (1..=3).map(|sequence| {
        let disk = disk.clone();
        thread::spawn(move || disk.acknowledge(sequence).unwrap())
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(disk.acknowledged(), 3);
    assert_eq!(producer.try_publish(|_| {}), Ok(3), "a clone that is dropped halts nothing");
}

fn last_acknowledger_that_is_dropped_too_early_halts_the_ring<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(1, || 0_u64).stage("journal").acknowledged().poller().build().unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish(|_| {}).unwrap();
    journal.poll().unwrap().consume_all();
    let dropper = thread::spawn(move || drop(disk));
    assert_eq!(
        producer.publish(|_| {}).unwrap_err(),
        PublishError::Halted(HaltCause::StageDropped)
    );
    dropper.join().unwrap();
    assert_eq!(journal.poll().err(), Some(PollError::Halted(HaltCause::StageDropped)));
}

fn acknowledger_that_is_dropped_when_all_is_acknowledged_halts_nothing<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("journal")
        .acknowledged()
        .read(|_, _, _| {})
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer);
    disk.acknowledge(3).unwrap();
    drop(disk);
    let report = consumers.start().unwrap().shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == 3));
}

fn stage_that_stopped_needs_no_acknowledgement<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(1, || 0_u64)
        .stage("journal")
        .acknowledged()
        .read(|_, _, _| Action::Stop)
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..9 {
        producer.publish(|_| {}).unwrap();
    }
    let report = running.shutdown().unwrap();
    let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
    assert_eq!(outcomes, [Outcome::Stopped, Outcome::Drained]);
    assert_eq!(disk.acknowledged(), 9);
}

fn dropped_poller_needs_no_acknowledgement<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(1, || 0_u64)
        .stage("journal")
        .acknowledged()
        .poller()
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let journal = consumers.take_poller("journal").unwrap();
    let mut reply = consumers.take_poller("reply").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish(|_| {}).unwrap();
    drop(journal);
    reply.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(1));
    drop(disk);
    reply.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(2), "no stage needed the acknowledgement");
}

fn untaken_acknowledger_is_an_error_of_start<K: Kind>() {
    let (_producer, consumers) =
        K::ring(4, || 0_u64).stage("journal").acknowledged().read(|_, _, _| {}).build().unwrap();
    let error = consumers.start().unwrap_err();
    let is_named =
        matches!(&error, StartError::UntakenAcknowledger { stage } if stage == "journal");
    assert!(is_named, "{error}");
}

fn taking_an_unknown_acknowledger_is_an_error<K: Kind>() {
    let (_producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("journal")
        .acknowledged()
        .read(|_, _, _| {})
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    assert!(matches!(
        consumers.take_acknowledger("disk").err(),
        Some(TakeError::UnknownName { .. })
    ));
    assert!(matches!(
        consumers.take_acknowledger("reply").err(),
        Some(TakeError::WrongType { .. })
    ));
    let _disk = consumers.take_acknowledger("journal").unwrap();
    assert!(matches!(
        consumers.take_acknowledger("journal").err(),
        Some(TakeError::AlreadyTaken { .. })
    ));
}

fn two_stages_each_have_their_own_acknowledger<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(2, || 0_u64)
        .side_by_side(|side| {
            side.stage("disk").acknowledged().poller().stage("replica").acknowledged().poller()
        })
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let mut pollers = ["disk", "replica"].map(|name| consumers.take_poller(name).unwrap());
    let [disk, replica] =
        ["disk", "replica"].map(|name| consumers.take_acknowledger(name).unwrap());
    let mut reply = consumers.take_poller("reply").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    pollers.iter_mut().for_each(|poller| poller.poll().unwrap().consume_all());
    disk.acknowledge(2).unwrap();
    assert_eq!(reply.poll().err(), Some(PollError::Empty));
    replica.acknowledge(1).unwrap();
    assert_eq!(reply.poll().unwrap().len(), 1);
}

fn c63_every_event_reaches_the_reply_only_after_its_acknowledgement<K: Kind>() {
    let events = repeats(20_000);
    watched(|| {
        let (to_disk, writes) = mpsc::channel();
        let (mut producer, mut consumers) = K::ring(64, || 0_u64)
            .stage("journal")
            .acknowledged()
            .read(move |_, sequence, _| {
                to_disk.send(sequence).unwrap();
            })
            .stage("reply")
            .poller()
            .build()
            .unwrap();
        let disk = consumers.take_acknowledger("journal").unwrap();
        let mut reply = consumers.take_poller("reply").unwrap();
        let watcher = disk.clone();
        let running = consumers.start().unwrap();
        let writer = thread::spawn(move || {
            for sequence in writes {
                disk.acknowledge(sequence + 1).unwrap();
            }
        });
        let replies = thread::spawn(move || {
            let mut replied = 0;
            while let Ok(mut batch) = reply.wait() {
                assert!(watcher.acknowledged() >= batch.first_sequence() + batch.len() as u64);
                replied += batch.len() as u64;
                batch.consume_all();
            }
            replied
        });
        for _ in 0..events {
            producer.publish(|_| {}).unwrap();
        }
        running.shutdown().unwrap();
        writer.join().unwrap();
        assert_eq!(replies.join().unwrap(), events);
    });
}

/// The cursor of a single producer stays beyond an event that a close has refused, and the refused
/// event counted as published.
#[test]
fn an_event_that_a_close_refused_was_acknowledged() {
    let (mut producer, mut consumers) = Disruptor::single_producer(4, || 0_u64)
        .stage("journal")
        .acknowledged()
        .poller()
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    let claim = producer.claim().unwrap();
    running.close();
    assert_eq!(claim.publish(), Err(RingError::Closed));
    assert_eq!(disk.acknowledge(1), Err(AcknowledgeError { sequence: 1, published: 0 }));
    drop(journal);
    assert_eq!(disk.acknowledged(), 0);
    running.shutdown().unwrap();
}
