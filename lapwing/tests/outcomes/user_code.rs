//! Panics in user code other than handlers: errors whose `Display` or drop panics, policies whose
//! drop panics, and several of them at the same time.

use std::fmt;

use lapwing::consumer::{Consumer, Failure, FailurePolicy, Outcome};
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Said, Spy, counts, drain, drain_one};

common::for_both_producers! {
    an_error_whose_display_or_drop_panics_repeats_no_event_and_revives_no_stage,
    an_error_whose_conversion_panics_is_a_panic_of_its_event,
    policies_that_panic_when_dropped_are_reported,
    policies_and_a_strategy_that_panic_when_dropped_do_not_end_the_process,
    what_panics_when_dropped_after_a_factory_that_panicked_leaves_a_report,
}

/// The behaviour of an error.
#[derive(Debug, Clone, Copy)]
struct Bad {
    shows: bool,
    drops: bool,
}

#[derive(Debug)]
struct BadError(Bad);

impl fmt::Display for BadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(!self.0.shows, "{ON_PURPOSE}, shown");
        f.write_str(ON_PURPOSE)
    }
}

impl Drop for BadError {
    fn drop(&mut self) {
        assert!(!self.0.drops, "{ON_PURPOSE}, dropped");
    }
}

impl std::error::Error for BadError {}

/// Runs a stage whose event 1 fails with such an error, by `action` for errors and `Skip` for
/// panics. Returns how it ended, its counts and its events.
fn fail<K: Kind>(bad: Bad, action: Action) -> (Outcome, (u64, u64), Vec<Sequence>) {
    quiet_panics();
    let mut seen = Vec::new();
    let stage = Stage::new("fails").max_batch(8).on_error(action).on_panic(Action::Skip);
    let ring = K::ring(8, || 0).stage(stage).read(|_, sequence, _| {
        seen.push(sequence);
        assert!(seen.len() < 50, "the event is retried for ever");
        if sequence == 1 { Err(BadError(bad)) } else { Ok(()) }
    });
    let finished = drain_one(ring, 3);
    let result = (finished.outcome().clone(), counts(&finished));
    drop(finished);
    (result.0, result.1, seen)
}

/// Such a panic must not count as one between batches, which would repeat the batch for ever and
/// duplicate finished events. Nor may it undo the end of a stage that was told to stop, nor end the
/// process. The text is shown only if the stage ends.
fn an_error_whose_display_or_drop_panics_repeats_no_event_and_revives_no_stage<K: Kind>() {
    let [shows, drops, does_both] =
        [(true, false), (false, true), (true, true)].map(|(shows, drops)| Bad { shows, drops });
    let panicked = |how: &str| {
        let message = format!("{ON_PURPOSE}, {how}");
        (Outcome::Panicked { message, sequence: 1 }, (1, 0), vec![0, 1])
    };
    let drained = |skipped| (Outcome::Drained, (3, skipped), vec![0, 1, 2]);
    assert_eq!(fail::<K>(shows, Action::Skip), drained(1));
    assert_eq!(fail::<K>(shows, Action::Continue), drained(0));
    for action in [Action::Stop, Action::Halt] {
        assert_eq!(fail::<K>(shows, action), panicked("shown"), "{action:?}");
        assert_eq!(fail::<K>(does_both, action), panicked("shown"), "{action:?}");
    }
    for action in [Action::Skip, Action::Continue, Action::Stop, Action::Halt] {
        assert_eq!(fail::<K>(drops, action), panicked("dropped"), "{action:?}");
    }
}

/// Its conversion into an error panics.
struct Unconvertible;

impl From<Unconvertible> for Box<dyn std::error::Error + Send + Sync> {
    fn from(_: Unconvertible) -> Self {
        panic!("{ON_PURPOSE}")
    }
}

fn an_error_whose_conversion_panics_is_a_panic_of_its_event<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("fails").on_panic(Action::Skip);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .read(|_, at, _| if at == 1 { Err(Unconvertible) } else { Ok(()) })
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 3);
    assert_eq!(counts(&finished[0]), (3, 1));
    assert_eq!(finished[1].take_handler::<Book>().unwrap().failed, [1]);
}

/// A policy whose drop panics.
#[derive(Clone)]
struct Clings;

impl FailurePolicy for Clings {
    fn decide(&mut self, _: &Failure<'_>) -> Action {
        Action::Skip
    }
}

impl Drop for Clings {
    fn drop(&mut self) {
        panic!("{ON_PURPOSE}");
    }
}

/// A strategy that panics when the stage's own copy, which has waited, is dropped.
#[derive(Clone)]
struct ClingsToo {
    blocking: Blocking,
    has_waited: bool,
}

impl WaitStrategy for ClingsToo {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.has_waited = true;
        self.blocking.next(waiting)
    }
}

impl Drop for ClingsToo {
    fn drop(&mut self) {
        assert!(!self.has_waited, "{ON_PURPOSE}");
    }
}

fn clinging() -> ClingsToo {
    ClingsToo { blocking: Blocking { yields: 0 }, has_waited: false }
}

fn succeeds(_: &u64, _: Sequence, _: bool) -> Said {
    Ok(Action::Continue)
}

fn policies_that_panic_when_dropped_are_reported<K: Kind>() {
    quiet_panics();
    for stage in [Stage::new("a").on_error(Clings), Stage::new("a").on_panic(Clings)] {
        let finished = drain_one(K::ring(8, || 0_u64).stage(stage).read(succeeds), 3);
        let expected = Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence: 3 };
        assert_eq!((finished.outcome(), counts(&finished)), (&expected, (3, 0)));
    }
}

/// A panic during the unwinding of another one ends the process.
fn policies_and_a_strategy_that_panic_when_dropped_do_not_end_the_process<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("a").on_error(Clings).on_panic(Clings).wait_strategy(clinging());
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage(stage).read(succeeds).build().unwrap();
    let running = consumers.start().unwrap();
    std::thread::sleep(common::MOMENT); // probably waiting by now; the test is also correct if not
    producer.publish(|_| {}).unwrap();
    let report = running.shutdown().unwrap_err().into_report();
    let stage = report.stages().next().unwrap();
    assert!(matches!(stage.outcome(), Outcome::Panicked { .. }), "{stage:?}");
    assert_eq!(counts(stage), (1, 0));
}

/// The thread must leave a result, because `shutdown_timeout` waits for it.
fn what_panics_when_dropped_after_a_factory_that_panicked_leaves_a_report<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("a").on_error(Clings).on_panic(Clings);
    let make = || -> Spy { panic!("{ON_PURPOSE}, the factory") };
    let (producer, consumers) = K::ring(8, || 0_u64).stage(stage).read_local(make).build().unwrap();
    drop(producer);
    let finished = consumers.into_iter().map(Consumer::run).next().unwrap();
    let message = format!("{ON_PURPOSE}, the factory");
    assert_eq!(*finished.outcome(), Outcome::Panicked { message, sequence: 0 });
}
