//! The reading end that the processor and the poller share: which events are there, waiting for
//! more, and letting go of those that are done.

use std::fmt;
use std::ops::Range;
use std::time::Instant;

use super::guest::Place;
use super::lines::{self, Lines};
use super::looks::LearntLooks;
use super::source::{Source, Sweep};
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::barrier::{Barrier, NextEvent};
use crate::control::{Control, StageIndex};
use crate::error::PollError;
use crate::failures::Failures;
use crate::ring::Ring;
use crate::ring_buffer::Prefetcher;
use crate::stamps::Span;
use crate::sync::Arc;
use crate::wait::{AnyWaitStrategy, Awaited, Waiting};

/// Most events of a batch where the stage has no limit of its own: whatever the ring has.
pub(crate) const UNLIMITED: u64 = u64::MAX >> 1;

/// Position of one stage in its ring.
pub(crate) struct Reader<E> {
    pub(crate) ring: Ring<E>,
    pub(crate) stage: StageIndex,
    /// Which of the consumers of this stage it is: seats change hands.
    turn: u64,
    /// None once it has left.
    place: Option<Place>,
    pub(super) barrier: Barrier,
    pub(super) strategy: Box<dyn AnyWaitStrategy>,
    /// Whether it looks by itself, as the strategy says.
    spins: bool,
    /// How it looks then.
    looks: LearntLooks,
    /// Those of its events.
    lines: Lines,
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
    /// Whether the last poll found nothing: it waits for a lone event, whose line is worth asking for.
    found_nothing: bool,
    /// Whether a poll after one that found nothing need not find more than one event, where events have notices.
    pub(super) expects_one: bool,
    /// Whether the last look was for one event, and did not say whether there are more.
    is_lone: bool,
    /// Whether the strategy has said since that there is something: then a notice that does not show is late.
    is_told: bool,
    /// Whether the last look found fewer events than it could have.
    pub(super) has_seen_all: bool,
    /// Most events of a batch.
    pub(super) max_batch: u64,
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
        Self {
            ring,
            stage,
            turn,
            place: Some(place),
            barrier,
            spins: strategy.spins(),
            looks: LearntLooks::starting_at(first),
            strategy,
            lines,
            failing,
            first,
            next: first,
            known: first,
            swept: first,
            found_nothing: false,
            expects_one: false,
            is_lone: false,
            is_told: false,
            has_seen_all: false,
            max_batch,
        }
    }

    /// Number of events that may be read now, past the wrap and past the longest batch: the depth
    /// of the queue.
    pub(crate) fn available(&mut self) -> u64 {
        let from = self.known.max(self.next);
        // What is known is not looked at again, so that many small batches cost no more than one
        // large one.
        if let Ok(Span::Events(end)) = self.look(from, self.next + self.ring.control.capacity) {
            self.known = end;
        }
        self.known.saturating_sub(self.next)
    }

    /// The next events, at most `max`, up to the wrap at most. Skips claims that were given up.
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] once the ring is closed and this stage has finished every event.
    #[inline]
    pub(crate) fn poll(&mut self, max: u64) -> Result<Range<Sequence>, PollError> {
        if let Some(lone) = self.poll_lone() {
            return Ok(lone);
        }
        loop {
            let longest = self.next + max.min(self.max_batch);
            let limit = self.ring.buffer.wrap_after(self.next).min(longest);
            let from = self.known.max(self.next);
            match self.glance(from, limit)? {
                Span::Events(end) => {
                    self.known = end;
                    self.has_seen_all = end < limit;
                }
                Span::Tombstones(end) if from == self.next => {
                    self.release(end);
                    continue;
                }
                Span::Empty | Span::Tombstones(_) => {}
            }
            self.is_lone = false;
            self.found_nothing = self.known <= self.next;
            if self.found_nothing {
                self.has_seen_all = true;
                return Err(PollError::Empty);
            }
            self.is_told = false;
            return Ok(self.next..self.known.min(limit));
        }
    }

    /// The next event, if the last look has shown it.
    #[inline]
    pub(crate) fn next_known(&self) -> Option<Range<Sequence>> {
        (self.known > self.next).then(|| self.next..self.next + 1)
    }

    /// As [`look`](Self::look), with an eye on the lines that it takes from the producer. Where the event has a notice that
    /// does not show, the cursor's stays there; where it has none, who has found nothing asks for the event's as well.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    #[inline]
    fn glance(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        let notice = if from < limit { self.barrier.is_noticed(from) } else { None };
        match notice {
            Some(false) if !self.is_told && self.ring.control.life.is_open() => {
                return Ok(Span::Empty);
            }
            None if self.found_nothing => self.barrier.fetch(from),
            _ => {}
        }
        self.look(from, limit)
    }

    /// What may be read from `from` on, below `limit`.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    #[inline]
    pub(super) fn look(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        let control = &self.ring.control;
        let span = if from < limit { self.barrier.span(control, from, limit) } else { Span::Empty };
        // O8: between the look at the cursor and the look for a close.
        control.fence.light();
        if control.life.is_open() { Ok(span) } else { self.at_the_end(span) }
    }

    /// What is left of `span` in a ring that is not open any more.
    #[cold]
    fn at_the_end(&self, span: Span) -> Result<Span, PollError> {
        let life = &self.ring.control.life;
        if life.is_halted() {
            return Err(PollError::Halted);
        }
        let Some(end) = life.end() else {
            // A close is under way: which of the events that are there it counts is known in a
            // moment.
            return Ok(Span::Empty);
        };
        if end <= self.next {
            return Err(PollError::Closed);
        }
        Ok(match span {
            Span::Empty => Span::Empty,
            Span::Events(limit) => Span::Events(limit.min(end)),
            Span::Tombstones(limit) => Span::Tombstones(limit.min(end)),
        })
    }

    /// What `events` say, which were all that the last look found.
    #[inline]
    pub(super) fn sweep_of(&self, events: u64) -> Option<Sweep> {
        if events >= self.ring.control.capacity / 4 {
            Some(Sweep::Late)
        } else {
            self.has_seen_all.then_some(Sweep::All(events))
        }
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

    fn is_guest(&self) -> bool {
        matches!(self.place, Some(Place::Seat(_)))
    }

    fn next(&self) -> Sequence {
        self.next
    }

    fn processed(&self) -> u64 {
        self.next - self.first
    }

    fn available(&mut self) -> u64 {
        Self::available(self)
    }

    fn limit_batch(&mut self, events: u64) {
        self.max_batch = self.max_batch.min(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        Self::poll(self, UNLIMITED)
    }

    fn is_ready(&self) -> bool {
        let (control, barrier) = (&*self.ring.control, &self.barrier);
        let Self { next, stage, turn, .. } = *self;
        NextEvent { control, barrier, next, stage, turn }.is_over()
    }

    #[inline]
    fn spins(&self) -> bool {
        self.spins
    }

    #[inline(always)]
    fn await_next(&mut self) -> Option<bool> {
        let looks = self.looks.next(self.next);
        Some(self.barrier.await_next(&self.ring.control, self.next, looks))
    }

    #[inline(always)]
    fn poll_lone(&mut self) -> Option<Range<Sequence>> {
        // The cursor's line stays with the producer, which has it for the next one.
        let is_one_enough = self.expects_one && self.found_nothing;
        if !is_one_enough || self.barrier.is_noticed(self.next) != Some(true) {
            return None;
        }
        let control = &self.ring.control;
        // O8: between the look at the notice, which came after the cursor, and the look for a close.
        control.fence.light();
        if !control.life.is_open() {
            return None;
        }
        self.known = self.next + 1;
        self.is_lone = true;
        self.has_seen_all = false;
        self.found_nothing = false;
        self.is_told = false;
        Some(self.next..self.known)
    }

    fn wait_once(&mut self, deadline: Option<Instant>) -> bool {
        // After a lone event it is known only now that it was all.
        self.pace();
        let control = &self.ring.control;
        let activity: &Activity = &control.stages[self.stage].activity;
        activity.set(Doing::Waiting);
        let (barrier, next) = (&self.barrier, self.next);
        let (stage, turn) = (self.stage, self.turn);
        let awaited = NextEvent { control, barrier, next, stage, turn };
        let waiting = Waiting { sleeper: Some(activity), ..control.waiting(&awaited, deadline) };
        self.strategy.wait(&waiting);
        self.is_told = true;
        waiting.is_expired() || control.is_stopping(stage, turn)
    }

    #[inline]
    fn sweep(&mut self) -> Option<Sweep> {
        let events = self.next - self.swept;
        if events == 0 || self.known > self.next || self.is_lone {
            return None;
        }
        self.swept = self.next;
        self.sweep_of(events)
    }

    #[inline]
    fn strategy(&mut self) -> &mut dyn AnyWaitStrategy {
        &mut *self.strategy
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

    #[inline]
    fn release(&mut self, sequence: Sequence) {
        debug_assert!(sequence >= self.next, "a stage never goes back: sequence={sequence}");
        let events = self.next..sequence;
        if self.lines.pay(&events) {
            // SAFETY: I15: the stage gates alone, has these events until the next lines, and whoever lets go of them has no
            // borrow left.
            unsafe { lines::take(&self.ring, events) };
        }
        self.next = sequence;
        self.ring.control.advance(self.stage, sequence);
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
