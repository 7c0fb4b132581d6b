//! Decides what happens to a ring whose surroundings are left early: by `?`, by a panic, with a claim
//! in hand, or after a shutdown that ran out of time.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Kind, ON_PURPOSE, PATIENCE, quiet_panics, watched};
use lapwing::{HaltCause, Outcome, ShutdownError, Stopped};

common::for_both_producers! {
    scope_that_is_left_by_an_error_drains_and_ends,
    scope_that_is_left_by_a_panic_ends_though_a_poller_outside_holds_events,
    claim_that_is_held_across_a_halt_says_so,
    detached_stages_end_with_the_last_producer,
    shutdown_that_ran_out_of_time_can_be_halted_in_a_scope,
}

fn scope_that_is_left_by_an_error_drains_and_ends<K: Kind>() {
    watched(|| {
        let mut seen = 0;
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).then("count", |_, _, _| seen += 1).build().unwrap();
        let result = thread::scope(|scope| {
            let _running = consumers.start_scoped(scope)?;
            producer.publish_batch(5, |_| {})?;
            Err::<(), Box<dyn std::error::Error>>(ON_PURPOSE.into())
        });
        assert!(result.is_err());
        assert_eq!(seen, 5, "what was accepted is handled");
    });
}

/// The stage waits for a poller that nobody asks any more, and the scope for the stage.
fn scope_that_is_left_by_a_panic_ends_though_a_poller_outside_holds_events<K: Kind>() {
    quiet_panics();
    watched(|| {
        let (mut producer, mut consumers) =
            K::ring(8, || 0_u64).then_poller("up").then("down", |_, _, _| {}).build().unwrap();
        let _up = consumers.take_poller("up").unwrap();
        let leave = || {
            thread::scope(|scope| {
                let _running = consumers.start_scoped(scope).unwrap();
                producer.publish(|_| {}).unwrap();
                panic!("{ON_PURPOSE}");
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(leave)).is_err());
    });
}

fn claim_that_is_held_across_a_halt_says_so<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64).then("all", |_, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    let claim = producer.claim().unwrap();
    running.halt();
    assert_eq!(
        claim.publish(),
        Err(Stopped::Halted(HaltCause::Requested)),
        "nobody will handle it"
    );
    assert!(running.join().is_err());
}

fn detached_stages_end_with_the_last_producer<K: Kind>() {
    watched(|| {
        let (done, is_done) = mpsc::channel();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .then("all", move |_, sequence, _| done.send(sequence).unwrap())
            .build()
            .unwrap();
        consumers.start().unwrap().detach();
        assert_eq!(producer.publish_batch(3, |_| {}), Ok(0..3));
        drop(producer);
        // The stage drops its end when it ends.
        assert_eq!(is_done.iter().collect::<Vec<_>>(), [0, 1, 2]);
    });
}

fn shutdown_that_ran_out_of_time_can_be_halted_in_a_scope<K: Kind>() {
    watched(|| {
        let (go_on, gate) = mpsc::channel::<()>();
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).then("slow", move |_, _, _| _ = gate.recv()).build().unwrap();
        thread::scope(|scope| {
            let mut running = consumers.start_scoped(scope)?;
            producer.publish_batch(2, |_| {})?;
            let error = running.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
            assert!(matches!(error, ShutdownError::TimedOut { .. }), "{error}");
            running.halt();
            drop(go_on);
            let Err(ShutdownError::Failed(failed)) = running.shutdown_timeout(PATIENCE) else {
                panic!("the ring was halted");
            };
            assert_eq!(*failed.report().stages().next().unwrap().outcome(), Outcome::Halted);
            let again = running.shutdown_timeout(PATIENCE)?;
            assert_eq!(again.stages().count(), 0, "reported once");
            Ok::<(), Box<dyn std::error::Error>>(())
        })
        .unwrap();
    });
}
