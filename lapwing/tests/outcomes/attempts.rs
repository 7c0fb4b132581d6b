//! C55: rewinds, and the attempt number that a policy gets.

use std::collections::VecDeque;
use std::time::Duration;

use lapwing::consumer::{Cause, Failure, FailurePolicy, Outcome, Retries};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Call, Form, Log, Said, Spy, counts, drain, drain_one};

common::for_both_producers! {
    c55_rewinds_on_any_event_of_a_batch,
    c55_rewinds_several_times_on_one_event,
    c55_rewinds_on_several_events,
    c55_only_the_current_batch_comes_again,
    c55_a_rewind_repeats_only_unreleased_events,
    c55_gives_up_after_three_attempts_at_two_events,
    c55_a_policy_is_called_once_per_failure,
    c55_other_errors_are_not_rewound,
    c55_a_batch_that_is_given_again_may_have_grown,
    c55_a_batch_closure_rewinds_its_batch,
    attempts_of_an_event_that_is_retried,
    attempts_of_an_event_that_is_given_again_after_a_restart,
    attempts_of_a_batch_count_whichever_event_failed,
    attempts_begin_anew_after_progress,
    attempts_continue_when_the_policy_changes_its_answer,
    attempts_of_errors_and_panics_are_counted_together,
    attempts_do_not_count_retries_that_the_handler_returns,
    no_attempts_are_as_one,
    giving_up_may_be_any_action,
}

/// Events up to the end of the ring. A stage's longest batch has all of them.
const SLOTS: usize = 32;

fn whole(name: &str) -> Stage {
    Stage::new(name).max_batch(SLOTS)
}

/// The calls of a policy: sequence and attempt.
fn decisions(log: &Log) -> Vec<(Sequence, u32)> {
    let decision = |call| match call {
        Call::Policy(sequence, attempt) => Some((sequence, attempt)),
        _ => None,
    };
    log.calls().into_iter().filter_map(decision).collect()
}

/// Logs its calls, then calls `policy`.
fn logged(log: &Log, mut policy: impl FailurePolicy) -> impl FailurePolicy {
    let log = log.clone();
    move |failure: &Failure<'_>| {
        log.push(Call::Policy(failure.sequence(), failure.attempt()));
        policy.decide(failure)
    }
}

/// Returns each of `actions` in turn, then halts.
fn in_turn(actions: &[Action]) -> impl FailurePolicy {
    let mut actions = VecDeque::from(actions.to_vec());
    move |_: &Failure<'_>| actions.pop_front().unwrap_or(Action::Halt)
}

/// Fails at each of `bad`, once for each time that it occurs there, in this order.
fn failing(bad: &[Sequence]) -> impl FnMut(&Call) -> Said + Send + 'static {
    let mut bad = VecDeque::from(bad.to_vec());
    move |call| match bad.front() {
        Some(&at) if call.includes(at) => {
            bad.pop_front();
            Err(ON_PURPOSE)
        }
        _ => Ok(Action::Continue),
    }
}

const AGAIN: Action = Action::Rewind(Duration::ZERO);
const RETRY: Action = Action::Retry(Duration::ZERO);
const RESTART: Action = Action::Restart(Duration::ZERO);

/// Runs `events` events through a stage that fails at `bad`, with `policy`. Returns the calls of
/// the stage and of the policy.
fn run<K: Kind>(
    events: u64,
    bad: &[Sequence],
    policy: impl FailurePolicy,
) -> (Vec<Sequence>, Vec<(Sequence, u32)>) {
    let log = Log::default();
    let stage = whole("fails").on_error(logged(&log, policy));
    let ring = Form::Event.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, failing(bad)));
    let finished = drain_one(ring, events);
    assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (events, 0)));
    (log.sequences(), decisions(&log))
}

/// Concatenates `ranges`.
fn all<const N: usize>(ranges: [std::ops::Range<u64>; N]) -> Vec<u64> {
    ranges.into_iter().flatten().collect()
}

fn c55_rewinds_on_any_event_of_a_batch<K: Kind>() {
    for (events, bad) in [(4, 0), (4, 1), (4, 2), (4, 3), (1, 0)] {
        let (seen, asked) = run::<K>(events, &[bad], AGAIN);
        assert_eq!(seen, all([0..bad + 1, 0..events]));
        assert_eq!(asked, [(bad, 1)]);
    }
}

fn c55_rewinds_several_times_on_one_event<K: Kind>() {
    for bad in [0, 4, 9] {
        let (seen, asked) = run::<K>(10, &[bad; 4], AGAIN);
        let to = bad + 1;
        assert_eq!(seen, all([0..to, 0..to, 0..to, 0..to, 0..10]));
        assert_eq!(asked, [(bad, 1), (bad, 2), (bad, 3), (bad, 4)]);
    }
}

fn c55_rewinds_on_several_events<K: Kind>() {
    let (seen, asked) = run::<K>(10, &[0, 5, 5, 9], AGAIN);
    assert_eq!(seen, all([0..1, 0..6, 0..6, 0..10, 0..10]));
    assert_eq!(asked, [(0, 1), (5, 2), (5, 3), (9, 4)], "all in one batch");
}

fn c55_only_the_current_batch_comes_again<K: Kind>() {
    let log = Log::default();
    let stage = Stage::new("fails").max_batch(4).on_error(logged(&log, AGAIN));
    let ring = Form::Event.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, failing(&[2, 5, 7, 8])));
    drop(drain_one(ring, 10));
    assert_eq!(log.sequences(), all([0..3, 0..4, 4..6, 4..8, 4..8, 8..9, 8..10]));
    assert_eq!(decisions(&log), [(2, 1), (5, 1), (7, 2), (8, 1)]);
}

fn c55_a_rewind_repeats_only_unreleased_events<K: Kind>() {
    // Each of these releases the events before it, and the last two also release the event itself.
    for (action, from) in [(RETRY, 3), (RESTART, 3), (Action::ReleaseNow, 4), (Action::Skip, 4)] {
        let log = Log::default();
        let mut script = VecDeque::from([(3, action), (6, AGAIN)]);
        let spy = Spy::new(&log, move |call| match script.front() {
            Some(&(at, action)) if call.includes(at) => {
                script.pop_front();
                Ok(action)
            }
            _ => Ok(Action::Continue),
        });
        drop(drain_one(Form::Event.add(K::ring(SLOTS, || 0), whole("acts"), spy), 8));
        assert_eq!(log.sequences(), all([0..4, from..7, from..8]), "{action:?}");
    }
}

fn c55_gives_up_after_three_attempts_at_two_events<K: Kind>() {
    let log = Log::default();
    let policy = Retries::of_batch().attempts(3).or(Action::Skip);
    let stage = whole("fails").on_error(logged(&log, policy));
    let act = |call: &Call| {
        if call.includes(15) || call.includes(25) { Err(ON_PURPOSE) } else { Ok(Action::Continue) }
    };
    let ring = Form::Event.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, act));
    let mut finished = drain(ring.stage("book").read_handler(Book::default()), 30);
    assert_eq!(log.sequences(), all([0..16, 0..16, 0..16, 16..26, 16..26, 16..26, 26..30]));
    assert_eq!(decisions(&log), [(15, 1), (15, 2), (15, 3), (25, 1), (25, 2), (25, 3)]);
    assert_eq!(counts(&finished[0]), (30, 2));
    let book: Book = finished[1].take_handler().unwrap();
    assert_eq!((book.done, book.failed), (all([0..15, 16..25, 26..30]), vec![15, 25]));
}

fn c55_a_policy_is_called_once_per_failure<K: Kind>() {
    for (bad, asked) in [(vec![], 0), (vec![3], 1), (vec![3, 3, 7], 3)] {
        assert_eq!(run::<K>(10, &bad, AGAIN).1.len(), asked);
    }
}

fn c55_other_errors_are_not_rewound<K: Kind>() {
    let log = Log::default();
    let mut is_first = true;
    let act = move |call: &Call| match call {
        Call::Event(2) if std::mem::take(&mut is_first) => Err("passing"),
        Call::Event(4) => Err("lasting"),
        _ => Ok(Action::Continue),
    };
    let policy = |failure: &Failure<'_>| match failure.cause() {
        Cause::Error(error) if error.to_string() == "passing" => AGAIN,
        _ => Action::Skip,
    };
    let stage = whole("fails").on_error(logged(&log, policy));
    let finished = drain_one(Form::Event.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, act)), 6);
    assert_eq!(log.sequences(), all([0..3, 0..6]));
    assert_eq!(decisions(&log), [(2, 1), (4, 2)], "the batch's second failure in a row");
    assert_eq!(counts(&finished), (6, 1));
}

/// A rewound batch contains the events available from its first event on, determined anew each
/// time.
fn c55_a_batch_that_is_given_again_may_have_grown<K: Kind>() {
    let log = Log::default();
    let (give, given) = std::sync::mpsc::channel::<lapwing::Producer<u64, K::Sequencer>>();
    let mut is_first = true;
    let mut kept = Vec::new(); // dropped only with the stage
    let spy = Spy::new(&log, move |call| {
        if !call.includes(1) || !std::mem::take(&mut is_first) {
            return Ok(Action::Continue);
        }
        let mut producer = given.recv().unwrap();
        assert_eq!(producer.publish_batch(2, |_| {}), Ok(2..4));
        producer.close();
        kept.push(producer);
        Ok(AGAIN)
    });
    let ring = Form::Batch.add(K::ring(SLOTS, || 0), whole("grows"), spy);
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    give.send(producer).unwrap();
    let finished = consumers.into_iter().next().unwrap().run();
    assert_eq!(counts(&finished), (4, 0));
    assert_eq!(log.events(), [0..2, 0..4]);
}

fn c55_a_batch_closure_rewinds_its_batch<K: Kind>() {
    let log = Log::default();
    let policy = Retries::of_batch().attempts(2).or(Action::Skip);
    let stage = Stage::new("fails").max_batch(4).on_error(logged(&log, policy));
    let act = |call: &Call| if call.includes(5) { Err(ON_PURPOSE) } else { Ok(Action::Continue) };
    let ring = Form::BatchMut.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, act));
    let finished = drain_one(ring, 10);
    assert_eq!(log.events(), [0..4, 4..8, 4..8, 8..10]);
    assert_eq!((decisions(&log), counts(&finished)), (vec![(4, 1), (4, 2)], (10, 4)));
}

fn attempts_of_an_event_that_is_retried<K: Kind>() {
    let (seen, asked) = run::<K>(6, &[2, 2, 2, 3, 5], RETRY);
    assert_eq!(seen, [0, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5]);
    assert_eq!(asked, [(2, 1), (2, 2), (2, 3), (3, 1), (5, 1)]);
}

fn attempts_of_an_event_that_is_given_again_after_a_restart<K: Kind>() {
    let (seen, asked) = run::<K>(4, &[1, 1, 2], RESTART);
    assert_eq!(seen, [0, 1, 1, 1, 2, 2, 3]);
    assert_eq!(asked, [(1, 1), (1, 2), (2, 1)]);
}

fn attempts_of_a_batch_count_whichever_event_failed<K: Kind>() {
    let (seen, asked) = run::<K>(5, &[3, 1, 4], AGAIN);
    assert_eq!(seen, all([0..4, 0..2, 0..5, 0..5]));
    assert_eq!(asked, [(3, 1), (1, 2), (4, 3)]);
}

fn attempts_begin_anew_after_progress<K: Kind>() {
    let log = Log::default();
    let policy =
        in_turn(&[RETRY, RETRY, Action::Skip, AGAIN, Action::Continue, RETRY, AGAIN, RETRY]);
    let stage = Stage::new("fails").max_batch(4).on_error(logged(&log, policy));
    let spy = Spy::new(&log, failing(&[1, 1, 1, 3, 3, 4, 4, 6]));
    let finished = drain_one(Form::Event.add(K::ring(SLOTS, || 0), stage, spy), 8);
    // 1 is skipped, so 3 is in the batch that begins with 2. 3 counts as finished in spite of its
    // error.
    assert_eq!(log.sequences(), all([0..2, 1..2, 1..2, 2..4, 2..4, 4..5, 4..5, 4..7, 6..8]));
    let expected = [(1, 1), (1, 2), (1, 3), (3, 1), (3, 2), (4, 1), (4, 2), (6, 3)];
    assert_eq!(decisions(&log), expected);
    assert_eq!(counts(&finished), (8, 1));
}

/// The event is the same, whether it is retried alone or with its batch.
fn attempts_continue_when_the_policy_changes_its_answer<K: Kind>() {
    for turn in [[AGAIN, RETRY, AGAIN], [RETRY, AGAIN, RESTART], [RESTART, RETRY, AGAIN]] {
        let (_, asked) = run::<K>(5, &[3, 3, 3], in_turn(&turn));
        assert_eq!(asked, [(3, 1), (3, 2), (3, 3)], "{turn:?}");
    }
}

fn attempts_of_errors_and_panics_are_counted_together<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let stage = whole("fails").on_error(logged(&log, RETRY)).on_panic(logged(&log, RETRY));
    let mut tries = 0;
    let spy = Spy::new(&log, move |_| {
        tries += 1;
        assert!(tries != 2, "{ON_PURPOSE}");
        if tries < 4 { Err(ON_PURPOSE) } else { Ok(Action::Continue) }
    });
    let finished = drain_one(Form::Event.add(K::ring(SLOTS, || 0), stage, spy), 1);
    assert_eq!(decisions(&log), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (1, 0)));
}

fn attempts_do_not_count_retries_that_the_handler_returns<K: Kind>() {
    let log = Log::default();
    let stage = whole("fails").on_error(logged(&log, RETRY));
    let mut tries = 0;
    let spy = Spy::new(&log, move |_| {
        tries += 1;
        match tries {
            1 | 2 => Ok(RETRY),
            3 | 5 => Err(ON_PURPOSE),
            4 => Ok(AGAIN),
            _ => Ok(Action::Continue),
        }
    });
    drop(drain_one(Form::Event.add(K::ring(SLOTS, || 0), stage, spy), 1));
    assert_eq!(decisions(&log), [(0, 1), (0, 2)]);
}

fn no_attempts_are_as_one<K: Kind>() {
    for attempts in [0, 1] {
        let log = Log::default();
        let policy = Retries::of_event().attempts(attempts).or(Action::Skip);
        let stage = whole("fails").on_error(logged(&log, policy));
        let ring = Form::Event.add(K::ring(SLOTS, || 0), stage, Spy::new(&log, failing(&[1, 1])));
        assert_eq!(counts(&drain_one(ring, 3)), (3, 1));
        assert_eq!(decisions(&log), [(1, 1)]);
    }
}

fn giving_up_may_be_any_action<K: Kind>() {
    let ends = |give_up: Action| {
        let log = Log::default();
        let stage = whole("fails").on_error(Retries::of_event().attempts(2).or(give_up));
        let spy = Spy::new(&log, failing(&[1, 1, 1]));
        let finished = drain_one(Form::Event.add(K::ring(SLOTS, || 0), stage, spy), 3);
        (finished.outcome().clone(), counts(&finished), log.sequences().len())
    };
    let drained = |processed, skipped, calls| (Outcome::Drained, (processed, skipped), calls);
    assert_eq!(ends(Action::Continue), drained(3, 0, 4));
    assert_eq!(ends(RETRY), drained(3, 0, 6), "without an end");
    assert_eq!(ends(AGAIN), drained(3, 0, 6), "it is now the first of its batch");
    assert_eq!(ends(Action::Stop), (crate::detached_at(1), (1, 0), 3));
    assert_eq!(ends(Action::Halt), (crate::failed_at(1), (1, 0), 3));
}
