//! Tests that the workers of a group share events correctly: each event once, none early, none
//! lost. Not here: resizing and failing workers (`workers_leaving.rs`), keys (`workers_by_key.rs`).

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Lcg, PATIENCE, ProducerOf, repeats, wait_until};
use lapwing::consumer::{Exclusive, Outcome, Shared};
use lapwing::error::{BuildError, PublishError, SeatError, TakeError, TryPublishError};
use lapwing::graph::{Graph, StartAt, Workers};
use lapwing::lifecycle::Backlog;
use lapwing::monitor::StageState;
use lapwing::producer::{Sequencer, Single};
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Builder, Disruptor, EventHandler, Producer, Sequence, Stage};

crate::common::for_both_producers! {
    every_event_goes_to_exactly_one_worker,
    miri_every_event_goes_to_exactly_one_worker,
    every_event_goes_to_exactly_one_worker_whatever_the_strategy,
    miri_the_stage_after_a_group_sees_what_its_workers_wrote,
    a_group_after_a_group_sees_what_its_workers_wrote,
    a_group_parallel_to_other_stages_reads_the_same_events,
    miri_lmax_trap_5_no_event_is_overwritten_while_a_worker_has_it,
    lmax_trap_6_workers_that_have_not_started_hold_their_events,
    lmax_trap_17_a_close_is_drained_by_all_workers,
    a_single_event_after_an_idle_period_is_handled,
    an_event_wakes_no_more_idle_workers_than_it_needs,
    idle_workers_wake_each_other_until_all_have_something,
    a_slow_event_holds_only_its_own_worker,
    a_worker_that_rested_for_laps_gets_events_again,
    a_worker_takes_no_more_than_its_share,
    lmax_trap_17_backlog_is_what_is_not_finished,
    lmax_trap_17_timeout_is_called_while_nothing_comes,
    handlers_are_started_ended_and_returned_once_each,
    every_batch_is_announced,
    a_halt_ends_every_worker,
    workers_that_share_a_thread_take_turns,
    a_seat_depends_on_the_workers_that_write,
    a_ring_that_begins_elsewhere_hands_out_its_first_event,
    a_monitor_shows_a_group_as_one_stage,
    a_worker_that_would_wait_for_itself_gets_an_error,
    an_idle_worker_that_would_wait_for_itself_gets_an_error,
    an_idle_worker_waits_for_one_on_another_thread,
    a_resting_worker_on_a_shared_thread_gets_no_timeouts,
    no_consumer_in_a_seat_has_the_name_of_a_worker,
    a_worker_that_is_dropped_without_having_run_halts_the_ring,
}

/// Counts how often each event was handled.
struct Counts(Vec<AtomicU64>);

impl Counts {
    fn new(events: u64) -> Self {
        Self((0..events).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, sequence: Sequence) {
        self.0[sequence as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn assert_once_each(&self) {
        for (sequence, count) in self.0.iter().enumerate() {
            assert_eq!(count.load(Ordering::Relaxed), 1, "sequence={sequence}");
        }
    }
}

/// Publishes `0..events`, each as the value of its event.
fn publish_all<K: Kind>(producer: &mut ProducerOf<u64, K>, events: u64) {
    for value in 0..events {
        producer.publish(|event| *event = value).unwrap();
    }
}

// ---- each event once ----

fn share<K: Kind>(
    capacity: usize,
    workers: usize,
    stage: impl Fn() -> Stage,
    strategy: impl WaitStrategy,
    events: u64,
) {
    let counts = Counts::new(events);
    let (producer, consumers) = K::ring(capacity, || 0_u64)
        .wait(strategy.clone())
        .producer_wait(strategy)
        .stage(stage())
        .workers(workers)
        .write(|_| {
            |event: &mut u64, sequence, _| {
                assert_eq!(*event, sequence);
                counts.add(sequence);
                *event = u64::MAX;
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events);
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().count(), workers);
        assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), events);
        assert!(report.stages().all(|worker| *worker.outcome() == Outcome::Drained));
    });
    counts.assert_once_each();
}

fn every_event_goes_to_exactly_one_worker<K: Kind>() {
    for workers in 1..=3 {
        for capacity in [1, 2, 4, 64, 1024] {
            let stage = || Stage::new("work");
            share::<K>(capacity, workers, stage, Adaptive::default(), repeats(8_000));
            let stage = || Stage::new("work").max_batch(1);
            share::<K>(capacity, workers, stage, Adaptive::default(), repeats(2_000));
        }
    }
}

fn miri_every_event_goes_to_exactly_one_worker<K: Kind>() {
    for workers in 1..=3 {
        share::<K>(2, workers, || Stage::new("work"), Blocking::default(), 12);
    }
}

fn every_event_goes_to_exactly_one_worker_whatever_the_strategy<K: Kind>() {
    let events = repeats(2_000);
    let stage = || Stage::new("work");
    share::<K>(8, 2, stage, Blocking { yields: 0 }, events);
    share::<K>(8, 2, stage, BusySpin, events);
    share::<K>(8, 2, stage, Sleeping::default(), events);
    share::<K>(8, 2, stage, Yielding::default(), events);
}

#[test]
fn several_producers_and_several_workers_share_a_small_ring() {
    let events = repeats(30_000);
    const PRODUCERS: u64 = 3;
    let counts = Counts::new(PRODUCERS * events);
    let (producer, consumers) = Disruptor::multi_producer(4, || 0_u64)
        .stage("work")
        .workers(3)
        .write(|_| |event: &mut u64, _, _| counts.add(*event))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let threads = [0, 1, 2].map(|id| {
            let mut producer = producer.clone();
            scope.spawn(move || {
                for value in 0..events {
                    producer.publish(|event| *event = id * events + value).unwrap();
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

/// LMAX's workers did not check whether their claimed event was published if an earlier claim was
/// not.
#[test]
fn lmax_trap_4_nothing_is_handled_before_it_is_published() {
    let counts = Counts::new(2);
    let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
        .stage("work")
        .workers(3)
        .write(|_| {
            |event: &mut u64, sequence, _| {
                assert_eq!(*event, sequence + 7);
                counts.add(sequence);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let mut other = producer.clone();
        let mut first = producer.claim().unwrap();
        other.publish(|event| *event = 8).unwrap();
        thread::sleep(crate::common::MOMENT);
        assert_eq!(counts.total(), 0, "the first claim is not published");
        *first = 7;
        first.publish().unwrap();
        drop((producer, other));
        running.join().unwrap();
    });
    counts.assert_once_each();
}

#[test]
fn claims_that_were_given_up_are_passed_over() {
    let events = repeats(3_000);
    let sum = AtomicU64::new(0);
    let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
        .stage("work")
        .workers(3)
        .write(|_| {
            |event: &mut u64, _, _| {
                sum.fetch_add(*event, Ordering::Relaxed);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..events {
            *producer.claim().unwrap() = 100; // given up
            producer.publish(|event| *event = 1).unwrap();
        }
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), 2 * events);
    });
    assert_eq!(sum.load(Ordering::Relaxed), events);
}

// ---- groups in the graph ----

fn miri_the_stage_after_a_group_sees_what_its_workers_wrote<K: Kind>() {
    for workers in 1..=3 {
        let events = repeats(5_000);
        let mut seen = Vec::new();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage("double")
            .workers(workers)
            .write(|_| |event: &mut u64, _, _| *event *= 2)
            .stage("check")
            .read(|event, sequence, _| seen.push((sequence, *event)))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            publish_all::<K>(&mut producer, events);
            running.shutdown().unwrap();
        });
        assert!(seen.into_iter().eq((0..events).map(|value| (value, 2 * value))));
    }
}

fn a_group_after_a_group_sees_what_its_workers_wrote<K: Kind>() {
    let events = repeats(20_000);
    let counts = Counts::new(events);
    let (producer, consumers) = K::ring(8, || 0_u64)
        .stage("first")
        .write(|event, _, _| *event += 1)
        .stage("double")
        .workers(2)
        .write(|_| |event: &mut u64, _, _| *event *= 2)
        .stage("add")
        .workers(3)
        .write(|_| |event: &mut u64, _, _| *event += 5)
        .stage("check")
        .workers(2)
        .read(|_| {
            |event: &u64, sequence, _| {
                assert_eq!(*event, 2 * (sequence + 1) + 5);
                counts.add(sequence);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events);
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

fn a_group_parallel_to_other_stages_reads_the_same_events<K: Kind>() {
    let events = repeats(10_000);
    let (left, right) = (Counts::new(events), Counts::new(events));
    let mut journal = Vec::new();
    let (producer, consumers) = K::ring(16, || 0_u64)
        .side_by_side(|side| {
            side.stage("journal")
                .read(|event, _, _| journal.push(*event))
                .stage("left")
                .workers(2)
                .read(|_| |event: &u64, _, _| left.add(*event))
                .chain(|chain| {
                    chain
                        .stage("before")
                        .read(|_, _, _| {})
                        .stage("right")
                        .workers(3)
                        .read(|_| |event: &u64, _, _| right.add(*event))
                })
        })
        .stage("clear")
        .write(|event, _, _| *event = u64::MAX)
        .build()
        .unwrap();
    let names: Vec<_> = consumers.names().map(str::to_owned).collect();
    assert_eq!(names, ["journal", "left", "before", "right", "clear"]);
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events);
        running.shutdown().unwrap();
    });
    assert!(journal.into_iter().eq(0..events));
    left.assert_once_each();
    right.assert_once_each();
}

// ---- the gate ----

/// LMAX's workers moved the group's sequence before their own. A producer that read the gate in
/// between took their slot.
fn miri_lmax_trap_5_no_event_is_overwritten_while_a_worker_has_it<K: Kind>() {
    for capacity in [1, 2, 4] {
        let events = repeats(10_000);
        let counts = Counts::new(events);
        let (mut producer, consumers) = K::ring(capacity, || [0_u64; 4])
            .stage("work")
            .workers(3)
            .write(|worker| {
                let mut pause = Lcg(worker as u64);
                let counts = &counts;
                move |event: &mut [u64; 4], sequence, _| {
                    assert_eq!(*event, [sequence; 4]);
                    event.fill(!sequence);
                    (0..pause.below(50)).for_each(|_| hint::spin_loop());
                    assert_eq!(*event, [!sequence; 4]);
                    counts.add(sequence);
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for value in 0..events {
                producer.publish(|event| event.fill(value)).unwrap();
            }
            running.shutdown().unwrap();
        });
        counts.assert_once_each();
    }
}

/// LMAX's producers did not wait for workers that had not started.
fn lmax_trap_6_workers_that_have_not_started_hold_their_events<K: Kind>() {
    let counts = Counts::new(4);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .workers(2)
        .up_to(3)
        .write(|_| |event: &mut u64, _, _| counts.add(*event))
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    thread::scope(|scope| consumers.start_scoped(scope).unwrap().shutdown().map(drop)).unwrap();
    counts.assert_once_each();
}

fn lmax_trap_17_a_close_is_drained_by_all_workers<K: Kind>() {
    let mut pause = Lcg(5);
    for round in 0..repeats(500) {
        let events = pause.below(12);
        let counts = Counts::new(events);
        let (mut producer, consumers) = K::ring(16, || 0_u64)
            .stage("work")
            .workers(3)
            .write(|_| |event: &mut u64, _, _| counts.add(*event))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            publish_all::<K>(&mut producer, events);
            if round % 2 == 0 {
                drop(producer);
            }
            running.shutdown().unwrap();
        });
        counts.assert_once_each();
    }
}

// ---- waiting ----

fn a_single_event_after_an_idle_period_is_handled<K: Kind>() {
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .wait(Blocking { yields: 0 })
        .stage("first")
        .workers(2)
        .write(|_| |event: &mut u64, _, _| *event += 1)
        .stage("second")
        .workers(2)
        .read(|_| {
            |event: &u64, sequence, _| {
                assert_eq!(*event, sequence + 1);
                handled.fetch_add(1, Ordering::Release);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for value in 0..repeats(2_000) {
            producer.publish(|event| *event = value).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == value + 1);
        }
        running.shutdown().unwrap();
    });
}

/// The first worker watches. It wakes another watcher while it handles the event, and no other
/// worker wakes.
fn an_event_wakes_no_more_idle_workers_than_it_needs<K: Kind>() {
    const WORKERS: usize = 8;
    let events = repeats(200);
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .wait(Blocking { yields: 0 })
        .stage("work")
        .workers(WORKERS)
        .read(|_| |_: &u64, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    let all_sleep = |handled| {
        wait_until(|| {
            let work = &monitor.snapshot().stages[0];
            work.sequence == handled && work.state == StageState::Parked
        });
    };
    for event in 0..events {
        all_sleep(event);
        producer.publish(|_| {}).unwrap();
    }
    all_sleep(events);
    let wakes = monitor.snapshot().stages[0].wakes;
    assert!(wakes <= 3 * events, "{events} events woke workers {wakes} times");
    running.shutdown().unwrap();
}

/// Each event is held until all are handled at the same time, by workers that slept. No worker may
/// claim two events, because the second would never be handled. A worker whose last events came one
/// at a time, because it was the last to wake, must not claim two either.
fn idle_workers_wake_each_other_until_all_have_something<K: Kind>() {
    const WORKERS: u64 = 8;
    for batch in [1, WORKERS] {
        let at_work = AtomicU64::new(0);
        let (mut producer, consumers) = K::ring(16, || 0_u64)
            .wait(Blocking { yields: 0 })
            .stage("work")
            .max_batch(1)
            .workers(WORKERS as usize)
            .read(|_| {
                |_: &u64, sequence, _| {
                    at_work.fetch_add(1, Ordering::Relaxed);
                    let round = sequence / WORKERS + 1;
                    wait_until(|| at_work.load(Ordering::Relaxed) >= round * WORKERS);
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for round in 0..repeats(100) {
                for _ in 0..WORKERS / batch {
                    producer.publish_batch(batch as usize, |_| {}).unwrap();
                }
                wait_until(|| at_work.load(Ordering::Relaxed) == (round + 1) * WORKERS);
            }
            running.shutdown().unwrap();
        });
    }
}

/// A worker that is held at the first event, which identifies the others.
fn hold_the_first<'a>(
    counts: &'a Counts,
    held: &'a AtomicBool,
) -> impl FnMut(&mut u64, Sequence, bool) + Send + 'a {
    |event, _, _| {
        if *event == 0 {
            wait_until(|| !held.load(Ordering::Acquire));
        }
        counts.add(*event);
    }
}

/// Each worker handles one of two events that meet. In between, the first worker handles some laps
/// of events alone.
fn a_worker_that_rested_for_laps_gets_events_again<K: Kind>() {
    let both = Barrier::new(2);
    let meet = |_| {
        |event: &u64, _, _| {
            if *event == 1 {
                both.wait();
            }
        }
    };
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage(Stage::new("work").max_batch(1))
        .workers(2)
        .read(meet)
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let group = running.workers("work").unwrap();
        for (size, event, count) in [(2, 1, 2), (1, 0, 16), (2, 1, 2)] {
            group.resize(size).unwrap();
            (0..count).for_each(|_| _ = producer.publish(|slot| *slot = event).unwrap());
            wait_until(|| running.backlog()[0].events == 0);
        }
        drop(producer);
        running.join().unwrap();
    });
}

fn a_slow_event_holds_only_its_own_worker<K: Kind>() {
    const EVENTS: u64 = 60;
    let (counts, held) = (Counts::new(EVENTS), AtomicBool::new(true));
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .max_batch(1)
        .workers(2)
        .write(|_| hold_the_first(&counts, &held))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, EVENTS);
        wait_until(|| counts.total() == EVENTS - 1);
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

fn a_worker_takes_no_more_than_its_share<K: Kind>() {
    let (counts, held) = (Counts::new(8), AtomicBool::new(true));
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .workers(2)
        .write(|_| hold_the_first(&counts, &held))
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 8);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        wait_until(|| counts.total() >= 4); // the other half of them
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

fn lmax_trap_17_backlog_is_what_is_not_finished<K: Kind>() {
    let (counts, held) = (Counts::new(8), AtomicBool::new(true));
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .max_batch(1)
        .workers(2)
        .write(|_| hold_the_first(&counts, &held))
        .build()
        .unwrap();
    let backlog = |events| [Backlog { stage: "work".into(), events }];
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        assert_eq!(running.backlog(), backlog(0));
        publish_all::<K>(&mut producer, 8);
        wait_until(|| counts.total() == 7);
        assert_eq!(running.backlog(), backlog(8), "the first event is not finished");
        held.store(false, Ordering::Release);
        wait_until(|| running.backlog() == backlog(0));
        running.shutdown().unwrap();
    });
}

/// Reports its timeouts to the test.
struct Alarm(mpsc::Sender<Sequence>);

impl EventHandler<u64, Exclusive> for Alarm {
    fn on_event(&mut self, _: &mut u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = self.0.send(next_sequence);
    }
}

fn lmax_trap_17_timeout_is_called_while_nothing_comes<K: Kind>() {
    let (alarm, alarms) = mpsc::channel();
    let stage = Stage::new("work").timeout(Duration::from_millis(1));
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(Blocking::default())
        .stage(stage)
        .workers(2)
        .write_handlers(|_| Alarm(alarm.clone()))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(alarms.recv_timeout(PATIENCE), Ok(0));
    producer.publish(|_| {}).unwrap();
    wait_until(|| alarms.recv_timeout(PATIENCE) == Ok(1));
    running.shutdown().unwrap();
}

// ---- a worker and its handler ----

/// Counts each call.
#[derive(Debug, Default)]
struct Calls {
    starts: u64,
    shutdowns: u64,
    events: u64,
    announced: u64,
    deepest: u64,
    names: Vec<String>,
}

impl EventHandler<u64, Shared> for Calls {
    fn on_start(&mut self) {
        self.starts += 1;
        self.names.extend(thread::current().name().map(String::from));
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        assert!(batch_size >= 1 && queue_depth >= batch_size, "{batch_size}, {queue_depth}");
        self.announced += batch_size;
        self.deepest = self.deepest.max(queue_depth);
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        assert_eq!((self.starts, self.shutdowns), (1, 0));
        self.events += 1;
    }

    fn on_shutdown(&mut self) {
        self.shutdowns += 1;
    }
}

fn handlers_are_started_ended_and_returned_once_each<K: Kind>() {
    for round in 0..repeats(200) {
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage("work")
            .workers(2)
            .up_to(3)
            .read_handlers(|_| Calls::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        publish_all::<K>(&mut producer, round % 5);
        if round % 3 == 0 {
            running.halt();
        }
        let report = running.shutdown();
        let mut report = report.unwrap_or_else(|failed| failed.into_report());
        let names: Vec<_> = report.stages().map(|worker| worker.name().to_owned()).collect();
        assert_eq!(names, ["work-0", "work-1", "work-2"]);
        for name in &names {
            let calls: Calls = report.take(name).unwrap();
            assert_eq!((calls.starts, calls.shutdowns), (1, 1));
            assert_eq!(calls.names, [name.as_str()]);
        }
        assert!(matches!(report.take::<Calls>("work").err(), Some(TakeError::UnknownName { .. })));
    }
}

fn every_batch_is_announced<K: Kind>() {
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .workers(2)
        .read_handlers(|_| Calls::default())
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 64);
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    let calls = ["work-0", "work-1"].map(|name| report.take::<Calls>(name).unwrap());
    assert_eq!(calls.iter().map(|calls| calls.announced).sum::<u64>(), 64);
    assert_eq!(calls.iter().map(|calls| calls.events).sum::<u64>(), 64);
    assert_eq!(
        calls.iter().map(|calls| calls.deepest).max(),
        Some(64),
        "all events were available"
    );
}

// ---- with other features of a ring ----

fn workers_that_share_a_thread_take_turns<K: Kind>() {
    let events = repeats(3_000);
    let counts = Counts::new(events);
    let (producer, consumers) = K::ring(8, || 0_u64)
        .stage("work")
        .on_thread("one")
        .workers(2)
        .up_to(3)
        .write(|_| {
            |event: &mut u64, sequence, _| {
                counts.add(sequence);
                *event += 1;
            }
        })
        .stage("check")
        .on_thread("one")
        .read(|event, sequence, _| {
            assert_eq!(*event, sequence + 1);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        let group = running.workers("work").unwrap();
        for value in 0..events {
            producer.publish(|event| *event = value).unwrap();
            group.resize(1 + value as usize % 3).unwrap();
        }
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

fn a_seat_depends_on_the_workers_that_write<K: Kind>() {
    let events = repeats(5_000);
    let mut seen = Vec::new();
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .seats(1)
        .stage("double")
        .workers(3)
        .write(|_| |event: &mut u64, _, _| *event *= 2)
        .build()
        .unwrap();
    let seat = consumers.seats().take("late", StartAt::Now).unwrap();
    let late = seat.read(|event, _, _| seen.push(*event));
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let late = scope.spawn(|| late.run());
        publish_all::<K>(&mut producer, events);
        running.shutdown().unwrap();
        assert_eq!(*late.join().unwrap().outcome(), Outcome::Drained);
    });
    assert!(seen.into_iter().eq((0..events).map(|value| 2 * value)));
}

fn a_ring_that_begins_elsewhere_hands_out_its_first_event<K: Kind>() {
    let handled = Mutex::new(Vec::new());
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .first_sequence(1_000_001)
        .stage("work")
        .workers(2)
        .write(|_| |event: &mut u64, sequence, _| handled.lock().unwrap().push((sequence, *event)))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, 10);
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), 10);
    });
    let mut handled = handled.into_inner().unwrap();
    handled.sort_unstable();
    assert!(handled.into_iter().eq((0..10).map(|value| (1_000_001 + value, value))));
}

fn a_monitor_shows_a_group_as_one_stage<K: Kind>() {
    let (counts, held) = (Counts::new(8), AtomicBool::new(true));
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .max_batch(1)
        .workers(2)
        .write(|_| hold_the_first(&counts, &held))
        .stage("after")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, 8);
        wait_until(|| counts.total() == 7);
        let snapshot = monitor.snapshot();
        let stages: Vec<_> = snapshot.stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(stages, ["work", "after"]);
        let [work, after] = &snapshot.stages[..] else { panic!("two stages") };
        assert_eq!((work.sequence, work.lag, work.state), (0, 8, StageState::InHandler));
        assert_eq!((&after.upstream[..], after.available), (&["work".to_owned()][..], 0));
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages.iter().all(|stage| stage.sequence == 8 && stage.lag == 0));
    assert!(snapshot.stages.iter().all(|stage| stage.state == StageState::Drained));
    assert!(snapshot.stages[0].batches >= 8);
}

fn a_worker_that_would_wait_for_itself_gets_an_error<K: Kind>() {
    let deadlocks = AtomicU64::new(0);
    let slot: Mutex<Option<ProducerOf<u64, K>>> = Mutex::new(None);
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("work")
        .workers(1)
        .read(|_| {
            |event: &u64, _, _| {
                let Some(producer) = &mut *slot.lock().unwrap() else { return };
                if *event > 0 {
                    return;
                }
                while producer.publish(|event| *event = 1) != Err(PublishError::WouldDeadlock) {}
                deadlocks.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build()
        .unwrap();
    producer.publish(|_| {}).unwrap();
    *slot.lock().unwrap() = Some(producer);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        wait_until(|| deadlocks.load(Ordering::Relaxed) == 1);
        running.shutdown().unwrap();
    });
}

/// Publishes when it starts, without a claimed event, and reports the result.
struct Starts<S: Sequencer> {
    producer: Arc<Mutex<Option<Producer<u64, S>>>>,
    tell: mpsc::Sender<Result<Sequence, PublishError>>,
    is_first: bool,
}

impl<S: Sequencer> EventHandler<u64> for Starts<S> {
    fn on_start(&mut self) {
        if self.is_first {
            let mut producer = self.producer.lock().unwrap().take().unwrap();
            self.tell.send(producer.publish(|_| {})).unwrap();
        }
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

type RingOf<K> = Builder<'static, u64, <K as Kind>::Sequencer>;

/// Returns the result of publishing to the full ring when the first worker of `group` starts.
fn publish_at_the_start<K: Kind>(
    group: impl FnOnce(RingOf<K>) -> Workers<RingOf<K>, u64>,
) -> Result<Sequence, PublishError> {
    let (tell, told) = mpsc::channel();
    let slot: Arc<Mutex<Option<ProducerOf<u64, K>>>> = Arc::default();
    let (mut producer, consumers) = group(K::ring(2, || 0_u64))
        .read_handlers(|worker| Starts {
            producer: Arc::clone(&slot),
            tell: tell.clone(),
            is_first: worker == 0,
        })
        .build()
        .unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    *slot.lock().unwrap() = Some(producer);
    let running = consumers.start().unwrap();
    let result = told.recv_timeout(PATIENCE).unwrap();
    running.shutdown().unwrap();
    result
}

fn an_idle_worker_that_would_wait_for_itself_gets_an_error<K: Kind>() {
    let alone = publish_at_the_start::<K>(|ring| ring.stage("work").workers(1));
    assert_eq!(alone, Err(PublishError::WouldDeadlock));
    let others_rest = publish_at_the_start::<K>(|ring| ring.stage("work").workers(1).up_to(3));
    assert_eq!(others_rest, Err(PublishError::WouldDeadlock));
    let others_are_here =
        publish_at_the_start::<K>(|ring| ring.stage("work").on_thread("all").workers(3));
    assert_eq!(others_are_here, Err(PublishError::WouldDeadlock));
    let by_key = publish_at_the_start::<K>(|ring| ring.stage("work").workers(1).by_key(|key| *key));
    assert_eq!(by_key, Err(PublishError::WouldDeadlock));
}

fn an_idle_worker_waits_for_one_on_another_thread<K: Kind>() {
    assert_eq!(publish_at_the_start::<K>(|ring| ring.stage("work").workers(2)), Ok(2));
}

fn a_resting_worker_on_a_shared_thread_gets_no_timeouts<K: Kind>() {
    struct Times(usize, mpsc::Sender<usize>);
    impl EventHandler<u64> for Times {
        fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
        fn on_timeout(&mut self, _: Sequence) {
            let _ = self.1.send(self.0);
        }
    }
    let (tell, told) = mpsc::channel();
    let stage = Stage::new("work").on_thread("all").timeout(Duration::from_millis(1));
    let (_producer, consumers) = K::ring(8, || 0_u64)
        .stage(stage)
        .workers(1)
        .up_to(3)
        .read_handlers(|worker| Times(worker, tell.clone()))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    assert!((0..20).all(|_| told.recv_timeout(PATIENCE) == Ok(0)), "the others rest");
    running.workers("work").unwrap().resize(3).unwrap();
    let mut seen = [false; 3];
    while seen != [true; 3] {
        seen[told.recv_timeout(PATIENCE).unwrap()] = true;
    }
    running.shutdown().unwrap();
}

fn no_consumer_in_a_seat_has_the_name_of_a_worker<K: Kind>() {
    let ring = K::ring(8, || 0_u64).seats(1);
    let (_producer, consumers) =
        ring.stage("work").workers(2).read(|_| |_: &u64, _, _| {}).build().unwrap();
    for name in ["work", "work-0", "work-1"] {
        let error = consumers.seats().take(name, StartAt::Now).unwrap_err();
        assert_eq!(error, SeatError::DuplicateName { stage: name.to_owned() });
    }
    assert_eq!(consumers.seats().take("work-2", StartAt::Now).unwrap().name(), "work-2");
}

fn a_halt_ends_every_worker<K: Kind>() {
    for _ in 0..repeats(100) {
        let (mut producer, consumers) = K::ring(4, || 0_u64)
            .stage("work")
            .workers(2)
            .up_to(4)
            .write(|_| |_: &mut u64, _, _| {})
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let _ = producer.publish(|_| {});
        running.halt();
        let failed = running.join().unwrap_err();
        assert!(failed.report().stages().all(|worker| *worker.outcome() == Outcome::Halted));
        assert!(producer.publish(|_| {}).is_err());
    }
}

fn a_worker_that_is_dropped_without_having_run_halts_the_ring<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .workers(2)
        .write(|_| |_: &mut u64, _, _| {})
        .build()
        .unwrap();
    let mut consumers = consumers.into_iter();
    assert_eq!(consumers.len(), 2);
    drop(consumers.next());
    assert!(producer.publish(|_| {}).is_err());
    assert_eq!(*consumers.next().unwrap().run().outcome(), Outcome::Halted);
}

// ---- refused groups ----

#[test]
fn a_group_has_at_least_one_worker_and_at_most_64() {
    let of = |size| Disruptor::single_producer(8, || 0_u64).stage("w").workers(size);
    let build = |workers: Workers<Builder<'_, u64, Single>, u64>| {
        workers.read(|_| |_, _, _| {}).build().map(drop)
    };
    let error = |requested, max| Err(BuildError::Workers { stage: "w".into(), requested, max });
    assert_eq!(build(of(0)), error(0, 64));
    assert_eq!(build(of(65)), error(65, 64));
    assert_eq!(build(of(usize::MAX)), error(usize::MAX, 64));
    assert_eq!(build(of(0).up_to(2)), error(0, 2));
    assert_eq!(build(of(3).up_to(2)), error(3, 2));
    assert_eq!(build(of(3).up_to(usize::MAX)), error(usize::MAX, 64));
    assert_eq!(build(of(64)), Ok(()));
    assert_eq!(build(of(1).up_to(64)), Ok(()));
    let text = "a group must have 1..=64 workers: stage=\"w\", requested=0";
    assert_eq!(build(of(0)).unwrap_err().to_string(), text);
}

#[test]
fn the_name_of_a_worker_is_unique() {
    let duplicate = Err(BuildError::DuplicateName { stage: "w-1".into() });
    let ring = || Disruptor::single_producer(8, || 0_u64);
    let group = |_: usize| |_: &u64, _, _| {};
    let before = ring().stage("w-1").read(|_, _, _| {}).stage("w").workers(2).read(group).build();
    assert_eq!(before.map(drop), duplicate);
    let after = ring().stage("w").workers(2).read(group).stage("w-1").read(|_, _, _| {}).build();
    assert_eq!(after.map(drop), duplicate);
    let outside = ring().stage("w").workers(1).read(group).stage("w-1").read(|_, _, _| {}).build();
    assert_eq!(outside.map(drop), Ok(()));
}

#[test]
fn a_group_that_writes_has_no_parallel_stage() {
    let mut graph = Graph::new();
    graph.stage("left").workers(2).write(|_| |event: &mut u64, _, _| *event += 1);
    graph.stage("right").read(|_, _, _| {});
    let error = Disruptor::single_producer(8, || 0).graph(graph).build().unwrap_err();
    assert_eq!(error, BuildError::Overlap { exclusive: "left".into(), other: "right".into() });
}

#[test]
fn a_group_cannot_be_a_poller() {
    let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .stage("w")
        .workers(2)
        .read(|_| |_: &u64, _, _| {})
        .build()
        .unwrap();
    assert!(matches!(consumers.take_poller("w").err(), Some(TakeError::WrongType { .. })));
    assert!(matches!(consumers.take_poller("w-0").err(), Some(TakeError::UnknownName { .. })));
}

#[test]
fn workers_of_one_scope_may_borrow_and_move() {
    let owners = Mutex::new(Vec::new());
    let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
        .stage("take")
        .workers(2)
        .write(|worker| {
            let owners = &owners;
            move |line: &mut String, _, _| {
                owners.lock().unwrap().push((std::mem::take(line), worker));
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        producer.publish(|line| line.push_str("first")).unwrap();
        running.shutdown().unwrap();
    });
    let owners = owners.into_inner().unwrap();
    assert_eq!(owners[0].0, "first");
    assert!(owners.len() == 1 && owners[0].1 < 2);
}
