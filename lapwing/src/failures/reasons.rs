//! Why a stage has skipped events: the errors and panics of its handler. Not here: which events it
//! has skipped (`failures`).
//!
//! A reason is kept until its slots are used again and another event of the stage fails. So there
//! are at most as many reasons as slots. A skipped event without an error has none.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;
// Always the standard library's types: models skip events without a reason.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Sequence;
use crate::catch::catch;

/// What a handler failed with.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It returned this error.
    Error(Box<dyn Error + Send + Sync>),
    /// It panicked with this message.
    Panic(String),
}

/// Why a call of a handler failed.
#[derive(Debug)]
pub(crate) struct Reason {
    /// Name of the stage, or of the worker.
    pub(crate) stage: String,
    /// How many times in a row the call has failed.
    pub(crate) attempt: u32,
    /// Never `None` before the drop.
    trouble: Option<Trouble>,
}

impl Reason {
    pub(crate) fn new(stage: String, attempt: u32, trouble: Trouble) -> Self {
        Self { stage, attempt, trouble: Some(trouble) }
    }

    pub(crate) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }
}

impl Drop for Reason {
    /// Drops the error, which is user code. Its panic is ignored: the thread may be that of another
    /// stage, whose policy has nothing to decide.
    fn drop(&mut self) {
        let _ = catch(|| drop(self.trouble.take()));
    }
}

/// The reasons of one stage, by the first event that each is the reason for.
#[derive(Default)]
pub(super) struct Reasons(Mutex<BTreeMap<Sequence, Entry>>);

/// The reason for some events in a row.
struct Entry {
    end: Sequence,
    reason: Arc<Reason>,
}

impl Reasons {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Sequence, Entry>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the reason for `events`, which the caller has not released, in a ring with `capacity`
    /// slots.
    pub(super) fn add(&self, events: Range<Sequence>, capacity: u64, reason: Reason) {
        let Range { start, end } = events;
        let reason = Arc::new(reason);
        let mut reasons = self.lock();
        // Dropped after the lock is released.
        let mut old = Vec::new();
        // The slot of `start` was claimed again, so every stage has released the event that was in
        // it, and all earlier ones.
        let is_over = |entry: &Entry| entry.end + capacity <= start + 1;
        while let Some(first) = reasons.first_entry().filter(|first| is_over(first.get())) {
            old.push(first.remove());
        }
        reasons.insert(start, Entry { end, reason });
        drop(reasons);
    }

    /// The reason for `sequence`, if there is one.
    pub(super) fn of(&self, sequence: Sequence) -> Option<Arc<Reason>> {
        let reasons = self.lock();
        let (_, entry) = reasons.range(..=sequence).next_back()?;
        (sequence < entry.end).then(|| Arc::clone(&entry.reason))
    }
}

impl fmt::Debug for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the errors, whose `Debug` is user code.
        f.debug_struct("Reasons").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const CAPACITY: u64 = 4;

    fn reasons(failed: impl IntoIterator<Item = Range<Sequence>>) -> Reasons {
        let reasons = Reasons::default();
        for events in failed {
            let trouble = Trouble::Panic(format!("{events:?}"));
            reasons.add(events, CAPACITY, Reason::new("send".to_owned(), 1, trouble));
        }
        reasons
    }

    fn text(reasons: &Reasons, sequence: Sequence) -> Option<String> {
        match reasons.of(sequence)?.trouble()? {
            Trouble::Panic(text) => Some(text.clone()),
            Trouble::Error(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn a_reason_is_for_its_events_only() {
        let reasons = reasons([1..3, 3..4]);
        let found = [0, 1, 2, 3, 4].map(|sequence| text(&reasons, sequence));
        let expected = [None, Some("1..3"), Some("1..3"), Some("3..4"), None];
        assert_eq!(found, expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn a_reason_is_kept_until_the_slot_of_its_last_event_is_used_again() {
        let kept = reasons([1..3, 5..6]);
        assert_eq!(text(&kept, 2).as_deref(), Some("1..3"), "the slot of 2 is not used again");
        let gone = reasons([1..3, 6..7]);
        assert_eq!((text(&gone, 2), text(&gone, 6).as_deref()), (None, Some("6..7")));
    }

    #[test]
    fn there_are_never_more_reasons_than_slots() {
        let reasons = reasons((0..100).map(|sequence| sequence..sequence + 1));
        assert_eq!(reasons.lock().len() as u64, CAPACITY);
    }

    #[test]
    fn workers_add_reasons_in_any_order() {
        let reasons = reasons([2..3, 0..1, 1..2]);
        let found = [0, 1, 2].map(|sequence| text(&reasons, sequence).unwrap());
        assert_eq!(found, ["0..1", "1..2", "2..3"]);
    }
}
