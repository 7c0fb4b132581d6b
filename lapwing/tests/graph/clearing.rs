//! When a ring clears an event: after all of its last stages, whether these are handlers or pollers.
//! Not here: on which thread (`placement`), and events that failed (`outcomes/fates.rs`).

use std::sync::Mutex;
use std::thread;

use crate::common::{Kind, Ledger, repeats};

crate::common::for_both_producers! {
    events_are_cleared_after_the_last_stage,
    events_are_cleared_after_a_poller,
}

fn events_are_cleared_after_the_last_stage<K: Kind>() {
    let ledger = Ledger::default();
    let events = repeats(1000);
    let mut seen = 0;
    let (mut producer, consumers) = K::ring(16, || None)
        .parallel(|parallel| {
            parallel.stage("left").read(|_, _, _| {}).stage("right").read(
                |event: &Option<_>, _, _| {
                    seen += u64::from(event.is_some());
                },
            )
        })
        .clear(|event| *event = None)
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..events {
            producer.publish(|event| *event = Some(Mutex::new(ledger.token()))).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!((seen, ledger.made(), ledger.dropped()), (events, events, events));
}

fn events_are_cleared_after_a_poller<K: Kind>() {
    let ledger = Ledger::default();
    let (mut producer, mut consumers) = K::ring(16, || None)
        .stage("poller")
        .poller_mut()
        .clear(|event| *event = None)
        .build()
        .unwrap();
    let mut poller = consumers.take_poller_mut("poller").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|event| *event = Some(ledger.token())).unwrap();
    poller.poll().unwrap().consume_all();
    running.shutdown().unwrap();
    assert_eq!((ledger.made(), ledger.dropped()), (1, 1));
}
