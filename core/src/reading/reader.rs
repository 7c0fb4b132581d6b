//! The position of one stage in its ring: what it has finished, what it knows to be readable, and
//! how it releases events and leaves. Not here: how it finds more events (`polling`), how it
//! accesses them (`access`, `batch`), and what it waits for (`waiting`).
//!
//! The right to read is a range: the events from `next` to `known` are published, the stages
//! upstream have finished them, and this stage has not released them. Only this file moves `next`,
//! except for a worker of a group (`waiting`), which has no such right. Only `polling` raises
//! `known`, after a load that showed the events.

use std::fmt;

use super::barrier::Barrier;
use super::place::Place;
use crate::Sequence;
use crate::advice::ReadAdvice;
use crate::control::Control;
use crate::ring::Ring;
use crate::ring_buffer::{Lines, RingBuffer};
use crate::stages::{DETACHED, StageIndex, StageWords};
use crate::words::Placed;

/// The batch limit of a stage that has no limit of its own.
pub const UNLIMITED: u64 = u64::MAX >> 1;

/// The reading end of one stage.
///
/// It is aligned to a cache line. Without that, the fields that each event uses lie in two cache
/// lines for one reader in four on a stack. A single event then takes up to 50 % longer
/// (E65 in `lab/results/experiments.md`).
#[repr(align(64))]
pub struct Reader<E, A> {
    pub(super) ring: Ring<E>,
    stage: StageIndex,
    /// Which consumer of this stage it is, since a dynamic stage has one consumer after another.
    generation: u64,
    /// The stage or the dynamic stage; `None` once the reader has left it.
    place: Option<Place>,
    pub(super) barrier: Barrier,
    /// The shared words of its stage, which it alone moves. A worker of a group, and a reader that
    /// has left, have words that no other thread reads.
    words: Placed<StageWords>,
    /// Whether no other stage has an event at the same time, so that it may change events.
    pub(super) is_exclusive: bool,
    /// Whether it has the events that its loads show: not in a group, nor once it has left.
    owns_events: bool,
    /// The cache lines of the slots, and the stages that must have finished an event before its
    /// lines are acquired; `None` if other threads may access the slot at any time.
    lines: Option<(Lines, Box<[StageIndex]>)>,
    /// First sequence that this stage had to finish.
    first: Sequence,
    /// First sequence that this stage has not finished. The shared word is stored after it.
    pub(super) next: Sequence,
    /// First sequence not known to be readable; nothing is known if it is at most `next`. A worker
    /// of a group never knows of an event that it may read.
    pub(super) known: Sequence,
    /// The same for what a worker of a group may claim.
    pub(super) claimable: Sequence,
    /// The value of `next` when the stage last had no known event left.
    drained: Sequence,
    /// End of the last abandoned claims that it has skipped; [`DETACHED`] once
    /// [`take_passed`](Self::take_passed) has returned it.
    passed: Sequence,
    /// Whether a poll after a failed one may return a single event, where events have published
    /// marks.
    pub(super) expects_one: bool,
    pub(super) last: LastLook,
    /// Maximum number of events in a batch.
    pub(super) max_batch: u64,
    /// Number of abandoned claims among the sequences that it has released.
    given_up: u64,
    pub(super) advice: A,
}

/// The result of the last load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLook {
    /// Nothing: the reader waits for a single event.
    Nothing {
        /// Whether a wait has ended since. A published mark that does not show is then late.
        is_told: bool,
    },
    /// One event, shown by its published mark. There may be more.
    Single,
    /// Fewer events than the load could have shown: all that there were.
    All,
    /// As many events as the load could show. There may be more.
    Part,
}

/// Describes a drained batch: every event that the last load showed is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drained {
    /// Whether it was at least a quarter of the ring, so that producers may be waiting for it.
    pub is_late: bool,
    /// Number of events.
    pub events: u64,
}

impl<E, A: ReadAdvice> Reader<E, A> {
    /// Creates the reader of `place`. If it `is_exclusive`, it may change events.
    ///
    /// # Panics
    ///
    /// If the stage has a reader already, or if the words of `place` are those of a dynamic stage,
    /// a worker or an acknowledgement. Also if the reader is to be exclusive and another stage may
    /// have an event at the same time.
    ///
    /// # Safety
    ///
    /// Unless the reader is exclusive, threads may share events: `E: Sync` (I5).
    #[must_use]
    pub unsafe fn new(
        ring: Ring<E>,
        place: Place,
        is_exclusive: bool,
        max_batch: u64,
        advice: A,
    ) -> Self {
        let (stage, generation) = (place.stage(), place.generation());
        let control = ring.control();
        let is_alone = !is_exclusive || control.stages().is_alone(stage);
        assert!(is_alone, "another stage may have an event at the same time: stage={stage}");
        place.take(control);
        let first = control.finished_by(stage);
        let words = control.stages().of(stage);
        let is_group = matches!(place, Place::Group(_));
        Self {
            stage,
            generation,
            barrier: Barrier::new(words.upstream().into(), ring.marks()),
            words: if is_group { Placed::alone(StageWords::unshared()) } else { words.clone() },
            place: Some(place),
            is_exclusive,
            owns_events: !is_group,
            lines: lines_of(&ring, stage),
            first,
            next: first,
            known: first,
            claimable: first,
            drained: first,
            passed: DETACHED,
            expects_one: false,
            last: LastLook::Part,
            max_batch: max_batch.min(UNLIMITED),
            given_up: 0,
            advice,
            ring,
        }
    }

    #[inline]
    pub(super) fn buffer(&self) -> &RingBuffer<E> {
        self.ring.buffer()
    }

    /// Checks that no other stage has an event at the same time (I6).
    #[inline]
    pub(super) fn check_exclusive(&self) {
        assert!(self.is_exclusive, "another stage may read the events");
    }

    /// Returns the ring.
    #[inline]
    #[must_use]
    pub fn ring(&self) -> &Ring<E> {
        &self.ring
    }

    #[inline]
    pub(super) fn control(&self) -> &Control {
        self.ring.control()
    }

    /// Returns the index of its stage, or that of its group.
    #[inline]
    #[must_use]
    pub fn stage(&self) -> StageIndex {
        self.stage
    }

    /// Returns which consumer of its stage it is.
    #[inline]
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the first sequence that it has not finished.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Sequence {
        self.next
    }

    /// Returns the maximum number of events in a batch.
    #[inline]
    #[must_use]
    pub fn max_batch(&self) -> u64 {
        self.max_batch
    }

    /// Gives batches at most this many events.
    pub fn limit_batch(&mut self, events: u64) {
        self.max_batch = self.max_batch.min(events);
    }

    /// Sets whether a poll after a failed one may return a single event, where events have
    /// published marks.
    #[inline]
    pub fn expect_one(&mut self, is_one_enough: bool) {
        self.expects_one = is_one_enough;
    }

    /// Records that a wait has ended, for any reason.
    #[inline]
    pub fn tell(&mut self) {
        if let LastLook::Nothing { is_told } = &mut self.last {
            *is_told = true;
        }
    }

    /// Whether its consumer is asked to leave. Always false for a worker of a group, whose words
    /// are those of the worker.
    #[inline]
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.words.is_stopping(self.generation)
    }

    /// Returns the number of sequences that it has finished.
    #[must_use]
    pub fn processed(&self) -> u64 {
        self.next - self.first
    }

    /// Returns the number of abandoned claims among these.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Returns what it has drained since the last call, if it knows of no further event.
    #[inline]
    pub fn drained(&mut self) -> Option<Drained> {
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
    #[must_use]
    pub fn drained_of(&self, events: u64) -> Option<Drained> {
        let is_late = events >= self.control().capacity() / 4;
        (is_late || self.last != LastLook::Part).then_some(Drained { is_late, events })
    }
}

/// Release and leave.
impl<E, A: ReadAdvice> Reader<E, A> {
    /// Releases everything below `sequence`.
    ///
    /// # Panics
    ///
    /// If a poll has not shown everything below `sequence`, or the reader has released more.
    #[inline]
    pub fn release(&mut self, sequence: Sequence) {
        let is_known = self.next <= sequence && sequence <= self.known.max(self.next);
        assert!(is_known, "a reader releases what a poll has shown: sequence={sequence}");
        self.watch(self.next..sequence);
        self.advance(sequence);
    }

    /// Whether it is a worker of a group, which shares the events among its workers.
    #[inline]
    pub(super) fn is_of_group(&self) -> bool {
        matches!(self.place, Some(Place::Group(_)))
    }

    /// Records that a load has shown the events from `next` on, below `end`.
    ///
    /// # Panics
    ///
    /// In a group, whose events are not those of one reader, and once the reader has left, since it
    /// holds back no other thread.
    #[inline]
    pub(super) fn learn(&mut self, end: Sequence) {
        assert!(self.owns_events, "a worker finds events, and a reader that has left has none");
        self.known = end;
    }

    /// Moves to `sequence`. Everything below is published or given up.
    #[inline]
    pub(super) fn advance(&mut self, sequence: Sequence) {
        if self.advice.wants_lines_of(self.next..sequence) {
            self.acquire_lines(sequence);
        }
        self.next = sequence;
        self.ring.control().advance(&self.words, self.stage, sequence);
    }

    /// Acquires cache-line ownership of the events below `end` that no other stage is still
    /// reading.
    #[inline(never)]
    fn acquire_lines(&self, end: Sequence) {
        let Some((lines, beside)) = &self.lines else { return };
        let events = self.next..end.min(self.control().finished_by_all(beside));
        if !events.is_empty() {
            self.ring.watch_acquire(events.clone());
            // SAFETY: I15: every other stage that gates producers has finished these events. This
            // stage holds them until the caller stores its sequence, and no borrow of them is left.
            unsafe { lines.acquire(events) };
        }
    }

    /// Returns the next sequence, if polls have skipped abandoned claims since the last batch and
    /// since the last call.
    #[inline]
    pub fn take_passed(&mut self) -> Option<Sequence> {
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
        self.advance(end);
        self.passed = end;
    }

    /// Leaves the graph or the dynamic stage, once. A worker's group does that for it.
    pub fn leave(&mut self) {
        if let Some(Place::Stage(stage)) = self.place.take() {
            self.ring.control().detach(stage);
        }
        // A dynamic stage is left by the drop of its place.
        self.words = Placed::alone(StageWords::unshared());
        // From now on, no event and no slot is its own (I2, I15).
        (self.owns_events, self.known, self.lines) = (false, self.next, None);
    }
}

/// Returns the cache lines of the slots, and the stages that must have finished an event before
/// `stage` may acquire its line; `None` if another thread may access the slot even then (I15).
fn lines_of<E>(ring: &Ring<E>, stage: StageIndex) -> Option<(Lines, Box<[StageIndex]>)> {
    // A sender sets the published mark of a slot after the publication. By then the receiver may
    // have finished the event, and its store would undo the published mark.
    if ring.marks().is_some() {
        return None;
    }
    let beside = ring.control().stages().gating_beside(stage)?;
    Some((ring.lines(), beside))
}

impl<E, A> fmt::Debug for Reader<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("stage", &self.stage)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
