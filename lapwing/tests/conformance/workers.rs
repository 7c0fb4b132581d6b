//! C72: workers that share the events of a stage. Also B04, B05, B06 and B17, the defects of LMAX's
//! workers before 4.0 removed them.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, mpsc};
use std::thread;

use lapwing::consumer::Outcome;
use lapwing::error::TryPublishError;
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{MOMENT, PATIENCE, ProducerOf, wait_until};
use crate::setup::{Kind, Setup};

for_each_setup! {
    c72_each_event_goes_to_exactly_one_worker,
    c72_group_that_is_resized_under_load_loses_and_duplicates_no_event,
    c72_close_is_drained_by_the_workers,
    b04_nothing_reaches_a_worker_before_it_is_published,
    b05_event_that_a_worker_has_is_not_overwritten,
    b06d_workers_that_have_not_started_hold_their_events,
    b17a_backlog_of_workers_is_their_unfinished_events,
    b17b_worker_that_stopped_holds_up_no_shutdown,
    b17c_timeout_of_a_worker_is_called,
    b17d_worker_that_stops_leaves_its_events_to_the_others,
}

/// The events that workers have handled, in no order.
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
        .stage("work")
        .workers(2)
        .write(|_| |event: &mut u64, _, _| had.lock().unwrap().push(*event))
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

fn c72_group_that_is_resized_under_load_loses_and_duplicates_no_event<K: Kind>(setup: Setup<K>) {
    let (had, events) = (Had::default(), setup.events(500));
    let (producer, consumers) = setup
        .ring(4, || 0_u64)
        .stage("work")
        .workers(1)
        .up_to(2)
        .read(|_| |event: &u64, _, _| had.lock().unwrap().push(*event))
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
        let ring = setup.ring(16, || 0_u64).stage("work").workers(2).read(|_| push);
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
        .stage("work")
        .workers(2)
        .read(move |_| {
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
        .stage("work")
        .workers(2)
        .write(|_| {
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

/// Before 3.3.6 (issue 172), as with other stages: a producer overwrote unread events.
fn b06d_workers_that_have_not_started_hold_their_events<K: Kind>(setup: Setup<K>) {
    let had = Had::default();
    let push = |event: &u64, _, _| had.lock().unwrap().push(*event);
    let ring = setup.ring(4, || 0_u64).stage("work").workers(2).read(|_| push);
    let (mut producer, consumers) = ring.build().unwrap();
    publish_all::<K>(&mut producer, 4);
    assert_eq!(producer.try_publish(|event| *event = 666), Err(TryPublishError::Full));
    thread::scope(|scope| consumers.start_scoped(scope).unwrap().shutdown().map(drop)).unwrap();
    assert_once_each(had, 4);
}

/// LMAX compared the positions of workers with `!=`, so a worker that was ahead counted as a
/// backlog.
fn b17a_backlog_of_workers_is_their_unfinished_events<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(8, || 0_u64)
        .stage("work")
        .workers(2)
        .read(|_| |_: &u64, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish_all::<K>(&mut producer, 5);
    wait_until(|| running.backlog().iter().all(|left| left.events == 0));
    assert_eq!(producer.try_publish_batch(8, |_| {}), Ok(5..13), "nothing is held");
    running.shutdown().unwrap();
}

/// LMAX's shutdown waited for dead workers.
fn b17b_worker_that_stopped_holds_up_no_shutdown<K: Kind>(setup: Setup<K>) {
    let stage = Stage::new("work").max_batch(1);
    let (mut producer, consumers) = setup
        .ring(8, || 0_u64)
        .stage(stage)
        .workers(2)
        .read(|worker| {
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

/// Records for which event it has waited too long.
struct Alarm(mpsc::Sender<Sequence>);

impl EventHandler<u64> for Alarm {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = self.0.send(next_sequence);
    }
}

/// Issue 144: a strategy with a timeout, and a worker without a timeout handler.
fn b17c_timeout_of_a_worker_is_called<K: Kind>(setup: Setup<K>) {
    let (alarm, alarms) = mpsc::channel();
    let stage = Stage::new("work").timeout_after(MOMENT / 5);
    let ring =
        setup.ring(4, || 0_u64).stage(stage).workers(2).read_handlers(|_| Alarm(alarm.clone()));
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(alarms.recv(), Ok(0));
    publish_all::<K>(&mut producer, 2);
    assert!(alarms.iter().any(|sequence| sequence == 2));
    running.shutdown().unwrap();
}

/// Issues 286 and 287: a worker that was halted dropped the event that it had claimed.
fn b17d_worker_that_stops_leaves_its_events_to_the_others<K: Kind>(setup: Setup<K>) {
    for _ in 0..setup.events(30) {
        let (had, has_stopped) = (Had::default(), AtomicBool::new(false));
        let work = |event: &u64, sequence: Sequence, _| {
            // The other events of its claim follow.
            if sequence % 4 == 1 && !has_stopped.swap(true, SeqCst) {
                return Action::Stop;
            }
            had.lock().unwrap().push(*event);
            Action::Continue
        };
        let ring = setup.ring(32, || 0_u64).stage("work").workers(2).read(|_| work);
        let (mut producer, consumers) = ring.build().unwrap();
        publish_all::<K>(&mut producer, 32);
        thread::scope(|scope| {
            let report = consumers.start_scoped(scope).unwrap().shutdown().unwrap();
            let stopped = report.stages().filter(|worker| *worker.outcome() == Outcome::Stopped);
            assert_eq!(stopped.count(), 1);
        });
        assert_once_each(had, 32);
    }
}
