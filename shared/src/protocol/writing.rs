//! The part of a writer that is alone: up to where it may write, and what it has published (M6).

use super::Shared;
use crate::fences::Fences;
use crate::sync::{Ordering, fence};

/// How far the writer is.
#[derive(Debug)]
pub(crate) struct Writing {
    /// The sequence of the next event.
    next: u64,
    /// It may write below this one.
    granted: u64,
    fences: Fences,
}

impl Writing {
    /// Begins, or goes on where a writer that is dead stopped. What that one had written and not
    /// published is lost.
    pub(crate) fn new(shared: Shared<'_>, fences: Fences) -> Self {
        // P1, Relaxed: the caller has opened the segment after the last writer ended.
        let next = shared.words.published.0.load(Ordering::Relaxed);
        // P5, Relaxed: a fence follows.
        shared.words.life.0.writer_fences.store(fences.code(), Ordering::Relaxed);
        fence(Ordering::SeqCst); // P5: pairs with the fence in `heavy`
        // The limit in the segment is no grant: the last writer may have died before its second look.
        Self { next, granted: next, fences }
    }

    /// Returns the sequence of the next event.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether it may write no further event without a look at the seats.
    #[inline]
    pub(crate) fn is_at_limit(&self) -> bool {
        self.next == self.granted
    }

    /// Returns how many events it may write now, without a look at the seats.
    #[inline]
    pub(crate) fn known_room(&self) -> u64 {
        self.granted - self.next
    }

    /// Looks at the seats. Returns how many events it may write now.
    #[cold]
    pub(crate) fn look(&mut self, shared: Shared<'_>) -> u64 {
        self.granted = shared.grant(self.next, self.granted);
        self.known_room()
    }

    /// Publishes `count` events that it has written, from the next one on.
    #[inline]
    pub(crate) fn publish(&mut self, shared: Shared<'_>, count: u64) {
        self.next += count;
        // P1, Release: pairs with the Acquire in `published`; carries the events.
        shared.words.published.0.store(self.next, Ordering::Release);
        self.fences.light();
        shared.words.events.0.notify();
    }
}
