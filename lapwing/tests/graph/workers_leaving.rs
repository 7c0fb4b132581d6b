//! Tests the events of a group that is resized, and of workers that fail, stop or leave.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Lcg, ON_PURPOSE, ProducerOf, quiet_panics, repeats, wait_until};
use lapwing::consumer::{Exclusive, Failure, Outcome, Retries};
use lapwing::error::{HaltCause, PublishError, ResizeError};
use lapwing::wait::{Blocking, BusySpin};
use lapwing::{Action, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    miri_resizing_under_load_loses_and_duplicates_no_event,
    an_additional_worker_takes_events_that_wait,
    an_unwanted_worker_gets_no_more_events,
    unwanted_workers_hold_back_nothing,
    lmax_trap_17_a_worker_that_stops_drops_no_claimed_event,
    miri_lmax_trap_17_shutdown_ends_although_workers_have_left,
    a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_an_idle_one,
    a_worker_that_leaves_is_replaced_by_a_parked_one,
    the_last_worker_that_leaves_halts_the_ring,
    a_worker_that_is_stopped_leaves_the_others_running,
    a_parked_worker_that_is_stopped_ends,
    a_worker_that_would_wait_for_its_taken_over_events_gets_an_error,
    a_panic_halts_the_ring_and_names_the_worker,
    a_panic_may_cost_one_event,
    a_panic_may_cost_one_worker,
    an_event_that_no_worker_could_handle_stopped_the_whole_group,
    a_panic_may_cost_another_try,
    a_restart_puts_the_handler_in_order,
    an_error_asks_the_policy_of_the_group,
    a_policy_that_waits_for_the_policy_of_another_worker_runs_without_a_lock,
    a_rewind_gives_the_claim_again_and_no_more,
    a_panic_between_batches_costs_no_event,
    a_failed_event_is_known_as_such_after_the_group,
    actions_of_every_kind_lose_nothing,
}

/// Counts how often each event was finished.
struct Counts(Vec<AtomicU64>);

impl Counts {
    fn new(events: u64) -> Self {
        Self((0..events).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, sequence: Sequence) -> u64 {
        self.0[sequence as usize].fetch_add(1, Ordering::AcqRel) + 1
    }

    fn of(&self, sequence: Sequence) -> u64 {
        self.0[sequence as usize].load(Ordering::Acquire)
    }

    fn total(&self) -> u64 {
        (0..self.0.len()).map(|sequence| self.of(sequence as u64)).sum()
    }

    fn assert_once_each(&self) {
        for sequence in 0..self.0.len() as u64 {
            assert_eq!(self.of(sequence), 1, "sequence={sequence}");
        }
    }
}

fn publish_all<K: Kind>(producer: &mut ProducerOf<u64, K>, events: u64) {
    for value in 0..events {
        producer.publish(|event| *event = value).unwrap();
    }
}

// ---- resizing ----

fn miri_resizing_under_load_loses_and_duplicates_no_event<K: Kind>() {
    for max in 1..=4 {
        let events = repeats(10_000);
        let (counts, is_over) = (Counts::new(events), &AtomicBool::new(false));
        let (producer, consumers) = K::ring(8, || 0_u64)
            .wait(Blocking::default())
            .stage("work")
            .workers(1)
            .up_to(max)
            .write(|_| {
                |event: &mut u64, sequence, _| {
                    assert_eq!(*event, sequence);
                    *event = !sequence;
                    counts.add(sequence);
                }
            })
            .stage("check")
            .read(|event, sequence, _| assert_eq!(*event, !sequence))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let mut producer = producer;
            let running = consumers.start_scoped(scope).unwrap();
            let group = running.workers("work").unwrap();
            let other = group.clone();
            let resizer = scope.spawn(move || {
                let mut size = Lcg(max as u64);
                while !is_over.load(Ordering::Relaxed) {
                    other.resize(1 + size.below(max as u64) as usize).unwrap();
                    thread::yield_now();
                }
            });
            publish_all::<K>(&mut producer, events);
            is_over.store(true, Ordering::Relaxed);
            resizer.join().unwrap();
            assert_eq!(group.resize(max + 1), Err(ResizeError { requested: max + 1, max }));
            let report = running.shutdown().unwrap();
            let of_workers = report.stages().filter(|stage| stage.name() != "check");
            assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), events);
        });
        counts.assert_once_each();
    }
}

fn an_additional_worker_takes_events_that_wait<K: Kind>() {
    let (counts, held) = (Counts::new(8), AtomicBool::new(true));
    let stage = Stage::new("work").max_batch(1);
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .stage(stage)
        .workers(1)
        .up_to(2)
        .write(|_| {
            |event: &mut u64, _, _| {
                if *event == 0 {
                    wait_until(|| !held.load(Ordering::Acquire));
                }
                counts.add(*event);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, 8);
        thread::sleep(crate::common::MOMENT);
        assert_eq!(counts.total(), 0, "the only worker is at the first event");
        running.workers("work").unwrap().resize(2).unwrap();
        wait_until(|| counts.total() == 7);
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
    counts.assert_once_each();
}

fn an_unwanted_worker_gets_no_more_events<K: Kind>() {
    let newest = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .workers(3)
        .read(|worker| {
            let newest = &newest;
            move |_: &u64, _, _| newest.store(worker as u64, Ordering::Relaxed)
        })
        .stage("done")
        .poller()
        .build()
        .unwrap();
    let mut consumers = consumers;
    let mut done = consumers.take_poller("done").unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        running.workers("work").unwrap().resize(1).unwrap();
        // A worker may have been about to claim, but each of them only once.
        let mut in_a_row = 0;
        while in_a_row < 100 {
            producer.publish(|_| {}).unwrap();
            done.wait().unwrap().consume_all();
            in_a_row = if newest.load(Ordering::Relaxed) == 0 { in_a_row + 1 } else { 0 };
        }
        drop(done);
        running.shutdown().unwrap();
    });
}

fn unwanted_workers_hold_back_nothing<K: Kind>() {
    let events = repeats(50); // few: under oversubscription, each spins for its whole time slice
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .wait(BusySpin)
        .producer_wait(BusySpin)
        .stage("work")
        .workers(1)
        .up_to(8)
        .write(|_| |event: &mut u64, _, _| *event += 1)
        .stage("check")
        .read(|event, sequence, _| assert_eq!(*event, sequence + 1))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish_all::<K>(&mut producer, events);
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().map(|stage| stage.processed()).max(), Some(events));
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
}

// ---- workers that stop ----

/// LMAX's worker dropped its claimed event when it was halted.
fn lmax_trap_17_a_worker_that_stops_drops_no_claimed_event<K: Kind>() {
    for _ in 0..repeats(200) {
        let counts = Counts::new(64);
        let has_stopped = AtomicBool::new(false);
        let (mut producer, consumers) = K::ring(64, || 0_u64)
            .stage("work")
            .workers(2)
            .write(|_| {
                |_: &mut u64, sequence, _| {
                    // The other events of its claim follow.
                    if sequence % 8 == 1 && !has_stopped.swap(true, Ordering::Relaxed) {
                        return Action::Stop;
                    }
                    counts.add(sequence);
                    Action::Continue
                }
            })
            .stage("check")
            .read(|_, sequence, _| assert_eq!(counts.of(sequence), 1))
            .build()
            .unwrap();
        publish_all::<K>(&mut producer, 64);
        thread::scope(|scope| {
            let report = consumers.start_scoped(scope).unwrap().shutdown().unwrap();
            let mut outcomes: Vec<_> = report.stages().map(|stage| stage.outcome()).collect();
            outcomes.sort_by_key(|outcome| **outcome != Outcome::Stopped);
            assert_eq!(outcomes, [&Outcome::Stopped, &Outcome::Drained, &Outcome::Drained]);
            let of_workers = report.stages().filter(|stage| stage.name() != "check");
            assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), 64);
        });
        counts.assert_once_each();
    }
}

/// LMAX's shutdown waited for dead workers.
fn miri_lmax_trap_17_shutdown_ends_although_workers_have_left<K: Kind>() {
    for _ in 0..repeats(200) {
        let events = 30;
        let counts = Counts::new(events);
        let (mut producer, consumers) = K::ring(4, || 0_u64)
            .stage("work")
            .workers(4)
            .write(|worker| {
                let (counts, mut left) = (&counts, 2 * worker);
                move |event: &mut u64, _, _| {
                    // The first three workers stop at some time, the last one never does.
                    if worker < 3 && left == 0 {
                        return Action::Stop;
                    }
                    left = left.saturating_sub(1);
                    counts.add(*event);
                    Action::Continue
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            publish_all::<K>(&mut producer, events);
            running.shutdown().unwrap();
        });
        counts.assert_once_each();
    }
}

fn a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_an_idle_one<K: Kind>() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(Some(gate));
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .workers(2)
        .write(|_| {
            |_: &mut u64, _, _| {
                let gate = gate.lock().unwrap().take();
                let Some(gate) = gate else {
                    handled.fetch_add(1, Ordering::Relaxed);
                    return Action::Continue;
                };
                let _ = gate.recv();
                Action::Stop
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        producer.publish(|_| {}).unwrap();
        wait_until(|| gate.lock().unwrap().is_none());
        running.close();
        thread::sleep(crate::common::MOMENT); // the other worker is idle, and must not end
        assert!(!running.is_finished());
        drop(go);
        running.join().unwrap();
    });
    assert_eq!(handled.load(Ordering::Relaxed), 1);
}

fn a_worker_that_leaves_is_replaced_by_a_parked_one<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("work")
        .workers(1)
        .up_to(2)
        .write(|worker| {
            move |_: &mut u64, _, _| if worker == 0 { Action::Stop } else { Action::Continue }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let group = running.workers("work").unwrap();
    publish_all::<K>(&mut producer, 20);
    let report = running.shutdown().unwrap();
    assert!(report.stages().map(|worker| worker.processed()).eq([0, 20]));
    group.resize(2).unwrap();
    assert_eq!(group.size(), 1, "one is left");
}

fn the_last_worker_that_leaves_halts_the_ring<K: Kind>() {
    for workers in 1..=3 {
        let (mut producer, consumers) = K::ring(4, || 0_u64)
            .stage("work")
            .workers(workers)
            .write(|_| |_: &mut u64, _, _| Action::Stop)
            .stage("check")
            .read(|_, _, _| panic!("no event was finished"))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let error = loop {
            if let Err(error) = producer.publish(|_| {}) {
                break error;
            }
        };
        assert_eq!(error, PublishError::Halted(HaltCause::NoConsumers));
        let failed = running.shutdown().unwrap_err();
        let of_workers = failed.report().stages().filter(|stage| stage.name() != "check");
        let stopped = of_workers.filter(|worker| *worker.outcome() == Outcome::Stopped);
        assert_eq!(stopped.count(), workers - 1, "the last one has halted the ring");
    }
}

fn a_worker_that_is_stopped_leaves_the_others_running<K: Kind>() {
    let events = repeats(3_000);
    let counts = Counts::new(events);
    let (producer, consumers) = K::ring(8, || 0_u64)
        .stage("work")
        .workers(3)
        .write(|_| {
            |event: &mut u64, _, _| {
                counts.add(*event);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        assert!(running.stop_handle("work").is_none(), "a group, not a worker");
        for value in 0..events {
            if value % (events / 3) == 1 && value < events / 2 {
                let name = format!("work-{}", 3 * value / events);
                running.stop_handle(&name).unwrap().stop();
            }
            producer.publish(|event| *event = value).unwrap();
        }
        // A worker that has not seen the stop before the ring is drained ends as drained.
        let group = running.workers("work").unwrap();
        wait_until(|| group.size() == 1);
        let report = running.shutdown().unwrap();
        let outcomes: Vec<_> = report.stages().map(|worker| worker.outcome().clone()).collect();
        assert_eq!(outcomes, [Outcome::Stopped, Outcome::Stopped, Outcome::Drained]);
    });
    counts.assert_once_each();
}

fn a_parked_worker_that_is_stopped_ends<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(Blocking { yields: 0 })
        .stage("work")
        .workers(1)
        .up_to(2)
        .write(|_| |_: &mut u64, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let group = running.workers("work").unwrap();
    running.stop_handle("work-1").unwrap().stop(); // stops the worker that is not wanted
    group.resize(2).unwrap();
    wait_until(|| group.size() == 1);
    publish_all::<K>(&mut producer, 20);
    running.stop_handle("work-0").unwrap().stop(); // stops the last worker
    assert!(running.join().is_err(), "the ring is halted");
}

// ---- workers that fail ----

/// A handler that panics at event 3, the first `times` times.
fn fails_at_three<'a>(
    counts: &'a Counts,
    tries: &'a AtomicU64,
    times: u64,
) -> impl FnMut(&mut u64, Sequence, bool) + Send + 'a {
    move |event, _, _| {
        if *event == 3 && tries.fetch_add(1, Ordering::Relaxed) < times {
            panic!("{ON_PURPOSE}: three");
        }
        counts.add(*event);
    }
}

/// Publishes `0..20` to two workers whose handler fails at event 3. Returns how the workers ended,
/// and how often each event was finished.
fn fail_at_three<K: Kind>(stage: Stage, times: u64) -> (Vec<Outcome>, u64, Counts) {
    quiet_panics();
    let (counts, tries) = (Counts::new(20), AtomicU64::new(0));
    let (mut producer, consumers) = K::ring(32, || 0_u64)
        .stage(stage)
        .workers(2)
        .write(|_| fails_at_three(&counts, &tries, times))
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 20);
    let (outcomes, skipped) = thread::scope(|scope| {
        let report = consumers.start_scoped(scope).unwrap().shutdown();
        let report = report.unwrap_or_else(|failed| failed.into_report());
        let outcomes = report.stages().map(|worker| worker.outcome().clone()).collect();
        (outcomes, report.stages().map(|worker| worker.skipped()).sum())
    });
    (outcomes, skipped, counts)
}

fn a_worker_that_would_wait_for_its_taken_over_events_gets_an_error<K: Kind>() {
    let (has_stopped, deadlocks) = (AtomicBool::new(false), AtomicU64::new(0));
    let slot: Mutex<Option<ProducerOf<u64, K>>> = Mutex::new(None);
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("work")
        .workers(2)
        .read(|_| {
            |event: &u64, _, _| {
                let Some(producer) = &mut *slot.lock().unwrap() else { return Action::Continue };
                if *event == 0 && !has_stopped.swap(true, Ordering::Relaxed) {
                    return Action::Stop;
                }
                if *event == 0 {
                    while producer.publish(|event| *event = 1) != Err(PublishError::WouldDeadlock) {
                    }
                    deadlocks.fetch_add(1, Ordering::Relaxed);
                }
                Action::Continue
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

fn a_panic_halts_the_ring_and_names_the_worker<K: Kind>() {
    let (outcomes, _, counts) = fail_at_three::<K>(Stage::new("work"), 1);
    let message = format!("{ON_PURPOSE}: three");
    assert!(outcomes.contains(&Outcome::Panicked { message, sequence: 3 }), "{outcomes:?}");
    assert_eq!(counts.of(3), 0);
}

fn a_panic_may_cost_one_event<K: Kind>() {
    let (outcomes, skipped, counts) =
        fail_at_three::<K>(Stage::new("work").on_panic(Action::Skip), 1);
    assert_eq!((outcomes, skipped), (vec![Outcome::Drained; 2], 1));
    assert!((0..20).all(|event| counts.of(event) == u64::from(event != 3)));
}

fn a_panic_may_cost_one_worker<K: Kind>() {
    let (mut outcomes, skipped, counts) =
        fail_at_three::<K>(Stage::new("work").on_panic(Action::Stop), 1);
    outcomes.sort_by_key(|outcome| *outcome == Outcome::Drained);
    let message = format!("{ON_PURPOSE}: three");
    assert_eq!(outcomes, [Outcome::Detached { message, sequence: 3 }, Outcome::Drained]);
    assert_eq!(skipped, 0);
    counts.assert_once_each();
}

/// With `Stop` the event goes on to the next worker, until the last one halts the ring.
fn an_event_that_no_worker_could_handle_stopped_the_whole_group<K: Kind>() {
    quiet_panics();
    let counts = Arc::new(Counts::new(20));
    let stage = Stage::new("work").max_batch(1).on_panic(Action::SkipAndStop);
    let (mut producer, consumers) = K::ring(32, || 0_u64)
        .stage(stage)
        .workers(3)
        .write(|_| {
            let counts = Arc::clone(&counts);
            move |_: &mut u64, sequence, _| {
                assert!(sequence != 3, "{ON_PURPOSE}");
                counts.add(sequence);
            }
        })
        .stage("book")
        .read_handler(Book::default())
        .build()
        .unwrap();
    for value in 0..20 {
        producer.publish(|event| *event = value).unwrap();
    }
    let mut report = consumers.start().unwrap().shutdown().unwrap_err().into_report();
    let workers: Vec<_> = report.stages().filter(|stage| stage.name() != "book").collect();
    let left = Outcome::Detached { message: ON_PURPOSE.to_owned(), sequence: 3 };
    assert_eq!(workers.iter().filter(|worker| *worker.outcome() == left).count(), 1);
    assert_eq!(workers.iter().filter(|worker| *worker.outcome() == Outcome::Drained).count(), 2);
    assert_eq!(workers.iter().map(|worker| worker.skipped()).sum::<u64>(), 1);
    assert!((0..20).all(|event| counts.of(event) == u64::from(event != 3)));
    let book: Book = report.take("book").unwrap();
    assert_eq!((book.accepted.len(), book.rejected), (19, vec![3]));
}

fn a_panic_may_cost_another_try<K: Kind>() {
    let stage = Stage::new("work").on_panic(Retries::of_event().attempts(3));
    let (outcomes, skipped, counts) = fail_at_three::<K>(stage, 2);
    assert_eq!((outcomes, skipped), (vec![Outcome::Drained; 2], 0));
    counts.assert_once_each();
}

/// A handler that fails until `on_restart` is called.
#[derive(Default)]
struct Restarted {
    is_in_order: bool,
    restarts: u64,
    events: u64,
}

impl EventHandler<u64, Exclusive> for Restarted {
    fn on_event(&mut self, _: &mut u64, _: Sequence, _: bool) {
        assert!(self.is_in_order, "{ON_PURPOSE}: not in order");
        self.events += 1;
    }

    fn on_restart(&mut self) {
        self.is_in_order = true;
        self.restarts += 1;
    }
}

fn a_restart_puts_the_handler_in_order<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("work").on_panic(Retries::with_restart().attempts(2));
    let (mut producer, consumers) = K::ring(32, || 0_u64)
        .stage(stage)
        .workers(2)
        .write_handlers(|_| Restarted::default())
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 20);
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    let workers = ["work-0", "work-1"].map(|name| report.take::<Restarted>(name).unwrap());
    assert_eq!(workers.iter().map(|worker| worker.events).sum::<u64>(), 20);
    assert!(workers.iter().all(|worker| worker.restarts == u64::from(worker.events > 0)));
}

fn an_error_asks_the_policy_of_the_group<K: Kind>() {
    let (log, failures) = mpsc::channel();
    let stage = Stage::new("work").on_error(move |failure: &Failure<'_>| {
        log.send((failure.stage().to_owned(), failure.sequence(), failure.attempt())).unwrap();
        if failure.attempt() < 2 { Action::Retry(Duration::ZERO) } else { Action::Skip }
    });
    let (mut producer, consumers) = K::ring(32, || 0_u64)
        .stage(stage)
        .workers(2)
        .write(|_| {
            |event: &mut u64, _, _| if event.is_multiple_of(5) { Err("a fifth") } else { Ok(()) }
        })
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 20);
    let report = consumers.start().unwrap().shutdown().unwrap();
    assert_eq!(report.stages().map(|worker| worker.skipped()).sum::<u64>(), 4);
    let mut failures: Vec<_> = failures.try_iter().collect();
    assert!(failures.iter().all(|(stage, _, _)| stage == "work-0" || stage == "work-1"));
    failures.sort_by_key(|&(_, sequence, attempt)| (sequence, attempt));
    let failed = failures.iter().map(|&(_, sequence, attempt)| (sequence, attempt));
    assert!(failed.eq([(0, 1), (0, 2), (5, 1), (5, 2), (10, 1), (10, 2), (15, 1), (15, 2)]));
}

/// The library must not hold a lock here. Otherwise the second worker never reaches its policy, and
/// the first never leaves it.
fn a_policy_that_waits_for_the_policy_of_another_worker_runs_without_a_lock<K: Kind>() {
    let both = Arc::new(Barrier::new(2));
    let policy = move |_: &Failure<'_>| {
        both.wait();
        Action::Skip
    };
    let stage = Stage::new("work").max_batch(1).on_error(policy);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage(stage)
        .workers(2)
        .write(|_| |_: &mut u64, _, _| Err::<(), _>("no route"))
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 8);
    let report = consumers.start().unwrap().shutdown().unwrap();
    let skipped: Vec<_> = report.stages().map(|worker| worker.skipped()).collect();
    assert_eq!(skipped, [4, 4], "each failure waits for a failure of the other worker");
}

fn a_rewind_gives_the_claim_again_and_no_more<K: Kind>() {
    let counts = Counts::new(64);
    let claim = Mutex::new(None);
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .workers(2)
        .write(|_| {
            let mut first = None;
            let (counts, claim) = (&counts, &claim);
            move |_: &mut u64, sequence, end_of_batch| {
                let first_of_claim = *first.get_or_insert(sequence);
                counts.add(sequence);
                if end_of_batch {
                    first = None;
                    let mut claim = claim.lock().unwrap();
                    if claim.is_none() {
                        *claim = Some(first_of_claim..sequence + 1);
                        return Action::Rewind(Duration::ZERO);
                    }
                }
                Action::Continue
            }
        })
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 64);
    thread::scope(|scope| consumers.start_scoped(scope).unwrap().shutdown().map(drop)).unwrap();
    let claim = claim.into_inner().unwrap().unwrap();
    assert_eq!(claim.end - claim.start, 16, "the longest batch: a quarter of the ring");
    for sequence in 0..64 {
        assert_eq!(counts.of(sequence), 1 + u64::from(claim.contains(&sequence)));
    }
}

/// A handler that panics when its second batch is announced, or at its first timeout.
#[derive(Default)]
struct PanicsBetween {
    has_failed: bool,
    events: u64,
}

impl EventHandler<u64, Exclusive> for PanicsBetween {
    fn on_batch_start(&mut self, _: u64, _: u64) {
        if self.events > 0 && !std::mem::replace(&mut self.has_failed, true) {
            panic!("{ON_PURPOSE}: announced");
        }
    }

    fn on_event(&mut self, _: &mut u64, _: Sequence, _: bool) {
        self.events += 1;
    }

    fn on_timeout(&mut self, _: Sequence) {
        if !std::mem::replace(&mut self.has_failed, true) {
            panic!("{ON_PURPOSE}: nothing came");
        }
    }
}

fn a_panic_between_batches_costs_no_event<K: Kind>() {
    quiet_panics();
    for action in [Action::Skip, Action::Continue, Action::Retry(Duration::ZERO)] {
        let stage =
            Stage::new("work").max_batch(1).timeout(Duration::from_millis(1)).on_panic(action);
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage(stage)
            .workers(2)
            .write_handlers(|_| PanicsBetween::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        for value in 0..20 {
            producer.publish(|event| *event = value).unwrap();
            thread::sleep(Duration::from_micros(200));
        }
        let mut report = running.shutdown().unwrap();
        assert_eq!(report.stages().map(|worker| worker.skipped()).sum::<u64>(), 0);
        let workers = ["work-0", "work-1"].map(|name| report.take::<PanicsBetween>(name).unwrap());
        assert_eq!(workers.iter().map(|worker| worker.events).sum::<u64>(), 20);
    }
}

/// Records which events came as failed.
#[derive(Default)]
struct Book {
    accepted: Vec<u64>,
    rejected: Vec<u64>,
}

impl EventHandler<u64> for Book {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.accepted.push(*event);
    }

    fn on_failed_event(&mut self, event: &u64, _: Sequence, _: bool, _: &Failure<'_>) {
        self.rejected.push(*event);
    }
}

fn a_failed_event_is_known_as_such_after_the_group<K: Kind>() {
    let events = repeats(5_000);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("risk")
        .workers(3)
        .read(|_| {
            |event: &u64, _, _| {
                if event.is_multiple_of(3) { Action::Skip } else { Action::Continue }
            }
        })
        .stage("book")
        .read_handler(Book::default())
        .stage("books")
        .workers(2)
        .read_handlers(|_| Book::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish_all::<K>(&mut producer, events);
    let mut report = running.shutdown().unwrap();
    let book: Book = report.take("book").unwrap();
    assert!(book.rejected.iter().copied().eq((0..events).filter(|event| event % 3 == 0)));
    assert!(book.accepted.iter().copied().eq((0..events).filter(|event| event % 3 != 0)));
    let books = ["books-0", "books-1"].map(|name| report.take::<Book>(name).unwrap());
    let rejected = books.iter().map(|of_one| of_one.rejected.len()).sum::<usize>();
    let accepted = books.iter().map(|of_one| of_one.accepted.len()).sum::<usize>();
    assert_eq!((rejected, accepted), (book.rejected.len(), book.accepted.len()));
}

fn actions_of_every_kind_lose_nothing<K: Kind>() {
    for seed in 0..repeats(30) {
        let events = repeats(1_000);
        let counts = Counts::new(events);
        let (mut producer, consumers) = K::ring(16, || 0_u64)
            .stage("work")
            .workers(3)
            .up_to(6)
            .write(|worker| {
                let mut dice = Lcg(31 * seed + worker as u64);
                let counts = &counts;
                move |event: &mut u64, _, _| match dice.below(20) {
                    0 if worker > 0 && dice.below(10) == 0 => Action::Stop,
                    1 => Action::Retry(Duration::ZERO),
                    2 => Action::Restart(Duration::ZERO),
                    3 => {
                        counts.add(*event);
                        Action::ReleaseNow
                    }
                    4 => {
                        counts.add(*event);
                        Action::Skip
                    }
                    _ => {
                        counts.add(*event);
                        Action::Continue
                    }
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let group = running.workers("work").unwrap();
            for value in 0..events {
                producer.publish(|event| *event = value).unwrap();
                if value % 16 == 0 {
                    group.resize(1 + (value as usize / 16) % 6).unwrap();
                }
            }
            running.shutdown().unwrap();
        });
        counts.assert_once_each();
    }
}
