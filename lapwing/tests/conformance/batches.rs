//! C60 to C65: the sizes of batches, and when their events are released.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use lapwing::error::{PollError, TryPublishError};
use lapwing::producer::Sequencer;
use lapwing::{Action, Disruptor, EventHandler, Poller, Producer, Sequence, SingleProducer, Stage};

use crate::common::{ON_PURPOSE, PATIENCE, quiet_panics};
use crate::setup::{Kind, Setup};
use crate::spy::{Call, Spy, publish, value_of};

for_each_setup! {
    c60_events_that_come_during_a_batch_are_the_next_one,
    c61_maximum_batch_is_respected_and_the_queue_depth_reported,
    c62_event_that_is_released_early_is_visible_within_the_batch,
    c63_deferred_acknowledgement_holds_the_producer_and_downstream_stages,
    c64_poller_is_empty_until_an_event_is_published_and_its_upstream_stage_has_finished_it,
    c64_poller_that_stops_within_a_batch_gets_the_rest_again,
    c64_poller_that_fails_gets_the_same_event_again,
    c65_batch_that_is_announced_has_an_event,
}

/// Publishes one more event for each event that does not end its batch, up to six events.
struct Echo<S: Sequencer> {
    producer: Producer<u64, S>,
    calls: Sender<Call>,
}

impl<S: Sequencer> EventHandler<u64> for Echo<S> {
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.calls.send(Call::BatchStart(batch_size, queue_depth)).unwrap();
    }

    fn on_event(&mut self, event: &u64, sequence: Sequence, end_of_batch: bool) {
        self.calls.send(Call::Event(*event, sequence, end_of_batch)).unwrap();
        if !end_of_batch {
            self.producer.try_publish(|_| {}).unwrap();
        }
        if sequence == 5 {
            self.producer.close();
        }
    }
}

fn c60_events_that_come_during_a_batch_are_the_next_one<K: Kind>(setup: Setup<K>) {
    let (hand_over, handed_over) = mpsc::channel();
    let (send, calls) = mpsc::channel();
    let make = move || Echo { producer: handed_over.recv().unwrap(), calls: send };
    let ring = setup.ring(64, || 0).stage("echo").read_local(make);
    let (mut producer, consumers) = ring.build().unwrap();
    publish(&mut producer, 0..3);
    hand_over.send(producer).unwrap();
    consumers.start().unwrap().join().unwrap();
    let spy = Spy(calls.iter().collect());
    assert_eq!(spy.batches(), [3, 2, 1]);
    assert_eq!(spy.announced(), [(3, 3), (2, 2), (1, 1)]);
}

fn c61_maximum_batch_is_respected_and_the_queue_depth_reported<K: Kind>(setup: Setup<K>) {
    let stage = Stage::new("spy").max_batch(3);
    let (mut producer, consumers) =
        setup.ring(64, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
    publish(&mut producer, 0..5);
    let spy: Spy = consumers.start().unwrap().shutdown().unwrap().take("spy").unwrap();
    assert_eq!(spy.batches(), [3, 2]);
    assert_eq!(spy.announced(), [(3, 5), (2, 2)]);
    assert_eq!(spy.sequences(), [0, 1, 2, 3, 4]);
}

/// Publishes an event during the first batch, and closes the ring after that batch.
struct Late {
    producer: SingleProducer<u64>,
    depths: Sender<u64>,
}

impl EventHandler<u64> for Late {
    fn on_batch_start(&mut self, _: u64, queue_depth: u64) {
        self.depths.send(queue_depth).unwrap();
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) {
        match sequence {
            0 => assert_eq!(self.producer.try_publish(|_| {}), Ok(3)),
            3 => self.producer.close(),
            _ => {}
        }
    }
}

#[test]
fn c61_with_one_producer_the_queue_depth_needs_no_extra_poll() {
    let (hand_over, handed_over) = mpsc::channel();
    let (send, depths) = mpsc::channel();
    let make = move || Late { producer: handed_over.recv().unwrap(), depths: send };
    let ring = Disruptor::single_producer(8, || 0_u64);
    let (mut producer, consumers) =
        ring.stage("late").max_batch(2).read_local(make).build().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    consumers.start().unwrap().join().unwrap();
    assert_eq!(depths.iter().collect::<Vec<u64>>(), [3, 1, 1]);
}

fn c62_event_that_is_released_early_is_visible_within_the_batch<K: Kind>(setup: Setup<K>) {
    let (open, gate) = mpsc::channel::<()>();
    let early = move |_: &u64, sequence, _| match sequence {
        1 => Action::ReleaseNow,
        2 => {
            let _ = gate.recv(); // blocks until `open` is dropped
            Action::Continue
        }
        _ => Action::Continue,
    };
    let stage = Stage::new("early").max_batch(4);
    let ring = setup.ring(4, || 0).stage(stage).read(early).stage("after").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut after = consumers.take_poller("after").unwrap();
    publish(&mut producer, 0..4);
    let running = consumers.start().unwrap();
    assert_eq!(after.wait_timeout(PATIENCE).unwrap().len(), 2);
    after.poll().unwrap().consume_all();
    publish(&mut producer, 4..6); // those two slots are free
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(after.poll().err(), Some(PollError::Empty));
    drop(open);
    while after.sequence() < 6 {
        after.wait_timeout(PATIENCE).unwrap().consume_all();
    }
    running.shutdown().unwrap();
}

fn c63_deferred_acknowledgement_holds_the_producer_and_downstream_stages<K: Kind>(setup: Setup<K>) {
    let (handled, sequences) = mpsc::channel();
    let journal = move |_: &u64, sequence: Sequence, _: bool| handled.send(sequence).unwrap();
    let (mut producer, mut consumers) = setup
        .ring(2, || 0)
        .stage("journal")
        .acknowledged()
        .read(journal)
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let mut reply = consumers.take_poller("reply").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..2);
    assert_eq!((sequences.recv(), sequences.recv()), (Ok(0), Ok(1)));
    assert_eq!(reply.poll().err(), Some(PollError::Empty), "handled, not acknowledged");
    disk.acknowledge(1).unwrap();
    assert_eq!(reply.wait_timeout(PATIENCE).unwrap().len(), 1);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    reply.poll().unwrap().consume_all();
    publish(&mut producer, 2..3);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    disk.acknowledge(3).unwrap();
    drop(reply);
    running.shutdown().unwrap();
}

/// LMAX calls these states `IDLE` and `GATING`.
fn c64_poller_is_empty_until_an_event_is_published_and_its_upstream_stage_has_finished_it<
    K: Kind,
>(
    setup: Setup<K>,
) {
    let ring = setup.ring(4, || 0).stage("before").poller().stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut before = consumers.take_poller("before").unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    publish(&mut producer, 0..4);
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    before.poll().unwrap().consume_all();
    assert_eq!(poller.poll().unwrap().len(), 4);
    poller.poll().unwrap().consume_all();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    producer.close();
    assert_eq!(poller.poll().err(), Some(PollError::Closed));
}

fn c64_poller_that_stops_within_a_batch_gets_the_rest_again<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    publish(&mut producer, 0..4);
    assert_eq!(poller.poll().unwrap().iter().take(1).count(), 1);
    assert_eq!(poller.poll().unwrap().iter().take(2).count(), 2);
    publish(&mut producer, 4..7);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(poller.poll().unwrap().as_slice(), [value_of(3)]);
}

/// Handles the available events one by one, and does not consume a failed event.
fn handle(poller: &mut Poller<u64>, on_event: impl Fn(u64) -> Result<(), u64>) -> Result<(), u64> {
    while let Ok(mut batch) = poller.poll() {
        while let Some(event) = batch.as_slice().first() {
            on_event(*event)?;
            batch.consume(1);
        }
    }
    Ok(())
}

fn c64_poller_that_fails_gets_the_same_event_again<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    publish(&mut producer, 0..4);
    let bad = value_of(2);
    for _ in 0..2 {
        let refuse = |event| if event == bad { Err(event) } else { Ok(()) };
        assert_eq!(handle(&mut poller, refuse), Err(bad));
        assert_eq!(poller.sequence(), 2);
        let panic = |event| if event == bad { panic!("{ON_PURPOSE}") } else { Ok(()) };
        assert!(catch_unwind(AssertUnwindSafe(|| handle(&mut poller, panic))).is_err());
        assert_eq!(poller.sequence(), 2);
    }
    assert_eq!(handle(&mut poller, |_| Ok(())), Ok(()));
    assert_eq!(poller.sequence(), 4);
}

/// Claims that are given up, timeouts and the end of the ring do not begin a batch.
fn c65_batch_that_is_announced_has_an_event<K: Kind>(setup: Setup<K>) {
    let rounds = setup.events(100);
    let stage = Stage::new("spy").timeout_after(Duration::ZERO);
    let (mut producer, consumers) =
        setup.ring(8, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
    let running = consumers.start().unwrap();
    for round in 0..rounds {
        drop(producer.claim().unwrap());
        producer.publish_batch(1 + round as usize % 3, |_| {}).unwrap();
        drop(producer.claim_batch(2).unwrap());
    }
    let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
    let announced = spy.announced();
    assert!(announced.iter().all(|&(size, depth)| size > 0 && depth >= size), "{announced:?}");
    let sizes: Vec<_> = announced.iter().map(|&(size, _)| size).collect();
    assert_eq!(sizes, spy.batches());
}
