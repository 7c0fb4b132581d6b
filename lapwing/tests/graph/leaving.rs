//! Tests a ring whose surroundings are left early: by the end of a scope, by `?`, by a panic, with
//! a claim held, or after a shutdown that timed out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError, RingError};
use lapwing::lifecycle::ShutdownError;
use lapwing::{Consumers, Running};

crate::common::for_both_producers! {
    accepted_events_are_handled_when_running_goes_out_of_scope,
    accepted_events_are_handled_when_an_error_leaves_the_function,
    drop_waits_for_a_stage_after_a_halt,
    drop_ends_at_its_time_limit_and_the_stages_continue,
    drop_ends_at_its_time_limit_although_a_poller_outside_holds_events,
    drop_without_a_time_to_wait_only_closes,
    drop_in_a_panic_halts_and_does_not_wait,
    drop_in_a_handler_closes_and_does_not_wait_for_itself,
    drop_after_a_shutdown_that_timed_out_does_not_wait_again,
    detach_leaves_the_ring_open_and_does_not_wait,
    shutdown_timeout_in_a_handler_does_not_wait_for_itself,
    second_shutdown_timeout_is_an_error,
    join_after_a_shutdown_timeout_is_an_error,
    scope_that_is_left_by_an_error_drains_and_ends,
    scope_that_is_left_by_a_panic_ends_although_a_poller_outside_holds_events,
    claim_that_is_held_across_a_halt_returns_halted,
    detached_stages_end_with_the_last_producer,
    ring_can_be_halted_in_a_scope_after_a_shutdown_that_timed_out,
}

// ---- dropping `Running` ----

/// A ring with one stage, which is slow at the first event and sends each event to the test.
fn slow_ring<K: Kind>() -> (ProducerOf<u64, K>, Consumers<'static, u64>, Receiver<u64>) {
    let (number, numbers) = mpsc::channel();
    let handle = move |event: &u64, sequence, _| {
        if sequence == 0 {
            thread::sleep(10 * MOMENT);
        }
        number.send(*event).unwrap();
    };
    let (producer, consumers) =
        K::ring(1 << 10, || 0_u64).stage("slow").read(handle).build().unwrap();
    (producer, consumers, numbers)
}

/// A ring of 8 with one stage. Its handler blocks at the first event until the sender is dropped,
/// and then sends each event to the test. Two events are published, and the first is being handled.
fn stuck_ring<K: Kind>() -> (ProducerOf<u64, K>, Running<'static>, Sender<()>, Receiver<u64>) {
    let (go, gate) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let (number, numbers) = mpsc::channel();
    let handle = move |event: &u64, _, _| {
        begun.send(()).unwrap_or_default();
        let _ = gate.recv();
        number.send(*event).unwrap();
    };
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage("stuck").read(handle).build().unwrap();
    let running = consumers.start().unwrap();
    publish::<K>(&mut producer, 0..2);
    has_begun.recv().unwrap();
    (producer, running, go, numbers)
}

fn publish<K: Kind>(producer: &mut ProducerOf<u64, K>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
}

fn accepted_events_are_handled_when_running_goes_out_of_scope<K: Kind>() {
    watched(|| {
        let (mut producer, consumers, numbers) = slow_ring::<K>();
        {
            let _running = consumers.start().unwrap();
            publish::<K>(&mut producer, 0..1000);
        }
        assert_eq!(numbers.try_iter().collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
    });
}

fn accepted_events_are_handled_when_an_error_leaves_the_function<K: Kind>() {
    fn run<K: Kind>(
        mut producer: ProducerOf<u64, K>,
        consumers: Consumers<'static, u64>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let running = consumers.start()?;
        publish::<K>(&mut producer, 0..1000);
        let _: u64 = "no number".parse()?;
        running.join()?;
        Ok(())
    }
    watched(|| {
        let (producer, consumers, numbers) = slow_ring::<K>();
        assert!(run::<K>(producer, consumers).is_err());
        assert_eq!(numbers.try_iter().count(), 1000);
    });
}

fn drop_waits_for_a_stage_after_a_halt<K: Kind>() {
    watched(|| {
        let (mut producer, consumers, numbers) = slow_ring::<K>();
        let running = consumers.start().unwrap();
        publish::<K>(&mut producer, 0..1);
        running.halt();
        drop(running);
        // The handler has sent the event, or has dropped its sender and never will.
        assert!(numbers.try_iter().count() <= 1);
        assert_eq!(numbers.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    });
}

fn drop_ends_at_its_time_limit_and_the_stages_continue<K: Kind>() {
    watched(|| {
        let (mut producer, mut running, go, numbers) = stuck_ring::<K>();
        running.set_drop_timeout(MOMENT);
        drop(running);
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
        assert_eq!(numbers.try_recv(), Err(mpsc::TryRecvError::Empty), "the handler is at work");
        drop(go);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1]);
    });
}

/// The stage waits for a poller that is dropped after `Running`.
fn drop_ends_at_its_time_limit_although_a_poller_outside_holds_events<K: Kind>() {
    watched(|| {
        let (number, numbers) = mpsc::channel();
        let (mut producer, mut consumers) = K::ring(8, || 0_u64)
            .stage("up")
            .poller()
            .stage("down")
            .read(move |event, _, _| number.send(*event).unwrap())
            .build()
            .unwrap();
        let up = consumers.take_poller("up").unwrap();
        let mut running = consumers.start().unwrap();
        running.set_drop_timeout(MOMENT);
        publish::<K>(&mut producer, 0..3);
        drop(running);
        assert_eq!(numbers.try_recv(), Err(mpsc::TryRecvError::Empty), "the stage is waiting");
        drop(up);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1, 2]);
    });
}

fn drop_without_a_time_to_wait_only_closes<K: Kind>() {
    watched(|| {
        let (mut producer, mut running, go, numbers) = stuck_ring::<K>();
        running.set_drop_timeout(Duration::ZERO);
        drop(running);
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
        drop(go);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1]);
    });
}

fn drop_in_a_panic_halts_and_does_not_wait<K: Kind>() {
    quiet_panics();
    watched(|| {
        let (mut producer, mut running, go, numbers) = stuck_ring::<K>();
        let leave = move || {
            running.set_drop_timeout(Duration::MAX);
            panic!("{ON_PURPOSE}");
        };
        assert!(catch_unwind(AssertUnwindSafe(leave)).is_err());
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::Requested)));
        drop(go);
        assert!(numbers.iter().count() <= 2, "the stage ends");
    });
}

fn drop_in_a_handler_closes_and_does_not_wait_for_itself<K: Kind>() {
    watched(|| {
        let (hand_over, handed_over) = mpsc::channel::<Running<'static>>();
        let (number, numbers) = mpsc::channel();
        let handle = move |event: &u64, _, _| {
            handed_over.try_iter().for_each(drop);
            number.send(*event).unwrap();
        };
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).stage("all").read(handle).build().unwrap();
        let mut running = consumers.start().unwrap();
        running.set_drop_timeout(Duration::MAX);
        hand_over.send(running).unwrap();
        publish::<K>(&mut producer, 0..1);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0], "the stage ends");
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    });
}

fn drop_after_a_shutdown_that_timed_out_does_not_wait_again<K: Kind>() {
    watched(|| {
        let (_producer, mut running, go, numbers) = stuck_ring::<K>();
        running.set_drop_timeout(Duration::MAX);
        let error = running.shutdown_timeout(MOMENT).unwrap_err();
        assert!(matches!(error, ShutdownError::TimedOut { .. }), "{error}");
        drop(running);
        drop(go);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1]);
    });
}

fn detach_leaves_the_ring_open_and_does_not_wait<K: Kind>() {
    watched(|| {
        let (mut producer, mut running, go, numbers) = stuck_ring::<K>();
        running.set_drop_timeout(Duration::MAX);
        running.detach();
        publish::<K>(&mut producer, 2..4);
        drop(go);
        drop(producer);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    });
}

fn shutdown_timeout_in_a_handler_does_not_wait_for_itself<K: Kind>() {
    watched(|| {
        let (hand_over, handed_over) = mpsc::channel::<Running<'static>>();
        let (result, results) = mpsc::channel();
        let handle = move |_: &u64, _, _| {
            for mut running in handed_over.try_iter() {
                result.send(running.shutdown_timeout(Duration::MAX)).unwrap();
            }
        };
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).stage("all").read(handle).build().unwrap();
        hand_over.send(consumers.start().unwrap()).unwrap();
        publish::<K>(&mut producer, 0..1);
        let result = results.recv().unwrap();
        let Err(ShutdownError::TimedOut { backlog }) = result else { panic!("{result:?}") };
        assert_eq!(backlog[0].events, 1);
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed), "it has not halted");
    });
}

fn second_shutdown_timeout_is_an_error<K: Kind>() {
    let (_producer, consumers) =
        K::ring(8, || 0_u64).stage("all").read(|_, _, _| {}).build().unwrap();
    let mut running = consumers.start().unwrap();
    assert_eq!(running.shutdown_timeout(PATIENCE).unwrap().stages().count(), 1);
    let error = running.shutdown_timeout(PATIENCE).unwrap_err();
    assert!(matches!(error, ShutdownError::AlreadyReported));
    assert_eq!(error.to_string(), "the report of this ring was returned by an earlier call");
}

fn join_after_a_shutdown_timeout_is_an_error<K: Kind>() {
    let calls: [fn(Running<'static>) -> _; 2] = [Running::join, Running::shutdown];
    for call in calls {
        let (_producer, consumers) =
            K::ring(8, || 0_u64).stage("all").read(|_, _, _| {}).build().unwrap();
        let mut running = consumers.start().unwrap();
        running.shutdown_timeout(PATIENCE).unwrap();
        let failed = call(running).unwrap_err();
        assert!(failed.is_already_reported());
        assert_eq!(failed.to_string(), "the report of this ring was returned by an earlier call");
        assert_eq!(failed.report().stages().count(), 0);
    }
}

// ---- scopes, claims ----

fn scope_that_is_left_by_an_error_drains_and_ends<K: Kind>() {
    watched(|| {
        let mut seen = 0;
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).stage("count").read(|_, _, _| seen += 1).build().unwrap();
        let result = thread::scope(|scope| {
            let _running = consumers.start_scoped(scope)?;
            producer.publish_batch(5, |_| {})?;
            Err::<(), Box<dyn std::error::Error>>(ON_PURPOSE.into())
        });
        assert!(result.is_err());
        assert_eq!(seen, 5, "what was accepted is handled");
    });
}

/// The stage waits for a poller that is no longer polled, and the scope waits for the stage.
fn scope_that_is_left_by_a_panic_ends_although_a_poller_outside_holds_events<K: Kind>() {
    quiet_panics();
    watched(|| {
        let (mut producer, mut consumers) = K::ring(8, || 0_u64)
            .stage("up")
            .poller()
            .stage("down")
            .read(|_, _, _| {})
            .build()
            .unwrap();
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

fn claim_that_is_held_across_a_halt_returns_halted<K: Kind>() {
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage("all").read(|_, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    let claim = producer.claim().unwrap();
    running.halt();
    assert_eq!(
        claim.publish(),
        Err(RingError::Halted(HaltCause::Requested)),
        "no stage will handle it"
    );
    assert!(running.join().is_err());
}

fn detached_stages_end_with_the_last_producer<K: Kind>() {
    watched(|| {
        let (done, is_done) = mpsc::channel();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage("all")
            .read(move |_, sequence, _| done.send(sequence).unwrap())
            .build()
            .unwrap();
        consumers.start().unwrap().detach();
        assert_eq!(producer.publish_batch(3, |_| {}), Ok(0..3));
        drop(producer);
        // The stage drops its end when it ends.
        assert_eq!(is_done.iter().collect::<Vec<_>>(), [0, 1, 2]);
    });
}

fn ring_can_be_halted_in_a_scope_after_a_shutdown_that_timed_out<K: Kind>() {
    watched(|| {
        let (go_on, gate) = mpsc::channel::<()>();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage("slow")
            .read(move |_, _, _| _ = gate.recv())
            .build()
            .unwrap();
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
            let again = running.shutdown_timeout(PATIENCE);
            assert!(matches!(again, Err(ShutdownError::AlreadyReported)), "{again:?}");
            Ok::<(), Box<dyn std::error::Error>>(())
        })
        .unwrap();
    });
}
