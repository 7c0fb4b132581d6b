//! A ring whose surroundings are left early: by the end of a scope, by `?`, by a panic, or after a
//! shutdown that timed out.
//!
//! Most tests have a [`Stuck`] ring, whose handler is at work while the test leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::lifecycle::ShutdownError;
use lapwing::{Consumers, Running};

crate::common::for_both_producers! {
    accepted_events_are_handled_when_running_goes_out_of_scope,
    scope_that_is_left_by_an_error_drains_and_ends,
    drop_waits_for_a_stage_after_a_halt,
    running_that_is_left_does_not_wait_longer_than_it_may,
    drop_ends_at_its_time_limit_although_a_poller_outside_holds_events,
    scope_that_is_left_by_a_panic_ends_although_a_poller_outside_holds_events,
    drop_or_shutdown_timeout_in_a_handler_closes_and_does_not_wait_for_itself,
    calls_after_a_shutdown_timeout_are_errors,
    ring_can_be_halted_in_a_scope_after_a_shutdown_that_timed_out,
}

/// A ring of 8 with one stage. Its handler blocks at each event until `go` is dropped, and then
/// sends the event to the test. Two events are published, and the first is being handled.
struct Stuck<K: Kind> {
    producer: ProducerOf<u64, K>,
    running: Running<'static>,
    go: Sender<()>,
    numbers: Receiver<u64>,
}

impl<K: Kind> Stuck<K> {
    fn new() -> Self {
        let (go, gate) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let (number, numbers) = mpsc::channel();
        let handle = move |event: &u64, _, _| {
            begun.send(()).unwrap_or_default();
            let _ = gate.recv();
            number.send(*event).unwrap();
        };
        let ring = K::ring(8, || 0_u64).stage("stuck").read(handle);
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        publish::<K>(&mut producer, 0..2);
        has_begun.recv().unwrap();
        Self { producer, running, go, numbers }
    }
}

fn publish<K: Kind>(producer: &mut ProducerOf<u64, K>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
}

/// A ring with one stage, which is slow at the first event and sends each event to the test.
fn slow_ring<K: Kind>() -> (ProducerOf<u64, K>, Consumers<'static, u64>, Receiver<u64>) {
    let (number, numbers) = mpsc::channel();
    let handle = move |event: &u64, sequence, _| {
        thread::sleep(if sequence == 0 { 10 * MOMENT } else { Duration::ZERO });
        number.send(*event).unwrap();
    };
    let ring = K::ring(1 << 10, || 0_u64).stage("slow").read(handle);
    let (producer, consumers) = ring.build().unwrap();
    (producer, consumers, numbers)
}

fn accepted_events_are_handled_when_running_goes_out_of_scope<K: Kind>() {
    let (mut producer, consumers, numbers) = slow_ring::<K>();
    {
        let _running = consumers.start().unwrap();
        publish::<K>(&mut producer, 0..1000);
    }
    assert!(numbers.try_iter().eq(0..1000));
}

fn scope_that_is_left_by_an_error_drains_and_ends<K: Kind>() {
    let (mut producer, consumers, numbers) = slow_ring::<K>();
    let result = thread::scope(|scope| {
        let _running = consumers.start_scoped(scope)?;
        publish::<K>(&mut producer, 0..1000);
        let _: u64 = "no number".parse()?;
        Ok::<(), Box<dyn std::error::Error>>(())
    });
    assert!(result.is_err());
    assert!(numbers.try_iter().eq(0..1000), "what was accepted is handled");
}

fn drop_waits_for_a_stage_after_a_halt<K: Kind>() {
    let (mut producer, consumers, numbers) = slow_ring::<K>();
    let running = consumers.start().unwrap();
    publish::<K>(&mut producer, 0..1);
    running.halt();
    drop(running);
    // The handler has sent the event, or has dropped its sender and never will.
    assert!(numbers.try_iter().count() <= 1);
    assert_eq!(numbers.try_recv(), Err(TryRecvError::Disconnected));
}

/// Each way to leave, the limit of the drop, and the error of a publication afterwards.
fn running_that_is_left_does_not_wait_longer_than_it_may<K: Kind>() {
    quiet_panics();
    let halted = PublishError::Halted(HaltCause::Requested);
    let ways: [(fn(Running<'static>), _, _); 5] = [
        (drop, MOMENT, Some(PublishError::Closed)),
        (drop, Duration::ZERO, Some(PublishError::Closed)),
        (time_out_and_drop, Duration::MAX, Some(PublishError::Closed)),
        (panic_with, Duration::MAX, Some(halted)),
        (Running::detach, Duration::MAX, None),
    ];
    for (leave, drop_timeout, error) in ways {
        let Stuck { mut producer, mut running, go, numbers } = Stuck::<K>::new();
        running.set_drop_timeout(drop_timeout);
        leave(running);
        assert_eq!(producer.publish(|event| *event = 2).err(), error);
        assert_eq!(numbers.try_recv(), Err(TryRecvError::Empty), "the handler is at work");
        drop((go, producer));
        // The stage ends: it drops its sender.
        let handled = numbers.iter().collect::<Vec<_>>();
        match error {
            None => assert_eq!(handled, [0, 1, 2]),
            Some(PublishError::Closed) => assert_eq!(handled, [0, 1]),
            _ => assert!(handled.len() <= 2),
        }
    }
}

fn time_out_and_drop(mut running: Running<'static>) {
    let error = running.shutdown_timeout(MOMENT).unwrap_err();
    assert!(matches!(error, ShutdownError::TimedOut { .. }), "{error}");
}

fn panic_with(running: Running<'static>) {
    let leave = move || {
        let _running = running;
        panic!("{ON_PURPOSE}");
    };
    assert!(catch_unwind(AssertUnwindSafe(leave)).is_err());
}

/// The stage waits for a poller that is dropped after `Running`.
fn drop_ends_at_its_time_limit_although_a_poller_outside_holds_events<K: Kind>() {
    let (number, numbers) = mpsc::channel();
    let ring = K::ring(8, || 0_u64).stage("up").poller().stage("down");
    let ring = ring.read(move |event, _, _| number.send(*event).unwrap());
    let (mut producer, mut consumers) = ring.build().unwrap();
    let up = consumers.take_poller("up").unwrap();
    let mut running = consumers.start().unwrap();
    running.set_drop_timeout(MOMENT);
    publish::<K>(&mut producer, 0..3);
    drop(running);
    assert_eq!(numbers.try_recv(), Err(TryRecvError::Empty), "the stage is waiting");
    drop(up);
    assert!(numbers.iter().eq(0..3));
}

/// The stage waits for a poller that is no longer polled, and the scope waits for the stage.
fn scope_that_is_left_by_a_panic_ends_although_a_poller_outside_holds_events<K: Kind>() {
    quiet_panics();
    let ring = K::ring(8, || 0_u64).stage("up").poller().stage("down").read(|_, _, _| {});
    let (mut producer, mut consumers) = ring.build().unwrap();
    let _up = consumers.take_poller("up").unwrap();
    let leave = || {
        thread::scope(|scope| {
            let _running = consumers.start_scoped(scope).unwrap();
            producer.publish(|_| {}).unwrap();
            panic!("{ON_PURPOSE}");
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(leave)).is_err());
}

fn drop_or_shutdown_timeout_in_a_handler_closes_and_does_not_wait_for_itself<K: Kind>() {
    type Leaves = fn(Running<'static>) -> Option<ShutdownError>;
    let drops: Leaves = |mut running| {
        running.set_drop_timeout(Duration::MAX);
        None
    };
    let shuts_down: Leaves = |mut running| running.shutdown_timeout(Duration::MAX).err();
    for leave in [drops, shuts_down] {
        let (hand_over, handed_over) = mpsc::channel::<Running<'static>>();
        let (result, results) = mpsc::channel();
        let handle = move |_: &u64, _, _| {
            handed_over.try_iter().for_each(|running| result.send(leave(running)).unwrap());
        };
        let ring = K::ring(8, || 0_u64).stage("all").read(handle);
        let (mut producer, consumers) = ring.build().unwrap();
        hand_over.send(consumers.start().unwrap()).unwrap();
        publish::<K>(&mut producer, 0..1);
        match results.recv_timeout(PATIENCE).unwrap() {
            None => {}
            Some(ShutdownError::TimedOut { backlog }) => assert_eq!(backlog[0].events, 1),
            Some(error) => panic!("{error:?}"),
        }
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed), "it has not halted");
        // The stage ends: it drops its sender.
        assert!(results.recv_timeout(PATIENCE).is_err());
    }
}

fn calls_after_a_shutdown_timeout_are_errors<K: Kind>() {
    let text = "the report of this ring was returned by an earlier call";
    let calls: [fn(Running<'static>) -> _; 2] = [Running::join, Running::shutdown];
    for call in calls {
        let ring = K::ring(8, || 0_u64).stage("all").read(|_, _, _| {});
        let (_producer, consumers) = ring.build().unwrap();
        let mut running = consumers.start().unwrap();
        assert_eq!(running.shutdown_timeout(PATIENCE).unwrap().stages().count(), 1);
        let error = running.shutdown_timeout(PATIENCE).unwrap_err();
        assert!(matches!(error, ShutdownError::AlreadyReported));
        assert_eq!(error.to_string(), text);
        let failed = call(running).unwrap_err();
        assert!(failed.is_already_reported());
        assert_eq!((failed.to_string().as_str(), failed.report().stages().count()), (text, 0));
    }
}

fn ring_can_be_halted_in_a_scope_after_a_shutdown_that_timed_out<K: Kind>() {
    let (go_on, gate) = mpsc::channel::<()>();
    let ring = K::ring(8, || 0_u64).stage("slow").read(move |_, _, _| _ = gate.recv());
    let (mut producer, consumers) = ring.build().unwrap();
    thread::scope(|scope| {
        let mut running = consumers.start_scoped(scope).unwrap();
        publish::<K>(&mut producer, 0..2);
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
    });
}
