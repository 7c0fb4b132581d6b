//! C40 to C45: the life of a ring from start to end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;

use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::lifecycle::ShutdownError;
use lapwing::{Sequence, Stage};

use crate::common::{MOMENT, ON_PURPOSE, PATIENCE, quiet_panics, wait_until};
use crate::setup::{Kind, Setup};
use crate::spy::{Spy, publish, values};

for_each_setup! {
    c40_halt_before_the_run_gives_one_start_and_one_shutdown,
    c40_halt_at_any_moment_gives_one_start_and_one_shutdown,
    c41_events_published_between_a_start_and_a_shutdown_are_all_handled,
    c42_shutdown_returns_when_every_handler_has,
    c43_shutdown_with_a_stage_that_died_ends,
    c44_shutdown_wakes_a_producer_that_is_blocked,
    c45_shutdown_that_times_out_reports_what_is_left,
}

fn c40_halt_before_the_run_gives_one_start_and_one_shutdown<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage("first")
        .read_handler(Spy::default())
        .stage("second")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    publish(&mut producer, 0..2);
    let mut consumers = consumers.into_iter();
    let (first, never) = (consumers.next().unwrap(), consumers.next().unwrap());
    drop(never); // its events could never be finished, so this halts the ring
    let mut finished = first.run();
    assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Halted, 0));
    finished.take_handler::<Spy>().unwrap().assert_one_life();
}

fn c40_halt_at_any_moment_gives_one_start_and_one_shutdown<K: Kind>(setup: Setup<K>) {
    for round in 0..setup.events(60) {
        let (producer, consumers) = setup
            .ring(4, || 0)
            .stage("first")
            .read_handler(Spy::default())
            .stage("second")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        (0..round % 6).for_each(|_| thread::yield_now());
        running.halt();
        let mut report = running.join().unwrap_err().into_report();
        for name in ["first", "second"] {
            report.take::<Spy>(name).unwrap().assert_one_life();
        }
        drop(producer);
    }
}

/// LMAX treats a processor that has not started as ended, and drops its events (issue 517).
fn c41_events_published_between_a_start_and_a_shutdown_are_all_handled<K: Kind>(setup: Setup<K>) {
    for round in 0..setup.events(60) {
        let (mut producer, consumers) = setup
            .ring(8, || 0)
            .stage("first")
            .read_handler(Spy::default())
            .stage("second")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        publish(&mut producer, 0..round % 9);
        let mut report = running.shutdown().unwrap();
        for name in ["first", "second"] {
            let spy: Spy = report.take(name).unwrap();
            spy.assert_one_life();
            assert_eq!(spy.events(), values(0..round % 9), "{name}");
        }
    }
}

fn c42_shutdown_returns_when_every_handler_has<K: Kind>(setup: Setup<K>) {
    let (open, gate) = mpsc::channel::<()>();
    let (at_work, is_at_work) = mpsc::channel();
    let (is_done, may_return) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let handler = move |_: &u64, _: Sequence, _: bool| {
        at_work.send(()).unwrap();
        let _ = gate.recv(); // blocks until `open` is dropped
        done.store(true, SeqCst);
    };
    let (mut producer, consumers) =
        setup.ring(4, || 0).stage("slow").read(handler).build().unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..1);
    is_at_work.recv().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            running.shutdown().unwrap();
            assert!(may_return.load(SeqCst) && is_done.load(SeqCst), "the handler is at work");
        });
        producer.close();
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
        may_return.store(true, SeqCst);
        drop(open);
    });
}

fn c43_shutdown_with_a_stage_that_died_ends<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    for dies_first in [true, false] {
        let (mut producer, consumers) = setup
            .ring(2, || 0)
            .stage("dies")
            .read(|_, sequence, _| assert!(sequence < 2, "{ON_PURPOSE}"))
            .stage("after")
            .read_handler(Spy::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let refused = (0..9).find_map(|_| producer.publish(|_| {}).err());
        assert_eq!(
            refused,
            Some(PublishError::Halted(HaltCause::StageFailed)),
            "a producer would wait for ever"
        );
        wait_until(|| !dies_first || running.is_finished());
        let failed = running.shutdown().unwrap_err();
        let outcomes: Vec<_> = failed.report().stages().map(|stage| stage.outcome()).collect();
        let message = ON_PURPOSE.to_owned();
        assert_eq!(outcomes, [&Outcome::Panicked { message, sequence: 2 }, &Outcome::Halted]);
    }
}

fn c44_shutdown_wakes_a_producer_that_is_blocked<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut consumers) = setup
        .ring(2, || 0)
        .parallel(|parallel| {
            parallel.stage("holds").poller().stage("spy").read_handler(Spy::default())
        })
        .build()
        .unwrap();
    let _holds = consumers.take_poller("holds").unwrap();
    let running = consumers.start().unwrap();
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        let blocked = scope.spawn(|| {
            loop {
                match producer.publish(|_| {}) {
                    Ok(_) => published.fetch_add(1, SeqCst),
                    Err(stopped) => return stopped,
                };
            }
        });
        wait_until(|| published.load(SeqCst) == 2);
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().next().unwrap().processed(), 2);
        assert_eq!(blocked.join().unwrap(), PublishError::Closed);
    });
}

fn c45_shutdown_that_times_out_reports_what_is_left<K: Kind>(setup: Setup<K>) {
    let (open, gate) = mpsc::channel::<()>();
    let (at_work, is_at_work) = mpsc::channel();
    let stuck = move |_: &u64, _: Sequence, _: bool| {
        let _ = at_work.send(());
        let _ = gate.recv(); // blocks until `open` is dropped
    };
    let stage = Stage::new("stuck").max_batch(1);
    let (mut producer, consumers) = setup.ring(4, || 0).stage(stage).read(stuck).build().unwrap();
    let mut running = consumers.start().unwrap();
    publish(&mut producer, 0..3);
    is_at_work.recv().unwrap();
    let ShutdownError::TimedOut { backlog } = running.shutdown_timeout(MOMENT).unwrap_err() else {
        panic!("the stage is at work");
    };
    assert_eq!((backlog[0].stage.as_str(), backlog[0].events), ("stuck", 3));
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    drop(open);
    let report = running.shutdown_timeout(PATIENCE).unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 3);
}
