//! C50 and C51: each action, returned by a handler or by its policy, in each form of a stage.

use std::mem;
use std::ops::Range;
use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Call, Form, Log, Spy, counts, detached_at, drain, failed_at, panicked_at};

common::for_both_producers! {
    c50_actions_of_a_closure_for_each_event,
    c50_actions_of_a_closure_for_each_batch,
    c50_actions_of_a_handler,
    c50_actions_of_a_handler_of_batches,
    c50_errors_of_a_closure_for_each_event,
    c50_errors_of_a_closure_for_each_batch,
    c50_errors_of_a_handler,
    c50_errors_of_a_handler_of_batches,
    c50_panics_of_a_closure_for_each_event,
    c50_panics_of_a_closure_for_each_batch,
    c50_panics_of_a_handler,
    c50_panics_of_a_handler_of_batches,
    c51_failures_of_the_first_and_of_the_last_event_of_a_batch,
    miri_each_action_once,
    an_error_without_a_policy_halts_the_ring,
    a_policy_for_errors_is_not_called_for_panics,
}

const EVENTS: u64 = 5;

const ACTIONS: [Action; 9] = [
    Action::Continue,
    Action::ReleaseNow,
    Action::Skip,
    Action::Retry(Duration::ZERO),
    Action::Rewind(Duration::ZERO),
    Action::Restart(Duration::ZERO),
    Action::Stop,
    Action::SkipAndStop,
    Action::Halt,
];

/// Where the action comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Says,
    Errs,
    Panics,
}

/// One stage that does not simply continue when it first gets the event `bad`.
#[derive(Debug, Clone, Copy)]
struct Case {
    how: How,
    form: Form,
    action: Action,
    bad: Sequence,
}

impl Case {
    /// The events of the call that fails.
    fn bad_events(self) -> Range<Sequence> {
        self.rounds().into_iter().find(|events| events.contains(&self.bad)).unwrap()
    }

    /// The events of each call if nothing failed.
    fn rounds(self) -> Vec<Range<Sequence>> {
        if self.form.is_by_batch() {
            vec![0..2, 2..4, 4..5]
        } else {
            (0..EVENTS).map(|sequence| sequence..sequence + 1).collect()
        }
    }

    fn expected_calls(self) -> Vec<Range<Sequence>> {
        let rounds = self.rounds();
        let bad = rounds.iter().position(|events| events.contains(&self.bad)).unwrap();
        let again_from = match self.action {
            Action::Continue | Action::ReleaseNow | Action::Skip => bad + 1,
            Action::Retry(_) | Action::Restart(_) => bad,
            Action::Rewind(_) if self.form.is_by_batch() => bad,
            Action::Rewind(_) => 0,
            _ => rounds.len(),
        };
        [&rounds[..=bad], &rounds[again_from..]].concat()
    }

    fn expected_outcome(self) -> Outcome {
        let sequence = self.bad_events().start;
        match (self.action, self.how) {
            (Action::Stop | Action::SkipAndStop, How::Says) => Outcome::Stopped,
            (Action::Stop | Action::SkipAndStop, _) => detached_at(sequence),
            (Action::Halt, How::Says) => Outcome::Halted,
            (Action::Halt, How::Errs) => failed_at(sequence),
            (Action::Halt, How::Panics) => panicked_at(sequence),
            _ => Outcome::Drained,
        }
    }

    fn expected_counts(self) -> (u64, u64) {
        let bad = self.bad_events();
        match self.action {
            Action::Skip => (EVENTS, bad.end - bad.start),
            Action::SkipAndStop => (bad.end, bad.end - bad.start),
            Action::Stop | Action::Halt => (bad.start, 0),
            _ => (EVENTS, 0),
        }
    }

    fn expected_book(self) -> Book {
        match self.action {
            Action::Halt => Book::default(),
            Action::Skip | Action::SkipAndStop => {
                let is_failed = |sequence: &Sequence| self.bad_events().contains(sequence);
                let (failed, done) = (0..EVENTS).partition(is_failed);
                Book { done, failed }
            }
            _ => Book { done: (0..EVENTS).collect(), failed: Vec::new() },
        }
    }

    fn stage(self) -> Stage {
        let longest = if self.form.is_by_batch() { 2 } else { 8 };
        let stage = Stage::new("acts").max_batch(longest);
        match self.how {
            How::Says => stage,
            How::Errs => stage.on_error(self.action),
            How::Panics => stage.on_panic(self.action),
        }
    }

    fn check<K: Kind>(self) {
        quiet_panics();
        let log = Log::default();
        let mut is_first = true;
        let spy = Spy::new(&log, move |call| {
            if !call.includes(self.bad) || !mem::take(&mut is_first) {
                return Ok(Action::Continue);
            }
            match self.how {
                How::Says => Ok(self.action),
                How::Errs => Err(ON_PURPOSE),
                How::Panics => panic!("{ON_PURPOSE}"),
            }
        });
        let ring = self.form.add(K::ring(8, || 0), self.stage(), spy);
        let mut finished = drain(ring.stage("book").read_handler(Book::default()), EVENTS);
        assert_eq!(log.events(), self.expected_calls(), "{self:?}");
        assert_eq!(*finished[0].outcome(), self.expected_outcome(), "{self:?}");
        assert_eq!(counts(&finished[0]), self.expected_counts(), "{self:?}");
        assert_eq!(finished[1].take_handler::<Book>().unwrap(), self.expected_book(), "{self:?}");
        if self.form.is_handler() {
            self.check_life(&log);
        }
    }

    fn check_life(self, log: &Log) {
        assert_eq!(log.count(&Call::Start), 1, "{self:?}");
        let is_restarted = matches!(self.action, Action::Restart(_));
        assert_eq!(log.count(&Call::Restart), usize::from(is_restarted), "{self:?}");
        let is_ended = matches!(self.action, Action::Stop | Action::SkipAndStop | Action::Halt);
        let is_ended_by_panic = is_ended && self.how == How::Panics;
        assert_eq!(log.count(&Call::Shutdown), usize::from(!is_ended_by_panic), "{self:?}");
    }
}

fn check_all<K: Kind>(how: How, forms: [Form; 2], bad: Sequence) {
    for form in forms {
        for action in ACTIONS {
            Case { how, form, action, bad }.check::<K>();
        }
    }
}

const BY_EVENT: [Form; 2] = [Form::Event, Form::EventMut];
const BY_BATCH: [Form; 2] = [Form::Batch, Form::BatchMut];
const HANDLERS: [Form; 2] = [Form::Handler, Form::HandlerMut];
const BATCH_HANDLERS: [Form; 2] = [Form::BatchHandler, Form::BatchHandlerMut];

fn c50_actions_of_a_closure_for_each_event<K: Kind>() {
    check_all::<K>(How::Says, BY_EVENT, 2);
}

fn c50_actions_of_a_closure_for_each_batch<K: Kind>() {
    check_all::<K>(How::Says, BY_BATCH, 2);
}

fn c50_actions_of_a_handler<K: Kind>() {
    check_all::<K>(How::Says, HANDLERS, 2);
}

fn c50_actions_of_a_handler_of_batches<K: Kind>() {
    check_all::<K>(How::Says, BATCH_HANDLERS, 2);
}

fn c50_errors_of_a_closure_for_each_event<K: Kind>() {
    check_all::<K>(How::Errs, BY_EVENT, 2);
}

fn c50_errors_of_a_closure_for_each_batch<K: Kind>() {
    check_all::<K>(How::Errs, BY_BATCH, 2);
}

fn c50_errors_of_a_handler<K: Kind>() {
    check_all::<K>(How::Errs, HANDLERS, 2);
}

fn c50_errors_of_a_handler_of_batches<K: Kind>() {
    check_all::<K>(How::Errs, BATCH_HANDLERS, 2);
}

fn c50_panics_of_a_closure_for_each_event<K: Kind>() {
    check_all::<K>(How::Panics, BY_EVENT, 2);
}

fn c50_panics_of_a_closure_for_each_batch<K: Kind>() {
    check_all::<K>(How::Panics, BY_BATCH, 2);
}

fn c50_panics_of_a_handler<K: Kind>() {
    check_all::<K>(How::Panics, HANDLERS, 2);
}

fn c50_panics_of_a_handler_of_batches<K: Kind>() {
    check_all::<K>(How::Panics, BATCH_HANDLERS, 2);
}

fn c51_failures_of_the_first_and_of_the_last_event_of_a_batch<K: Kind>() {
    for how in [How::Says, How::Errs, How::Panics] {
        for forms in [BY_EVENT, BY_BATCH, HANDLERS, BATCH_HANDLERS] {
            check_all::<K>(how, forms, 0);
            check_all::<K>(how, forms, EVENTS - 1);
        }
    }
}

fn miri_each_action_once<K: Kind>() {
    for action in ACTIONS {
        Case { how: How::Says, form: Form::HandlerMut, action, bad: 2 }.check::<K>();
        Case { how: How::Panics, form: Form::BatchMut, action, bad: 2 }.check::<K>();
    }
}

fn an_error_without_a_policy_halts_the_ring<K: Kind>() {
    let stage = Stage::new("errs").on_panic(Action::Skip);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .read(|_, at, _| if at == 1 { Err(ON_PURPOSE) } else { Ok(()) });
    let finished = drain(ring.stage("book").read_handler(Book::default()), 3);
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&failed_at(1), (1, 0)));
    assert_eq!(*finished[1].outcome(), Outcome::Halted);
}

fn a_policy_for_errors_is_not_called_for_panics<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("panics").on_error(Action::Skip);
    let bad = |_: &u64, at, _| {
        assert!(at != 1, "{ON_PURPOSE}");
        Ok::<_, String>(())
    };
    let finished = drain(K::ring(8, || 0).stage(stage).read(bad), 3);
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&panicked_at(1), (1, 0)));
}
