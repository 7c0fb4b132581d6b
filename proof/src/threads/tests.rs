//! The model refuses the notes of a consumer that does something wrong.

use std::collections::BTreeSet;
use std::time::Duration;

use lapwing::Action;
use lapwing::consumer::Outcome;

use super::event::CLEARED;
use super::history::{Claimed, History};
use super::model::{Events, replay};
use super::notes::{Note, Seen};
use super::past::{Decision, Ending, Past};
use super::program::{Policy, Verdict, message};
use super::rules::Rules;
use super::witness::Call;

/// Four events, the second of which was given up, in a ring of four slots.
fn history() -> History {
    let claimed = [Claimed::Event(10), Claimed::GivenUp, Claimed::Event(12), Claimed::Event(13)];
    History::of(0, claimed.to_vec())
}

/// Replays the notes of a handler with batches of at most two events, below the stage 0, which has
/// done everything.
fn replayed(notes: &[Note], on_error: Policy) -> Result<(Past, Events), String> {
    replayed_after([2, 3], notes, on_error)
}

/// The same, of a handler whose upstream stage has skipped the events of `failed`.
fn replayed_after<const COUNT: usize>(
    failed: [u64; COUNT],
    notes: &[Note],
    on_error: Policy,
) -> Result<(Past, Events), String> {
    let (history, done) = (history(), BTreeSet::from([0, 2, 3]));
    let rules = Rules {
        history: &history,
        capacity: 4,
        start: 0,
        max_batch: 2,
        is_handler: true,
        takes_failed: false,
        is_worker: false,
        on_error,
        on_panic: Policy::None,
        upstream: vec![(0, &done)],
        writers: 1,
        downstream: 0b100,
        failed: BTreeSet::from(failed),
        sees_cleared: false,
    };
    replay(&rules, notes)
}

fn event(sequence: u64) -> Seen {
    let (id, is_failed) = (10 + sequence, sequence >= 2);
    let (is_last, verdict) = (false, Verdict::Says(Action::Continue));
    let (is_whole, time) = (true, (0, 0));
    Seen { sequence, id, is_whole, written: 1, marks: 1, is_failed, is_last, verdict, time }
}

fn last(sequence: u64) -> Seen {
    Seen { is_last: true, ..event(sequence) }
}

/// The notes of a handler that does everything right.
fn right() -> Vec<Note> {
    vec![
        Note::Call(Call::Start),
        Note::Call(Call::BatchStart { size: 1, depth: 1 }),
        Note::Event(last(0)),
        Note::Call(Call::Released(1)),
        Note::Call(Call::BatchStart { size: 2, depth: 2 }),
        Note::Event(event(2)),
        Note::Event(last(3)),
        Note::Call(Call::Released(4)),
        Note::Call(Call::Shutdown),
    ]
}

#[test]
fn a_handler_that_does_everything_right_is_accepted() {
    let (past, events) = replayed(&right(), Policy::None).unwrap();
    assert_eq!((past.next, past.end), (4, Ending::Open));
    assert_eq!(events.done.into_keys().collect::<Vec<_>>(), [0, 2, 3]);
}

#[test]
fn each_change_of_one_event_is_refused() {
    let wrong = [
        Seen { sequence: 3, ..event(2) },
        Seen { id: 10, ..event(2) },
        Seen { is_whole: false, ..event(2) },
        Seen { is_failed: false, ..event(2) },
        Seen { is_last: true, ..event(2) },
        Seen { marks: 0, ..event(2) },
        Seen { written: 0, ..event(2) },
        Seen { marks: 0b101, ..event(2) },
        Seen { marks: 1 | CLEARED, ..event(2) },
    ];
    for seen in wrong {
        let mut notes = right();
        notes[5] = Note::Event(seen);
        assert!(replayed(&notes, Policy::None).is_err(), "{seen:?}");
    }
}

#[test]
fn each_missing_and_each_doubled_note_is_refused() {
    for place in 0..right().len() {
        let mut notes = right();
        notes.remove(place);
        assert!(replayed(&notes, Policy::None).is_err(), "without {:?}", right()[place]);
        let mut notes = right();
        notes.insert(place, right()[place].clone());
        // A release is also what a poll notes that passes claims.
        let is_harmless = matches!(right()[place], Note::Call(Call::Released(_)));
        assert_eq!(
            replayed(&notes, Policy::None).is_ok(),
            is_harmless,
            "twice {:?}",
            right()[place]
        );
    }
}

#[test]
fn a_batch_with_events_of_both_kinds_is_refused() {
    let mut notes = right();
    notes[5] = Note::Event(Seen { is_failed: false, ..event(2) });
    let refused = replayed_after([3], &notes, Policy::None).err().unwrap();
    assert!(refused.contains("of both kinds"), "{refused}");
}

#[test]
fn a_batch_beyond_its_limit_is_refused() {
    let mut notes = right();
    notes[4] = Note::Call(Call::BatchStart { size: 3, depth: 3 });
    assert!(replayed(&notes, Policy::None).is_err());
    notes[4] = Note::Call(Call::BatchStart { size: 2, depth: 1 });
    assert!(replayed(&notes, Policy::None).is_err(), "more than there is");
}

/// The handler fails at the event 2, and its policy decides `action`, which these notes follow.
fn after_failure(action: Action, after: &[Note]) -> Result<(Past, Events), String> {
    let mut notes = right();
    notes.truncate(5);
    let (sequence, attempt, is_panic) = (2, 1, false);
    notes.push(Note::Event(Seen { verdict: Verdict::Fails, ..event(2) }));
    notes.push(Note::Policy(Decision { sequence, attempt, action, is_panic }));
    notes.extend_from_slice(after);
    replayed(&notes, Policy::Always(action))
}

#[test]
fn each_action_has_its_own_notes() {
    let again = [Note::Call(Call::BatchStart { size: 2, depth: 2 }), Note::Event(event(2))];
    let rest = [Note::Event(last(3)), Note::Call(Call::Released(4)), Note::Call(Call::Shutdown)];
    let retried = [&again[..], &rest].concat();
    assert!(after_failure(Action::Retry(Duration::ZERO), &retried).is_ok());
    assert!(after_failure(Action::Retry(Duration::ZERO), &rest).is_err(), "not handled again");
    assert!(after_failure(Action::Restart(Duration::ZERO), &retried).is_err(), "no restart");
    let skipped = [Note::Call(Call::Released(3)), Note::Call(Call::Shutdown)];
    assert_eq!(after_failure(Action::Skip, &skipped).unwrap().1.skipped, BTreeSet::from([2]));
    assert!(after_failure(Action::Skip, &skipped[1..]).is_err(), "not released");
    let stopped = after_failure(Action::Stop, &[Note::Call(Call::Shutdown)]).unwrap();
    let message = message(2);
    assert_eq!(stopped.0.end, Ending::Own(Outcome::Detached { message, sequence: 2 }));
    assert!(after_failure(Action::Stop, &retried).is_err(), "called after its end");
}
