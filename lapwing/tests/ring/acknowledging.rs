//! Tests when the events of a stage with acknowledgements are released. `with_disk` makes the ring
//! of most tests.

use std::sync::mpsc;
use std::thread;

use crate::common::{Kind, ProducerOf, repeats, watched};
use crate::rings::{drain, on_event};
use lapwing::consumer::{Acknowledger, Outcome};
use lapwing::error::{
    AcknowledgeError, HaltCause, PollError, PublishError, RingError, StartError, TryPublishError,
};
use lapwing::{Action, Disruptor, Poller};

crate::common::for_both_producers! {
    miri_c63_deferred_acknowledgement_holds_producer_and_dependants,
    acknowledgement_ahead_of_its_stage_releases_nothing_early,
    acknowledgements_count_from_the_published_events_and_never_go_back,
    clones_acknowledge_for_the_same_stage,
    last_acknowledger_that_is_dropped_too_early_halts_the_ring,
    acknowledger_that_is_dropped_when_all_is_acknowledged_halts_nothing,
    stage_that_stopped_needs_no_acknowledgement,
    dropped_poller_needs_no_acknowledgement,
    untaken_acknowledger_is_an_error_of_start,
    two_stages_each_have_their_own_acknowledger,
    c63_every_event_reaches_the_reply_only_after_its_acknowledgement,
}

/// A ring whose stage `journal` is acknowledged by the disk, and then its stage `reply`, both
/// pollers.
#[allow(clippy::type_complexity)] // the parts of one ring
fn with_disk<K: Kind>(
    capacity: usize,
) -> (ProducerOf<u64, K>, Poller<u64>, Acknowledger, Poller<u64>) {
    let ring = K::ring(capacity, || 0_u64).stage("journal").acknowledged().poller();
    let (producer, mut consumers) = ring.stage("reply").poller().build().unwrap();
    let journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    (producer, journal, disk, consumers.take_poller("reply").unwrap())
}

fn miri_c63_deferred_acknowledgement_holds_producer_and_dependants<K: Kind>() {
    let (mut producer, mut journal, disk, mut reply) = with_disk::<K>(2);
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
    let (mut producer, mut journal, disk, mut reply) = with_disk::<K>(1);
    producer.publish(|event| *event = 7).unwrap();
    disk.acknowledge(1).unwrap();
    assert_eq!(reply.poll().err(), Some(PollError::Empty), "the journal has it");
    assert_eq!(drain(&mut journal), [(0, 7)]);
    assert_eq!(drain(&mut reply), [(0, 7)]);
    assert_eq!(producer.try_publish(|_| {}), Ok(1));
}

fn acknowledgements_count_from_the_published_events_and_never_go_back<K: Kind>() {
    let (mut producer, _journal, disk, _reply) = with_disk::<K>(4);
    producer.publish_batch(3, |_| {}).unwrap();
    for sequence in [4, 1 << 62, u64::MAX - 1, u64::MAX] {
        let error = AcknowledgeError { sequence, published: 3 };
        assert_eq!(disk.acknowledge(sequence), Err(error));
        assert_eq!(disk.acknowledged(), 0);
    }
    for (sequence, furthest) in [(0, 0), (2, 2), (1, 2), (0, 2), (3, 3)] {
        disk.acknowledge(sequence).unwrap();
        assert_eq!(disk.acknowledged(), furthest);
    }
}

fn clones_acknowledge_for_the_same_stage<K: Kind>() {
    let (mut producer, _journal, disk, _reply) = with_disk::<K>(4);
    producer.publish_batch(3, |_| {}).unwrap();
    thread::scope(|scope| {
        for sequence in 1..=3 {
            let disk = disk.clone();
            scope.spawn(move || disk.acknowledge(sequence).unwrap());
        }
    });
    assert_eq!(disk.acknowledged(), 3);
    assert_eq!(producer.try_publish(|_| {}), Ok(3), "a clone that is dropped halts nothing");
}

fn last_acknowledger_that_is_dropped_too_early_halts_the_ring<K: Kind>() {
    let (mut producer, mut journal, disk, _reply) = with_disk::<K>(1);
    producer.publish(|_| {}).unwrap();
    journal.poll().unwrap().consume_all();
    let dropper = thread::spawn(move || drop(disk));
    let halted = HaltCause::StageDropped;
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(halted)));
    dropper.join().unwrap();
    assert_eq!(journal.poll().err(), Some(PollError::Halted(halted)));
}

fn acknowledger_that_is_dropped_when_all_is_acknowledged_halts_nothing<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("journal").acknowledged().read(on_event(|_, _, _| {}));
    let ring = ring.stage("reply").read(on_event(|_, _, _| {}));
    let (mut producer, mut consumers) = ring.build().unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer);
    disk.acknowledge(3).unwrap();
    drop(disk);
    let report = consumers.start().unwrap().shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == 3));
}

fn stage_that_stopped_needs_no_acknowledgement<K: Kind>() {
    let ring = K::ring(1, || 0_u64).stage("journal").acknowledged().read(|_, _, _| Action::Stop);
    let ring = ring.stage("reply").read(on_event(|_, _, _| {}));
    let (mut producer, mut consumers) = ring.build().unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    (0..9).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    let report = running.shutdown().unwrap();
    let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
    assert_eq!(outcomes, [Outcome::Stopped, Outcome::Drained]);
    assert_eq!(disk.acknowledged(), 9);
}

fn dropped_poller_needs_no_acknowledgement<K: Kind>() {
    let (mut producer, journal, disk, mut reply) = with_disk::<K>(1);
    producer.publish(|_| {}).unwrap();
    drop(journal);
    reply.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(1));
    drop(disk);
    reply.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(2), "no stage needed the acknowledgement");
}

fn untaken_acknowledger_is_an_error_of_start<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("journal").acknowledged().read(on_event(|_, _, _| {}));
    let (_producer, consumers) = ring.build().unwrap();
    let error = consumers.start().unwrap_err();
    let is_named =
        matches!(&error, StartError::UntakenAcknowledger { stage } if stage == "journal");
    assert!(is_named, "{error}");
}

fn two_stages_each_have_their_own_acknowledger<K: Kind>() {
    let names = ["disk", "replica"];
    let ring = K::ring(2, || 0_u64).parallel(|parallel| {
        parallel.stage(names[0]).acknowledged().poller().stage(names[1]).acknowledged().poller()
    });
    let (mut producer, mut consumers) = ring.stage("reply").poller().build().unwrap();
    let mut pollers = names.map(|name| consumers.take_poller(name).unwrap());
    let [disk, replica] = names.map(|name| consumers.take_acknowledger(name).unwrap());
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
    let (to_disk, writes) = mpsc::channel();
    let journal = on_event(move |_: &u64, sequence, _| to_disk.send(sequence).unwrap());
    let ring = K::ring(64, || 0_u64).stage("journal").acknowledged().read(journal);
    let (mut producer, mut consumers) = ring.stage("reply").poller().build().unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let mut reply = consumers.take_poller("reply").unwrap();
    let watcher = disk.clone();
    let running = consumers.start().unwrap();
    let writer = thread::spawn(move || {
        writes.into_iter().for_each(|sequence| disk.acknowledge(sequence + 1).unwrap());
    });
    let replies = thread::spawn(move || {
        while let Ok(mut batch) = reply.wait() {
            assert!(watcher.acknowledged() >= batch.first_sequence() + batch.len() as u64);
            batch.consume_all();
        }
        reply.sequence()
    });
    (0..events).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    running.shutdown().unwrap();
    writer.join().unwrap();
    assert_eq!(replies.join().unwrap(), events);
}

/// The cursor of a single producer stays beyond an event that a close has refused, and the refused
/// event counted as published.
#[test]
fn an_event_that_a_close_refused_was_acknowledged() {
    watched(|| {
        let ring = Disruptor::single_producer(4, || 0_u64).stage("journal").acknowledged().poller();
        let ring = ring.stage("reply").read(on_event(|_, _, _| {}));
        let (mut producer, mut consumers) = ring.build().unwrap();
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
    });
}
