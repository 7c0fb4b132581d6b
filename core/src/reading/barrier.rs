//! Which events a stage may read next. Not here: how it waits for them (`wait`), and how a slot is
//! read (`ring_buffer`).
//!
//! ```text
//! P1 ──> [ring] ─┬─> a ─┬─> c        a and b wait for the publication, c for both of them;
//!                └─> b ─┘           only c gates P1
//! ```

use super::upstream;
use crate::Sequence;
use crate::control::Control;
use crate::parking::EventCount;
use crate::publication::Span;
use crate::ring_buffer::PublishedMarks;
use crate::stages::StageIndex;

/// The dependencies of one stage.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// The stages directly upstream; empty for a first stage.
    upstream: Box<[StageIndex]>,
    /// The published marks of the events, for a first stage of a ring whose events have them.
    marks: Option<PublishedMarks>,
}

impl Barrier {
    pub(crate) fn new(upstream: Box<[StageIndex]>, marks: Option<PublishedMarks>) -> Self {
        let marks = marks.filter(|_| upstream.is_empty());
        Self { upstream, marks }
    }

    /// Whether it is a first stage, which waits only for publications.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.upstream.is_empty()
    }

    /// Returns the published marks of the events, if they have them. A published mark that shows
    /// proves that its event may be read. One that does not show proves nothing.
    #[inline]
    pub(super) fn marks(&self) -> Option<PublishedMarks> {
        self.marks
    }

    /// Returns the events that may be read from `next` on, below `limit`.
    #[inline]
    pub(crate) fn span(&self, control: &Control, next: Sequence, limit: Sequence) -> Span {
        let Some(stamps) = control.publication().stamps() else {
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
            return control.publication().end();
        }
        upstream::end(control, &self.upstream).unwrap_or_else(|| control.publication().end())
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
