//! The event, the marks that consumers leave on it, and the notes that consumers take. Nothing is
//! judged here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lapwing::error::HaltCause;
use lapwing::{Action, Sequence};

use super::program::{Stages, Verdict};

/// The id of a slot without an event: new, or given up.
pub(super) const NO_EVENT: u64 = 0;
/// Number of keys of groups by key.
pub(super) const KEYS: u64 = 3;
/// The mark of the stage that clears events.
pub(super) const CLEARED: Stages = 1 << 63;

/// An event with an id that no other event has.
#[derive(Debug)]
pub(super) struct Event {
    id: u64,
    /// The stages that wrote to it, in plain memory.
    written: Stages,
    /// The stages whose handlers were called with it. Relaxed: the ring provides the order.
    marks: AtomicU64,
}

impl Event {
    pub(super) fn new() -> Self {
        Self { id: NO_EVENT, written: 0, marks: AtomicU64::new(0) }
    }

    /// Makes it the event `id`. Returns the id and the marks of the event that it was.
    pub(super) fn fill(&mut self, id: u64) -> Found {
        let found = Found { id: self.id, marks: *self.marks.get_mut() };
        *self = Self { id, ..Self::new() };
        found
    }

    pub(super) fn clear(&mut self) {
        *self.marks.get_mut() |= CLEARED;
    }

    pub(super) fn write(&mut self, by: Stages) {
        self.written |= by;
    }

    pub(super) fn key(&self) -> u64 {
        key_of(self.id)
    }

    /// What a consumer sees, which leaves its own mark.
    pub(super) fn see(&self, sequence: Sequence, by: Stages) -> Seen {
        let marks = self.marks.fetch_or(by, Ordering::Relaxed);
        Seen { sequence, id: self.id, written: self.written, marks, ..Seen::default() }
    }
}

/// The key of an event.
pub(super) fn key_of(id: u64) -> u64 {
    id % KEYS
}

/// What a producer found in a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) id: u64,
    pub(super) marks: Stages,
}

/// An event as a consumer saw it, and what the consumer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) sequence: Sequence,
    pub(super) id: u64,
    pub(super) written: Stages,
    /// The marks of other consumers, and its own one if it was there before.
    pub(super) marks: Stages,
    /// Whether it was announced as failed.
    pub(super) is_failed: bool,
    pub(super) is_last: bool,
    pub(super) verdict: Verdict,
    /// When the call began and ended, on the clock of the stage.
    pub(super) time: (u64, u64),
}

impl Default for Seen {
    fn default() -> Self {
        let verdict = Verdict::Says(Action::Continue);
        let (is_failed, is_last) = (false, false);
        Self {
            sequence: 0,
            id: NO_EVENT,
            written: 0,
            marks: 0,
            is_failed,
            is_last,
            verdict,
            time: (0, 0),
        }
    }
}

/// One call of a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    Start,
    BatchStart {
        size: u64,
        depth: u64,
    },
    Event(Seen),
    /// The call of a closure or a handler for a batch.
    Batch(Vec<Seen>),
    /// The decision of a policy.
    Policy {
        sequence: Sequence,
        attempt: u32,
        action: Action,
        is_panic: bool,
    },
    Released(Sequence),
    Timeout(Sequence),
    Restart,
    Shutdown,
    /// What a poller got, of which it consumed so many.
    Polled(Vec<Seen>, u64),
    /// A poller was told that the ring is drained, or halted.
    Closed,
    Halted(HaltCause),
    /// A poller left.
    Left,
}

/// The notes of one consumer. Its thread writes them.
#[derive(Debug, Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<Note>>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<Note>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, note: Note) {
        let mut notes = self.lock();
        // An idle stage has any number of timeouts.
        let is_repeated = matches!(note, Note::Timeout(_)) && notes.last() == Some(&note);
        if !is_repeated {
            notes.push(note);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut self.lock())
    }
}
