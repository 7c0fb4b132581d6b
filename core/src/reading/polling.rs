//! How a reader finds its next events: polls that never wait, and the tight loop of a consumer that
//! spins. Not here: how a consumer parks (`wait`).
//!
//! A reader remembers what it has found (`known`). It does not load the cursor or an upstream word
//! again until it has finished those events, since each load pulls the cache line from the thread
//! that writes it.

use std::ops::Range;

use super::reader::{LastLook, Reader, UNLIMITED};
use crate::Sequence;
use crate::advice::ReadAdvice;
use crate::error::PollError;
use crate::publication::Span;
use crate::sync::{pause, spin_loop};

/// The result of the polls of a spinning consumer.
#[derive(Debug)]
pub enum Spun {
    /// These events may be read.
    Batch(Range<Sequence>),
    /// Something has changed; a poll shows what it is.
    Something,
    /// Nothing was found.
    Nothing,
}

impl<E, A: ReadAdvice> Reader<E, A> {
    /// Returns the number of events known to be readable. The cursor or the upstream words show all
    /// readable events at once, and another load would pull their cache line from the producer.
    /// Stamps are loaded only for one batch at a time, so this loads the others.
    pub fn available(&mut self) -> u64 {
        if self.control().is_multi() {
            return self.available_now();
        }
        self.known.saturating_sub(self.next)
    }

    /// Returns the number of readable events, after a load of what is not known yet.
    pub fn available_now(&mut self) -> u64 {
        let from = self.known.max(self.next);
        if let Ok(Span::Events(end)) = self.look(from, self.next + self.control().capacity()) {
            self.learn(end);
            if self.last == LastLook::Single {
                self.last = LastLook::Part;
            }
        }
        self.known.saturating_sub(self.next)
    }

    /// Returns the number of events from `next` on that polls would return now, those after
    /// abandoned claims and after the wrap included. Stops counting at `most`. Unlike a poll, it
    /// changes nothing, also not what the reader knows.
    #[must_use]
    pub fn count_readable(&self, most: u64) -> u64 {
        let end_of_lap = self.next + self.control().capacity();
        let mut from = self.known.max(self.next);
        let mut count = from - self.next;
        while count < most {
            let limit = end_of_lap.min(from.saturating_add(most - count));
            match self.look(from, limit) {
                Ok(Span::Events(end)) if end > from => {
                    count += end - from;
                    from = end;
                }
                Ok(Span::Tombstones(end)) => from = end,
                // Among them events beyond the end of the ring, which were refused.
                Ok(Span::Events(_) | Span::Empty) | Err(_) => break,
            }
        }
        count.min(most)
    }

    /// Returns the next events, at most `max` and at most up to the wrap. Skips abandoned claims.
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Empty`] if there is no event, [`PollError::Closed`] if the ring is closed and
    /// this stage has finished every event, and [`PollError::Halted`] if the ring is halted.
    #[inline(always)]
    pub fn poll(&mut self, max: u64) -> Result<Range<Sequence>, PollError> {
        if let Some(single) = self.poll_single() {
            return Ok(single);
        }
        loop {
            let limit = self.limit(max);
            let from = self.known.max(self.next);
            let horizon = self.horizon(from, limit);
            match self.look_ahead(from, horizon)? {
                Span::Events(end) => {
                    self.learn(end);
                    self.last = if end < horizon { LastLook::All } else { LastLook::Part };
                }
                Span::Tombstones(end) if from == self.next => {
                    self.skip(end);
                    continue;
                }
                // No new event was found, but some are still known.
                _ if from > self.next => {}
                _ => {
                    let is_told = matches!(self.last, LastLook::Nothing { is_told: true });
                    self.last = LastLook::Nothing { is_told };
                    return Err(PollError::Empty);
                }
            }
            return Ok(self.next..self.known.min(limit));
        }
    }

    /// Returns what a worker of a group may claim from its position on, below `horizon`. It loads
    /// only what it does not know yet.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] or [`PollError::Halted`], as of [`poll`](Self::poll).
    pub fn find(&mut self, horizon: Sequence) -> Result<Span, PollError> {
        let from = self.claimable.max(self.next);
        match self.look(from, horizon)? {
            Span::Events(end) => {
                self.claimable = end;
                self.last = if end < horizon { LastLook::All } else { LastLook::Part };
            }
            Span::Tombstones(end) if from == self.next => return Ok(Span::Tombstones(end)),
            Span::Empty | Span::Tombstones(_) => {}
        }
        let is_any = self.claimable > self.next;
        Ok(if is_any { Span::Events(self.claimable) } else { Span::Empty })
    }

    /// Returns the number of events from `next` on that are published for this reader, at most a
    /// lap. Loads what it does not know yet.
    #[must_use]
    pub fn published_from(&self, next: Sequence) -> u64 {
        let from = self.claimable.max(next);
        match self.look(from, next + self.control().capacity()) {
            Ok(Span::Events(end)) => end - next,
            _ => from - next,
        }
    }

    /// Whether a worker of a group knows of events from `next` on.
    #[must_use]
    pub fn knows_of(&self, next: Sequence) -> bool {
        self.claimable > next
    }

    /// Returns the rest of the known events, at most up to the wrap, if there are any and the ring
    /// is open.
    #[inline]
    pub fn rest(&self) -> Option<Range<Sequence>> {
        let is_there = self.known > self.next && self.is_still_open();
        let rest = self.next..self.known.min(self.limit(UNLIMITED));
        is_there.then_some(rest)
    }

    /// Returns the first sequence beyond the next batch, if the batch may have at most `max`
    /// events.
    #[inline]
    fn limit(&self, max: u64) -> Sequence {
        let longest = self.next + max.min(self.max_batch);
        self.ring.buffer().wrap_after(self.next).min(longest)
    }

    /// Returns the end of the range of sequences that a load from `from` on is to show, for a batch
    /// that ends at `limit`.
    ///
    /// The cursor and the upstream words show all readable events at once. They are not loaded
    /// again until these events are finished, since each load pulls their cache line from the
    /// producer. Stamps are loaded one by one, none before it is needed.
    #[inline]
    fn horizon(&self, from: Sequence, limit: Sequence) -> Sequence {
        let control = self.control();
        if from >= limit || control.is_multi() { limit } else { from + control.capacity() }
    }

    /// Polls up to `polls` times for the next event, with a pause hint after each poll. The loop is
    /// tight: it does not check for a close, a stop or the time. Called after a failed
    /// [`poll`](Self::poll).
    ///
    /// The loop sees a single event sooner than `poll` does. What it finds is the batch.
    #[inline(always)]
    pub fn spin(&mut self, polls: u32) -> Spun {
        let Self { ring, barrier, advice, next, .. } = &*self;
        let (control, next) = (&**ring.control(), *next);
        let beyond = move |end| (end > next).then_some(end);
        // One loop for each kind of poll, since each nanosecond between two polls counts.
        let batch = if let Some(marks) = barrier.marks() {
            if poll_for(polls, advice, next, move || marks.show(next).then_some(())).is_none() {
                return Spun::Nothing;
            }
            self.poll_single()
        } else if control.is_multi() {
            let is_there = || barrier.span(control, next, next + 1) != Span::Empty;
            if poll_for(polls, advice, next, || is_there().then_some(())).is_none() {
                return Spun::Nothing;
            }
            None
        } else {
            let end = if barrier.is_first() {
                poll_for(polls, advice, next, move || beyond(control.publication().end()))
            } else {
                poll_for(polls, advice, next, move || beyond(barrier.end(control)))
            };
            let Some(end) = end else { return Spun::Nothing };
            self.poll_shown(end)
        };
        if batch.is_none() && !self.control().is_open() {
            // Until a close in progress has counted the events, there is nothing to find.
            pause(3);
        }
        batch.map_or(Spun::Something, Spun::Batch)
    }

    /// Returns the events below `end`, as many as a batch may have. A load has just shown them to a
    /// reader whose last poll failed. Returns `None` if the ring is not open, since the events may
    /// not count.
    #[inline]
    fn poll_shown(&mut self, end: Sequence) -> Option<Range<Sequence>> {
        if end <= self.next || !self.is_still_open() {
            return None;
        }
        let batch = self.next..end.min(self.limit(UNLIMITED));
        self.learn(end);
        self.last = LastLook::All;
        Some(batch)
    }

    /// Returns the next event alone, if its published mark shows and the reader needs no more than
    /// one. The cursor is not loaded, so the producer keeps its cache line for the next event.
    #[inline]
    fn poll_single(&mut self) -> Option<Range<Sequence>> {
        let is_one_enough = self.expects_one && matches!(self.last, LastLook::Nothing { .. });
        // A published mark is set once the publication is accepted, so a close counts the event
        // (O8).
        if !is_one_enough || !self.barrier.marks()?.show(self.next) {
            return None;
        }
        self.learn(self.next + 1);
        self.last = LastLook::Single;
        Some(self.next..self.known)
    }

    /// Whether the ring was still open after a load that showed events.
    #[inline]
    fn is_still_open(&self) -> bool {
        let control = self.control();
        // O8: between the load of the cursor and the check for a close.
        control.fence().light();
        control.is_open()
    }

    /// Returns the next event, if it is known.
    #[inline]
    pub fn next_known(&self) -> Option<Range<Sequence>> {
        (self.known > self.next).then(|| self.next..self.next + 1)
    }

    /// Returns the events that may be read from `from` on, below `limit`. If the next event has a
    /// published mark that does not show, the cursor is not loaded and the producer keeps its cache
    /// line. Without published marks, a reader whose last poll failed tells the advice that it
    /// waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] or [`PollError::Halted`], as of [`poll`](Self::poll).
    #[inline]
    fn look_ahead(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        match (self.barrier.marks(), self.last) {
            (Some(_), LastLook::Nothing { is_told: true }) => {}
            (Some(marks), _) => {
                let is_late = from < limit && !marks.show(from);
                if is_late && self.control().is_open() {
                    return Ok(Span::Empty);
                }
            }
            (None, LastLook::Nothing { .. }) => self.advice.waits_for(from),
            (None, _) => {}
        }
        self.look(from, limit)
    }

    /// Returns the events that may be read from `from` on, below `limit`.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] or [`PollError::Halted`], as of [`poll`](Self::poll).
    #[inline]
    pub fn look(&self, from: Sequence, limit: Sequence) -> Result<Span, PollError> {
        let span =
            if from < limit { self.barrier.span(self.control(), from, limit) } else { Span::Empty };
        if self.is_still_open() { Ok(span) } else { self.at_the_end(span) }
    }

    /// Returns the part of `span` that counts in a ring that is no longer open.
    #[cold]
    fn at_the_end(&self, span: Span) -> Result<Span, PollError> {
        let control = self.control();
        if let Some(cause) = control.halt_cause() {
            return Err(PollError::Halted(cause));
        }
        let Some(end) = control.end() else {
            // A close is in progress and has not yet decided which events it counts.
            return Ok(Span::Empty);
        };
        if end <= self.next {
            return Err(PollError::Closed);
        }
        Ok(match span {
            Span::Events(limit) => Span::Events(limit.min(end)),
            // With several producers, a close counts every claim.
            Span::Empty | Span::Tombstones(_) => span,
        })
    }
}

/// Polls up to `polls` times with `poll_once`, until it finds something. A pause hint and the
/// record for `advice` that the reader waits for the event of `next` follow each failed poll.
#[inline(always)]
fn poll_for<T>(
    polls: u32,
    advice: &impl ReadAdvice,
    next: Sequence,
    poll_once: impl Fn() -> Option<T>,
) -> Option<T> {
    // A loop, since the compiler may turn an iterator into a call that keeps its captures in
    // memory.
    for _ in 0..polls {
        let found = poll_once();
        if found.is_some() {
            return found;
        }
        advice.waits_for(next);
        spin_loop();
    }
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::advice::Plain;

    #[test]
    fn a_poll_that_finds_something_is_the_last_one() {
        let polls = Cell::new(0);
        let poll_once = |finds_at| {
            polls.set(polls.get() + 1);
            (polls.get() == finds_at).then_some(finds_at)
        };
        assert_eq!(poll_for(9, &Plain, 0, || poll_once(1)), Some(1));
        assert_eq!((poll_for(9, &Plain, 0, || poll_once(0)), polls.get()), (None, 10));
    }
}
