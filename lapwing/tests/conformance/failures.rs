//! C50 to C55: what happens to an event whose handler or producer failed. `outcomes` in this folder
//! covers every action in every form of a stage.

use std::mem;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::{Failure, FailurePolicy, Outcome, Retries, StageReport};
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

use crate::common::{MOMENT, ON_PURPOSE, quiet_panics, wait_until};
use crate::setup::{Kind, Setup};
use crate::spy::{Call, Spy, publish, value_of, values};

for_each_setup! {
    c50_event_that_is_skipped_reaches_downstream_stages_as_failed,
    c50_event_that_is_retried_reaches_downstream_stages_once,
    c50_stage_that_stops_on_an_error_hands_its_place_on,
    c50_error_without_a_policy_halts_the_ring_and_names_the_place,
    c51_error_on_the_last_event_of_a_batch_leaves_no_batch_without_an_end,
    c52_panic_of_on_batch_start_skips_no_event,
    c53_spurious_wake_up_skips_no_event,
    c54_panic_of_a_fill_publishes_nothing_and_blocks_no_thread,
    c55_rewind_begins_the_batch_again_wherever_it_failed,
    c55_rewind_begins_no_batch_again_but_its_own,
    c55_error_that_is_not_for_a_rewind_is_not_rewound,
    c55_policy_is_called_once_per_failure_and_never_otherwise,
    c55_rewind_with_a_pause_takes_as_long,
    c55_rewind_that_gives_up_skips_its_event,
}

type Said = Result<(), &'static str>;

/// Runs the stages of a ring on this thread, one after another, over the events `0..events`.
fn drain<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Vec<StageReport> {
    let (mut producer, consumers) = ring.build().unwrap();
    publish(&mut producer, 0..events);
    drop(producer);
    consumers.into_iter().map(|consumer| consumer.run()).collect()
}

fn c50_event_that_is_skipped_reaches_downstream_stages_as_failed<K: Kind>(setup: Setup<K>) {
    let events = setup.events(100);
    let fail = |_: &u64, sequence, _| if sequence % 3 == 1 { Err("bad") } else { Ok(()) };
    let (mut producer, consumers) = setup
        .ring(8, || 0)
        .stage("skips")
        .on_error(Action::Skip)
        .read(fail)
        .stage("after")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let mut report = running.shutdown().unwrap();
    let spy: Spy = report.take("after").unwrap();
    let is_bad = |sequence: &Sequence| sequence % 3 == 1;
    assert!(spy.sequences().into_iter().eq((0..events).filter(|sequence| !is_bad(sequence))));
    let failed = (0..events).filter(is_bad);
    assert!(failed.clone().all(|sequence| spy.count(Call::Failed(sequence)) == 1));
    assert_eq!(report.stages().next().unwrap().skipped(), failed.count() as u64);
}

fn c50_event_that_is_retried_reaches_downstream_stages_once<K: Kind>(setup: Setup<K>) {
    let events = setup.events(100);
    let mut tries = 0;
    let fail = move |_: &u64, sequence, _| {
        tries += 1;
        if sequence % 3 == 1 && tries % 3 != 0 { Err("bad") } else { Ok(()) }
    };
    let (mut producer, consumers) = setup
        .ring(8, || 0)
        .stage("retries")
        .on_error(Retries::of_event())
        .read(fail)
        .stage("after")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let spy: Spy = running.shutdown().unwrap().take("after").unwrap();
    assert_eq!(spy.events(), values(0..events));
}

fn c50_stage_that_stops_on_an_error_hands_its_place_on<K: Kind>(setup: Setup<K>) {
    let events = setup.events(100);
    let fail = |_: &u64, sequence, _| if sequence == 3 { Err("bad") } else { Ok(()) };
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage("before")
        .read_handler(Spy::default())
        .stage("stops")
        .on_error(Action::Stop)
        .read(fail)
        .stage("after")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let failed = running.shutdown().unwrap_err(); // one stage left before the end
    let mut report = failed.into_report();
    assert_eq!(report.take::<Spy>("before").unwrap().events(), values(0..events));
    assert_eq!(report.take::<Spy>("after").unwrap().events(), values(0..events));
    let outcome = Outcome::Detached { message: "bad".to_owned(), sequence: 3 };
    assert_eq!(*report.stages().nth(1).unwrap().outcome(), outcome);
}

fn c50_error_without_a_policy_halts_the_ring_and_names_the_place<K: Kind>(setup: Setup<K>) {
    let fail = |_: &u64, sequence, _| if sequence == 3 { Err("bad") } else { Ok(()) };
    let ring = setup.ring(4, || 0).stage("fails").read(fail).stage("after").read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    assert!((0..9).any(|_| producer.publish(|_| {}).is_err()), "a producer would wait for ever");
    let failed = running.shutdown().unwrap_err();
    assert_eq!(failed.to_string(), "a stage failed: stage=\"fails\", sequence=3, message=\"bad\"");
}

/// A handler flushes at the end of a batch. In LMAX, the events after a failed event form a batch
/// of their own. If the last event failed, the end of the batch is not announced again.
fn c51_error_on_the_last_event_of_a_batch_leaves_no_batch_without_an_end<K: Kind>(setup: Setup<K>) {
    for bad in 0..8 {
        let (mut pending, mut ends) = (0, Vec::new());
        let write = |_: &u64, sequence, end_of_batch| {
            pending += 1;
            if end_of_batch {
                ends.push((sequence, pending));
                pending = 0;
            }
            if sequence == bad { Err("bad") } else { Ok(()) }
        };
        let stage = Stage::new("write").max_batch(4).on_error(Action::Skip);
        let finished = drain(setup.ring(8, || 0).stage(stage).read(write), 8);
        assert_eq!((finished[0].processed(), finished[0].skipped()), (8, 1));
        drop(finished);
        assert_eq!(pending, 0, "every event was followed by an end, or was one");
        assert_eq!(ends.iter().map(|&(_, events)| events).sum::<u64>(), 8);
        assert_eq!(ends.last().unwrap().0, 7);
    }
}

/// LMAX treats it as a failure of the first event of the batch, and skips that event.
fn c52_panic_of_on_batch_start_skips_no_event<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    for action in [Action::Skip, Action::Retry(Duration::ZERO), Action::Rewind(Duration::ZERO)] {
        let stage = Stage::new("panics").max_batch(2).on_panic(action);
        let ring = setup.ring(8, || 0).stage(stage).read_handler(PanicsAtFirst::default());
        let mut finished = drain(ring, 8);
        assert_eq!((finished[0].processed(), finished[0].skipped()), (8, 0));
        let handler: PanicsAtFirst = finished[0].take_handler().unwrap();
        assert_eq!(handler.spy.events(), values(0..8));
    }
}

/// Panics in every second call of `on_batch_start`.
#[derive(Default)]
struct PanicsAtFirst {
    calls: u64,
    spy: Spy,
}

impl EventHandler<u64> for PanicsAtFirst {
    fn on_batch_start(&mut self, _: u64, _: u64) {
        self.calls += 1;
        assert!(self.calls.is_multiple_of(2), "{ON_PURPOSE}");
    }

    fn on_event(&mut self, event: &u64, sequence: Sequence, end_of_batch: bool) {
        self.spy.on_event(event, sequence, end_of_batch);
    }
}

/// LMAX treats an exception that ends a wait, such as an interrupt, as a failure of the next event.
fn c53_spurious_wake_up_skips_no_event<K: Kind>(setup: Setup<K>) {
    let (handled, waits) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&waits);
    let ends_early = move || count.fetch_add(1, SeqCst).is_multiple_of(2);
    let before = setup.disturbed_stage("before", ends_early.clone());
    let after = setup.disturbed_stage("after", ends_early);
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage(before)
        .read(|_, _, _| {})
        .stage(after)
        .read(|event, sequence, _| {
            assert_eq!((*event, sequence), (value_of(sequence), handled.load(SeqCst)));
            handled.store(sequence + 1, SeqCst);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        // Later waits may be so short that no strategy is asked.
        wait_until(|| waits.load(SeqCst) > 0);
        for sequence in 0..setup.events(100) {
            publish(&mut producer, sequence..sequence + 1);
            wait_until(|| handled.load(SeqCst) == sequence + 1);
        }
        running.shutdown().unwrap();
    });
}

/// LMAX publishes the slot in the state that the translator left.
fn c54_panic_of_a_fill_publishes_nothing_and_blocks_no_thread<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (mut producer, consumers) =
        setup.ring(2, || 0).stage("spy").read_handler(Spy::default()).build().unwrap();
    let running = consumers.start().unwrap();
    for number in 0..setup.events(30) {
        let fill = |event: &mut u64| {
            *event = 666;
            panic!("{ON_PURPOSE}");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| producer.publish(fill))).is_err());
        producer.publish(|event| *event = value_of(number)).unwrap();
    }
    let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
    let events = spy.events().into_iter().map(|(event, _)| event);
    assert!(events.eq((0..setup.events(30)).map(value_of)));
}

// ---- C55: the cases of LMAX's own test of rewinding ----

/// Returns the events that a stage got for a batch of `events`. `fails` decides by the sequence and
/// the number of earlier attempts.
fn given<K: Kind>(
    setup: Setup<K>,
    stage: Stage,
    events: u64,
    fails: impl Fn(Sequence, usize) -> bool + Send + Sync,
) -> (Vec<Sequence>, StageReport) {
    let mut given: Vec<Sequence> = Vec::new();
    let handler = |_: &u64, sequence: Sequence, _: bool| -> Said {
        let before = given.iter().filter(|each| **each == sequence).count();
        given.push(sequence);
        if fails(sequence, before) { Err("bad") } else { Ok(()) }
    };
    // The handler borrows the returned value, so the ring is dropped first.
    let finished = drain(setup.ring(32, || 0).stage(stage).read(handler), events).remove(0);
    (given, finished)
}

/// A stage whose batch is the whole ring.
fn stage() -> Stage {
    Stage::new("rewinds").max_batch(32)
}

fn c55_rewind_begins_the_batch_again_wherever_it_failed<K: Kind>(setup: Setup<K>) {
    for (events, bad, times) in [(1, 0, 1), (8, 0, 1), (8, 3, 1), (8, 7, 1), (8, 3, 4), (8, 7, 2)] {
        let fails = |sequence, before| sequence == bad && before < times;
        let stage = stage().on_error(Retries::of_batch());
        let (given, finished) = given(setup, stage, events, fails);
        let again = (0..times).flat_map(|_| 0..=bad).chain(0..events);
        assert!(given.iter().copied().eq(again), "bad={bad}, times={times}: {given:?}");
        assert_eq!((finished.processed(), finished.skipped()), (events, 0));
    }
    // Several events of one batch fail.
    let fails = |sequence, before| (sequence == 2 && before < 1) || (sequence == 4 && before < 2);
    let (given, _) = given(setup, stage().on_error(Retries::of_batch()), 6, fails);
    assert_eq!(given, [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5]);
}

fn c55_rewind_begins_no_batch_again_but_its_own<K: Kind>(setup: Setup<K>) {
    let stage = stage().max_batch(4).on_error(Retries::of_batch());
    let (given, _) = given(setup, stage, 10, |sequence, before| sequence == 6 && before < 1);
    assert_eq!(given, [0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9]);
}

fn c55_error_that_is_not_for_a_rewind_is_not_rewound<K: Kind>(setup: Setup<K>) {
    let by_sequence = |failure: &Failure<'_>| match failure.sequence() {
        2 => Action::Rewind(Duration::ZERO),
        4 => Action::Skip,
        _ => Action::Halt,
    };
    let stage = stage().on_error(by_sequence);
    let fails = |sequence, before| matches!(sequence, 4 | 6) || (sequence == 2 && before < 1);
    let (given, finished) = given(setup, stage, 10, fails);
    assert_eq!(given, [0, 1, 2, 0, 1, 2, 3, 4, 5, 6]);
    let outcome = Outcome::Failed { message: "bad".to_owned(), sequence: 6 };
    assert_eq!((finished.outcome(), finished.skipped()), (&outcome, 1));
}

/// Records its calls, and rewinds.
#[derive(Clone)]
struct Asked(Arc<Mutex<Vec<(Sequence, u32)>>>);

impl FailurePolicy for Asked {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        self.0.lock().unwrap().push((failure.sequence(), failure.attempt()));
        Action::Rewind(Duration::ZERO)
    }
}

fn c55_policy_is_called_once_per_failure_and_never_otherwise<K: Kind>(setup: Setup<K>) {
    let asked = Arc::default();
    let ask = |fails: fn(Sequence, usize) -> bool| {
        let stage = stage().max_batch(4).on_error(Asked(Arc::clone(&asked)));
        let (_, finished) = given(setup, stage, 8, fails);
        assert_eq!(finished.processed(), 8);
        mem::take(&mut *asked.lock().unwrap())
    };
    assert_eq!(ask(|_, _| false), []);
    assert_eq!(ask(|sequence, before| sequence == 3 && before < 2), [(3, 1), (3, 2)]);
    // A finished batch is forgotten: the next one begins at its first attempt.
    let twice = ask(|sequence, before| matches!(sequence, 1 | 5) && before < 2);
    assert_eq!(twice, [(1, 1), (1, 2), (5, 1), (5, 2)]);
}

fn c55_rewind_with_a_pause_takes_as_long<K: Kind>(setup: Setup<K>) {
    let stage = stage().on_error(Retries::of_batch().pause(MOMENT).longest_pause(MOMENT));
    let start = Instant::now();
    let (given, _) = given(setup, stage, 3, |sequence, before| sequence == 1 && before < 2);
    assert!(start.elapsed() >= 2 * MOMENT);
    assert_eq!(given, [0, 1, 0, 1, 0, 1, 2]);
}

fn c55_rewind_that_gives_up_skips_its_event<K: Kind>(setup: Setup<K>) {
    let stage = stage().on_error(Retries::of_batch().attempts(3).or(Action::Skip));
    let (given, finished) = given(setup, stage, 30, |sequence, _| matches!(sequence, 15 | 25));
    let thrice = |range: RangeInclusive<Sequence>| (0..3).flat_map(move |_| range.clone());
    assert!(given.into_iter().eq(thrice(0..=15).chain(thrice(16..=25)).chain(26..30)));
    assert_eq!((finished.processed(), finished.skipped()), (30, 2));
}
