//! Which events a stage may read next. Not here: how it waits for them (`wait`), and how a slot is
//! read (`ring_buffer`).
//!
//! ```text
//! P1 ──> [ring] ─┬─> a ─┬─> c        a and b wait for the publication, c for both of them;
//!                └─> b ─┘           only c gates P1
//! ```

use super::{cursor, upstream};
use crate::Sequence;
use crate::protocol::advice::ReadAdvice;
use crate::protocol::control::{Control, StageIndex};
use crate::protocol::parking::Awaited;
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::ring_buffer::Notices;
use crate::protocol::stamps::Span;

/// The dependencies of one stage.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// The stages directly upstream; empty for a first stage.
    upstream: Box<[StageIndex]>,
    /// The notices of the events, for a first stage of a ring whose events have them.
    notices: Option<Notices>,
}

impl Barrier {
    pub(crate) fn new(upstream: Box<[StageIndex]>, notices: Option<Notices>) -> Self {
        let notices = notices.filter(|_| upstream.is_empty());
        Self { upstream, notices }
    }

    /// Whether it is a first stage, which waits only for publications.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.upstream.is_empty()
    }

    /// Returns the notices of the events, if they have them. A notice that shows proves that its
    /// event may be read. One that does not show proves nothing.
    #[inline]
    pub(super) fn notices(&self) -> Option<Notices> {
        self.notices
    }

    /// Returns the events that may be read from `next` on, below `limit`.
    #[inline]
    pub(crate) fn span(&self, control: &Control, next: Sequence, limit: Sequence) -> Span {
        let Some(stamps) = &control.stamps else {
            let end = self.end(control).min(limit);
            return if end > next { Span::Events(end) } else { Span::Empty };
        };
        let Some(finished) = upstream::end(control, &self.upstream) else {
            return stamps.settled(next, limit);
        };
        let limit = limit.min(finished);
        if limit > next { stamps.known_settled(next, limit) } else { Span::Empty }
    }

    /// Returns the first sequence that may not be read, in a ring without stamps.
    #[inline]
    pub(super) fn end(&self, control: &Control) -> Sequence {
        if self.is_first() {
            return cursor::end(control);
        }
        upstream::end(control, &self.upstream).unwrap_or_else(|| cursor::end(control))
    }

    /// Returns the event count to park on until there is something to read at `next`; `None` to
    /// check again instead.
    pub(crate) fn behind<'a>(
        &self,
        control: &'a Control,
        next: Sequence,
    ) -> Option<&'a EventCount> {
        control.behind(&self.upstream, next)
    }
}

/// The wait of a stage for the event `next`.
#[derive(Debug)]
pub(crate) struct NextEvent<'a, A> {
    pub(crate) control: &'a Control,
    pub(crate) barrier: &'a Barrier,
    pub(crate) advice: &'a A,
    pub(crate) next: Sequence,
    pub(crate) stage: StageIndex,
    /// Which consumer of `stage` waits.
    pub(crate) turn: u64,
}

impl<A: ReadAdvice> Awaited for NextEvent<'_, A> {
    fn seems_over(&self) -> bool {
        match self.barrier.notices {
            // No thread stops a receiver of a channel.
            Some(notices) if self.control.life.is_open() => notices.show(self.next),
            _ => self.is_over(),
        }
    }

    fn is_over(&self) -> bool {
        let life = &self.control.life;
        let is_there = || self.barrier.span(self.control, self.next, self.next + 1) != Span::Empty;
        if self.control.is_stopping(self.stage, self.turn) {
            return true;
        }
        if life.is_open() {
            self.advice.waits_for(self.next);
            return is_there();
        }
        match life.end() {
            _ if life.is_halted() => true,
            // A close is in progress, and wakes every thread when it is done.
            None => false,
            Some(end) => end <= self.next || is_there(),
        }
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.barrier.behind(self.control, self.next)
    }
}
