//! C60 to C62 and C65: which batches a stage gets while more events come, and what is released within
//! them. Which batches it gets of events that are all there (C61) is in `table.rs`.

use std::sync::mpsc;
use std::time::Duration;

use lapwing::error::TryPublishError;
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, Lcg, MOMENT, Many, ProducerOf, Turnstile, repeats};
use crate::{Call, Form, Log, Spy};

common::for_both_producers! {
    c62_an_early_release_takes_effect_before_its_batch_ends,
    c62_a_released_event_reaches_the_next_stage_before_its_batch_ends,
    c65_no_batch_is_announced_without_events,
}

/// C60: the handler publishes another event for each event that does not end its batch.
#[test]
fn c60_batches_of_a_handler_that_publishes_itself() {
    common::watched(|| {
        let log = Log::default();
        let (give, given) = mpsc::channel();
        let make = {
            let log = log.clone();
            move || Echo { log, producer: given.recv().unwrap() }
        };
        let ring = Many::ring(16, || 0).stage("echo").max_batch(16).read_local(make);
        let (mut producer, consumers) = ring.build().unwrap();
        producer.publish_batch(3, |_| {}).unwrap();
        give.send(producer.clone()).unwrap();
        let running = consumers.start().unwrap();
        common::wait_until(|| log.sequences().len() == 6);
        running.shutdown().unwrap();
        let sizes = log.calls().into_iter().filter_map(|call| match call {
            Call::BatchStart(size, _) => Some(size),
            _ => None,
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(log.sequences(), (0..6).collect::<Vec<_>>());
    });
}

struct Echo {
    log: Log,
    producer: ProducerOf<u64, Many>,
}

impl EventHandler<u64> for Echo {
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.log.push(Call::BatchStart(batch_size, queue_depth));
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, end_of_batch: bool) {
        if !end_of_batch {
            self.producer.publish(|_| {}).unwrap();
        }
        self.log.push(Call::Event(sequence, end_of_batch));
    }
}

/// Returns `ReleaseNow` for event 1, and waits at the next one.
fn releasing() -> (Spy, Turnstile) {
    let (turnstile, mut pass) = Turnstile::new();
    let spy = Spy::new(&Log::default(), move |call| {
        if call.includes(2) {
            pass(2);
        }
        Ok(if call.includes(1) { Action::ReleaseNow } else { Action::Continue })
    });
    (spy, turnstile)
}

fn c62_an_early_release_takes_effect_before_its_batch_ends<K: Kind>() {
    let (spy, turnstile) = releasing();
    let stage = Stage::new("releases").max_batch(4);
    let (mut producer, consumers) = Form::Event.add(K::ring(4, || 0), stage, spy).build().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let running = consumers.start().unwrap();
    turnstile.wait_for(2);
    assert_eq!(producer.try_publish(|_| {}), Ok(4));
    assert_eq!(producer.try_publish(|_| {}), Ok(5));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "2 and 3 are held");
    turnstile.let_go();
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 6);
}

fn c62_a_released_event_reaches_the_next_stage_before_its_batch_ends<K: Kind>() {
    let (spy, turnstile) = releasing();
    let stage = Stage::new("releases").max_batch(8);
    let ring = Form::Event.add(K::ring(8, || 0), stage, spy).stage("after").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut after = consumers.take_poller("after").unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    turnstile.wait_for(2);
    let mut batch = after.poll().unwrap();
    assert_eq!((batch.first_sequence(), batch.len()), (0, 2));
    batch.consume_all();
    drop(batch);
    assert!(after.poll().is_err());
    turnstile.let_go();
    running.shutdown().unwrap();
    assert_eq!(after.poll().unwrap().len(), 3);
}

/// C65: for every reason to wake a stage, and every outcome of the batch before.
fn c65_no_batch_is_announced_without_events<K: Kind>() {
    let log = Log::default();
    let mut random = Lcg(7);
    let spy = Spy::new(&log, move |_| {
        Ok(match random.below(10) {
            0 => Action::ReleaseNow,
            1 => Action::Skip,
            2 => Action::Retry(Duration::ZERO),
            3 => Action::Rewind(Duration::ZERO),
            4 => Action::Restart(Duration::ZERO),
            _ => Action::Continue,
        })
    });
    let stage = Stage::new("acts").timeout_after(Duration::from_micros(50));
    let ring = K::ring(4, || 0).stage("before").read(|_, _, _| {});
    let (mut producer, consumers) = Form::Handler.add(ring, stage, spy).build().unwrap();
    let running = consumers.start().unwrap();
    let mut random = Lcg(8);
    for _ in 0..repeats(1_500) {
        match random.below(3) {
            0 => drop(producer.claim().unwrap()),
            1 => _ = producer.publish(|_| {}).unwrap(),
            _ => _ = producer.publish_batch(3, |_| {}).unwrap(),
        }
        if random.below(100) == 0 {
            std::thread::sleep(MOMENT / 50); // gives time for some timeouts
        }
    }
    running.shutdown().unwrap();
    for call in log.calls() {
        if let Call::BatchStart(size, depth) = call {
            assert!((1..=depth).contains(&size) && depth <= 4, "size={size}, depth={depth}");
        }
    }
}
