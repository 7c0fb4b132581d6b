//! Tests that Lapwing avoids the traps of other ring buffers, which are numbered. Those that other
//! tests of this program prove are only named here; those that do not compile in Lapwing are
//! `compile_fail` doctests.
//!
//! | trap | what shows that it is avoided |
//! |---|---|
//! | 1, a reference to an event is kept | doctests of `Producer` and `Batch` |
//! | 2, a batch of no or too many events moves the cursor | `answers` |
//! | 3, a stage is not waited for, or one of another ring is | `graph::topologies`, B06 |
//! | 4, a panic in a fill closure hangs the end | `panics_of_callers` |
//! | 5, a panic of a handler leaves others waiting | `graph::panics` |
//! | 6, a ring that is given up leaves a thread | here |
//! | 7, a poller that was dropped holds its events | `pollers` |
//! | 8, the end hangs on the thread of a poller | `answers` |
//! | 9, a single event wakes no thread | `wake_ups` |
//! | 10, the first event does not arrive alone | `answers`, `pollers` |
//! | 11, the first lap is overwritten | `answers` |
//! | 12, more threads than CPUs | here |
//! | 13, a wait strategy breaks its contract | here |
//! | 14, events that are not `Sync` | here, doctest of `Builder` |
//! | 15, a slot of a consumer that left is read | here |
//! | 16, events of every size, and their destructors | here |

use std::cell::Cell;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    Kind, Lcg, Ledger, MOMENT, ON_PURPOSE, Token, quiet_panics, repeats, threads_named,
    unique_prefix, wait_until_no_thread_named, watched,
};
use crate::rings::{on_event, run, with_pollers};
use lapwing::error::{HaltCause, PollError, PublishError, WhenFullError};
use lapwing::producer::{Slots, WhenFull};
use lapwing::wait::{Adaptive, Blocking, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Disruptor, EventHandler, Sequence};

crate::common::for_both_producers! {
    trap_06_ring_that_is_given_up_at_any_step_leaves_no_thread,
    miri_trap_13_strategies_that_lie_lose_no_event,
    trap_13_strategies_that_lie_keep_time_limits,
    trap_14_events_that_are_not_sync_pass_a_stage_that_runs_alone,
    miri_trap_15_slots_of_a_poller_that_left_are_written_again,
    miri_trap_16_events_without_a_size_are_counted,
    miri_trap_16_events_are_dropped_once,
    miri_trap_16_events_of_a_page_arrive_whole,
}

// ---- 6: a ring that is given up ----

fn trap_06_ring_that_is_given_up_at_any_step_leaves_no_thread<K: Kind>() {
    let prefix = unique_prefix();
    let name = |stage: u64| format!("{prefix}{stage}");
    let nothing = || on_event(|_: &u64, _, _| {});
    for steps in 0..7 {
        let mut ring = K::ring(2, || 0_u64).wait_strategy(Yielding::default());
        for step in 0..steps {
            ring = match step {
                0 | 3 => ring.stage(name(step)).read(nothing()),
                1 => ring.stage(name(step)).pin(0).write(|_, _, _| {}),
                2 => ring.parallel(|parallel| {
                    parallel.stage(name(step)).read(nothing()).stage(name(20)).poller()
                }),
                4 => ring.stage(name(step)).read_local(|| -> Never { unreachable!() }),
                _ => ring.stage(name(step)).poller(),
            };
        }
        drop(ring);
        assert_eq!(threads_named(&prefix), 0);
    }
    for is_started in [false, true] {
        let ring = K::ring(2, || 0_u64).stage(name(0)).read(nothing());
        let (mut producer, consumers) = ring.stage(name(1)).read(nothing()).build().unwrap();
        assert_eq!(threads_named(&prefix), 0);
        if is_started {
            let running = consumers.start().unwrap();
            drop((producer, running));
            wait_until_no_thread_named(&prefix);
        } else {
            drop(consumers);
            let halted = PublishError::Halted(HaltCause::StageDropped);
            assert_eq!(producer.publish(|_| {}), Err(halted));
            assert_eq!(threads_named(&prefix), 0);
        }
    }
}

/// A handler that is never created.
enum Never {}

impl EventHandler<u64> for Never {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

// ---- 12: more threads than CPUs ----

/// Uses eight threads. With other libraries, spinning on a full or an empty ring makes this take
/// minutes.
fn more_threads_than_cpus_finish(strategy: impl WaitStrategy) {
    const PRODUCERS: u64 = 4;
    let events = repeats(100_000) / PRODUCERS;
    let (mut sum, mut count) = (0, 0);
    let ring = Disruptor::multi_producer(64, || 0_u64)
        .wait_strategy(strategy.clone())
        .producer_wait_strategy(strategy)
        .stage("double")
        .write(|event, _, _| *event *= 2)
        .parallel(|parallel| {
            let sum = on_event(|event: &u64, _, _| sum += *event);
            parallel.stage("sum").read(sum).stage("count").read(on_event(|_, _, _| count += 1))
        });
    watched(|| {
        run(ring.stage("last").read(on_event(|_, _, _| {})), |producer| {
            thread::scope(|scope| {
                for mut producer in [(); PRODUCERS as usize].map(|()| producer.clone()) {
                    scope.spawn(move || {
                        for _ in 0..events {
                            producer.publish(|event| *event = 1).unwrap();
                        }
                    });
                }
            });
        });
    });
    assert_eq!((count, sum), (PRODUCERS * events, PRODUCERS * events * 2));
}

#[test]
fn trap_12_more_threads_than_cpus_finish_with_adaptive() {
    more_threads_than_cpus_finish(Adaptive::default());
}

#[test]
fn trap_12_more_threads_than_cpus_finish_with_blocking() {
    more_threads_than_cpus_finish(Blocking::default());
}

#[test]
fn trap_12_more_threads_than_cpus_finish_with_yielding() {
    more_threads_than_cpus_finish(Yielding::default());
}

// ---- 13: strategies that break their contract ----

const EVENTS: u64 = 50;

/// Polls no times.
#[derive(Clone)]
struct NoPolls;

impl WaitStrategy for NoPolls {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Poll(0)
    }
}

/// Leaves the thread no time to notice its event: it answers late, with a pause.
#[derive(Clone)]
struct Dawdles;

impl WaitStrategy for Dawdles {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        (0..20).for_each(|_| thread::yield_now());
        Step::Pause(if cfg!(miri) { 10 } else { 2_000 })
    }
}

/// Begins each step as if it were the first of the wait.
#[derive(Clone)]
struct Forgets(Yielding);

impl WaitStrategy for Forgets {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        let waiting = waiting.from_step(u64::MAX);
        assert_eq!(waiting.steps(), 0);
        self.0.next(&waiting)
    }
}

/// Parks, but announces that it does not, so no thread may know that it is parked.
#[derive(Clone)]
struct ParksInSecret;

impl WaitStrategy for ParksInSecret {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Park
    }
}

/// Announces that it parks, but does not.
#[derive(Clone)]
struct NeverParks;

impl WaitStrategy for NeverParks {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Yield
    }
}

/// Parks again and again, with a poll after some of the parks.
#[derive(Clone)]
struct ParksBlindly(u32);

impl WaitStrategy for ParksBlindly {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        self.0 = (self.0 + 1) % 4;
        if self.0 == 0 { Step::Poll(1) } else { Step::Park }
    }
}

/// Sends events through three stages on a ring that is always full.
fn deliver<K: Kind>(strategy: impl WaitStrategy, other: impl WaitStrategy) {
    // Few events: if more threads spin than there are CPUs, each hand-over takes a time slice.
    let events = repeats(EVENTS);
    let mut seen = 0;
    let check = on_event(|event: &u64, sequence, _| {
        assert_eq!((*event, sequence), (seen + 1, seen));
        seen += 1;
    });
    let ring = K::ring(2, || 0_u64)
        .wait_strategy(strategy.clone())
        .producer_wait_strategy(strategy)
        .stage("first")
        .write(|event, _, _| *event += 1)
        .stage("other")
        .wait_strategy(other)
        .read(on_event(|_, _, _| {}));
    run(ring.stage("last").read(check), |mut producer| {
        (0..events).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    });
    assert_eq!(seen, events);
}

fn miri_trap_13_strategies_that_lie_lose_no_event<K: Kind>() {
    deliver::<K>(NoPolls, NoPolls);
    deliver::<K>(Dawdles, Dawdles);
    deliver::<K>(Forgets(Yielding::default()), Forgets(Yielding { spins: 0 }));
    deliver::<K>(ParksInSecret, ParksInSecret);
    deliver::<K>(NeverParks, NeverParks);
    deliver::<K>(ParksBlindly(0), ParksBlindly(3));
    deliver::<K>(ParksInSecret, NoPolls);
    deliver::<K>(ParksInSecret, Blocking { yields: 0 });
    deliver::<K>(Blocking { yields: 0 }, NoPolls);
}

fn trap_13_strategies_that_lie_keep_time_limits<K: Kind>() {
    fn with<K: Kind>(strategy: impl WaitStrategy) {
        let ring =
            K::ring(1, || 0_u64).wait_strategy(strategy.clone()).producer_wait_strategy(strategy);
        let (mut producer, [mut poller]) = with_pollers(ring.stage("poller").poller(), ["poller"]);
        let begin = Instant::now();
        assert_eq!(poller.wait_timeout(MOMENT).err(), Some(PollError::Empty));
        producer.publish(|_| {}).unwrap();
        let timed_out = producer.publish_or(WhenFull::Timeout(MOMENT), |_| {});
        assert_eq!(timed_out, Err(WhenFullError::TimedOut));
        assert!(begin.elapsed() >= 2 * MOMENT);
        assert_eq!(poller.wait_timeout(Duration::ZERO).unwrap().len(), 1);
    }
    with::<K>(NoPolls);
    with::<K>(Dawdles);
    with::<K>(Forgets(Yielding::default()));
    with::<K>(ParksInSecret);
    with::<K>(NeverParks);
    with::<K>(ParksBlindly(3));
}

// ---- 14: events that are not `Sync` ----

/// With a stage that reads, this does not compile: see `Builder`.
fn trap_14_events_that_are_not_sync_pass_a_stage_that_runs_alone<K: Kind>() {
    let mut sum = 0;
    let ring = K::ring(4, || Cell::new(0_u64)).stage("sum");
    let (mut producer, consumers) =
        ring.write(|event, _, _| sum += event.replace(0)).build().unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        (0..100).for_each(|number| _ = producer.publish(|event| event.set(number)).unwrap());
        running.shutdown().unwrap();
    });
    assert_eq!(sum, 4950);
}

// ---- 15: a consumer that leaves, and its slots ----

/// Covered by the models of O2 and O14. Each event has memory of its own, so that Miri detects a
/// read of a replaced one.
fn miri_trap_15_slots_of_a_poller_that_left_are_written_again<K: Kind>() {
    let mut pause = Lcg(15);
    for round in 0..repeats(500) {
        let ring = K::ring(2, || vec![0_u64].into_boxed_slice())
            .parallel(|parallel| parallel.stage("leaves").poller().stage("stays").poller());
        let (mut producer, [mut leaves, mut stays]) = with_pollers(ring, ["leaves", "stays"]);
        thread::scope(|scope| {
            scope.spawn(move || {
                (0..8).for_each(|number| _ = producer.publish(|event| *event = [number].into()));
            });
            scope.spawn(move || {
                for _ in 0..round % 4 {
                    let Ok(mut batch) = leaves.wait() else { return };
                    assert!(batch.iter().all(|(sequence, event)| event[0] == sequence));
                }
                let last = leaves.poll();
                (0..pause.below(repeats(500))).for_each(|_| hint::spin_loop());
                drop(last);
            });
            let mut next = 0;
            while let Ok(mut batch) = stays.wait() {
                for (sequence, event) in batch.iter() {
                    assert_eq!((sequence, event[0]), (next, next));
                    next += 1;
                }
            }
            assert_eq!(next, 8);
        });
        pause = Lcg(round);
    }
}

// ---- 16: events of every size, and their destructors ----

fn miri_trap_16_events_without_a_size_are_counted<K: Kind>() {
    let events = repeats(2_000);
    let (mut reads, mut writes, mut lengths) = (0, 0, 0);
    let count = on_event(|&(), sequence, _| {
        assert_eq!(sequence, reads);
        reads += 1;
    });
    let ring = K::ring(4, || ())
        .stage("writes")
        .write(|&mut (), _, _| writes += 1)
        .stage("lengths")
        .read_batch(|events, _| lengths += events.len() as u64);
    run(ring.stage("reads").read(count), |mut producer| {
        let fill = |slots: &mut Slots<'_, ()>| assert_eq!(slots.iter_mut().count(), 3);
        while producer.publish_batch(3, fill).unwrap().end < events {}
    });
    assert!(reads >= events && writes == reads && lengths == reads);
}

/// Each event is dropped once: replaced by producers or stages, given up, in a panic, or left in
/// the ring. A claim that was given up keeps its slot until the poller polls again on this same
/// thread, so the ring has twice the slots.
fn miri_trap_16_events_are_dropped_once<K: Kind>() {
    quiet_panics();
    let ledger = Ledger::default();
    let (mut producer, mut consumers) = K::ring(8, || ledger.token())
        .stage("replaces")
        .write(|event, sequence, _| {
            if sequence % 2 == 0 {
                *event = ledger.token();
            }
        })
        .stage("poller")
        .poller_mut()
        .build()
        .unwrap();
    assert_eq!((ledger.made(), ledger.dropped()), (8, 0));
    let mut poller = consumers.take_poller_mut("poller").unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for round in 0..repeats(500) {
            producer.publish(|event| *event = ledger.token()).unwrap();
            let mut claim = producer.claim().unwrap();
            *claim = ledger.token();
            drop(claim);
            let publish = || {
                producer.publish(|event: &mut Token| {
                    *event = ledger.token();
                    panic!("{ON_PURPOSE}");
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(publish)).is_err());
            let mut batch = poller.wait().unwrap();
            if round % 3 == 0 {
                batch.as_mut_slice().fill_with(|| ledger.token());
            }
            batch.consume_all();
        }
        producer.publish(|event| *event = ledger.token()).unwrap();
        drop((producer, poller));
        running.shutdown().unwrap();
        // The events left in the ring.
        assert!(ledger.made() - ledger.dropped() <= 8);
    });
    assert_eq!(ledger.made(), ledger.dropped());
}

fn miri_trap_16_events_of_a_page_arrive_whole<K: Kind>() {
    type Page = [u8; 4096];
    let check = on_event(|page: &Page, sequence, _| {
        assert!(page.iter().all(|byte| *byte == !(sequence as u8)));
    });
    let ring = K::ring(4, || -> Page { [0; 4096] })
        .stage("invert")
        .write(|page, _, _| page.iter_mut().for_each(|byte| *byte = !*byte));
    run(ring.stage("check").read(check), |mut producer| {
        for number in 0..repeats(2_000) {
            producer.publish(|page| page.fill(number as u8)).unwrap();
        }
    });
}
