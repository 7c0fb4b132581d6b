//! Tests which threads a stopped thread holds up: by a claim that it holds, or by a batch. The page
//! `docs::preemption` documents this. Not here: what a monitor shows in each case (`stalls`).

use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Kind, One, Turnstile, wait_until};
use lapwing::Disruptor;
use lapwing::error::{PollError, TryPublishError};

crate::common::for_both_producers! {
    miri_a_held_batch_holds_up_downstream_stages_and_a_full_ring,
    a_worker_that_stands_still_leaves_the_other_events_to_the_others,
}

#[test]
fn miri_a_held_claim_of_a_single_producer_holds_up_no_thread() {
    let (mut producer, mut consumers) =
        One::ring(4, || 0_u64).stage("first").poller().stage("second").poller().build().unwrap();
    let monitor = producer.monitor();
    let [mut first, mut second] =
        ["first", "second"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(3, |_| {}).unwrap();
    let claim = producer.claim().unwrap();
    assert_eq!(first.poll().unwrap().len(), 3);
    first.poll().unwrap().consume_all();
    second.poll().unwrap().consume_all();
    assert_eq!(second.sequence(), 3);
    let _ = monitor.snapshot();
    assert!(monitor.stall().is_none(), "there is no new event");
    drop(claim);
}

#[test]
fn miri_other_producers_continue_after_a_held_claim_until_the_ring_is_full() {
    let (mut slow, mut consumers) =
        Disruptor::multi_producer(4, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let mut quick = slow.clone();
    quick.publish(|event| *event = 0).unwrap();
    let mut claim = slow.claim().unwrap();
    quick.publish(|event| *event = 2).unwrap();
    all.poll().unwrap().consume_all();
    quick.publish(|event| *event = 3).unwrap();
    quick.publish(|event| *event = 4).unwrap();
    assert_eq!(all.poll().err(), Some(PollError::Empty), "the whole batch is after the gap");
    assert_eq!(quick.try_publish(|_| {}), Err(TryPublishError::Full));
    *claim = 1;
    claim.publish().unwrap();
    let mut seen = Vec::new();
    while let Ok(mut batch) = all.poll() {
        seen.extend(batch.iter().map(|(_, event)| *event));
    }
    assert_eq!(seen, [1, 2, 3, 4]);
    assert!(quick.try_publish(|_| {}).is_ok());
}

#[test]
fn miri_a_held_batch_shows_no_event_before_it_is_published() {
    for is_up_to in [false, true] {
        let (mut slow, mut consumers) =
            Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build().unwrap();
        let mut all = consumers.take_poller("all").unwrap();
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
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .side_by_side(|side| side.stage("slow").poller().stage("beside").poller())
        .stage("after")
        .poller()
        .build()
        .unwrap();
    let [mut slow, mut beside, mut after] =
        ["slow", "beside", "after"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(2, |_| {}).unwrap();
    let batch = slow.poll().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    beside.poll().unwrap().consume_all();
    assert_eq!(beside.sequence(), 4);
    assert_eq!(after.poll().err(), Some(PollError::Empty));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(batch);
    slow.poll().unwrap().consume_all();
    after.poll().unwrap().consume_all();
    assert!(producer.try_publish(|_| {}).is_ok());
}

fn a_worker_that_stands_still_leaves_the_other_events_to_the_others<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let pass = Arc::new(Mutex::new(pass));
    let (told, handled) = mpsc::channel();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
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
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = consumers.monitor();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    turnstile.wait_for(0);
    producer.publish_batch(3, |_| {}).unwrap();
    let others: Vec<u64> = (0..3).map(|_| handled.recv().unwrap()).collect();
    assert_eq!(others, [1, 2, 3]);
    let after = || monitor.snapshot().stages.iter().find(|s| s.name == "after").unwrap().sequence;
    assert_eq!(after(), 0, "after the event of the stopped worker");
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    turnstile.let_go();
    wait_until(|| after() == 4);
    drop(producer);
    running.join().unwrap();
}
