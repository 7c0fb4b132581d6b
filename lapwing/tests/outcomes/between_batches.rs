//! C52 and C53: panics of a stage's code outside of any event, and the reaction of its policy.

use std::mem;
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Consumer, Failure, Outcome};
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Call, Form, Log, Spy, counts, detached_at, drain, drain_one, panicked_at};

common::for_both_producers! {
    c52_a_panic_in_on_batch_start_skips_no_event,
    c52_a_panic_in_every_on_batch_start_is_not_repeated_for_ever,
    c52_a_panic_in_on_batch_start_may_be_tried_again,
    c52_a_panic_in_on_batch_start_of_a_later_batch_names_its_first_event,
    c53_a_panic_in_on_timeout_skips_no_event,
    c53_a_panic_in_on_timeout_after_events_is_not_theirs,
    c53_a_panic_in_a_wait_strategy_skips_no_event,
    c53_panics_while_idle_do_not_delay_a_close,
    attempts_of_calls_between_batches_are_those_of_the_next_event,
}

const ZERO: Duration = Duration::ZERO;

/// The actions that let a stage survive.
const SURVIVALS: [Action; 6] = [
    Action::Continue,
    Action::ReleaseNow,
    Action::Skip,
    Action::Retry(ZERO),
    Action::Rewind(ZERO),
    Action::Restart(ZERO),
];

/// Panics in the first `times` calls for which `is_it` is true.
fn panicking(times: usize, is_it: fn(&Call) -> bool) -> impl FnMut(&Call) -> crate::Said + Send {
    let mut left = times;
    move |call| {
        if is_it(call) && left > 0 {
            left -= 1;
            panic!("{ON_PURPOSE}");
        }
        Ok(Action::Continue)
    }
}

fn is_batch_start(call: &Call) -> bool {
    matches!(call, Call::BatchStart(..))
}

fn c52_a_panic_in_on_batch_start_skips_no_event<K: Kind>() {
    quiet_panics();
    for action in SURVIVALS.into_iter().chain([Action::Stop, Action::Halt]) {
        let log = Log::default();
        let stage = Stage::new("panics").max_batch(2).on_panic(action);
        let spy = Spy::new(&log, panicking(1, is_batch_start));
        let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
        let mut finished = drain(ring.stage("book").read_handler(Book::default()), 5);
        let (outcome, processed, done) = match action {
            Action::Stop => (detached_at(0), 0, 5),
            Action::Halt => (panicked_at(0), 0, 0),
            _ => (Outcome::Drained, 5, 5),
        };
        assert_eq!(log.sequences(), (0..processed).collect::<Vec<_>>(), "{action:?}");
        assert_eq!((finished[0].outcome(), counts(&finished[0])), (&outcome, (processed, 0)));
        let book: Book = finished[1].take_handler().unwrap();
        assert_eq!(book, Book { done: (0..done).collect(), failed: Vec::new() }, "{action:?}");
        let restarts = usize::from(action == Action::Restart(ZERO));
        assert_eq!(log.count(&Call::Restart), restarts, "{action:?}");
        let is_ended = matches!(action, Action::Stop | Action::Halt);
        assert_eq!(log.count(&Call::Shutdown), usize::from(!is_ended), "{action:?}");
    }
}

/// With a policy that continues, only the call itself is skipped.
fn c52_a_panic_in_every_on_batch_start_is_not_repeated_for_ever<K: Kind>() {
    quiet_panics();
    for action in [Action::Continue, Action::ReleaseNow, Action::Skip] {
        let log = Log::default();
        let stage = Stage::new("panics").max_batch(2).on_panic(action);
        let spy = Spy::new(&log, panicking(usize::MAX, is_batch_start));
        let finished = drain_one(Form::HandlerMut.add(K::ring(8, || 0), stage, spy), 5);
        assert_eq!(log.sequences(), [0, 1, 2, 3, 4]);
        let announced: Vec<Call> = log.calls().into_iter().filter(is_batch_start).collect();
        let expected = [Call::BatchStart(2, 5), Call::BatchStart(2, 3), Call::BatchStart(1, 1)];
        assert_eq!(announced, expected, "{action:?}: once for each batch");
        assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (5, 0)));
    }
}

fn c52_a_panic_in_on_batch_start_may_be_tried_again<K: Kind>() {
    quiet_panics();
    for action in [Action::Retry(ZERO), Action::Rewind(ZERO), Action::Restart(ZERO)] {
        let log = Log::default();
        let asked = log.clone();
        let policy = move |failure: &Failure<'_>| {
            asked.push(Call::Policy(failure.sequence(), failure.attempt()));
            action
        };
        let stage = Stage::new("panics").max_batch(4).on_panic(policy);
        let spy = Spy::new(&log, panicking(3, is_batch_start));
        drop(drain_one(Form::Handler.add(K::ring(8, || 0), stage, spy), 4));
        assert_eq!(log.count(&Call::BatchStart(4, 4)), 4, "{action:?}: the last call succeeds");
        for attempt in 1..=3 {
            assert_eq!(log.count(&Call::Policy(0, attempt)), 1, "{action:?}");
        }
    }
}

fn c52_a_panic_in_on_batch_start_of_a_later_batch_names_its_first_event<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let spy = Spy::new(&log, panicking(1, |call| *call == Call::BatchStart(2, 3)));
    let stage = Stage::new("panics").max_batch(2);
    let finished = drain_one(Form::Handler.add(K::ring(8, || 0), stage, spy), 5);
    assert_eq!((finished.outcome(), counts(&finished)), (&panicked_at(2), (2, 0)));
}

/// Runs a ring whose stage is idle for a while and then gets two events. Returns its calls.
fn run_idle<K: Kind>(
    stage: Stage,
    log: &Log,
    spy: Spy<impl FnMut(&Call) -> crate::Said + Send + 'static>,
) {
    let (mut producer, consumers) =
        Form::Handler.add(K::ring(8, || 0), stage, spy).build().unwrap();
    let running = consumers.start().unwrap();
    common::wait_until(|| log.count(&Call::Timeout(0)) >= 3);
    producer.publish_batch(2, |_| {}).unwrap();
    let report = running.shutdown().unwrap();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Drained, (2, 0)));
}

fn c53_a_panic_in_on_timeout_skips_no_event<K: Kind>() {
    quiet_panics();
    for action in SURVIVALS {
        let log = Log::default();
        let stage = Stage::new("panics").timeout(Duration::from_micros(100)).on_panic(action);
        let spy = Spy::new(&log, panicking(2, |call| matches!(call, Call::Timeout(_))));
        run_idle::<K>(stage, &log, spy);
        assert_eq!(log.sequences(), [0, 1], "{action:?}");
        let restarts = if action == Action::Restart(ZERO) { 2 } else { 0 };
        assert_eq!(log.count(&Call::Restart), restarts);
        assert_eq!(log.count(&Call::Shutdown), 1);
    }
}

/// The previous event is finished, whether it failed or not.
fn c53_a_panic_in_on_timeout_after_events_is_not_theirs<K: Kind>() {
    quiet_panics();
    for bad_event in [None, Some(1)] {
        let log = Log::default();
        let asked = log.clone();
        let policy = move |failure: &Failure<'_>| {
            asked.push(Call::Policy(failure.sequence(), failure.attempt()));
            Action::Skip
        };
        let stage = Stage::new("panics").timeout(Duration::from_micros(100)).on_panic(policy);
        let mut left = 2;
        let spy = Spy::new(&log, move |call| {
            let is_bad = match call {
                Call::Event(at) => Some(*at) == bad_event,
                Call::Timeout(2) => {
                    left -= 1;
                    left >= 0
                }
                _ => false,
            };
            assert!(!is_bad, "{ON_PURPOSE}");
            Ok(Action::Continue)
        });
        let (mut producer, consumers) =
            Form::Handler.add(K::ring(8, || 0), stage, spy).build().unwrap();
        producer.publish_batch(2, |_| {}).unwrap();
        let running = consumers.start().unwrap();
        common::wait_until(|| log.count(&Call::Timeout(2)) >= 3);
        producer.publish(|_| {}).unwrap();
        let report = running.shutdown().unwrap();
        assert_eq!(log.sequences(), [0, 1, 2]);
        assert_eq!(log.count(&Call::Policy(2, 1)), 2, "because the policy did not retry it");
        let skipped = u64::from(bad_event.is_some());
        assert_eq!(counts(report.stages().next().unwrap()), (3, skipped));
    }
}

/// Panics when it is asked for its first and its third step, then blocks.
#[derive(Clone)]
struct Shaky {
    asked: u32,
    blocking: Blocking,
}

impl WaitStrategy for Shaky {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.asked += 1;
        assert!(self.asked > 3 || self.asked == 2, "{ON_PURPOSE}");
        self.blocking.next(waiting)
    }
}

fn c53_a_panic_in_a_wait_strategy_skips_no_event<K: Kind>() {
    quiet_panics();
    for action in SURVIVALS {
        let log = Log::default();
        let shaky = Shaky { asked: 0, blocking: Blocking { yields: 0 } };
        let stage = Stage::new("panics").timeout(Duration::from_micros(100)).wait(shaky);
        let spy = Spy::new(&log, |_| Ok(Action::Continue));
        run_idle::<K>(stage.on_panic(action), &log, spy);
        assert_eq!(log.sequences(), [0, 1], "{action:?}");
    }
}

/// Always panics instead of waiting.
#[derive(Clone)]
struct NeverWaits;

impl WaitStrategy for NeverWaits {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        thread::yield_now();
        panic!("{ON_PURPOSE}");
    }
}

/// The stage polls again after each panic, so it sees new events and the close of the ring.
fn c53_panics_while_idle_do_not_delay_a_close<K: Kind>() {
    quiet_panics();
    for action in SURVIVALS {
        let mut seen = 0;
        let stage = Stage::new("panics").wait(NeverWaits).on_panic(action);
        let ring = K::ring(8, || 0_u64).stage(stage).read(|_, _, _| seen += 1);
        let (mut producer, consumers) = ring.build().unwrap();
        thread::scope(|scope| {
            let threads: Vec<_> =
                consumers.into_iter().map(|each| scope.spawn(|| Consumer::run(each))).collect();
            producer.publish_batch(3, |_| {}).unwrap();
            drop(producer);
            for thread in threads {
                let finished = thread.join().unwrap();
                assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (3, 0)));
            }
        });
        assert_eq!(seen, 3, "{action:?}");
    }
}

fn attempts_of_calls_between_batches_are_those_of_the_next_event<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let asked = log.clone();
    let policy = move |failure: &Failure<'_>| {
        asked.push(Call::Policy(failure.sequence(), failure.attempt()));
        Action::Retry(ZERO)
    };
    let stage = Stage::new("panics").max_batch(2).on_panic(policy);
    let (mut announces, mut handles) = (true, true);
    let spy = Spy::new(&log, move |call| {
        let is_bad = match call {
            Call::BatchStart(2, 3) => mem::take(&mut announces),
            Call::Event(2) => mem::take(&mut handles),
            _ => false,
        };
        assert!(!is_bad, "{ON_PURPOSE}");
        Ok(Action::Continue)
    });
    drop(drain_one(Form::Handler.add(K::ring(8, || 0), stage, spy), 5));
    let asked: Vec<Call> =
        log.calls().into_iter().filter(|call| matches!(call, Call::Policy(..))).collect();
    assert_eq!(asked, [Call::Policy(2, 1), Call::Policy(2, 2)]);
}
