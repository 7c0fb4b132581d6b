//! A reader's part: what is published for it, and what it has finished.

use std::ops::Range;

use super::seats::Tenure;
use super::{Shared, Silence};
use crate::fences::Fences;
use crate::sync::Ordering;

/// How far a reader is.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The sequence of the first event that it has not finished.
    next: u64,
    /// All events below this one are published.
    known: u64,
    pub(crate) tenure: Tenure,
    fences: Fences,
}

impl Reading {
    pub(crate) fn new(tenure: Tenure, next: u64, fences: Fences) -> Self {
        Self { next, known: next, tenure, fences }
    }

    /// Returns the sequence of the first event that it has not finished.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the events that are published and not finished.
    #[inline]
    pub(crate) fn poll(&mut self, shared: Shared<'_>) -> Result<Range<u64>, Silence> {
        if !self.has_known() {
            self.known = shared.published();
            if !self.has_known() {
                return self.find_end(shared);
            }
        }
        Ok(self.next..self.known)
    }

    #[cold]
    fn find_end(&mut self, shared: Shared<'_>) -> Result<Range<u64>, Silence> {
        if !shared.is_closed() {
            return Err(Silence::Empty);
        }
        // The writer may have published between the first load and the close.
        self.known = shared.published();
        if self.known == self.next { Err(Silence::Closed) } else { Ok(self.next..self.known) }
    }

    /// Whether it knows of an event that it has not finished.
    #[inline]
    pub(crate) fn has_known(&self) -> bool {
        self.known != self.next
    }

    /// Returns up to where all events are known to be published.
    #[inline]
    pub(crate) fn known(&self) -> u64 {
        self.known
    }

    /// Whether [`poll`](Self::poll) would find events or the end.
    pub(crate) fn is_ready(&self, shared: Shared<'_>) -> bool {
        self.has_known() || shared.published() != self.next || shared.is_closed()
    }

    /// Releases all events below `next`, which a poll has returned.
    #[inline]
    pub(crate) fn release(&mut self, shared: Shared<'_>, next: u64) {
        debug_assert!((self.next..=self.known).contains(&next), "a poll has returned them");
        self.next = next;
        // P2, Release: pairs with the Acquire in `held`; orders what was read before what is written.
        shared.seats[self.tenure.index].sequence.0.store(next, Ordering::Release);
        self.wake_writer(shared);
    }

    /// Gives up its seat.
    pub(crate) fn leave(&self, shared: Shared<'_>) {
        shared.leave(self.tenure);
        self.wake_writer(shared);
    }

    #[inline]
    fn wake_writer(&self, shared: Shared<'_>) {
        self.fences.light();
        shared.words.slots.0.notify();
    }
}

impl Shared<'_> {
    /// Returns the number of published events.
    #[inline]
    pub(crate) fn published(self) -> u64 {
        // P1, Acquire: pairs with the Release in `publish`; carries the events.
        self.words.published.0.load(Ordering::Acquire)
    }
}
