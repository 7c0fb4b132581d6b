//! C72: workers that share the events of a stage; and B04, B05 and B17, which LMAX's workers had until
//! 4.0 left them out.

use std::hint;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use lapwing::{Action, Outcome, Stage, TryPublishError, Workers};

use crate::common::{PATIENCE, ProducerOf, wait_until};
use crate::setup::{Kind, Setup};

for_each_setup! {
    c72_each_event_goes_to_exactly_one_worker,
    c72_group_that_is_resized_under_load_loses_and_doubles_nothing,
    c72_close_is_drained_by_the_workers,
    b04_nothing_reaches_a_worker_before_it_is_published,
    b05_event_that_a_worker_has_is_not_overwritten,
    b17a_backlog_of_workers_is_what_they_have_not_finished,
    b17b_worker_that_stopped_holds_up_no_shutdown,
}

/// The events that workers have had, in no order.
type Had = Mutex<Vec<u64>>;

fn publish_all<K: Kind>(producer: &mut ProducerOf<u64, K>, events: u64) {
    for value in 0..events {
        producer.publish(|event| *event = value).unwrap();
    }
}

#[track_caller]
fn assert_once_each(had: Had, events: u64) {
    let mut had = had.into_inner().unwrap();
    had.sort_unstable();
    assert!(had.into_iter().eq(0..events), "each event once");
}

fn c72_each_event_goes_to_exactly_one_worker<K: Kind>(setup: Setup<K>) {
    let (had, events) = (Had::default(), setup.events(500));
    let (producer, consumers) = setup
        .ring(8, || 0_u64)
        .then_workers_mut("work", 2, |_| |event: &mut u64, _, _| had.lock().unwrap().push(*event))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events);
        running.shutdown().unwrap();
    });
    assert_once_each(had, events);
}

fn c72_group_that_is_resized_under_load_loses_and_doubles_nothing<K: Kind>(setup: Setup<K>) {
    let (had, events) = (Had::default(), setup.events(500));
    let workers = Workers::new(1).up_to(2);
    let (producer, consumers) = setup
        .ring(4, || 0_u64)
        .then_workers("work", workers, |_| |event: &u64, _, _| had.lock().unwrap().push(*event))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        let group = running.workers("work").unwrap();
        for value in 0..events {
            producer.publish(|event| *event = value).unwrap();
            group.resize(1 + value as usize / 7 % 2).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_once_each(had, events);
}

fn c72_close_is_drained_by_the_workers<K: Kind>(setup: Setup<K>) {
    for events in 0..setup.events(9) {
        let had = Had::default();
        let push = |event: &u64, _, _| had.lock().unwrap().push(*event);
        let ring = setup.ring(16, || 0_u64).then_workers("work", 2, |_| push);
        let (mut producer, consumers) = ring.build().unwrap();
        publish_all::<K>(&mut producer, events);
        thread::scope(|scope| consumers.start_scoped(scope).unwrap().shutdown().map(drop)).unwrap();
        assert_once_each(had, events);
    }
}

fn b04_nothing_reaches_a_worker_before_it_is_published<K: Kind>(setup: Setup<K>) {
    let (had, is_had) = mpsc::channel();
    let (mut producer, consumers) = setup
        .ring(8, || 0_u64)
        .then_workers("work", 2, move |_| {
            let had = had.clone();
            move |event: &u64, _, _| had.send(*event).unwrap()
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let other = K::another(&producer);
    let mut claim = producer.claim().unwrap();
    let rest = other.map(|mut other| other.publish(|event| *event = 8).unwrap());
    thread::yield_now();
    assert!(is_had.try_recv().is_err(), "the first claim is not published");
    *claim = 7;
    claim.publish().unwrap();
    let mut seen: Vec<_> = (0..1 + u64::from(rest.is_some()))
        .map(|_| is_had.recv_timeout(PATIENCE).unwrap())
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, if rest.is_some() { vec![7, 8] } else { vec![7] });
    running.shutdown().unwrap();
}

fn b05_event_that_a_worker_has_is_not_overwritten<K: Kind>(setup: Setup<K>) {
    let events = setup.events(500);
    let (mut producer, consumers) = setup
        .ring(2, || [0_u64; 4])
        .then_workers_mut("work", 2, |_| {
            |event: &mut [u64; 4], sequence, _| {
                assert_eq!(*event, [sequence; 4]);
                event.fill(!sequence);
                (0..sequence % 30).for_each(|_| hint::spin_loop());
                assert_eq!(*event, [!sequence; 4]);
            }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for value in 0..events {
        producer.publish(|event| event.fill(value)).unwrap();
    }
    running.shutdown().unwrap();
}

/// LMAX compared the positions of workers by `!=`, and one that was ahead counted as a backlog.
fn b17a_backlog_of_workers_is_what_they_have_not_finished<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) =
        setup.ring(8, || 0_u64).then_workers("work", 2, |_| |_: &u64, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    publish_all::<K>(&mut producer, 5);
    wait_until(|| running.backlog().iter().all(|left| left.events == 0));
    assert_eq!(producer.try_publish_batch(8, |_| {}), Ok(5..13), "nothing is held");
    running.shutdown().unwrap();
}

/// LMAX's shutdown waited for workers that were dead.
fn b17b_worker_that_stopped_holds_up_no_shutdown<K: Kind>(setup: Setup<K>) {
    let stage = Stage::new("work").max_batch(1);
    let (mut producer, consumers) = setup
        .ring(8, || 0_u64)
        .then_workers(stage, 2, |worker| {
            move |_: &u64, _, _| if worker == 0 { Action::Stop } else { Action::Continue }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish_all::<K>(&mut producer, 40);
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), 40);
    let ends: Vec<_> = report.stages().map(|worker| worker.outcome().clone()).collect();
    assert_eq!(ends[1], Outcome::Drained);
    assert_ne!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
}
