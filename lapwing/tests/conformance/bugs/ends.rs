//! Defects of starting and ending.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::Action;
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::lifecycle::ShutdownError;

use crate::common::{MOMENT, ON_PURPOSE, quiet_panics, wait_until};
use crate::setup::{Kind, Setup};
use crate::spy::{Spy, publish, values};

for_each_setup! {
    b09_halt_while_stages_start_gives_each_one_start_and_one_shutdown,
    b17a_shutdown_ends_although_the_last_claims_were_given_up,
    b17b_shutdown_waits_for_no_stage_that_has_died,
    b17e_time_limit_of_a_shutdown_uses_a_monotonic_clock,
    b17f_rings_that_many_threads_build_at_the_same_time_work,
    b18_events_are_not_lost_to_stages_that_have_not_begun,
    b19_ring_that_was_halted_before_its_stages_began_can_be_shut_down,
    b20a_stage_that_stops_leaves_its_siblings_parked_and_able_to_wake,
    b20b_halt_is_seen_by_a_stage_that_begins_late,
}

/// Before 3.4.2: a halt in the middle of a start was lost, or the handler got only one of the two
/// calls.
fn b09_halt_while_stages_start_gives_each_one_start_and_one_shutdown<K: Kind>(setup: Setup<K>) {
    for round in 0..setup.events(60) {
        let (_producer, consumers) = setup
            .ring(4, || 0)
            .stage("first")
            .read_handler(Spy::default())
            .stage("second")
            .read_handler(Spy::default())
            .stage("never runs")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let mut consumers: Vec<_> = consumers.into_iter().collect();
        let never_runs = consumers.pop();
        thread::scope(|scope| {
            let threads: Vec<_> =
                consumers.into_iter().map(|consumer| scope.spawn(move || consumer.run())).collect();
            (0..round % 4).for_each(|_| thread::yield_now());
            drop(never_runs); // halts the ring at some moment in the start of the others
            for thread in threads {
                let mut finished = thread.join().unwrap();
                assert_eq!(*finished.outcome(), Outcome::Halted);
                finished.take_handler::<Spy>().unwrap().assert_one_life();
            }
        });
    }
}

/// Issue 42: the drain compared positions with `!=`. A position past the end drained for ever.
fn b17a_shutdown_ends_although_the_last_claims_were_given_up<K: Kind>(setup: Setup<K>) {
    for given_up in 0..4 {
        let (mut producer, consumers) = setup
            .ring(4, || 0)
            .stage("first")
            .read_handler(Spy::default())
            .stage("second")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        publish(&mut producer, 0..2);
        (0..given_up).for_each(|_| drop(producer.claim().unwrap()));
        drop(producer.claim_batch(2).unwrap());
        let mut report = running.shutdown().unwrap();
        for name in ["first", "second"] {
            assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..2), "{name}");
        }
        assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    }
}

/// Issue 50: a shutdown waited for a consumer that had died.
fn b17b_shutdown_waits_for_no_stage_that_has_died<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage("dies at its birth")
        .read_local(|| -> Spy { panic!("{ON_PURPOSE}") })
        .parallel(|parallel| {
            parallel
                .stage("dies")
                .read(|_, _, _| panic!("{ON_PURPOSE}"))
                .stage("lives")
                .read(|_, _, _| {})
        })
        .build()
        .unwrap();
    publish(&mut producer, 0..4);
    let failed = consumers.start().unwrap().shutdown().unwrap_err();
    let first = failed.report().stages().next().unwrap();
    let outcome = Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence: 0 };
    assert_eq!((first.outcome(), first.processed()), (&outcome, 0));
    assert!(failed.report().stages().skip(1).all(|stage| *stage.outcome() == Outcome::Halted));
}

/// Before 4.0: the time limit used the wall clock, which can be set.
fn b17e_time_limit_of_a_shutdown_uses_a_monotonic_clock<K: Kind>(setup: Setup<K>) {
    let ring = setup.ring(4, || 0).stage("holds").poller().stage("after").read(|_, _, _| {});
    let (mut producer, mut consumers) = ring.build().unwrap();
    let holds = consumers.take_poller("holds").unwrap();
    let mut running = consumers.start().unwrap();
    publish(&mut producer, 0..2);
    let start = Instant::now();
    let error = running.shutdown_timeout(MOMENT).unwrap_err();
    assert!(start.elapsed() >= MOMENT);
    assert!(matches!(error, ShutdownError::TimedOut { .. }), "{error}");
    drop(holds);
    let report = running.shutdown_timeout(Duration::MAX).unwrap(); // no limit
    assert_eq!(report.stages().next().unwrap().processed(), 2);
}

/// Issue 370: two threads that made their first ring deadlocked in the initialiser of a `static`.
fn b17f_rings_that_many_threads_build_at_the_same_time_work<K: Kind>(setup: Setup<K>) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let ring = setup.ring(4, || 0).stage("spy").read_handler(Spy::default());
                let (mut producer, consumers) = ring.build().unwrap();
                let running = consumers.start().unwrap();
                publish(&mut producer, 0..5);
                let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
                assert_eq!(spy.events(), values(0..5));
            });
        }
    });
}

/// Open (issue 517): a shutdown ignores processors that do not run yet, and halts them before they
/// do.
fn b18_events_are_not_lost_to_stages_that_have_not_begun<K: Kind>(setup: Setup<K>) {
    for _ in 0..setup.events(60) {
        let (mut producer, consumers) = setup
            .ring(4, || 0)
            .parallel(|parallel| {
                parallel
                    .stage("left")
                    .read_handler(Spy::default())
                    .stage("right")
                    .read_handler(Spy::default())
            })
            .stage("last")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        publish(&mut producer, 0..4);
        let mut report = consumers.start().unwrap().shutdown().unwrap();
        for name in ["left", "right", "last"] {
            assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..4), "{name}");
        }
    }
}

/// Open: a processor that is halted before it runs counts as running for ever, and the shutdown
/// spins.
fn b19_ring_that_was_halted_before_its_stages_began_can_be_shut_down<K: Kind>(setup: Setup<K>) {
    for _ in 0..setup.events(30) {
        let (mut producer, consumers) = setup
            .ring(4, || 0)
            .stage("first")
            .read_handler(Spy::default())
            .stage("second")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        publish(&mut producer, 0..4);
        let running = consumers.start().unwrap();
        running.halt();
        wait_until(|| running.is_finished());
        assert!(running.backlog().is_empty(), "no stage is running");
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::Requested)));
        let mut report = running.shutdown().unwrap_err().into_report();
        for name in ["first", "second"] {
            report.take::<Spy>(name).unwrap().assert_one_life();
        }
    }
}

/// Open (issue 417): the processors of a group share a barrier. The alert that halts one of them
/// keeps the others from their events.
fn b20a_stage_that_stops_leaves_its_siblings_parked_and_able_to_wake<K: Kind>(setup: Setup<K>) {
    let handled = [AtomicU64::new(0), AtomicU64::new(0)];
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .parallel(|parallel| {
            parallel
                .stage("left")
                .read(|_, sequence, _| handled[0].store(sequence + 1, SeqCst))
                .stage("stops")
                .read(|_, _, _| Action::Stop)
                .stage("right")
                .read(|_, sequence, _| handled[1].store(sequence + 1, SeqCst))
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for sequence in 0..6 {
            publish(&mut producer, sequence..sequence + 1);
            wait_until(|| handled.iter().all(|stage| stage.load(SeqCst) == sequence + 1));
            wait_until(|| running.backlog().iter().all(|left| left.stage != "stops"));
        }
        running.shutdown().unwrap();
    });
}

/// Open: a processor that starts clears the alert of the shared barrier. A processor that has not
/// seen the alert by then never sees it.
fn b20b_halt_is_seen_by_a_stage_that_begins_late<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .parallel(|parallel| {
            let names = ["early", "late", "never runs"].into_iter();
            names.fold(parallel, |parallel, name| parallel.stage(name).read(|_, _, _| {}))
        })
        .build()
        .unwrap();
    publish(&mut producer, 0..1);
    let mut consumers = consumers.into_iter();
    let (early, late) = (consumers.next().unwrap(), consumers.next().unwrap());
    thread::scope(|scope| {
        let early = scope.spawn(|| early.run());
        drop(consumers); // halts the ring
        assert_eq!(*late.run().outcome(), Outcome::Halted);
        assert_eq!(*early.join().unwrap().outcome(), Outcome::Halted);
    });
}
