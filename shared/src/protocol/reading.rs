//! A reader's part: what is published for it, and what it has finished.

use std::ops::Range;

use super::seats::Tenure;
use super::stamps::Fate;
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
            self.learn(shared);
            if !self.has_known() {
                return self.find_end(shared);
            }
        }
        Ok(self.next..self.known)
    }

    /// Learns of published events. It knows of none.
    #[inline]
    fn learn(&mut self, shared: Shared<'_>) {
        if shared.has_one_writer() {
            self.known = shared.published();
        } else {
            self.learn_from_stamps(shared);
        }
    }

    /// Learns of events of several writers, and passes over those that are skipped.
    fn learn_from_stamps(&mut self, shared: Shared<'_>) {
        let first = self.next;
        while shared.fate(self.known) == Some(Fate::Skipped) {
            self.known += 1;
        }
        if self.known != first {
            self.release(shared, self.known);
        }
        self.known = shared.published_from(self.next, shared.step());
    }

    #[cold]
    fn find_end(&mut self, shared: Shared<'_>) -> Result<Range<u64>, Silence> {
        if !shared.is_closed() {
            return Err(Silence::Empty);
        }
        // A writer may have published between the first look and the close.
        self.learn(shared);
        if self.has_known() {
            Ok(self.next..self.known)
        } else if shared.has_end(self.next) {
            Err(Silence::Closed)
        } else {
            Err(Silence::Empty)
        }
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
        self.has_known() || shared.has_news(self.next)
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

    /// Whether `next` is published or skipped, or the segment ends before it.
    fn has_news(self, next: u64) -> bool {
        let is_there = if self.has_one_writer() {
            self.published() != next
        } else {
            self.fate(next).is_some()
        };
        is_there || self.is_closed() && self.has_end(next)
    }

    /// Whether a segment that is closed ends before `next`. With several writers, a dead one may have
    /// claimed `next`, and another process is about to skip it.
    fn has_end(self, next: u64) -> bool {
        self.has_one_writer() || !self.is_claimed(next)
    }
}
