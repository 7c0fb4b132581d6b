//! Workers that fail, by a panic or by an error: what each policy of the group costs, and what
//! every action does with the events of a group.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use crate::common::{Kind, Lcg, ON_PURPOSE, quiet_panics, repeats, wait_until};
use crate::group::{End, Group, Sharing, does, notices};
use crate::handlers::{Call, Turn};
use lapwing::consumer::{Failure, FailurePolicy, Outcome, Retries};
use lapwing::{Action, Stage};

crate::for_each_group! {
    a_failure_without_a_policy_halts_the_ring_and_names_the_worker,
    a_failure_may_cost_one_event,
    a_failure_may_cost_one_worker,
    an_event_that_no_worker_could_handle_stopped_the_whole_group,
    a_failure_may_cost_another_try,
    an_event_may_be_skipped_after_another_try,
    a_restart_puts_the_handler_in_order,
    an_error_asks_the_policy_of_the_group,
    a_rewind_gives_the_claim_again_and_no_more,
    a_panic_between_batches_costs_no_event,
    a_failed_event_is_known_as_such_after_the_group,
    actions_of_every_kind_lose_nothing,
}

crate::common::for_both_producers! {
    a_policy_that_waits_for_the_policy_of_another_worker_runs_without_a_lock,
}

const TEXT: &str = "on purpose: three";

/// How a handler fails at event 3.
#[derive(Clone, Copy)]
enum How {
    Panic,
    Error,
}

impl How {
    const BOTH: [Self; 2] = [Self::Panic, Self::Error];

    /// A stage with a policy for such a failure.
    fn asks(self, policy: impl FailurePolicy) -> Stage {
        match self {
            Self::Panic => Stage::new("work").on_panic(policy),
            Self::Error => Stage::new("work").on_error(policy),
        }
    }

    /// Runs `workers` workers of `stage`, which fail at event 3, the first `times` times, with 20
    /// events that are published before the start.
    fn run<K: Kind>(self, workers: usize, sharing: Sharing, stage: Stage, times: u64) -> End {
        quiet_panics();
        let tries = AtomicU64::new(0);
        let says = move |turn: &Turn| {
            let fails = turn.sequence == 3 && tries.fetch_add(1, Ordering::Relaxed) < times;
            match self {
                Self::Panic if fails => panic!("{TEXT}"),
                Self::Error if fails => Err(TEXT),
                _ => Ok(Action::Continue),
            }
        };
        let group = Group { capacity: 32, stage, does: does(says), ..Group::of(workers, sharing) };
        let mut ready = Group { check: Some("check".into()), ..group }.build::<K>();
        ready.feed.publish_all(20);
        ready.start().end()
    }
}

fn detached() -> Outcome {
    Outcome::Detached { message: TEXT.to_owned(), sequence: 3 }
}

fn a_failure_without_a_policy_halts_the_ring_and_names_the_worker<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let end = how.run::<K>(2, sharing, Stage::new("work"), 1);
        let message = TEXT.to_owned();
        let failed = match how {
            How::Panic => Outcome::Panicked { message, sequence: 3 },
            How::Error => Outcome::Failed { message, sequence: 3 },
        };
        assert_eq!(end.count(&failed), 1, "{:?}", end.outcomes());
        assert_eq!(end.book.tries(3), 1);
        end.book.assert_no_faults();
    }
}

fn a_failure_may_cost_one_event<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let mut end = how.run::<K>(2, sharing, how.asks(Action::Skip), 1);
        assert_eq!((end.outcomes(), end.skipped()), (vec![Outcome::Drained; 2], 1));
        end.assert_each_once_but(&[3]);
        assert_eq!(end.downstream(), [(19, 1)]);
    }
}

fn a_failure_may_cost_one_worker<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let mut end = how.run::<K>(3, sharing, how.asks(Action::Stop), 1);
        assert_eq!((end.count(&detached()), end.count(&Outcome::Drained)), (1, 2));
        assert!(end.error.is_some());
        assert_eq!(end.skipped(), 0);
        end.assert_each_once_but(&[]);
        assert_eq!(end.downstream(), [(20, 0)]);
    }
}

/// With `Stop` the event goes on to the next worker, until the last one halts the ring.
fn an_event_that_no_worker_could_handle_stopped_the_whole_group<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let stage = how.asks(Action::SkipAndStop).max_batch(1);
        let mut end = how.run::<K>(3, sharing, stage, u64::MAX);
        assert_eq!((end.count(&detached()), end.count(&Outcome::Drained)), (1, 2));
        assert_eq!(end.skipped(), 1);
        end.assert_each_once_but(&[3]);
        assert_eq!(end.downstream(), [(19, 1)]);
    }
}

fn a_failure_may_cost_another_try<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let stage = how.asks(Retries::of_event().attempts(3));
        let end = how.run::<K>(2, sharing, stage, 2);
        assert_eq!((end.outcomes(), end.skipped()), (vec![Outcome::Drained; 2], 0));
        end.assert_each_once_but(&[]);
        assert_eq!(end.book.tries(3), 3);
    }
}

fn an_event_may_be_skipped_after_another_try<K: Kind>(sharing: Sharing) {
    for how in How::BOTH {
        let stage = how.asks(Retries::of_event().attempts(2).or(Action::Skip));
        let mut end = how.run::<K>(2, sharing, stage, u64::MAX);
        assert_eq!((end.outcomes(), end.skipped()), (vec![Outcome::Drained; 2], 1));
        end.assert_each_once_but(&[3]);
        assert_eq!(end.book.tries(3), 2);
        assert_eq!(end.downstream(), [(19, 1)]);
    }
}

fn a_restart_puts_the_handler_in_order<K: Kind>(sharing: Sharing) {
    quiet_panics();
    let restarts = Arc::new([const { AtomicU64::new(0) }; 2]);
    let [before, after] = [Arc::clone(&restarts), Arc::clone(&restarts)];
    let says = move |turn: &Turn| {
        let is_in_order = before[turn.worker].load(Ordering::Relaxed) > 0;
        assert!(is_in_order, "{ON_PURPOSE}: not in order");
        Ok(Action::Continue)
    };
    let notices = notices(move |worker, call| {
        let restarts = u64::from(matches!(call, Call::Restart));
        after[worker].fetch_add(restarts, Ordering::Relaxed);
    });
    let stage = Stage::new("work").on_panic(Retries::with_restart().attempts(2));
    let group = Group { capacity: 32, stage, does: does(says), notices, ..Group::of(2, sharing) };
    let mut end = group.share::<K>(20);
    for (worker, calls) in end.calls().iter().enumerate() {
        assert_eq!(restarts[worker].load(Ordering::Relaxed), u64::from(calls.events > 0));
    }
}

// ---- the policy of a group ----

fn an_error_asks_the_policy_of_the_group<K: Kind>(sharing: Sharing) {
    let (log, failures) = mpsc::channel();
    let stage = Stage::new("work").on_error(move |failure: &Failure<'_>| {
        log.send((failure.stage().to_owned(), failure.sequence(), failure.attempt())).unwrap();
        if failure.attempt() < 2 { Action::Retry(Duration::ZERO) } else { Action::Skip }
    });
    let says = |turn: &Turn| {
        if turn.sequence.is_multiple_of(5) { Err("a fifth") } else { Ok(Action::Continue) }
    };
    let mut run = Group { stage, does: does(says), ..Group::of(2, sharing) }.start::<K>();
    run.feed.publish_all(20);
    let end = run.end();
    end.assert_each_once_but(&[0, 5, 10, 15]);
    assert_eq!((end.skipped(), end.error), (4, None));
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
    let group = Group { stage, does: does(|_| Err("no route")), ..Group::of(2, Sharing::Any) };
    let mut run = group.start::<K>();
    run.feed.publish_all(8);
    let report = run.end().report;
    let skipped: Vec<_> = report.stages().map(|worker| worker.skipped()).collect();
    assert_eq!(skipped, [4, 4], "each failure waits for a failure of the other worker");
}

// ---- batches and actions ----

/// The rewind comes at the end of the first claim that is finished.
fn a_rewind_gives_the_claim_again_and_no_more<K: Kind>(sharing: Sharing) {
    let rewound = Arc::new(Mutex::new(None));
    let (claim, firsts) = (Arc::clone(&rewound), Mutex::new([None; 2]));
    let says = move |turn: &Turn| {
        let first = *firsts.lock().unwrap()[turn.worker].get_or_insert(turn.sequence);
        if turn.end_of_batch {
            firsts.lock().unwrap()[turn.worker] = None;
            let mut claim = claim.lock().unwrap();
            if claim.is_none() {
                *claim = Some(first..turn.sequence + 1);
                return Ok(Action::Rewind(Duration::ZERO));
            }
        }
        Ok(Action::Continue)
    };
    let group = Group { capacity: 64, does: does(says), ..Group::of(2, sharing) };
    let mut ready = group.build::<K>();
    ready.feed.publish_of(1, 64);
    let end = ready.start().drain();
    let claim = rewound.lock().unwrap().clone().unwrap();
    assert_eq!(claim.end - claim.start, 16, "the longest batch: a quarter of the ring");
    for sequence in 0..64 {
        assert_eq!(end.book.tries(sequence), 1 + u64::from(claim.contains(&sequence)));
    }
}

/// Each worker panics once, when its second batch is announced or at a timeout.
fn a_panic_between_batches_costs_no_event<K: Kind>(sharing: Sharing) {
    quiet_panics();
    for action in [Action::Skip, Action::Continue, Action::Retry(Duration::ZERO)] {
        for is_at_timeout in [false, true] {
            let calls = Arc::new([const { AtomicU64::new(0) }; 2]);
            let so_far = Arc::clone(&calls);
            let notices = notices(move |worker, call| {
                let is_counted = match call {
                    Call::Batch => !is_at_timeout,
                    Call::Timeout(_) => is_at_timeout,
                    _ => false,
                };
                let is_second = is_counted && so_far[worker].fetch_add(1, Ordering::Relaxed) == 1;
                assert!(!is_second, "{ON_PURPOSE}: between batches");
            });
            let timeout = Duration::from_millis(1);
            let stage = Stage::new("work").max_batch(1).timeout_after(timeout).on_panic(action);
            let group = Group { stage, notices, events: 4096, ..Group::of(2, sharing) };
            let mut run = group.start::<K>();
            run.feed.publish_all(20);
            if is_at_timeout {
                wait_until(|| calls.iter().all(|calls| calls.load(Ordering::Relaxed) > 2));
            }
            run.feed.publish_all(20);
            let end = run.drain();
            assert_eq!(end.skipped(), 0);
            assert!(calls.iter().any(|calls| calls.load(Ordering::Relaxed) > 2));
        }
    }
}

fn a_failed_event_is_known_as_such_after_the_group<K: Kind>(sharing: Sharing) {
    let events = repeats(5_000);
    let is_skipped = |event: u64| event.is_multiple_of(3);
    let says = move |turn: &Turn| {
        Ok(if is_skipped(turn.sequence) { Action::Skip } else { Action::Continue })
    };
    let group = Group { does: does(says), check: Some("check".into()), ..Group::of(3, sharing) };
    let mut end = Group { checkers: 2, ..group }.share::<K>(events);
    let failed = (0..events).filter(|event| is_skipped(*event)).count() as u64;
    let [check, one, other] = end.downstream()[..] else { panic!("three consumers") };
    assert_eq!(check, (events - failed, failed));
    assert_eq!((one.0 + other.0, one.1 + other.1), check);
}

fn actions_of_every_kind_lose_nothing<K: Kind>(sharing: Sharing) {
    for seed in 0..repeats(30) {
        let events = repeats(1_000);
        let says = move |turn: &Turn| {
            let mut dice = Lcg(seed << 32 | (turn.worker as u64) << 24 | turn.turn);
            let (action, is_rare) = (dice.below(20), dice.below(10) == 0);
            Ok(match action {
                0 if turn.worker > 0 && is_rare => Action::Stop,
                1 => Action::Retry(Duration::ZERO),
                2 => Action::Restart(Duration::ZERO),
                3 => Action::ReleaseNow,
                4 => Action::Skip,
                5 if is_rare => Action::Rewind(Duration::ZERO),
                _ => Action::Continue,
            })
        };
        let group = Group { capacity: 16, up_to: Some(6), ..Group::of(3, sharing) };
        let mut run = Group { does: does(says), events, ..group }.start::<K>();
        for round in 0..events / 16 {
            run.feed.publish_all(16);
            run.resize(1 + round as usize % 6);
        }
        run.drain();
    }
}
