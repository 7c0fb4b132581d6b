//! Tests which threads a stopped thread holds up: by a claim that it holds, or by a batch. The page
//! `docs::preemption` documents this. Not here: what a monitor shows in each case (`stalls`), and
//! several producers of which one holds a claim (`producers`).

use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Kind, One, Turnstile};
use crate::rings::{drain, with_pollers};
use lapwing::Disruptor;
use lapwing::error::{PollError, TryPublishError};

crate::common::for_both_producers! {
    miri_a_held_batch_holds_up_downstream_stages_and_a_full_ring,
    a_worker_that_stands_still_leaves_the_other_events_to_the_others,
}

#[test]
fn miri_a_held_claim_of_a_single_producer_holds_up_no_thread() {
    let ring = One::ring(4, || 0_u64).stage("first").poller().stage("second").poller();
    let (mut producer, [mut first, mut second]) = with_pollers(ring, ["first", "second"]);
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    let claim = producer.claim().unwrap();
    assert_eq!((drain(&mut first).len(), drain(&mut second).len()), (3, 3));
    let _ = monitor.snapshot();
    assert!(monitor.stall().is_none(), "there is no new event");
    drop(claim);
}

#[test]
fn miri_a_held_batch_shows_no_event_before_it_is_published() {
    for is_up_to in [false, true] {
        let ring = Disruptor::multi_producer(8, || 0_u64).stage("all").poller();
        let (mut slow, [mut all]) = with_pollers(ring, ["all"]);
        let mut quick = slow.clone();
        let batch = if is_up_to { slow.claim_up_to(3) } else { slow.claim_batch(3) };
        let mut batch = batch.unwrap();
        quick.publish(|event| *event = 9).unwrap();
        batch.slots().iter_mut().for_each(|event| *event = 7);
        assert_eq!(all.poll().err(), Some(PollError::Empty));
        batch.publish().unwrap();
        assert_eq!(all.poll().unwrap().as_slice(), [7, 7, 7, 9]);
    }
}

fn miri_a_held_batch_holds_up_downstream_stages_and_a_full_ring<K: Kind>() {
    let ring = K::ring(4, || 0_u64)
        .parallel(|parallel| parallel.stage("slow").poller().stage("beside").poller())
        .stage("after")
        .poller();
    let (mut producer, [mut slow, mut beside, mut after]) =
        with_pollers(ring, ["slow", "beside", "after"]);
    producer.publish_batch(2, |_| {}).unwrap();
    let batch = slow.poll().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    assert_eq!(drain(&mut beside).len(), 4);
    assert_eq!(after.poll().err(), Some(PollError::Empty));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(batch);
    drain(&mut slow);
    assert_eq!(drain(&mut after).len(), 4);
    assert!(producer.try_publish(|_| {}).is_ok());
}

fn a_worker_that_stands_still_leaves_the_other_events_to_the_others<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let pass = Arc::new(Mutex::new(pass));
    let (told, handled) = mpsc::channel();
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .max_batch(1)
        .workers(2)
        .read(|_| {
            let (pass, told) = (Arc::clone(&pass), told.clone());
            move |_: &u64, sequence, _: bool| {
                if sequence == 0 {
                    pass.lock().unwrap()(sequence);
                }
                told.send(sequence).unwrap();
            }
        })
        .stage("after")
        .poller()
        .build()
        .unwrap();
    let mut after = consumers.take_poller("after").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    turnstile.wait_for(0);
    producer.publish_batch(3, |_| {}).unwrap();
    let others: Vec<u64> = (0..3).map(|_| handled.recv().unwrap()).collect();
    assert_eq!(others, [1, 2, 3]);
    assert_eq!(after.poll().err(), Some(PollError::Empty), "after the event of the stopped worker");
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    turnstile.let_go();
    while after.sequence() < 4 {
        after.wait().unwrap().consume_all();
    }
    drop(producer);
    drop(after);
    running.join().unwrap();
}
