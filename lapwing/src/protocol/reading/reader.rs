//! The position of one stage in its ring: what it has finished, what it knows to be there, releasing and leaving. Not
//! here: looking for more (`polling`), how it waits (`wait`).

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
use crate::protocol::ring_buffer::Addresses;
use crate::protocol::seats::Place;
use crate::protocol::stamps::Stamps;
use crate::sync::Arc;

/// Most events of a batch where the stage has no limit of its own: whatever the ring has.
pub(crate) const UNLIMITED: u64 = u64::MAX >> 1;

/// The reading end of one stage.
///
/// It begins on a cache line: on a stack one reader in four would have what is stored for each event across two lines. A lone
/// event then took up to half as long again (`perf/results/experiments.md`, "An end that begins in the middle of a line").
#[repr(align(64))]
pub(crate) struct Reader<E, A> {
    pub(crate) ring: Ring<E>,
    pub(crate) stage: StageIndex,
    /// Which of the consumers of this stage it is: seats change hands.
    pub(crate) turn: u64,
    /// None once it has left.
    place: Option<Place>,
    pub(crate) barrier: Barrier,
    /// The shared words of its stage.
    words: Arc<StageControl>,
    /// The stages that gate producers beside this one; `None` if its events are never its own alone.
    beside: Option<Box<[StageIndex]>>,
    /// The stages before this one that may skip events as failed.
    failing: Box<[StageIndex]>,
    /// First sequence that was this stage's to finish.
    first: Sequence,
    /// First sequence that this stage has not finished. The shared word follows it.
    pub(crate) next: Sequence,
    /// First sequence that is not known to be there; up to `next`, nothing is.
    pub(crate) known: Sequence,
    /// Where `next` was when all that was known was finished the last time.
    drained: Sequence,
    /// End of the last claims that were given up and that it has released; [`DETACHED`] once its stage has been told.
    passed: Sequence,
    /// Whether a poll after one that found nothing need not find more than one event, where events have notices.
    pub(crate) expects_one: bool,
    pub(crate) last: LastLook,
    /// Most events of a batch.
    pub(crate) max_batch: u64,
    /// Number of claims that were given up among those that it has released.
    pub(crate) given_up: u64,
    pub(crate) advice: A,
}

/// What the last look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLook {
    /// Nothing: the reader waits for a lone event.
    Nothing {
        /// Whether a wait has said since that there is something: then a notice that does not show is late.
        is_told: bool,
    },
    /// One event by its notice, which does not say whether there are more.
    Lone,
    /// Fewer events than it could have shown, so all that there were.
    All,
    /// As many events as it could show.
    Part,
}

/// A batch of events that is drained: all that the last look had shown is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Drained {
    /// Whether it was a quarter of the ring or more, so that producers may wait for it.
    pub(crate) is_late: bool,
    /// Number of events.
    pub(crate) events: u64,
}

impl<E, A: ReadAdvice> Reader<E, A> {
    pub(crate) fn new(ring: Ring<E>, place: Place, max_batch: u64) -> Self {
        let (stage, turn) = (place.stage(), place.turn());
        let control = &ring.control;
        let first = control.finished_by(stage);
        let stamps = control.stamps.as_ref().map(Stamps::addresses);
        Self {
            stage,
            turn,
            place: Some(place),
            barrier: Barrier::new(control.stages[stage].upstream.clone(), ring.notices),
            words: Arc::clone(&control.stages[stage]),
            beside: control.gating_beside(stage),
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
            advice: A::new(Addresses::of(&ring.buffer), stamps, first),
            ring,
        }
    }

    /// The wait for its next event.
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

    /// Whether a poll would find something, or the end, or the consumer is asked to leave.
    pub(crate) fn is_ready(&self) -> bool {
        self.next_event().is_over()
    }

    /// A wait has said that there is something.
    #[inline]
    pub(crate) fn tell(&mut self) {
        if let LastLook::Nothing { is_told } = &mut self.last {
            *is_told = true;
        }
    }

    /// Whether it is asked to leave.
    #[inline(always)]
    pub(crate) fn is_stopping(&self) -> bool {
        self.words.is_stopping(self.turn)
    }

    /// Whether it joined a ring that ran.
    pub(crate) fn is_guest(&self) -> bool {
        matches!(self.place, Some(Place::Seat(_)))
    }

    /// Number of sequences that it has finished.
    pub(crate) fn processed(&self) -> u64 {
        self.next - self.first
    }

    /// What its consumer is doing, for monitors.
    #[inline(always)]
    pub(crate) fn activity(&self) -> &Activity {
        &self.words.activity
    }

    /// The events of `batch`.
    ///
    /// # Safety
    ///
    /// The reader has `batch`, which does not cross the wrap, for as long as the slice is used (I2).
    #[inline(always)]
    pub(crate) unsafe fn events(&self, batch: Range<Sequence>) -> &[E] {
        // SAFETY: I2, by the caller.
        unsafe { self.ring.buffer.slice(batch) }
    }

    /// What it has drained since it was asked the last time, if it knows of nothing more.
    #[inline]
    pub(crate) fn drained(&mut self) -> Option<Drained> {
        let events = self.next - self.drained;
        if events == 0 || self.known > self.next || self.last == LastLook::Lone {
            return None;
        }
        self.drained = self.next;
        self.drained_of(events)
    }

    /// What `events` say that are drained, unless more may be there than the last look could show.
    #[inline]
    pub(crate) fn drained_of(&self, events: u64) -> Option<Drained> {
        let is_late = events >= self.ring.control.capacity / 4;
        (is_late || self.last != LastLook::Part).then_some(Drained { is_late, events })
    }

    fn failures_of(&self, stage: StageIndex) -> &Failures {
        let failures = self.ring.control.stages[stage].failures.as_ref();
        failures.expect("a stage that may skip events has room for their marks")
    }

    /// Whether a stage before this one has skipped an event from `first` on.
    #[inline]
    pub(crate) fn may_have_failed(&self, first: Sequence) -> bool {
        self.failing.iter().any(|&stage| self.failures_of(stage).is_any_from(first))
    }

    /// Whether a stage before this one has skipped `sequence`.
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
    #[inline(always)]
    pub(crate) fn release(&mut self, sequence: Sequence) {
        debug_assert!(sequence >= self.next, "a stage never goes back: sequence={sequence}");
        if self.advice.wants_lines_of(self.next..sequence) {
            self.acquire_lines(sequence);
        }
        self.next = sequence;
        self.ring.control.advance_words(&self.words, self.stage, sequence);
    }

    /// Acquires ownership of the cache lines of the events below `end`, as far as no other stage has them.
    #[inline(never)]
    fn acquire_lines(&self, end: Sequence) {
        let Some(beside) = &self.beside else { return };
        let events = self.next..end.min(self.ring.control.finished_by_all(beside));
        if !events.is_empty() {
            self.ring.buffer.watch_write(events.clone());
            // SAFETY: I15: whatever gates beside this stage has finished these events, which this stage has until the caller
            // stores its sequence, and no borrow of them is left.
            unsafe { self.advice.acquire_lines(events) };
        }
    }

    /// The next sequence, if polls have passed claims that were given up since the last batch and since this was asked.
    #[inline]
    pub(crate) fn take_passed(&mut self) -> Option<Sequence> {
        // A batch after them ends beyond.
        (self.passed == self.next).then(|| {
            self.passed = DETACHED;
            self.next
        })
    }

    /// Releases everything below `end`, which was given up.
    #[cold]
    #[inline(never)]
    pub(super) fn skip(&mut self, end: Sequence) {
        self.given_up += end - self.next;
        self.release(end);
        self.passed = end;
    }

    /// Leaves the graph, or its seat, once.
    pub(crate) fn leave(&mut self) {
        match self.place.take() {
            Some(Place::Graph(stage)) => self.ring.control.detach(stage),
            // Leaves when it is dropped, as it does with this reader.
            Some(Place::Seat(guest)) => drop(guest),
            None => {}
        }
    }
}

impl<E, A> fmt::Debug for Reader<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("stage", &self.stage)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
