//! C55: rewinds, and the attempt number that a policy gets. The expected calls are written out, which
//! `random.rs` only compares with a model. A case is a row: which events fail, once for each time
//! that they are listed, what the policy answers, what comes, and what the policy is asked.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::mpsc;
use std::time::Duration;

use lapwing::consumer::{Failure, FailurePolicy, Outcome, Retries};
use lapwing::{Action, Producer, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE};
use crate::{Form, Log, Spy, counts, detached_at, drain_one, failed_at};

common::for_both_producers! {
    c55_rewinds_and_attempts_in_one_batch,
    c55_only_the_current_batch_comes_again,
    c55_gives_up_after_three_attempts_at_two_events,
    c55_a_batch_that_is_given_again_may_have_grown,
    c55_a_batch_closure_rewinds_its_batch,
    no_attempts_are_as_one,
    giving_up_may_be_any_action,
}

/// A stage's longest batch has all events.
const SLOTS: usize = 32;

const AGAIN: Action = Action::Rewind(Duration::ZERO);
const RETRY: Action = Action::Retry(Duration::ZERO);
const RESTART: Action = Action::Restart(Duration::ZERO);

/// Returns each of `actions` in turn, and the last one from then on.
fn in_turn(actions: &[Action]) -> impl FailurePolicy {
    let mut actions = VecDeque::from(actions.to_vec());
    move |_: &Failure<'_>| match actions.len() {
        1 => actions[0],
        _ => actions.pop_front().unwrap(),
    }
}

/// Runs a stage that fails at each of `bad`, once for each time that it occurs there, in this order.
/// Returns how it ended, its counts and its calls.
fn run<K: Kind>(
    form: Form,
    (events, max_batch): (u64, usize),
    bad: &[Sequence],
    policy: impl FailurePolicy,
) -> (Outcome, (u64, u64), Log) {
    let log = Log::default();
    let stage = Stage::new("fails").max_batch(max_batch).on_error(log.policy(policy));
    let mut bad = VecDeque::from(bad.to_vec());
    let spy = Spy::new(&log, move |call| {
        if bad.front().is_some_and(|bad| call.includes(*bad)) {
            bad.pop_front();
            return Err(ON_PURPOSE);
        }
        Ok(Action::Continue)
    });
    let finished = drain_one(form.add(K::ring(SLOTS, || 0), stage, spy), events);
    (finished.outcome().clone(), counts(&finished), log)
}

fn all(ranges: &[Range<u64>]) -> Vec<u64> {
    ranges.iter().cloned().flatten().collect()
}

/// Events, those that fail, answers, ranges of events that come, and questions to the policy.
type Row<'a> = (u64, &'a [u64], &'a [Action], &'a [Range<u64>], &'a [(u64, u32)]);

fn c55_rewinds_and_attempts_in_one_batch<K: Kind>() {
    let rows: &[Row<'_>] = &[
        (10, &[], &[AGAIN], &[0..5, 5..10], &[]),
        // On any event of a batch.
        (4, &[0], &[AGAIN], &[0..1, 0..4], &[(0, 1)]),
        (4, &[1], &[AGAIN], &[0..2, 0..4], &[(1, 1)]),
        (4, &[3], &[AGAIN], &[0..4, 0..4], &[(3, 1)]),
        (1, &[0], &[AGAIN], &[0..1, 0..1], &[(0, 1)]),
        // Several times, and on several events: the attempts are those of the batch.
        (6, &[4; 3], &[AGAIN], &[0..5, 0..5, 0..5, 0..6], &[(4, 1), (4, 2), (4, 3)]),
        (
            10,
            &[0, 5, 5, 9],
            &[AGAIN],
            &[0..1, 0..6, 0..6, 0..10, 0..10],
            &[(0, 1), (5, 2), (5, 3), (9, 4)],
        ),
        (5, &[3, 1, 4], &[AGAIN], &[0..4, 0..2, 0..5, 0..5], &[(3, 1), (1, 2), (4, 3)]),
        // Of events that are retried, and after restarts: those of the event.
        (5, &[2, 2, 3], &[RETRY], &[0..3, 2..3, 2..4, 3..5], &[(2, 1), (2, 2), (3, 1)]),
        (4, &[1, 1, 2], &[RESTART], &[0..2, 1..2, 1..3, 2..4], &[(1, 1), (1, 2), (2, 1)]),
        // The event is the same, whether it is retried alone or with its batch.
        (
            5,
            &[3; 3],
            &[AGAIN, RETRY, RESTART],
            &[0..4, 0..4, 3..4, 3..5],
            &[(3, 1), (3, 2), (3, 3)],
        ),
        // After an answer that is not a repetition, the next failure is a first one. Event 2 counts
        // as finished in spite of its error.
        (
            5,
            &[1, 2, 3, 3],
            &[RETRY, Action::Continue, AGAIN],
            &[0..2, 1..3, 3..4, 3..4, 3..5],
            &[(1, 1), (2, 1), (3, 1), (3, 2)],
        ),
    ];
    for &(events, bad, answers, seen, asked) in rows {
        let (outcome, counts, log) = run::<K>(Form::Event, (events, SLOTS), bad, in_turn(answers));
        assert_eq!((outcome, counts), (Outcome::Drained, (events, 0)), "{bad:?}");
        assert_eq!(log.sequences(), all(seen), "{bad:?}");
        assert_eq!(log.asked(), asked, "{bad:?}");
    }
}

fn c55_only_the_current_batch_comes_again<K: Kind>() {
    let (.., log) = run::<K>(Form::Event, (10, 4), &[2, 5, 7, 8], AGAIN);
    assert_eq!(log.sequences(), all(&[0..3, 0..4, 4..6, 4..8, 4..8, 8..9, 8..10]));
    assert_eq!(log.asked(), [(2, 1), (5, 1), (7, 2), (8, 1)]);
}

fn c55_gives_up_after_three_attempts_at_two_events<K: Kind>() {
    let policy = Retries::of_batch().attempts(3).or(Action::Skip);
    let bad = [15, 15, 15, 25, 25, 25];
    let (_, counts, log) = run::<K>(Form::Event, (30, SLOTS), &bad, policy);
    assert_eq!(log.sequences(), all(&[0..16, 0..16, 0..16, 16..26, 16..26, 16..26, 26..30]));
    assert_eq!(log.asked(), [(15, 1), (15, 2), (15, 3), (25, 1), (25, 2), (25, 3)]);
    assert_eq!(counts, (30, 2));
}

/// A rewound batch contains the events available from its first event on, determined anew each
/// time.
fn c55_a_batch_that_is_given_again_may_have_grown<K: Kind>() {
    let log = Log::default();
    let (give, given) = mpsc::channel::<Producer<u64, K::Sequencer>>();
    let mut is_first = true;
    let mut kept = Vec::new(); // dropped only with the stage
    let spy = Spy::new(&log, move |call| {
        if !call.includes(1) || !mem::take(&mut is_first) {
            return Ok(Action::Continue);
        }
        let mut producer = given.recv().unwrap();
        assert_eq!(producer.publish_batch(2, |_| {}), Ok(2..4));
        producer.close();
        kept.push(producer);
        Ok(AGAIN)
    });
    let stage = Stage::new("grows").max_batch(SLOTS);
    let ring = Form::Batch.add(K::ring(SLOTS, || 0), stage, spy);
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    give.send(producer).unwrap();
    let finished = consumers.into_iter().next().unwrap().run();
    assert_eq!(counts(&finished), (4, 0));
    assert_eq!(log.events(), [0..2, 0..4]);
}

fn c55_a_batch_closure_rewinds_its_batch<K: Kind>() {
    let policy = Retries::of_batch().attempts(2).or(Action::Skip);
    let (_, counts, log) = run::<K>(Form::BatchMut, (10, 4), &[5, 5], policy);
    assert_eq!(log.events(), [0..4, 4..8, 4..8, 8..10]);
    assert_eq!((log.asked(), counts), (vec![(4, 1), (4, 2)], (10, 4)));
}

fn no_attempts_are_as_one<K: Kind>() {
    for attempts in [0, 1] {
        let policy = Retries::of_event().attempts(attempts).or(Action::Skip);
        let (_, counts, log) = run::<K>(Form::Event, (3, SLOTS), &[1, 1], policy);
        assert_eq!((counts, log.asked()), ((3, 1), vec![(1, 1)]));
    }
}

fn giving_up_may_be_any_action<K: Kind>() {
    let ends = |give_up| {
        let policy = Retries::of_event().attempts(2).or(give_up);
        let (outcome, counts, log) = run::<K>(Form::Event, (3, SLOTS), &[1; 3], policy);
        (outcome, counts, log.events().len())
    };
    let drained = |calls| (Outcome::Drained, (3, 0), calls);
    assert_eq!(ends(Action::Continue), drained(4));
    assert_eq!(ends(RETRY), drained(6), "without an end");
    assert_eq!(ends(AGAIN), drained(6), "it is now the first of its batch");
    assert_eq!(ends(Action::Stop), (detached_at(1), (1, 0), 3));
    assert_eq!(ends(Action::Halt), (failed_at(1), (1, 0), 3));
}
