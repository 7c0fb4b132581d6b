//! What a reader waits for, and how a worker of a group finds its events. Not here: how a thread
//! parks (`control::waiting`).

use super::reader::Reader;
use crate::Sequence;
use crate::advice::ReadAdvice;
use crate::parking::{Awaited, EventCount};
use crate::publication::Span;

/// How a worker of a group finds events.
impl<E, A: ReadAdvice> Reader<E, A> {
    /// Goes to `next`, up to which the group has claimed.
    ///
    /// # Panics
    ///
    /// If it is not a worker of a group.
    #[inline]
    pub fn seek(&mut self, next: Sequence) {
        assert!(self.is_of_group(), "the position of a stage moves by releases");
        self.next = next;
        self.known = next;
    }

    /// Whether the event of `next` may be read.
    #[must_use]
    pub fn shows(&self, next: Sequence) -> bool {
        self.barrier.span(self.control(), next, next + 1) != Span::Empty
    }

    /// Tells the advice that the reader waits for the event of `next`.
    pub fn wait_for(&self, next: Sequence) {
        self.advice.waits_for(next);
    }

    /// Returns the event count to park on until there is something to read at `next`; `None` to
    /// check again instead.
    #[must_use]
    pub fn behind(&self, next: Sequence) -> Option<&EventCount> {
        self.barrier.behind(self.control(), next)
    }
}

/// The wait for its next event.
impl<E, A: ReadAdvice> Reader<E, A> {
    /// Whether a poll would find events or the end, or the consumer is asked to leave.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_over()
    }
}

impl<E, A: ReadAdvice> Awaited for Reader<E, A> {
    fn seems_over(&self) -> bool {
        match self.barrier.marks() {
            // No thread stops a receiver of a channel.
            Some(marks) if self.control().is_open() => marks.show(self.next),
            _ => self.is_over(),
        }
    }

    fn is_over(&self) -> bool {
        let control = self.control();
        if self.is_stopping() {
            return true;
        }
        if control.is_open() {
            self.advice.waits_for(self.next);
            return self.shows(self.next);
        }
        match control.end() {
            _ if control.is_halted() => true,
            // A close is in progress, and wakes every thread when it is done.
            None => false,
            Some(end) => end <= self.next || self.shows(self.next),
        }
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.behind(self.next)
    }
}
