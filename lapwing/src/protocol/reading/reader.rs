//! The position of one stage in its ring: what it has finished, what it knows to be readable, and
//! how it releases events and leaves. Not here: how it finds more events (`polling`), and how it
//! waits (`wait`).

use std::fmt;
use std::ops::Range;

use super::{Barrier, NextEvent};
use crate::Sequence;
use crate::activity::Activity;
use crate::protocol::advice::ReadAdvice;
use crate::protocol::control::{DETACHED, StageControl, StageIndex};
use crate::protocol::failures::Failures;
use crate::protocol::parking::Awaited;
use crate::protocol::ring::Ring;
use crate::protocol::seats::Place;
use crate::sync::Arc;

/// The batch limit of a stage that has no limit of its own.
pub(crate) const UNLIMITED: u64 = u64::MAX >> 1;

/// The reading end of one stage.
///
/// It is aligned to a cache line. Without that, the fields that each event uses lie in two cache
/// lines for one reader in four on a stack. A single event then takes up to 50 % longer
/// (E65 in `perf/results/experiments.md`).
#[repr(align(64))]
pub(crate) struct Reader<E, A> {
    pub(crate) ring: Ring<E>,
    pub(crate) stage: StageIndex,
    /// Which consumer of this stage it is, since a seat has one consumer after another.
    pub(crate) turn: u64,
    /// The stage or the seat; `None` once the reader has left it.
    place: Option<Place>,
    pub(crate) barrier: Barrier,
    /// The shared words of its stage.
    words: Arc<StageControl>,
    /// The other stages that must finish an event before this one acquires its cache line; `None` if
    /// other threads may access the slot at any time.
    beside: Option<Box<[StageIndex]>>,
    /// The upstream stages that may skip events as failed.
    failing: Box<[StageIndex]>,
    /// First sequence that this stage had to finish.
    first: Sequence,
    /// First sequence that this stage has not finished. The shared word is stored after it.
    pub(crate) next: Sequence,
    /// First sequence not known to be readable; nothing is known if it is at most `next`.
    pub(crate) known: Sequence,
    /// The value of `next` when the stage last had no known event left.
    drained: Sequence,
    /// End of the last abandoned claims that it has skipped; [`DETACHED`] once
    /// [`take_passed`](Self::take_passed) has returned it.
    passed: Sequence,
    /// Whether a poll after a failed one may return a single event, where events have notices.
    pub(crate) expects_one: bool,
    pub(crate) last: LastLook,
    /// Maximum number of events in a batch.
    pub(crate) max_batch: u64,
    /// Number of abandoned claims among the sequences that it has released.
    pub(crate) given_up: u64,
    pub(crate) advice: A,
}

/// The result of the last load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLook {
    /// Nothing: the reader waits for a single event.
    Nothing {
        /// Whether a wait has ended since. A notice that does not show is then late.
        is_told: bool,
    },
    /// One event, shown by its notice. There may be more.
    Single,
    /// Fewer events than the load could have shown: all that there were.
    All,
    /// As many events as the load could show. There may be more.
    Part,
}

/// Describes a drained batch: every event that the last load showed is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Drained {
    /// Whether it was at least a quarter of the ring, so that producers may be waiting for it.
    pub(crate) is_late: bool,
    /// Number of events.
    pub(crate) events: u64,
}

impl<E, A: ReadAdvice> Reader<E, A> {
    /// Creates the reader of the stage of `place`.
    pub(crate) fn new(ring: Ring<E>, place: Place, max_batch: u64, advice: A) -> Self {
        let (stage, turn) = (place.stage(), place.turn());
        let control = &ring.control;
        let first = control.finished_by(stage);
        Self {
            stage,
            turn,
            place: Some(place),
            barrier: Barrier::new(control.stages[stage].upstream.clone(), ring.notices),
            words: Arc::clone(&control.stages[stage]),
            beside: sharing_lines(&ring, stage),
            failing: control.failing_before(stage),
            first,
            next: first,
            known: first,
            drained: first,
            passed: DETACHED,
            expects_one: false,
            last: LastLook::Part,
            max_batch,
            given_up: 0,
            advice,
            ring,
        }
    }

    /// Returns the wait for its next event.
    pub(crate) fn next_event(&self) -> NextEvent<'_, A> {
        NextEvent {
            control: &self.ring.control,
            barrier: &self.barrier,
            advice: &self.advice,
            next: self.next,
            stage: self.stage,
            turn: self.turn,
        }
    }

    /// Whether a poll would find events or the end, or the consumer is asked to leave.
    pub(crate) fn is_ready(&self) -> bool {
        self.next_event().is_over()
    }

    /// Records that a wait has ended, for any reason.
    #[inline]
    pub(crate) fn tell(&mut self) {
        if let LastLook::Nothing { is_told } = &mut self.last {
            *is_told = true;
        }
    }

    /// Whether its consumer is asked to leave.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.words.is_stopping(self.turn)
    }

    /// Whether it joined a running ring.
    pub(crate) fn is_guest(&self) -> bool {
        matches!(self.place, Some(Place::Seat(_)))
    }

    /// Returns the number of sequences that it has finished.
    pub(crate) fn processed(&self) -> u64 {
        self.next - self.first
    }

    /// Returns the record of what its consumer is doing, for monitors.
    #[inline]
    pub(crate) fn activity(&self) -> &Activity {
        &self.words.activity
    }

    /// Returns the events of `batch`.
    ///
    /// # Safety
    ///
    /// The reader owns the right to read `batch`, which does not cross the wrap, for as long as the
    /// slice is used (I2).
    #[inline]
    pub(crate) unsafe fn events(&self, batch: Range<Sequence>) -> &[E] {
        // SAFETY: I2, by the caller.
        unsafe { self.ring.buffer.slice(batch) }
    }

    /// Returns what it has drained since the last call, if it knows of no further event.
    #[inline]
    pub(crate) fn drained(&mut self) -> Option<Drained> {
        let events = self.next - self.drained;
        if events == 0 || self.known > self.next || self.last == LastLook::Single {
            return None;
        }
        self.drained = self.next;
        self.drained_of(events)
    }

    /// Describes a drained batch of `events`. Returns `None` if there may be more events than the
    /// last load could show.
    #[inline]
    pub(crate) fn drained_of(&self, events: u64) -> Option<Drained> {
        let is_late = events >= self.ring.control.capacity / 4;
        (is_late || self.last != LastLook::Part).then_some(Drained { is_late, events })
    }

    fn failures_of(&self, stage: StageIndex) -> &Failures {
        let failures = self.ring.control.stages[stage].failures.as_ref();
        failures.expect("a stage that may skip events has room for their marks")
    }

    /// Whether an upstream stage has skipped an event from `first` on.
    #[inline]
    pub(crate) fn may_have_failed(&self, first: Sequence) -> bool {
        self.failing.iter().any(|&stage| self.failures_of(stage).is_any_from(first))
    }

    /// Whether an upstream stage has skipped `sequence`.
    pub(crate) fn has_failed(&self, sequence: Sequence) -> bool {
        self.failing.iter().any(|&stage| self.failures_of(stage).is_marked(sequence))
    }

    /// Marks `events` as skipped. A seat has no marks.
    #[cold]
    pub(crate) fn mark_failed(&self, events: Range<Sequence>) {
        if !self.is_guest() {
            let failures = self.failures_of(self.stage);
            events.for_each(|sequence| failures.mark(sequence));
        }
    }

    /// Releases everything below `sequence`.
    #[inline]
    pub(crate) fn release(&mut self, sequence: Sequence) {
        debug_assert!(sequence >= self.next, "a stage never goes back: sequence={sequence}");
        if self.advice.wants_lines_of(self.next..sequence) {
            self.acquire_lines(sequence);
        }
        self.next = sequence;
        self.ring.control.advance_words(&self.words, self.stage, sequence);
    }

    /// Acquires cache-line ownership of the events below `end` that no other stage is still
    /// reading.
    #[inline(never)]
    fn acquire_lines(&self, end: Sequence) {
        let Some(beside) = &self.beside else { return };
        let events = self.next..end.min(self.ring.control.finished_by_all(beside));
        if !events.is_empty() {
            self.ring.watch_acquire(events.clone());
            // SAFETY: I15: every other stage that gates producers has finished these events. This
            // stage holds them until the caller stores its sequence, and no borrow of them is left.
            unsafe { self.advice.acquire_lines(events) };
        }
    }

    /// Returns the next sequence, if polls have skipped abandoned claims since the last batch and
    /// since the last call.
    #[inline]
    pub(crate) fn take_passed(&mut self) -> Option<Sequence> {
        // A later batch ends beyond the skipped claims, so `passed` then differs from `next`.
        (self.passed == self.next).then(|| {
            self.passed = DETACHED;
            self.next
        })
    }

    /// Releases everything below `end`, whose claims were abandoned.
    #[cold]
    #[inline(never)]
    pub(super) fn skip(&mut self, end: Sequence) {
        self.given_up += end - self.next;
        self.release(end);
        self.passed = end;
    }

    /// Leaves the graph or the seat, once.
    pub(crate) fn leave(&mut self) {
        match self.place.take() {
            Some(Place::Graph(stage)) => self.ring.control.detach(stage),
            // Dropping the guest leaves its seat. A drop of this reader would do the same.
            Some(Place::Seat(guest)) => drop(guest),
            None => {}
        }
    }
}

/// Returns the stages that must have finished an event before `stage` may acquire its cache line;
/// `None` if another thread may access the slot even then (I15).
fn sharing_lines<E>(ring: &Ring<E>, stage: StageIndex) -> Option<Box<[StageIndex]>> {
    // A sender gives the notice of a slot after the publication. By then the receiver may have
    // finished the event, and its store would undo the notice.
    if ring.notices.is_some() {
        return None;
    }
    ring.control.gating_beside(stage)
}

impl<E, A> fmt::Debug for Reader<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("stage", &self.stage)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
