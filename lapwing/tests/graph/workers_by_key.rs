//! Tests that events with the same key go to the same worker in order, whatever else happens.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Lcg, ON_PURPOSE, ProducerOf, quiet_panics, repeats, wait_until};
use lapwing::consumer::{Exclusive, Failure, Outcome, Retries};
use lapwing::error::{BuildError, HaltCause, PublishError, RingError, TryPublishError};
use lapwing::lifecycle::WorkerGroup;
use lapwing::monitor::StageState;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Action, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    each_key_has_one_worker_and_its_order,
    miri_each_key_has_one_worker_and_its_order,
    each_key_has_its_order_whatever_the_strategy,
    miri_each_key_keeps_its_order_while_the_group_is_resized,
    each_key_keeps_its_order_while_the_group_is_resized_whatever_the_strategy,
    keys_are_spread_over_all_workers,
    no_event_is_overwritten_while_its_owner_has_it,
    the_stage_after_a_group_by_key_sees_what_its_workers_wrote,
    a_group_by_key_after_a_group_keeps_the_order_of_each_key,
    a_monitor_shows_how_far_a_group_by_key_is,
    a_slow_key_holds_only_its_own_worker,
    a_single_event_after_an_idle_period_reaches_its_owner,
    a_close_is_drained_by_all_owners,
    a_resize_before_the_start_and_after_the_close_loses_nothing,
    the_new_team_gets_nothing_before_the_old_one_has_finished,
    a_panic_of_the_key_function_halts_the_ring_and_is_reported,
    a_key_function_that_would_wait_for_the_ring_gets_an_error,
    miri_a_worker_that_stops_leaves_its_events_to_others_in_their_order,
    a_worker_that_stops_under_load_and_resizes_loses_nothing,
    a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_another,
    a_worker_that_leaves_is_replaced_by_a_parked_one,
    the_last_worker_that_leaves_halts_the_ring,
    a_worker_that_would_wait_for_its_taken_over_events_gets_an_error,
    a_panic_halts_the_ring_and_names_the_worker,
    a_panic_may_cost_one_worker_and_its_events_go_to_another,
    a_failed_event_may_be_tried_again_and_skipped,
    claims_that_are_given_up_have_no_owner,
    a_batch_is_a_run_of_own_events_and_no_longer_than_the_stage_allows,
    a_key_that_is_a_bad_hash_is_still_spread,
    an_invalid_number_of_workers_is_an_error_with_keys_too,
    timeouts_are_called_while_nothing_comes,
    workers_by_key_that_share_a_thread_take_turns,
    workers_that_have_not_started_hold_their_events,
}

const KEYS: u64 = 7;

/// An event with a key, and its number among the events of that key.
#[derive(Debug, Default)]
struct Trade {
    account: u64,
    number: u64,
    is_done: bool,
}

/// For each key, the number of finished events, and the worker of the last one.
struct Book(Vec<Mutex<(u64, Option<usize>)>>);

impl Book {
    fn new() -> Self {
        Self((0..KEYS).map(|_| Mutex::new((0, None))).collect())
    }

    /// Records `trade`, and returns the worker of the previous trade.
    fn note(&self, trade: &mut Trade, worker: usize) -> Option<usize> {
        assert!(!trade.is_done, "{trade:?} is handled twice");
        trade.is_done = true;
        let (done, last) = &mut *self.0[trade.account as usize].lock().unwrap();
        assert_eq!(trade.number, *done, "out of order: {trade:?}");
        *done += 1;
        last.replace(worker)
    }

    fn done(&self) -> u64 {
        self.0.iter().map(|account| account.lock().unwrap().0).sum()
    }
}

fn account(trade: &Trade) -> u64 {
    trade.account
}

/// Publishes `count` trades of random accounts.
fn publish_all<K: Kind>(
    producer: &mut ProducerOf<Trade, K>,
    count: u64,
    mut meanwhile: impl FnMut(),
) {
    let mut numbers = vec![0; KEYS as usize];
    let mut chance = Lcg(count);
    for _ in 0..count {
        let account = chance.below(KEYS);
        let number = numbers[account as usize];
        numbers[account as usize] += 1;
        producer.publish(|trade| *trade = Trade { account, number, is_done: false }).unwrap();
        meanwhile();
    }
}

fn share<K: Kind>(capacity: usize, workers: usize, strategy: impl WaitStrategy, events: u64) {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(capacity, Trade::default)
        .wait(strategy.clone())
        .producer_wait(strategy)
        .stage("work")
        .workers(workers)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                let before = book.note(trade, worker);
                assert!(before.is_none_or(|before| before == worker), "one key, two workers");
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events, || {});
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), events);
        assert!(report.stages().all(|worker| *worker.outcome() == Outcome::Drained));
    });
    assert_eq!(book.done(), events);
}

fn each_key_has_one_worker_and_its_order<K: Kind>() {
    for workers in 1..=3 {
        for capacity in [1, 2, 4, 64, 1024] {
            share::<K>(capacity, workers, Blocking::default(), repeats(10_000));
        }
    }
}

fn miri_each_key_has_one_worker_and_its_order<K: Kind>() {
    for workers in 1..=3 {
        share::<K>(2, workers, Blocking::default(), 12);
    }
}

fn each_key_has_its_order_whatever_the_strategy<K: Kind>() {
    let events = repeats(1_000);
    share::<K>(8, 2, Blocking { yields: 0 }, events);
    share::<K>(8, 2, BusySpin, repeats(200));
    share::<K>(8, 2, Sleeping::default(), events);
    share::<K>(8, 2, Yielding::default(), events);
}

fn resize_under_load<K: Kind>(capacity: usize, strategy: impl WaitStrategy, events: u64) {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(capacity, Trade::default)
        .wait(strategy.clone())
        .producer_wait(strategy)
        .stage("work")
        .workers(2)
        .up_to(4)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                book.note(trade, worker);
            }
        })
        .stage("check")
        .read(|trade, _, _| assert!(trade.is_done))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let group: WorkerGroup = running.workers("work").unwrap();
        let mut chance = Lcg(capacity as u64);
        publish_all::<K>(&mut producer, events, || {
            if chance.below(20) == 0 {
                group.resize(1 + chance.below(4) as usize).unwrap();
            }
        });
        let report = running.shutdown().unwrap();
        let of_workers = report.stages().filter(|stage| stage.name() != "check");
        assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), events);
    });
    assert_eq!(book.done(), events);
}

fn miri_each_key_keeps_its_order_while_the_group_is_resized<K: Kind>() {
    for capacity in [2, 8, 64] {
        resize_under_load::<K>(capacity, Blocking::default(), repeats(10_000));
    }
}

fn each_key_keeps_its_order_while_the_group_is_resized_whatever_the_strategy<K: Kind>() {
    resize_under_load::<K>(8, Blocking { yields: 0 }, repeats(2_000));
    resize_under_load::<K>(8, BusySpin, repeats(300));
    resize_under_load::<K>(8, Sleeping::default(), repeats(1_000));
    resize_under_load::<K>(8, Yielding::default(), repeats(2_000));
    resize_under_load::<K>(8, Adaptive::default(), repeats(2_000));
}

fn keys_are_spread_over_all_workers<K: Kind>() {
    let owners = Mutex::new(BTreeSet::new());
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .workers(4)
        .by_key(|key| *key)
        .read(|worker| {
            let owners = &owners;
            move |key: &u64, _, _| {
                owners.lock().unwrap().insert((worker, *key));
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for value in 0..200_u64 {
            producer.publish(|key| *key = value % 100).unwrap();
        }
        running.shutdown().unwrap();
    });
    let owners = owners.into_inner().unwrap();
    assert_eq!(owners.len(), 100, "each key has one worker");
    for worker in 0..4 {
        let share = owners.iter().filter(|(owner, _)| *owner == worker).count();
        assert!((10..=40).contains(&share), "worker={worker}, share={share}");
    }
}

fn no_event_is_overwritten_while_its_owner_has_it<K: Kind>() {
    for capacity in [1, 2, 4] {
        let events = repeats(5_000);
        let (mut producer, consumers) = K::ring(capacity, || [0_u64; 4])
            .stage("work")
            .workers(3)
            .by_key(|event| event[0] % 5)
            .write(|_| {
                |event: &mut [u64; 4], sequence, _| {
                    assert_eq!(*event, [sequence; 4]);
                    event.fill(!sequence);
                    thread::yield_now();
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
}

fn the_stage_after_a_group_by_key_sees_what_its_workers_wrote<K: Kind>() {
    let events = repeats(5_000);
    let mut seen = 0;
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .workers(3)
        .by_key(account)
        .write(|_| |trade: &mut Trade, _, _| trade.is_done = true)
        .stage("check")
        .read(|trade, sequence, _| {
            assert!(trade.is_done && sequence == seen);
            seen += 1;
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events, || {});
        running.shutdown().unwrap();
    });
    assert_eq!(seen, events);
}

fn a_group_by_key_after_a_group_keeps_the_order_of_each_key<K: Kind>() {
    let (events, book, second) = (repeats(5_000), Book::new(), Mutex::new(Vec::new()));
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage("any")
        .workers(2)
        .write(|_| |trade: &mut Trade, _, _| trade.number += 1)
        .stage("first")
        .workers(2)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                trade.number -= 1;
                book.note(trade, worker);
                // Another key from now on.
                trade.account = KEYS - trade.account;
            }
        })
        .stage("second")
        .workers(2)
        .by_key(account)
        .read(|worker| {
            let second = &second;
            move |trade: &Trade, _, _| {
                second.lock().unwrap().push((trade.account, worker, trade.number));
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, events, || {});
        running.shutdown().unwrap();
    });
    assert_eq!(book.done(), events);
    let mut second = second.into_inner().unwrap();
    assert_eq!(second.len() as u64, events);
    // Stable: events of one account stay in the order in which they were handled.
    second.sort_by_key(|(account, ..)| *account);
    for pair in second.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        assert_eq!((pair[0].1, pair[0].2 + 1), (pair[1].1, pair[1].2));
    }
}

fn a_monitor_shows_how_far_a_group_by_key_is<K: Kind>() {
    let held = AtomicBool::new(true);
    let (mut producer, consumers) = K::ring(64, Trade::default)
        .stage("work")
        .workers(2)
        .by_key(account)
        .write(|_| {
            |trade: &mut Trade, _, _| {
                if trade.number == 0 {
                    wait_until(|| !held.load(Ordering::Acquire));
                }
            }
        })
        .build()
        .unwrap();
    let monitor = producer.monitor();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_numbered::<K>(&mut producer, 0, 8);
        wait_until(|| monitor.snapshot().stages[0].state == StageState::InHandler);
        let work = &monitor.snapshot().stages[0];
        assert_eq!((work.sequence, work.lag), (0, 8));
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
    let work = &monitor.snapshot().stages[0];
    assert_eq!((work.sequence, work.lag, work.state), (8, 0, StageState::Drained));
}

fn a_slow_key_holds_only_its_own_worker<K: Kind>() {
    let (held, slow, done) = (AtomicBool::new(true), Mutex::new(None), AtomicU64::new(0));
    let (mut producer, consumers) = K::ring(64, Trade::default)
        .stage("work")
        .workers(2)
        .by_key(account)
        .write(|worker| {
            let (held, slow, done) = (&held, &slow, &done);
            move |trade: &mut Trade, _, _| {
                if trade.account == 0 && trade.number == 0 {
                    *slow.lock().unwrap() = Some(worker);
                    wait_until(|| !held.load(Ordering::Acquire));
                } else if *slow.lock().unwrap() != Some(worker) {
                    done.fetch_add(1, Ordering::Release);
                }
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        producer.publish(|_| {}).unwrap();
        wait_until(|| slow.lock().unwrap().is_some());
        for account in (1..KEYS).cycle().take(42) {
            producer
                .publish(|trade| *trade = Trade { account, number: 1, is_done: false })
                .unwrap();
        }
        // Those of the other worker: some of seven evenly distributed keys.
        wait_until(|| done.load(Ordering::Acquire) >= 7);
        held.store(false, Ordering::Release);
        running.shutdown().unwrap();
    });
}

fn a_single_event_after_an_idle_period_reaches_its_owner<K: Kind>() {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .wait(Blocking { yields: 0 })
        .stage("before")
        .read(|_, _, _| {})
        .stage("work")
        .workers(3)
        .up_to(4)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                book.note(trade, worker);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let mut published = 0;
        publish_all::<K>(&mut producer, repeats(2_000), || {
            published += 1;
            wait_until(|| book.done() == published);
        });
        running.shutdown().unwrap();
    });
}

fn a_close_is_drained_by_all_owners<K: Kind>() {
    for events in 0..repeats(200) {
        let (events, book) = (events % 13, Book::new());
        let (mut producer, consumers) = K::ring(16, Trade::default)
            .stage("work")
            .workers(2)
            .up_to(3)
            .by_key(account)
            .write(|worker| {
                let book = &book;
                move |trade: &mut Trade, _, _| {
                    book.note(trade, worker);
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            publish_all::<K>(&mut producer, events, || {});
            drop(producer);
            running.join().unwrap();
        });
        assert_eq!(book.done(), events);
    }
}

fn a_resize_before_the_start_and_after_the_close_loses_nothing<K: Kind>() {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(3)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                book.note(trade, worker);
            }
        })
        .build()
        .unwrap();
    let group = consumers.workers("work").unwrap();
    publish_all::<K>(&mut producer, 10, || {});
    group.resize(3).unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        running.close();
        group.resize(2).unwrap();
        running.join().unwrap();
    });
    group.resize(1).unwrap();
    assert_eq!(book.done(), 10);
}

fn the_new_team_gets_nothing_before_the_old_one_has_finished<K: Kind>() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (begun, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(4)
        .by_key(account)
        .write(|_| {
            |trade: &mut Trade, _, _| {
                begun.fetch_add(1, Ordering::Release);
                if trade.number == 0 {
                    let _ = gate.lock().unwrap().recv();
                }
                done.fetch_add(1, Ordering::Release);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        producer.publish(|_| {}).unwrap();
        wait_until(|| begun.load(Ordering::Acquire) == 1);
        running.workers("work").unwrap().resize(4).unwrap();
        for account in 0..8 {
            producer.publish(|trade| (trade.account, trade.number) = (account, 1)).unwrap();
        }
        thread::sleep(crate::common::MOMENT);
        assert_eq!(begun.load(Ordering::Acquire), 1, "the first one is not finished");
        drop(go);
        wait_until(|| done.load(Ordering::Acquire) == 9);
        running.shutdown().unwrap();
    });
}

fn a_panic_of_the_key_function_halts_the_ring_and_is_reported<K: Kind>() {
    quiet_panics();
    for _ in 0..repeats(50) {
        // Nothing is useful here: the owner of the event is unknown.
        let stage = Stage::new("work").on_panic(Action::Skip);
        let (mut producer, consumers) = K::ring(4, || 0_u64)
            .stage(stage)
            .workers(3)
            .by_key(|event| {
                assert!(*event != 5, "{ON_PURPOSE}: five");
                *event
            })
            .read(|_| |event: &u64, _, _| assert!(*event < 5))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let published = (0..).take_while(|value| producer.publish(|event| *event = *value).is_ok());
        // The ring may be halted before the call that has published the fatal event returns.
        assert!(published.count() >= 5);
        let failed = running.join().unwrap_err();
        let message = format!("{ON_PURPOSE}: five");
        let panicked = Outcome::Panicked { message, sequence: 5 };
        let outcomes = failed.report().stages().map(|worker| worker.outcome());
        let (of_router, of_others): (Vec<_>, Vec<_>) = outcomes.partition(|one| **one == panicked);
        assert_eq!(of_router.len(), 1, "one worker asked");
        assert_eq!(of_others, [&Outcome::Halted; 2]);
    }
}

// ---- workers that leave ----

fn publish_numbered<K: Kind>(producer: &mut ProducerOf<Trade, K>, account: u64, count: u64) {
    for number in 0..count {
        producer.publish(|trade| *trade = Trade { account, number, is_done: false }).unwrap();
    }
}

/// Holds worker 0 in a timeout while the other one routes.
struct Held {
    worker: usize,
    done: Arc<AtomicU64>,
    is_held: Arc<AtomicBool>,
    is_free: Arc<AtomicBool>,
    timeouts: u32,
}

impl EventHandler<u64> for Held {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        self.done.fetch_add(1, Ordering::Release);
    }

    fn on_timeout(&mut self, next: Sequence) {
        self.timeouts += u32::from(next > 0);
        // Between two timeouts it has gone through the routed events.
        if self.worker == 0 && self.timeouts == 2 {
            self.is_held.store(true, Ordering::Release);
            wait_until(|| self.is_free.load(Ordering::Acquire));
        }
    }
}

/// The worker that called the key function is no longer wanted; the event must still be handled.
fn a_key_function_that_would_wait_for_the_ring_gets_an_error<K: Kind>() {
    let [is_held, is_free] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let done = Arc::new(AtomicU64::new(0));
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (tell, told) = mpsc::channel();
    let producers = Mutex::new(producers);
    let stage = Stage::new("work").timeout(Duration::from_millis(1));
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage(stage)
        .workers(2)
        .by_key(move |key| {
            if *key == 1 {
                let mut producer = producers.lock().unwrap().recv().unwrap();
                let results = [producer.publish(|_| {}).err(), producer.publish(|_| {}).err()];
                tell.send((results, producer)).unwrap();
            }
            0
        })
        .read_handlers(|worker| {
            let (is_held, is_free) = (Arc::clone(&is_held), Arc::clone(&is_free));
            Held { worker, done: Arc::clone(&done), is_held, is_free, timeouts: 0 }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|key| *key = 0).unwrap(); // makes both workers the team
    wait_until(|| done.load(Ordering::Acquire) == 1 && is_held.load(Ordering::Acquire));
    running.workers("work").unwrap().resize(1).unwrap();
    producer.publish(|key| *key = 1).unwrap();
    hand_over.send(producer).unwrap();
    let (results, producer) = told.recv().unwrap();
    assert_eq!(results, [None, Some(PublishError::WouldDeadlock)]);
    is_free.store(true, Ordering::Release);
    drop(producer);
    running.shutdown().unwrap();
    assert_eq!(done.load(Ordering::Acquire), 3);
}

fn miri_a_worker_that_stops_leaves_its_events_to_others_in_their_order<K: Kind>() {
    for capacity in [1, 4, 64] {
        let (events, book, stops) = (repeats(2_000), Book::new(), AtomicU64::new(0));
        let (mut producer, consumers) = K::ring(capacity, Trade::default)
            .stage("work")
            .workers(4)
            .by_key(account)
            .write(|worker| {
                let (book, stops, mut done) = (&book, &stops, 0);
                move |trade: &mut Trade, _, _| {
                    // All but the last stop, at different times.
                    if worker > 0 && done == worker {
                        stops.fetch_add(1, Ordering::Relaxed);
                        return Action::Stop;
                    }
                    done += 1;
                    book.note(trade, worker);
                    Action::Continue
                }
            })
            .stage("check")
            .read(|trade, _, _| assert!(trade.is_done))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            publish_all::<K>(&mut producer, events, || {});
            let report = running.shutdown().unwrap();
            let of_workers = report.stages().filter(|stage| stage.name() != "check");
            assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), events);
            let is_stopped =
                |stage: &&lapwing::consumer::Finished| *stage.outcome() == Outcome::Stopped;
            let stopped = report.stages().filter(is_stopped).count() as u64;
            assert_eq!(stopped, stops.load(Ordering::Relaxed));
        });
        assert_eq!(book.done(), events);
    }
}

fn a_worker_that_stops_under_load_and_resizes_loses_nothing<K: Kind>() {
    for round in 0..repeats(100) {
        let (events, book) = (repeats(500), Book::new());
        let (mut producer, consumers) = K::ring(8, Trade::default)
            .stage("work")
            .workers(2)
            .up_to(5)
            .by_key(account)
            .write(|worker| {
                let book = &book;
                move |trade: &mut Trade, _, _| {
                    book.note(trade, worker);
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let group = running.workers("work").unwrap();
            let (mut chance, mut leavers) = (Lcg(round), vec![0, 1, 2, 3]);
            publish_all::<K>(&mut producer, events, || {
                match chance.below(40) {
                    0..4 => group.resize(1 + chance.below(5) as usize).unwrap(),
                    4 if !leavers.is_empty() => {
                        let leaver =
                            leavers.swap_remove(chance.below(leavers.len() as u64) as usize);
                        let stop = running.stop_handle(&format!("work-{leaver}"));
                        stop.unwrap().stop();
                    }
                    _ => {}
                };
            });
            running.shutdown().unwrap();
        });
        assert_eq!(book.done(), events);
    }
}

fn a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_another<K: Kind>() {
    let (book, has_stopped) = (Book::new(), AtomicBool::new(false));
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage("work")
        .workers(2)
        .by_key(account)
        .write(|worker| {
            let (book, has_stopped) = (&book, &has_stopped);
            move |trade: &mut Trade, _, _| {
                if trade.number == 3 && !has_stopped.swap(true, Ordering::Relaxed) {
                    return Action::Stop;
                }
                book.note(trade, worker);
                Action::Continue
            }
        })
        .build()
        .unwrap();
    publish_numbered::<K>(&mut producer, 3, 16);
    drop(producer);
    let report = thread::scope(|scope| consumers.start_scoped(scope).unwrap().join()).unwrap();
    let mut outcomes: Vec<_> = report.stages().map(|worker| worker.outcome().clone()).collect();
    outcomes.sort_by_key(|outcome| *outcome == Outcome::Drained);
    assert_eq!(outcomes, [Outcome::Stopped, Outcome::Drained]);
    assert_eq!(book.done(), 16);
}

fn a_worker_that_leaves_is_replaced_by_a_parked_one<K: Kind>() {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .wait(BusySpin)
        .stage("work")
        .workers(1)
        .up_to(2)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                if worker == 0 && trade.number == 5 {
                    return Action::Stop;
                }
                book.note(trade, worker);
                Action::Continue
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_numbered::<K>(&mut producer, 1, 20);
        let report = running.shutdown().unwrap();
        let done: Vec<_> = report.stages().map(|worker| worker.processed()).collect();
        assert_eq!(done, [5, 15]);
    });
    assert_eq!(book.done(), 20);
}

fn the_last_worker_that_leaves_halts_the_ring<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .stage("work")
        .workers(2)
        .by_key(account)
        .write(|_| |_: &mut Trade, _, _| Action::Stop)
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let error = loop {
        if let Err(error) = producer.publish(|_| {}) {
            break error;
        }
    };
    assert_eq!(error, RingError::Halted(HaltCause::NoConsumers).into());
    let failed = running.join().unwrap_err();
    let mut outcomes: Vec<_> =
        failed.report().stages().map(|worker| worker.outcome().clone()).collect();
    outcomes.sort_by_key(|outcome| *outcome == Outcome::Halted);
    assert_eq!(outcomes, [Outcome::Stopped, Outcome::Halted]);
}

fn a_worker_that_would_wait_for_its_taken_over_events_gets_an_error<K: Kind>() {
    let (has_stopped, deadlocks) = (AtomicBool::new(false), AtomicU64::new(0));
    let slot: Mutex<Option<ProducerOf<u64, K>>> = Mutex::new(None);
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("work")
        .workers(2)
        .by_key(|_| 7)
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
    quiet_panics();
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .stage("work")
        .workers(3)
        .by_key(account)
        .write(|_| |trade: &mut Trade, _, _| assert!(trade.number < 5, "{ON_PURPOSE}: five"))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let numbers =
        (0..).take_while(|number| producer.publish(|trade| trade.number = *number).is_ok());
    // The ring may be halted before the call that has published the fatal event returns.
    assert!(numbers.count() >= 5);
    let failed = running.join().unwrap_err();
    let message = format!("{ON_PURPOSE}: five");
    let panicked = Outcome::Panicked { message, sequence: 5 };
    let outcomes = failed.report().stages().map(|worker| worker.outcome());
    assert_eq!(outcomes.filter(|outcome| **outcome == panicked).count(), 1);
}

fn a_panic_may_cost_one_worker_and_its_events_go_to_another<K: Kind>() {
    quiet_panics();
    let (book, has_failed) = (Book::new(), AtomicBool::new(false));
    let stage = Stage::new("work").on_panic(Action::Stop);
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage(stage)
        .workers(3)
        .by_key(account)
        .write(|worker| {
            let (book, has_failed) = (&book, &has_failed);
            move |trade: &mut Trade, _, _| {
                let is_first = trade.number == 3 && !has_failed.swap(true, Ordering::Relaxed);
                assert!(!is_first, "{ON_PURPOSE}: three");
                book.note(trade, worker);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_all::<K>(&mut producer, repeats(1_000), || {});
        running.shutdown().unwrap_err();
    });
    assert_eq!(book.done(), repeats(1_000));
}

fn a_failed_event_may_be_tried_again_and_skipped<K: Kind>() {
    quiet_panics();
    let (book, tries) = (Book::new(), AtomicU64::new(0));
    let stage = Stage::new("work").on_panic(Retries::of_event().attempts(2).or(Action::Skip));
    let (mut producer, consumers) = K::ring(16, Trade::default)
        .stage(stage)
        .workers(2)
        .up_to(4)
        .by_key(account)
        .write(|worker| {
            let (book, tries) = (&book, &tries);
            move |trade: &mut Trade, _, _| {
                if trade.account == 1 && trade.number == 3 {
                    tries.fetch_add(1, Ordering::Relaxed);
                    panic!("{ON_PURPOSE}: three");
                }
                book.note(trade, worker);
            }
        })
        .stage("count")
        .read_handler(Rejected(0))
        .build()
        .unwrap();
    let mut report = thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish_numbered::<K>(&mut producer, 1, 4);
        publish_numbered::<K>(&mut producer, 2, 4);
        running.shutdown().unwrap()
    });
    assert_eq!(report.stages().map(|worker| worker.skipped()).sum::<u64>(), 1);
    assert_eq!(report.take::<Rejected>("count").unwrap().0, 1);
    assert_eq!(tries.into_inner(), 2);
    assert_eq!(book.done(), 7);
}

// ---- claims that are given up, batches, invalid input ----

fn claims_that_are_given_up_have_no_owner<K: Kind>() {
    quiet_panics();
    for capacity in [2, 16] {
        let (events, book) = (repeats(2_000), Book::new());
        let (mut producer, consumers) = K::ring(capacity, Trade::default)
            .stage("work")
            .workers(2)
            .up_to(3)
            .by_key(account)
            .write(|worker| {
                let book = &book;
                move |trade: &mut Trade, _, _| {
                    book.note(trade, worker);
                }
            })
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let group = running.workers("work").unwrap();
            let mut numbers = vec![0; KEYS as usize];
            let mut chance = Lcg(7);
            for _ in 0..events {
                let account = chance.below(KEYS);
                let number = numbers[account as usize];
                let mut claim = producer.claim().unwrap();
                *claim = Trade { account, number, is_done: false };
                match chance.below(10) {
                    0..3 => drop(claim),
                    3 => {
                        group.resize(1 + chance.below(3) as usize).unwrap();
                        claim.publish().unwrap();
                        numbers[account as usize] += 1;
                    }
                    _ => {
                        claim.publish().unwrap();
                        numbers[account as usize] += 1;
                    }
                }
            }
            drop(producer);
            running.join().unwrap();
            assert_eq!(book.done(), numbers.iter().sum::<u64>());
        });
    }
}

fn a_batch_is_a_run_of_own_events_and_no_longer_than_the_stage_allows<K: Kind>() {
    let named = || Stage::new("work");
    // The default is a quarter of the ring.
    for (stage, longest) in [(named().max_batch(1), 1), (named().max_batch(3), 3), (named(), 8)] {
        let mut seen = Vec::new();
        let (mut producer, consumers) = K::ring(32, Trade::default)
            .stage(stage)
            .workers(2)
            .by_key(account)
            .write_handlers(|_| Batches(Vec::new()))
            .build()
            .unwrap();
        publish_numbered::<K>(&mut producer, 1, 30);
        drop(producer);
        let mut report = consumers.start().unwrap().join().unwrap();
        for name in ["work-0", "work-1"] {
            let Batches(sizes) = report.take::<Batches>(name).unwrap();
            seen.extend(sizes);
        }
        assert_eq!(seen.iter().sum::<u64>(), 30);
        assert_eq!(seen.iter().max(), Some(&longest), "{seen:?}");
    }
}

/// The sizes of its batches.
struct Batches(Vec<u64>);

impl EventHandler<Trade, Exclusive> for Batches {
    fn on_event(&mut self, _: &mut Trade, _: Sequence, _: bool) {}

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        assert!(queue_depth >= batch_size);
        self.0.push(batch_size);
    }
}

fn a_key_that_is_a_bad_hash_is_still_spread<K: Kind>() {
    // Multiples of a power of two, like addresses.
    let owners = Mutex::new(BTreeSet::new());
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("work")
        .workers(4)
        .by_key(|key| *key << 12)
        .read(|worker| {
            let owners = &owners;
            move |_: &u64, _, _| {
                owners.lock().unwrap().insert(worker);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for value in 0..100 {
            producer.publish(|key| *key = value).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!(owners.into_inner().unwrap().len(), 4);
}

fn an_invalid_number_of_workers_is_an_error_with_keys_too<K: Kind>() {
    for (size, max) in [(0, 1), (3, 2), (65, 65)] {
        let ring = K::ring(4, Trade::default)
            .stage("work")
            .workers(size)
            .up_to(max)
            .by_key(account)
            .write(|_| |_: &mut Trade, _, _| {});
        let error = ring.build().err();
        assert!(matches!(error, Some(BuildError::Workers { .. })), "{error:?}");
    }
    let ring = K::ring(4, Trade::default)
        .stage("work")
        .workers(64)
        .by_key(account)
        .write(|_| |_: &mut Trade, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    publish_all::<K>(&mut producer, 4, || {});
    drop(producer);
    let report = consumers.start().unwrap().join().unwrap();
    assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), 4);
}

/// Counts events that came as failed.
struct Rejected(u64);

impl EventHandler<Trade> for Rejected {
    fn on_event(&mut self, _: &Trade, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &Trade, _: Sequence, _: bool, _: &Failure<'_>) {
        self.0 += 1;
    }
}

/// Reports its timeouts to the test.
struct Alarm(mpsc::Sender<Sequence>);

impl EventHandler<u64, Exclusive> for Alarm {
    fn on_event(&mut self, _: &mut u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = self.0.send(next_sequence);
    }
}

fn timeouts_are_called_while_nothing_comes<K: Kind>() {
    let (alarm, alarms) = mpsc::channel();
    let stage = Stage::new("work").timeout(Duration::from_millis(1));
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage(stage)
        .workers(2)
        .by_key(|event| *event)
        .write_handlers(|_| Alarm(alarm.clone()))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(alarms.recv_timeout(crate::common::PATIENCE), Ok(0));
    producer.publish(|_| {}).unwrap();
    wait_until(|| alarms.recv_timeout(crate::common::PATIENCE) == Ok(1));
    running.shutdown().unwrap();
}

fn workers_by_key_that_share_a_thread_take_turns<K: Kind>() {
    let (events, book) = (repeats(3_000), Book::new());
    let (producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .on_thread("one")
        .workers(2)
        .up_to(3)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                book.note(trade, worker);
            }
        })
        .stage("check")
        .on_thread("one")
        .read(|trade, _, _| assert!(trade.is_done))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let mut producer = producer;
        let running = consumers.start_scoped(scope).unwrap();
        let group = running.workers("work").unwrap();
        let mut size = (1..=3).cycle();
        publish_all::<K>(&mut producer, events, || group.resize(size.next().unwrap()).unwrap());
        running.shutdown().unwrap();
    });
    assert_eq!(book.done(), events);
}

fn workers_that_have_not_started_hold_their_events<K: Kind>() {
    let book = Book::new();
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .first_sequence(1_000_001)
        .stage("work")
        .workers(2)
        .up_to(3)
        .by_key(account)
        .write(|worker| {
            let book = &book;
            move |trade: &mut Trade, _, _| {
                book.note(trade, worker);
            }
        })
        .build()
        .unwrap();
    publish_all::<K>(&mut producer, 4, || {});
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    thread::scope(|scope| consumers.start_scoped(scope).unwrap().shutdown().map(drop)).unwrap();
    assert_eq!(book.done(), 4);
}
