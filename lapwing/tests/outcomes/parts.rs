//! What happens to a batch of which a handler has finished a part.

use std::mem;
use std::ops::Range;
use std::time::Duration;

use lapwing::consumer::{Access, BatchHandler, Done, Exclusive, Outcome};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Call, Log, Ring, Said, counts, detached_at, drain, failed_at, panicked_at};

common::for_both_producers! {
    an_action_applies_to_the_rest_of_a_batch,
    an_error_applies_to_the_rest_of_a_batch,
    a_panic_applies_to_the_rest_of_a_batch,
    a_finished_part_is_of_no_effect_if_all_is_finished,
    a_finished_part_is_released_before_the_rest_is_handled,
}

const EVENTS: u64 = 4;

const ZERO: Duration = Duration::ZERO;

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Says,
    Errs,
    Panics,
}

/// Finishes a part of its first batch, and then does not continue.
struct Part {
    how: How,
    action: Action,
    finished: usize,
    log: Log,
    is_first: bool,
    released: Vec<Sequence>,
}

impl Part {
    fn new(how: How, action: Action, finished: u64, log: &Log) -> Self {
        let (log, released) = (log.clone(), Vec::new());
        Self { how, action, finished: finished as usize, log, is_first: true, released }
    }
}

impl<A: Access> BatchHandler<u64, A, Said> for Part {
    fn on_batch(&mut self, events: A::Slice<'_, u64>, at: Sequence, mut done: Done<'_>) -> Said {
        let end = at + A::events(events).len() as u64;
        self.log.push(Call::Batch(at..end));
        if !mem::take(&mut self.is_first) {
            return Ok(Action::Continue);
        }
        done.set(EVENTS as usize);
        done.set(self.finished); // the last call counts
        match self.how {
            How::Says => Ok(self.action),
            How::Errs => Err(ON_PURPOSE),
            How::Panics => panic!("{ON_PURPOSE}"),
        }
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        self.released.push(next_sequence);
    }
}

/// What a stage does that has finished the events below `part`.
struct Expected {
    calls: Vec<Range<Sequence>>,
    outcome: Outcome,
    counts: (u64, u64),
    book: Book,
}

fn book(done: Range<Sequence>, failed: Range<Sequence>) -> Book {
    Book { done: done.collect(), failed: failed.collect() }
}

fn expected(how: How, action: Action, part: u64) -> Expected {
    let rest = part..EVENTS;
    let all = 0..EVENTS;
    let (mut calls, mut outcome) = (vec![all.clone()], Outcome::Drained);
    let (mut counts, mut book) = ((EVENTS, 0), book(all.clone(), 0..0));
    match action {
        Action::Retry(_) | Action::Restart(_) if !rest.is_empty() => calls.push(rest),
        Action::Rewind(_) => calls.push(all),
        Action::Skip => {
            counts.1 = EVENTS - part;
            book = self::book(0..part, rest);
        }
        Action::SkipAndStop => {
            outcome = if how == How::Says { Outcome::Stopped } else { detached_at(part) };
            counts.1 = EVENTS - part;
            book = self::book(0..part, rest);
        }
        Action::Stop => {
            outcome = if how == How::Says { Outcome::Stopped } else { detached_at(part) };
            counts.0 = part;
        }
        Action::Halt => {
            outcome = match how {
                How::Says => Outcome::Halted,
                How::Errs => failed_at(part),
                How::Panics => panicked_at(part),
            };
            (counts.0, book) = (part, Book::default());
        }
        _ => {}
    }
    Expected { calls, outcome, counts, book }
}

/// All events are one batch.
fn stage() -> Stage {
    Stage::new("part").max_batch(EVENTS as usize)
}

fn check<K: Kind>(how: How, add: fn(Ring<K>, Stage, Part) -> Ring<K>) {
    quiet_panics();
    let actions = [
        Action::Continue,
        Action::ReleaseNow,
        Action::Skip,
        Action::Retry(ZERO),
        Action::Rewind(ZERO),
        Action::Restart(ZERO),
        Action::Stop,
        Action::SkipAndStop,
        Action::Halt,
    ];
    for action in actions {
        for finished in [0, 1, EVENTS - 1, EVENTS, EVENTS + 1, u64::MAX] {
            let case = format!("{how:?} {action:?} {finished}");
            let log = Log::default();
            let stage = match how {
                How::Says => stage(),
                How::Errs => stage().on_error(action),
                How::Panics => stage().on_panic(action),
            };
            let part = Part::new(how, action, finished, &log);
            let ring = add(K::ring(EVENTS as usize, || 0), stage, part);
            let mut ends = drain(ring.stage("book").read_handler(Book::default()), EVENTS);
            let expected = expected(how, action, finished.min(EVENTS));
            assert_eq!(log.events(), expected.calls, "{case}");
            assert_eq!(*ends[0].outcome(), expected.outcome, "{case}");
            assert_eq!(counts(&ends[0]), expected.counts, "{case}");
            assert_eq!(ends[1].take_handler::<Book>().unwrap(), expected.book, "{case}");
        }
    }
}

fn check_both<K: Kind>(how: How) {
    check::<K>(how, |ring, stage, part| ring.stage(stage).read_batch_handler(part));
    check::<K>(how, |ring, stage, part| ring.stage(stage).write_batch_handler(part));
}

fn an_action_applies_to_the_rest_of_a_batch<K: Kind>() {
    check_both::<K>(How::Says);
}

fn an_error_applies_to_the_rest_of_a_batch<K: Kind>() {
    check_both::<K>(How::Errs);
}

fn a_panic_applies_to_the_rest_of_a_batch<K: Kind>() {
    check_both::<K>(How::Panics);
}

/// Says that it has finished one event, and finishes all.
struct All;

impl BatchHandler<u64, Exclusive> for All {
    fn on_batch(&mut self, _: &mut [u64], _: Sequence, mut done: Done<'_>) {
        done.set(1);
    }
}

fn a_finished_part_is_of_no_effect_if_all_is_finished<K: Kind>() {
    let ends = drain(K::ring(8, || 0).stage("all").write_batch_handler(All), EVENTS);
    assert_eq!((ends[0].outcome(), counts(&ends[0])), (&Outcome::Drained, (EVENTS, 0)));
}

fn a_finished_part_is_released_before_the_rest_is_handled<K: Kind>() {
    let part = Part::new(How::Says, Action::Retry(ZERO), 3, &Log::default());
    let ring = K::ring(8, || 0).stage(stage()).read_batch_handler::<_, Said>(part);
    let mut ends = drain(ring, EVENTS);
    assert_eq!(ends[0].take_handler::<Part>().unwrap().released, [3, 4]);
}
