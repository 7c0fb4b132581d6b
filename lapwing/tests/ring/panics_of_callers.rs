//! Tests the effects of a panic in the caller's code: in a fill closure of each call, in a factory,
//! in an event's destructor, in the middle of a poller's batch. Not here: panics of stages
//! (`panics.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{Kind, Ledger, ON_PURPOSE, ProducerOf, Token, quiet_panics};
use crate::rings::{events, on_event, ring_with_poller, with_pollers};
use lapwing::error::{HaltCause, PollError, PublishError};
use lapwing::producer::{Slots, WhenFull};

crate::common::for_both_producers! {
    miri_panic_in_a_fill_closure_publishes_nothing_and_leaves_the_ring_usable,
    miri_panic_in_a_publish_closure_does_not_hang_the_drop_of_the_producer,
    event_factory_that_panics_leaks_no_event,
    miri_event_destructor_that_panics_in_a_publish_closure_runs_once,
    miri_panic_in_a_pollers_batch_consumes_yielded_events_and_frees_the_others,
}

fn panics(body: impl FnOnce()) {
    quiet_panics();
    assert!(catch_unwind(AssertUnwindSafe(body)).is_err(), "the panic passes through");
}

// ---- producers ----

fn miri_panic_in_a_fill_closure_publishes_nothing_and_leaves_the_ring_usable<K: Kind>() {
    fn one(event: &mut u64) {
        *event = 100;
        panic!("{ON_PURPOSE}");
    }
    fn first(slots: &mut Slots<'_, u64>) {
        *slots.iter_mut().next().unwrap() = 100;
        panic!("{ON_PURPOSE}");
    }
    let calls: [fn(&mut ProducerOf<u64, K>); 6] = [
        |producer| _ = producer.publish(one),
        |producer| _ = producer.try_publish(one),
        |producer| _ = producer.publish_or(WhenFull::DropNew, one),
        |producer| _ = producer.publish_batch(3, first),
        |producer| _ = producer.try_publish_batch(3, first),
        |producer| _ = producer.publish_batch_or(3, WhenFull::DropNew, first),
    ];
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    for (number, call) in (1..).zip(calls.repeat(2)) {
        panics(|| call(&mut producer));
        assert_eq!((poller.poll().err(), producer.dropped()), (Some(PollError::Empty), 0));
        producer.publish(|event| *event = number).unwrap();
        assert_eq!(events(&mut poller), [number]);
    }
}

fn miri_panic_in_a_publish_closure_does_not_hang_the_drop_of_the_producer<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("first").read(on_event(|_, _, _| {}));
    let (mut producer, consumers) =
        ring.stage("second").read(on_event(|_, _, _| {})).build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    panics(|| {
        let mut producer = producer;
        let _ = producer.publish(|_| panic!("{ON_PURPOSE}"));
    });
    let report = running.join().unwrap();
    // With several producers, a claim that is given up keeps its sequence.
    let processed = 1 + u64::from(K::IS_MULTI);
    assert!(report.stages().all(|stage| stage.processed() == processed));
}

fn event_factory_that_panics_leaks_no_event<K: Kind>() {
    let ledger = Ledger::default();
    let factory = || {
        assert!(ledger.made() < 5, "{ON_PURPOSE}");
        ledger.token()
    };
    panics(|| drop(K::ring(8, factory).stage("never").poller_mut().build()));
    assert_eq!((ledger.made(), ledger.dropped()), (5, 5));
}

/// An event whose destructor panics once it is armed.
struct Bomb {
    is_armed: bool,
    _token: Token,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.is_armed, "{ON_PURPOSE}");
    }
}

fn miri_event_destructor_that_panics_in_a_publish_closure_runs_once<K: Kind>() {
    let ledger = Ledger::default();
    let bomb = |is_armed| Bomb { is_armed, _token: ledger.token() };
    let (mut producer, mut consumers) =
        K::ring(1, || bomb(false)).stage("poller").poller_mut().build().unwrap();
    let mut poller = consumers.take_poller_mut("poller").unwrap();
    for _ in 0..3 {
        producer.publish(|event| *event = bomb(true)).unwrap();
        poller.poll().unwrap().consume_all();
        panics(|| {
            let _ = producer.publish(|event| *event = bomb(false));
        });
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        // The old event is dropped, and the new one is in its place.
        producer.publish(|event| *event = bomb(false)).unwrap();
        poller.poll().unwrap().consume_all();
    }
    drop((producer, poller, consumers));
    assert_eq!((ledger.made(), ledger.dropped()), (10, 10));
}

// ---- pollers ----

fn miri_panic_in_a_pollers_batch_consumes_yielded_events_and_frees_the_others<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("bad").poller().stage("good").poller();
    let (mut producer, [mut bad, mut good]) = with_pollers(ring, ["bad", "good"]);
    producer.publish_batch(4, |_| {}).unwrap();
    panics(|| {
        for (sequence, _) in bad.poll().unwrap().iter() {
            assert!(sequence != 1, "{ON_PURPOSE}");
        }
    });
    assert_eq!((bad.sequence(), good.poll().unwrap().len()), (2, 2));
    let panics_and_leaves = |mut poller: lapwing::Poller<u64>| {
        panics(|| assert!(poller.poll().unwrap().iter().next().is_none(), "{ON_PURPOSE}"));
    };
    panics_and_leaves(bad);
    assert_eq!(good.poll().unwrap().len(), 4);
    panics_and_leaves(good);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}
