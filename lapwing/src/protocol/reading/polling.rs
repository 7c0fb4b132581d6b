//! How a reader finds its next events: polls that never wait, and the loop of a consumer that spins. Not
//! here: how a consumer parks (`wait`).

use std::ops::Range;

use super::cursor;
use super::reader::{LastLook, Reader, UNLIMITED};
use crate::Sequence;
use crate::error::PollError;
use crate::protocol::advice::ReadAdvice;
use crate::protocol::stamps::Span;
use crate::sync::pause;

/// What a spinning consumer has seen of its next event.
#[derive(Debug)]
pub(crate) enum Spun {
    /// These events may be read.
    Batch(Range<Sequence>),
    /// Something has changed; a poll says what.
    Something,
    /// Nothing, for a few microseconds.
    Nothing,
}

impl<E, A: ReadAdvice> Reader<E, A> {
    /// Number of events known to be readable. A word that says how far is published shows all of them at
    /// once, and another load would pull its cache line from the producer. Of the stamps, only those of the
    /// batch were loaded, so this loads the others.
    pub(crate) fn available(&mut self) -> u64 {
        if self.ring.control.stamps.is_some() {
            return self.available_now();
        }
        self.known.saturating_sub(self.next)
    }

    /// As [`available`](Self::available), after a load of what is not known yet.
    pub(crate) fn available_now(&mut self) -> u64 {
        let from = self.known.max(self.next);
        if let Ok(Span::Events(end)) = self.look(from, self.next + self.ring.control.capacity) {
            self.known = end;
            if self.last == LastLook::Lone {
                self.last = LastLook::Part;
            }
        }
        self.known.saturating_sub(self.next)
    }

    /// The next events, at most `max` and at most up to the wrap. Skips claims that were given up. Never
    /// waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] once the ring is closed and this stage has finished every event.
    #[inline(always)]
    pub(crate) fn poll(&mut self, max: u64) -> Result<Range<Sequence>, PollError> {
        if let Some(lone) = self.poll_lone() {
            return Ok(lone);
        }
        loop {
            let limit = self.limit(max);
            let from = self.known.max(self.next);
            let horizon = self.horizon(from, limit);
            match self.look_ahead(from, horizon)? {
                Span::Events(end) => {
                    self.known = end;
                    self.last = if end < horizon { LastLook::All } else { LastLook::Part };
                }
                Span::Tombstones(end) if from == self.next => {
                    self.skip(end);
                    continue;
                }
                // All known events were known before.
                _ if from > self.next => {}
                _ => {
                    let is_told = matches!(self.last, LastLook::Nothing { is_told: true });
                    self.last = LastLook::Nothing { is_told };
                    return Err(PollError::Empty);
                }
            }
            return Ok(self.hand_out(self.next..self.known.min(limit)));
        }
    }

    /// The rest of what the last load showed, at most up to the wrap, if any is left and the ring is open.
    #[inline]
    pub(crate) fn rest(&mut self) -> Option<Range<Sequence>> {
        let is_there = self.known > self.next && self.is_still_open();
        let rest = self.next..self.known.min(self.limit(UNLIMITED));
        is_there.then(|| self.hand_out(rest))
    }

    /// Returns `batch`, which is read next, and tells the advice of it.
    #[inline]
    fn hand_out(&mut self, batch: Range<Sequence>) -> Range<Sequence> {
        self.advice.found(batch.start..self.known);
        batch
    }

    /// First sequence beyond the next batch, if the batch may have at most `max` events.
    #[inline]
    fn limit(&self, max: u64) -> Sequence {
        let longest = self.next + max.min(self.max_batch);
        self.ring.buffer.wrap_after(self.next).min(longest)
    }

    /// First sequence that a load from `from` on need not show, for a batch that ends at `limit`.
    ///
    /// A word that says how far is published shows all readable events. It is not loaded again until these
    /// are finished, since each load pulls its cache line from the producer. Stamps are loaded one by one,
    /// none before it is needed.
    #[inline]
    fn horizon(&self, from: Sequence, limit: Sequence) -> Sequence {
        let control = &self.ring.control;
        if from >= limit || control.stamps.is_some() { limit } else { from + control.capacity }
    }

    /// Polls for the next event in a tight loop that does not check for a close, a stop or the time. Runs
    /// after a [`poll`](Self::poll) that found nothing.
    ///
    /// This sees a lone event sooner: what the loop has seen is the batch.
    #[inline(always)]
    pub(crate) fn spin(&mut self) -> Spun {
        let Self { ring, barrier, advice, next, .. } = self;
        let (control, barrier, next) = (&*ring.control, &*barrier, *next);
        let is_beyond = |&end: &Sequence| end > next;
        let batch = if let Some(notices) = barrier.notices() {
            if advice.poll(next, || notices.show(next), |&is_shown| is_shown).is_none() {
                return Spun::Nothing;
            }
            self.poll_lone()
        } else if control.stamps.is_some() {
            let look = || barrier.span(control, next, next + 1);
            if advice.poll(next, look, |span| *span != Span::Empty).is_none() {
                return Spun::Nothing;
            }
            None
        } else {
            let end = if barrier.is_first() {
                advice.poll(next, || cursor::end(control), is_beyond)
            } else {
                advice.poll(next, || barrier.end(control), is_beyond)
            };
            let Some(end) = end else { return Spun::Nothing };
            self.poll_shown(end)
        };
        if batch.is_none() && !self.ring.control.life.is_open() {
            // Until a close in progress has counted the events, there is nothing to find.
            pause(3);
        }
        batch.map_or(Spun::Something, Spun::Batch)
    }

    /// The events below `end`, as many as a batch may have. A load has just shown them to a reader that had
    /// found nothing. `None` if the ring is not open, since they may not count.
    #[inline]
    fn poll_shown(&mut self, end: Sequence) -> Option<Range<Sequence>> {
        if end <= self.next || !self.is_still_open() {
            return None;
        }
        let batch = self.next..end.min(self.limit(UNLIMITED));
        self.known = end;
        self.last = LastLook::All;
        Some(batch)
    }

    /// The next event alone, if its notice shows and the reader needs no more than one. The producer keeps
    /// the cursor's cache line for the next event.
    #[inline]
    fn poll_lone(&mut self) -> Option<Range<Sequence>> {
        let is_one_enough = self.expects_one && matches!(self.last, LastLook::Nothing { .. });
        if !is_one_enough || !self.barrier.notices()?.show(self.next) || !self.is_still_open() {
            return None;
        }
        self.known = self.next + 1;
        self.last = LastLook::Lone;
        Some(self.next..self.known)
    }

    /// Whether the ring was still open after a load that showed events.
    #[inline]
    fn is_still_open(&self) -> bool {
        let control = &self.ring.control;
        // O8: between the load of the cursor, or of a notice, which follows it, and the check for a close.
        control.fence.light();
        control.life.is_open()
    }

    /// The next event, if the last load showed it.
    #[inline]
    pub(crate) fn next_known(&self) -> Option<Range<Sequence>> {
        (self.known > self.next).then(|| self.next..self.next + 1)
    }

    /// As [`look`](Self::look), but if the next event has a notice that does not show, the cursor is not
    /// loaded and the producer keeps its cache line. Without notices, a reader that found nothing last time
    /// tells the advice that it waits.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    #[inline]
    fn look_ahead(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        match (self.barrier.notices(), self.last) {
            (Some(_), LastLook::Nothing { is_told: true }) => {}
            (Some(notices), _) => {
                let is_late = from < limit && !notices.show(from);
                if is_late && self.ring.control.life.is_open() {
                    return Ok(Span::Empty);
                }
            }
            (None, LastLook::Nothing { .. }) => self.advice.waits_for(from),
            (None, _) => {}
        }
        self.look(from, limit)
    }

    /// The events that may be read from `from` on, below `limit`.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    #[inline]
    pub(crate) fn look(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        let span = if from < limit {
            self.barrier.span(&self.ring.control, from, limit)
        } else {
            Span::Empty
        };
        if self.is_still_open() { Ok(span) } else { self.at_the_end(span) }
    }

    /// The part of `span` that counts in a ring that is no longer open.
    #[cold]
    fn at_the_end(&self, span: Span) -> Result<Span, PollError> {
        let life = &self.ring.control.life;
        if let Some(cause) = life.halt_cause() {
            return Err(PollError::Halted(cause));
        }
        let Some(end) = life.end() else {
            // A close is in progress and has not yet decided which events it counts.
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
