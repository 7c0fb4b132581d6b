//! What a stage may read next: looks that never wait, and the loop of looks of one that spins.

use std::ops::Range;

use super::{LastLook, Reader, Scope, UNLIMITED};
use crate::Sequence;
use crate::barrier::Sight;
use crate::consumer::looks::LONG;
use crate::consumer::source::{Source, Spun};
use crate::error::PollError;
use crate::stamps::Span;

/// Rounds of looks before a strategy waits, for three to eight microseconds: most answers come by then. One in a model.
const ROUNDS_BEFORE_A_WAIT: u32 = if cfg!(loom) { 1 } else { 4 };

impl<E> Reader<E> {
    /// As [`Source::available`]. A word that says how far is published shows all of them at once, and another look would take
    /// its line from the producer. Of stamps only those of the batch were looked at.
    pub(crate) fn available(&mut self) -> u64 {
        if self.ring.control.stamps.is_some() {
            return self.available_now();
        }
        self.known.saturating_sub(self.next)
    }

    /// The same by another look, at what is not known yet.
    pub(crate) fn available_now(&mut self) -> u64 {
        let from = self.known.max(self.next);
        if let Ok(Span::Events(end)) = self.look(from, self.next + self.ring.control.capacity) {
            self.known = end;
            self.last.scope = Scope::All;
        }
        self.known.saturating_sub(self.next)
    }

    /// The next events, at most `max`, up to the wrap at most. Skips claims that were given up.
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] once the ring is closed and this stage has finished every event.
    #[inline(always)]
    pub(crate) fn poll(&mut self, max: u64) -> Result<Range<Sequence>, PollError> {
        match self.poll_open(max) {
            Some(batch) if batch.is_empty() => Err(PollError::Empty),
            Some(batch) => Ok(batch),
            None => self.poll_with_care(max),
        }
    }

    /// As [`poll`](Self::poll), of an open ring where words say how far there are events, and nothing is said of single ones;
    /// `None` elsewhere. An empty batch if there are none.
    ///
    /// In line, since it is what every batch takes, and one of a single event takes little else.
    #[inline(always)]
    fn poll_open(&mut self, max: u64) -> Option<Range<Sequence>> {
        let control = &*self.ring.control;
        if control.stamps.is_some() || self.barrier.has_notices() {
            return None;
        }
        let (limit, from) = (self.limit(max), self.known.max(self.next));
        let is_known = from >= limit;
        if !is_known && self.last.found_nothing {
            self.barrier.fetch(from);
        }
        let end = if is_known { from } else { self.barrier.end(control) };
        if !self.is_still_open() {
            return None;
        }
        if end > from {
            let has_seen_all = end - from < control.capacity;
            self.found(end, LastLook { has_seen_all, ..LastLook::default() });
        } else if from == self.next {
            self.last = LastLook::of_nothing();
            return Some(from..from);
        }
        Some(self.hand_out(self.next..self.known.min(limit)))
    }

    /// As [`poll`](Self::poll), of any ring.
    #[inline(never)]
    fn poll_with_care(&mut self, max: u64) -> Result<Range<Sequence>, PollError> {
        if let Some(lone) = self.poll_lone() {
            return Ok(lone);
        }
        loop {
            let limit = self.limit(max);
            let from = self.known.max(self.next);
            let horizon = self.horizon(from, limit);
            match self.glance(from, horizon)? {
                Span::Events(end) => {
                    self.known = end;
                    self.last.has_seen_all = end < horizon;
                }
                Span::Tombstones(end) if from == self.next => {
                    self.skip(end);
                    continue;
                }
                Span::Empty | Span::Tombstones(_) => {}
            }
            if self.known <= self.next {
                let is_told = self.last.is_told;
                self.last = LastLook { is_told, ..LastLook::of_nothing() };
                return Err(PollError::Empty);
            }
            let has_seen_all = self.last.has_seen_all;
            self.last = LastLook { has_seen_all, ..LastLook::default() };
            return Ok(self.hand_out(self.next..self.known.min(limit)));
        }
    }

    /// The batch that is read next, and what is known after it, which may be asked for as well. Not one that a
    /// [spin](Self::spin) has found: those are mostly lone events.
    #[inline(always)]
    pub(super) fn hand_out(&mut self, batch: Range<Sequence>) -> Range<Sequence> {
        self.ahead.ask(batch.start..self.known);
        batch
    }

    /// Lets go of everything below `end`, which was given up.
    #[cold]
    #[inline(never)]
    fn skip(&mut self, end: Sequence) {
        self.given_up += end - self.next;
        self.release(end);
        self.passed = end;
    }

    /// First sequence that the next batch cannot have, if it is to have at most `max` events.
    #[inline(always)]
    fn limit(&self, max: u64) -> Sequence {
        let longest = self.next + max.min(self.max_batch);
        self.ring.buffer.wrap_after(self.next).min(longest)
    }

    /// First sequence that a look from `from` on need not show, of one whose batch ends before `limit`.
    ///
    /// A word that says how far is published shows all that is there, and is not looked at again before that is done: each
    /// look takes its line from the producer. Stamps are looked at one by one, none sooner than it is needed.
    #[inline(always)]
    fn horizon(&self, from: Sequence, limit: Sequence) -> Sequence {
        let control = &self.ring.control;
        if from >= limit || control.stamps.is_some() { limit } else { from + control.capacity }
    }

    /// What is left of what the last look has shown, up to the wrap at most, if there is something and the ring is open.
    #[inline(always)]
    pub(super) fn rest(&self) -> Option<Range<Sequence>> {
        let is_there = self.known > self.next && self.is_still_open();
        is_there.then(|| self.next..self.known.min(self.limit(UNLIMITED)))
    }

    /// What one round of looks of its own shows of the next event: see [`Source::await_next`].
    #[inline(always)]
    pub(in crate::consumer) fn spin(&mut self) -> Spun {
        let (looks, limit) = (self.looks.next(self.next), self.limit(UNLIMITED));
        let batch = match self.barrier.await_next(&self.ring.control, self.next, looks) {
            None => return Spun::Nothing,
            Some(Sight::Notice) => self.poll_lone(),
            Some(Sight::UpTo(end)) => self.poll_shown(end, limit),
            Some(Sight::Stamp) => None,
        };
        if batch.is_none() && !self.ring.control.life.is_open() {
            // Until a close that is under way has counted, there is nothing to find.
            LONG.space.keep();
        }
        batch.map_or(Spun::Something, Spun::Batch)
    }

    /// A few rounds of looks of its own, of one that hands the wait to its strategy if they show nothing.
    #[inline(always)]
    pub(super) fn spin_first(&mut self) -> Spun {
        for _ in 0..ROUNDS_BEFORE_A_WAIT {
            match self.spin() {
                Spun::Nothing => {}
                seen => return seen,
            }
        }
        Spun::Nothing
    }

    /// The events below `end`, which a look has just shown to one that had found nothing, as far as below `limit`. What
    /// [`poll`](Self::poll) would find, but sooner; `None` if the ring is not open, and they may not count.
    #[inline(always)]
    fn poll_shown(&mut self, end: Sequence, limit: Sequence) -> Option<Range<Sequence>> {
        if !self.is_still_open() {
            return None;
        }
        let there = self.found_all(end);
        Some(there.start..there.end.min(limit))
    }

    /// The next event alone, by its notice, if that shows and one event is as good as all that are there. Not more than
    /// [`poll`](Self::poll) does, but sooner.
    #[inline(always)]
    fn poll_lone(&mut self) -> Option<Range<Sequence>> {
        // The cursor's line stays with the producer, which has it for the next one.
        let is_one_enough = self.expects_one && self.last.found_nothing;
        if !is_one_enough
            || self.barrier.is_noticed(self.next) != Some(true)
            || !self.is_still_open()
        {
            return None;
        }
        Some(self.found(self.next + 1, LastLook { scope: Scope::Lone, ..LastLook::default() }))
    }

    /// Whether the ring was open after the look that has shown something.
    #[inline(always)]
    fn is_still_open(&self) -> bool {
        let control = &self.ring.control;
        // O8: between the look at the cursor, or at a notice, which came after it, and the look for a close.
        control.fence.light();
        control.life.is_open()
    }

    /// The events below `end`, all that there are, and what that says to the next look.
    #[inline(always)]
    pub(super) fn found_all(&mut self, end: Sequence) -> Range<Sequence> {
        self.found(end, LastLook { has_seen_all: true, ..LastLook::default() })
    }

    /// The batch up to `known`, and what that says to the next look.
    #[inline(always)]
    fn found(&mut self, known: Sequence, look: LastLook) -> Range<Sequence> {
        self.known = known;
        self.last = look;
        self.next..known
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
            Some(false) if !self.last.is_told && self.ring.control.life.is_open() => {
                return Ok(Span::Empty);
            }
            None if self.last.found_nothing => self.barrier.fetch(from),
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
    pub(in crate::consumer) fn look(
        &self,
        from: Sequence,
        limit: Sequence,
    ) -> Result<Span, PollError> {
        let span = if from < limit {
            self.barrier.span(&self.ring.control, from, limit)
        } else {
            Span::Empty
        };
        if self.is_still_open() { Ok(span) } else { self.at_the_end(span) }
    }

    /// What is left of `span` in a ring that is not open any more.
    #[cold]
    fn at_the_end(&self, span: Span) -> Result<Span, PollError> {
        let life = &self.ring.control.life;
        if let Some(cause) = life.halt_cause() {
            return Err(PollError::Halted(cause));
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
}
