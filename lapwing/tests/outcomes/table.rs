//! C50 to C52: each form of a stage, source of a failure, action and place, against the model. A case
//! is a [`Scenario`]; the first table has cases whose results are also written out.

use std::ops::Range;
use std::time::Duration;

use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, quiet_panics};
use crate::scenario::{Act, On, Scenario, Script};
use crate::{ACTIONS, Book, Form, Log, Spy, counts, drain};

common::for_both_producers! {
    c50_each_action_does_what_it_says,
    c50_actions_at_each_place_in_each_form,
    c50_errors_at_each_place_in_each_form,
    c50_panics_at_each_place_in_each_form,
    c50_failures_of_events_that_failed_upstream,
    c52_panics_between_events_skip_no_event,
    c52_a_panic_in_every_on_batch_start_is_not_repeated_for_ever,
    panics_in_two_calls,
    panics_of_policies_halt_the_ring,
    failures_without_a_policy_halt_the_ring,
    miri_each_action_once,
}

const ZERO: Duration = Duration::ZERO;

/// The sources of an action: the handler, or its policy.
const SOURCES: [fn(Action) -> Act; 3] = [Act::Says, |_| Act::Errs, |_| Act::Panics];

fn lines(lines: &[(On, Act)], answer: Action) -> Script {
    Script::Lines(lines.to_vec(), answer)
}

/// The effect of each action on event 2 of five in one batch: the calls after the first three, the
/// events that count, and those that failed. Of the downstream stage: whether it gets the others.
fn c50_each_action_does_what_it_says<K: Kind>() {
    quiet_panics();
    type Row = (Action, Range<Sequence>, u64, &'static [Sequence], bool);
    let rows: [Row; 9] = [
        (Action::Continue, 3..5, 5, &[], true),
        (Action::ReleaseNow, 3..5, 5, &[], true),
        (Action::Skip, 3..5, 5, &[2], true),
        (Action::Retry(ZERO), 2..5, 5, &[], true),
        (Action::Rewind(ZERO), 0..5, 5, &[], true),
        (Action::Restart(ZERO), 2..5, 5, &[], true),
        (Action::Stop, 0..0, 2, &[], true),
        (Action::SkipAndStop, 0..0, 3, &[2], true),
        (Action::Halt, 0..0, 2, &[], false),
    ];
    for (action, then, processed, failed, goes_on) in rows {
        for source in SOURCES {
            let log = Log::default();
            let mut act = Some(source(action));
            let spy = Spy::new(&log, move |call| match act.take_if(|_| call.includes(2)) {
                Some(Act::Says(action)) => Ok(action),
                Some(Act::Errs) => Err("no route"),
                Some(Act::Panics) => panic!("{}", common::ON_PURPOSE),
                None => Ok(Action::Continue),
            });
            let stage = Stage::new("acts").max_batch(8).on_error(action).on_panic(action);
            let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
            let mut finished = drain(ring.stage("book").read_handler(Book::default()), 5);
            let expected: Vec<Sequence> = (0..3).chain(then.clone()).collect();
            assert_eq!(log.sequences(), expected, "{action:?}");
            assert_eq!(counts(&finished[0]), (processed, failed.len() as u64), "{action:?}");
            let all = if goes_on { 0..5 } else { 0..0 };
            let (failed, done) = all.partition(|at| failed.contains(at));
            assert_eq!(finished[1].take_handler::<Book>().unwrap(), Book { done, failed });
        }
    }
}

/// The first call for `bad` does what the source says, in batches of several lengths, of which a
/// handler of batches has finished nothing, some, all, or too much.
fn check_places<K: Kind>(source: fn(Action) -> Act) {
    const EVENTS: u64 = 5;
    for form in Form::ALL {
        let parts = form.is_by_batch() && form.is_handler();
        let finishes: &[u64] = if parts { &[0, 1, 2, 5, u64::MAX] } else { &[0] };
        for max_batch in [2, 3, 8] {
            for bad in 0..EVENTS {
                for action in ACTIONS {
                    for &finishes in finishes {
                        let script = lines(&[(On::Event(bad), source(action))], action);
                        let mut case = Scenario::new(form, EVENTS, max_batch, script);
                        case.finishes = finishes;
                        case.check::<K>();
                    }
                }
            }
        }
    }
}

fn c50_actions_at_each_place_in_each_form<K: Kind>() {
    check_places::<K>(SOURCES[0]);
}

fn c50_errors_at_each_place_in_each_form<K: Kind>() {
    check_places::<K>(SOURCES[1]);
}

fn c50_panics_at_each_place_in_each_form<K: Kind>() {
    check_places::<K>(SOURCES[2]);
}

/// A failed event may fail again, and may be retried.
fn c50_failures_of_events_that_failed_upstream<K: Kind>() {
    for form in Form::ALL {
        for errs_upstream in [false, true] {
            for takes_failed in [false, true] {
                for action in ACTIONS {
                    for source in SOURCES {
                        for bad in [1, 3] {
                            let script = lines(&[(On::Event(bad), source(action))], action);
                            let mut case = Scenario::new(form, 6, 4, script);
                            case.failed = (vec![1, 2, 5], errs_upstream);
                            case.takes_failed = takes_failed;
                            case.check::<K>();
                        }
                    }
                }
            }
        }
    }
}

const HANDLERS: [Form; 4] =
    [Form::Handler, Form::HandlerMut, Form::BatchHandler, Form::BatchHandlerMut];

fn c52_panics_between_events_skip_no_event<K: Kind>() {
    for form in HANDLERS {
        for call in [On::Start, On::BatchStart, On::Shutdown] {
            for answer in ACTIONS {
                // At the first call, at the second, which may come before the same events, and at a
                // call that follows an event.
                for panics in [
                    vec![(call, Act::Panics)],
                    vec![(call, Act::Panics); 3],
                    vec![(On::Event(1), Act::Says(Action::Continue)), (call, Act::Panics)],
                    vec![(call, Act::Panics), (On::Event(0), Act::Panics)],
                ] {
                    Scenario::new(form, 5, 2, lines(&panics, answer)).check::<K>();
                }
            }
        }
    }
}

/// With a policy that continues, only the call itself is skipped.
fn c52_a_panic_in_every_on_batch_start_is_not_repeated_for_ever<K: Kind>() {
    for answer in [Action::Continue, Action::ReleaseNow, Action::Skip] {
        let panics = [(On::BatchStart, Act::Panics); 50];
        Scenario::new(Form::HandlerMut, 5, 2, lines(&panics, answer)).check::<K>();
    }
}

fn panics_in_two_calls<K: Kind>() {
    for form in HANDLERS {
        for source in SOURCES {
            for answer in ACTIONS {
                for last in [On::Restart, On::Shutdown] {
                    let panics = [(On::Event(3), source(answer)), (last, Act::Panics)];
                    Scenario::new(form, 5, 4, lines(&panics, answer)).check::<K>();
                }
            }
        }
    }
}

fn panics_of_policies_halt_the_ring<K: Kind>() {
    for form in Form::ALL {
        for first in [(On::Event(3), Act::Errs), (On::Event(3), Act::Panics)] {
            let script = lines(&[first, (On::Policy, Act::Panics)], Action::Skip);
            Scenario::new(form, 5, 2, script).check::<K>();
        }
    }
    let panics = [(On::BatchStart, Act::Panics), (On::Policy, Act::Panics)];
    Scenario::new(Form::Handler, 5, 2, lines(&panics, Action::Skip)).check::<K>();
}

/// A policy of the other kind is not called.
fn failures_without_a_policy_halt_the_ring<K: Kind>() {
    for form in Form::ALL {
        for act in [Act::Errs, Act::Panics] {
            for policies in [[false; 2], [act == Act::Panics, act == Act::Errs]] {
                for on in [On::Event(3), On::BatchStart] {
                    let mut case = Scenario::new(form, 5, 2, lines(&[(on, act)], Action::Skip));
                    case.policies = policies;
                    case.check::<K>();
                }
            }
        }
    }
}

fn miri_each_action_once<K: Kind>() {
    for action in ACTIONS {
        let says = lines(&[(On::Event(2), Act::Says(action))], action);
        Scenario::new(Form::HandlerMut, 5, 8, says).check::<K>();
        let panics = lines(&[(On::Event(2), Act::Panics)], action);
        Scenario::new(Form::BatchMut, 5, 2, panics).check::<K>();
    }
}
