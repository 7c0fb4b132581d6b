//! The reading end that the processor and the poller share: waiting for events, and letting go of those that are done. Not
//! here: which events are there (`polling`).

mod polling;

use std::fmt;
use std::ops::Range;
use std::time::Instant;

use super::ahead::Ahead;
use super::guest::Place;
use super::lines::{self, Lines};
use super::looks::LearntLooks;
use super::source::{Source, Spun, Sweep};
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::barrier::{Barrier, NextEvent};
use crate::control::{Control, DETACHED, StageControl, StageIndex};
use crate::error::PollError;
use crate::failures::Failures;
use crate::ring::Ring;
use crate::ring_buffer::Prefetcher;
use crate::sync::Arc;
use crate::wait::crowd::Crowd;
use crate::wait::{AnyWaitStrategy, Awaited, Waiting};

/// Most events of a batch where the stage has no limit of its own: whatever the ring has.
pub(crate) const UNLIMITED: u64 = u64::MAX >> 1;

/// Position of one stage in its ring.
///
/// It begins on a line: a poller lies wherever its owner has it, and on a stack one in four would have what is stored for each
/// event across two lines. A lone event then took up to half as long again (`perf/results/experiments.md`).
#[repr(align(64))]
pub(crate) struct Reader<E> {
    pub(crate) ring: Ring<E>,
    pub(crate) stage: StageIndex,
    /// Which of the consumers of this stage it is: seats change hands.
    turn: u64,
    /// None once it has left.
    place: Option<Place>,
    pub(super) barrier: Barrier,
    pub(super) strategy: Box<dyn AnyWaitStrategy>,
    /// The shared words of its stage.
    words: Arc<StageControl>,
    /// Whether it looks by itself, as the strategy says.
    spins: bool,
    /// How it looks then.
    looks: LearntLooks,
    /// Those of its events.
    lines: Lines,
    /// Whether it asks for the lines of its events before it reads them.
    ahead: Ahead,
    /// The stages before this one that may skip events as failed.
    failing: Box<[StageIndex]>,
    /// First sequence that was this stage's to finish.
    first: Sequence,
    /// First sequence that this stage has not finished. The shared word follows it.
    pub(super) next: Sequence,
    /// First sequence that is not known to be there; up to `next`, nothing is.
    pub(super) known: Sequence,
    /// Where `next` was when all that was known was finished the last time.
    swept: Sequence,
    /// End of the last claims that were given up and that it let go of; [`DETACHED`] once its stage has
    /// been told.
    passed: Sequence,
    /// Whether a poll after one that found nothing need not find more than one event, where events have notices.
    pub(super) expects_one: bool,
    /// What the last look came to.
    pub(super) last: LastLook,
    /// Whether it may hold up another stage while it keeps its CPU.
    is_in_company: bool,
    /// Most events of a batch.
    pub(super) max_batch: u64,
    /// Number of claims that were given up among those that it has let go of.
    pub(super) given_up: u64,
}

/// What a look came to, for the one that follows. Set as a whole: that is one store, and the answer to a lone event has to wait
/// for each store before its own.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastLook {
    /// Whether it found nothing: so the reader waits for a lone event, whose line is worth asking for.
    found_nothing: bool,
    /// What it was for.
    scope: Scope,
    /// Whether the strategy has said since that there is something: then a notice that does not show is late.
    is_told: bool,
    /// Whether it found fewer events than it could have.
    pub(super) has_seen_all: bool,
}

/// What a look was for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Scope {
    /// All events that there are.
    #[default]
    All,
    /// One event, and it did not say whether there are more.
    Lone,
}

impl LastLook {
    /// One that found nothing.
    const fn of_nothing() -> Self {
        Self { found_nothing: true, scope: Scope::All, is_told: false, has_seen_all: true }
    }
}

impl<E> Reader<E> {
    pub(crate) fn new(
        ring: Ring<E>,
        place: Place,
        strategy: Box<dyn AnyWaitStrategy>,
        max_batch: u64,
    ) -> Self {
        let (stage, turn) = (place.stage(), place.turn());
        let upstream = ring.control.stages[stage].upstream.clone();
        let barrier = Barrier::new(upstream, Prefetcher::of(&ring.buffer), ring.notices);
        let failing = ring.control.failing_before(stage);
        let first = ring.control.finished_by(stage);
        let lines = Lines::of(&ring.control, stage, first);
        let ahead = Ahead::of(Prefetcher::of(&ring.buffer), first);
        let is_in_company = ring.control.is_in_company(stage);
        let words = Arc::clone(&ring.control.stages[stage]);
        Self {
            ring,
            stage,
            turn,
            place: Some(place),
            barrier,
            spins: strategy.spins(),
            looks: LearntLooks::starting_at(first),
            strategy,
            words,
            lines,
            ahead,
            failing,
            first,
            next: first,
            known: first,
            swept: first,
            passed: DETACHED,
            expects_one: false,
            last: LastLook::default(),
            is_in_company,
            max_batch,
            given_up: 0,
        }
    }

    /// What `events` say, which were all that the last look found.
    #[inline]
    pub(super) fn sweep_of(&self, events: u64) -> Option<Sweep> {
        let is_late = events >= self.ring.control.capacity / 4;
        (is_late || self.last.has_seen_all).then_some(Sweep { is_late, events })
    }

    /// Whether its strategy wants it to look by itself before it waits.
    #[inline(never)]
    fn is_to_spin_first(&mut self) -> bool {
        // After a lone event it is known only now that it was all.
        self.pace();
        self.strategy.spins_first(&self.ring.control.crowd)
    }

    /// Takes the lines of the events below `end`, which it is about to let go of, as far as they are due. Not in line, for who
    /// has one event.
    #[inline(never)]
    fn take_lines(&mut self, end: Sequence) {
        if let Some(events) = self.lines.due(&self.ring.control, self.next..end) {
            // SAFETY: I15: whoever gates beside this stage has finished these events, which it has until the caller stores its
            // sequence, and whoever lets go of them has no borrow left.
            unsafe { lines::take(&self.ring, events) };
        }
    }

    /// The events of `batch`.
    ///
    /// # Safety
    ///
    /// The reader has `batch`, which does not cross the wrap, for as long as the slice is used (I2).
    #[inline(always)]
    pub(in crate::consumer) unsafe fn events(&self, batch: Range<Sequence>) -> &[E] {
        // SAFETY: I2, by the caller.
        unsafe { self.ring.buffer.slice(batch) }
    }

    fn failures_of(&self, stage: StageIndex) -> &Failures {
        let failures = self.ring.control.stages[stage].failures.as_ref();
        failures.expect("a stage that may skip events has room for their marks")
    }
}

/// A stage of its own: its batches are all that is there, and its sequence says how far it is.
impl<E> Source<E> for Reader<E> {
    fn ring(&self) -> &Ring<E> {
        &self.ring
    }

    fn control(&self) -> &Arc<Control> {
        &self.ring.control
    }

    fn stage(&self) -> StageIndex {
        self.stage
    }

    fn turn(&self) -> u64 {
        self.turn
    }

    #[inline(always)]
    fn is_stopping(&self) -> bool {
        self.words.is_stopping(self.turn)
    }

    fn is_guest(&self) -> bool {
        matches!(self.place, Some(Place::Seat(_)))
    }

    fn next(&self) -> Sequence {
        self.next
    }

    fn processed(&self) -> u64 {
        self.next - self.first
    }

    fn given_up(&self) -> u64 {
        self.given_up
    }

    fn available(&mut self) -> u64 {
        Self::available(self)
    }

    fn limit_batch(&mut self, events: u64) {
        self.max_batch = self.max_batch.min(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        match self.rest() {
            Some(rest) => Ok(self.hand_out(rest)),
            None => Self::poll(self, UNLIMITED),
        }
    }

    fn is_ready(&self) -> bool {
        let (control, barrier) = (&*self.ring.control, &self.barrier);
        let Self { next, stage, turn, .. } = *self;
        NextEvent { control, barrier, next, stage, turn }.is_over()
    }

    #[inline(always)]
    fn await_next(&mut self) -> Spun {
        if self.spins {
            self.spin()
        } else if self.is_to_spin_first() {
            self.spin_first()
        } else {
            Spun::Nothing
        }
    }

    fn wait_once(&mut self, deadline: Option<Instant>) -> bool {
        if self.spins {
            return self.is_time_over(deadline);
        }
        let control = &self.ring.control;
        let activity: &Activity = &self.words.activity;
        activity.set(Doing::Waiting);
        let (barrier, next) = (&self.barrier, self.next);
        let (stage, turn) = (self.stage, self.turn);
        let awaited = NextEvent { control, barrier, next, stage, turn };
        let waiting = Waiting { sleeper: Some(activity), ..control.waiting(&awaited, deadline) };
        self.strategy.wait(&waiting);
        self.last.is_told = true;
        waiting.is_expired() || control.is_stopping(stage, turn)
    }

    #[inline]
    fn sweep(&mut self) -> Option<Sweep> {
        let events = self.next - self.swept;
        if events == 0 || self.known > self.next || self.last.scope != Scope::All {
            return None;
        }
        self.swept = self.next;
        self.sweep_of(events)
    }

    #[inline]
    fn strategy(&mut self) -> (&mut dyn AnyWaitStrategy, Option<&Crowd>) {
        let crowd = self.is_in_company.then_some(&*self.ring.control.crowd);
        (&mut *self.strategy, crowd)
    }

    #[inline(always)]
    fn activity(&self) -> &Activity {
        &self.words.activity
    }

    #[inline]
    fn may_have_failed(&self, first: Sequence) -> bool {
        self.failing.iter().any(|&stage| self.failures_of(stage).is_any_from(first))
    }

    fn has_failed(&self, sequence: Sequence) -> bool {
        self.failing.iter().any(|&stage| self.failures_of(stage).is_marked(sequence))
    }

    /// A seat has no marks.
    #[cold]
    fn mark_failed(&self, events: Range<Sequence>) {
        if !self.is_guest() {
            let failures = self.failures_of(self.stage);
            events.for_each(|sequence| failures.mark(sequence));
        }
    }

    #[inline(always)]
    fn release(&mut self, sequence: Sequence) {
        debug_assert!(sequence >= self.next, "a stage never goes back: sequence={sequence}");
        if lines::are_of_a_stream(sequence - self.next) {
            self.take_lines(sequence);
        }
        self.next = sequence;
        self.ring.control.advance_words(&self.words, self.stage, sequence);
    }

    #[inline]
    fn take_passed(&mut self) -> Option<Sequence> {
        // A batch after them ends beyond.
        (self.passed == self.next).then(|| {
            self.passed = DETACHED;
            self.next
        })
    }

    fn leave(&mut self) -> bool {
        match self.place.take() {
            Some(Place::Graph(stage)) => self.ring.control.detach(stage),
            // Leaves when it is dropped, as it does with this reader.
            Some(Place::Seat(guest)) => drop(guest),
            None => {}
        }
        false
    }
}

impl<E> fmt::Debug for Reader<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("stage", &self.stage)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
