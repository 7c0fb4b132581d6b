//! What a stage may read next. Not here: how it waits (`wait`), how a slot is read (`ring_buffer`).
//!
//! ```text
//! P1 --> [ring] <-- a <--+
//!           ^------ b <--+-- c        arrow: waits for. a and b wait for the publication, c for both of
//!                                     them; only c gates P1
//! ```

use crate::Sequence;
use crate::control::{Control, DETACHED, StageIndex};
use crate::ring_buffer::{Notices, Prefetcher};
use crate::stamps::Span;
use crate::sync::Ordering;
use crate::wait::event_count::EventCount;
use crate::wait::{Awaited, Looks};

/// What shows that an event may be read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sight {
    /// Its notice, which says nothing of others.
    Notice,
    /// The cursor, or the stages upstream: all events below may be, unless the ring is being closed.
    UpTo(Sequence),
    /// A stamp, which says neither how much there is nor whether it was given up.
    Stamp,
}

/// The right to read of one stage.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// The stages that come before; empty for a first stage.
    upstream: Box<[StageIndex]>,
    /// Has the next event fetched while the word that shows it is, for who waits.
    prefetcher: Prefetcher,
    /// Those of the events, for a first stage of a ring whose events have some.
    notices: Option<Notices>,
}

impl Barrier {
    pub(crate) fn new(
        upstream: Box<[StageIndex]>,
        prefetcher: Prefetcher,
        notices: Option<Notices>,
    ) -> Self {
        let notices = notices.filter(|_| upstream.is_empty());
        Self { upstream, prefetcher, notices }
    }

    /// Whether the notice of `next` shows that it may be read; `None` if it has none. A look at the event's own line,
    /// and at no other. While it is missing, [`span`](Self::span) may know more for a moment.
    #[inline(always)]
    pub(crate) fn is_noticed(&self, next: Sequence) -> Option<bool> {
        self.notices.map(|notices| notices.show(next))
    }

    /// Looks until `next` may be read, or as often as `looks` say. At its notice, or else at what [`span`](Self::span) reads,
    /// and has the event itself fetched meanwhile.
    ///
    /// In loops of their own: the shorter the way from the look that finds it to the event, the sooner a lone one is seen.
    #[inline(always)]
    pub(crate) fn await_next(
        &self,
        control: &Control,
        next: Sequence,
        looks: Looks,
    ) -> Option<Sight> {
        if let Some(notices) = self.notices {
            let look = || notices.show(next);
            return looks.until_presumed(look, |&is_shown| is_shown, || {}).map(|_| Sight::Notice);
        }
        if control.stamps.is_some() {
            return looks.until(|| {
                let is_there = self.span(control, next, next + 1) != Span::Empty;
                if !is_there {
                    self.fetch(next);
                }
                is_there.then_some(Sight::Stamp)
            });
        }
        let is_beyond = |&end: &Sequence| end > next;
        let fetch = || self.fetch(next);
        let end = if self.upstream.is_empty() {
            looks.until_presumed(|| published(control), is_beyond, fetch)
        } else {
            looks.until_presumed(|| self.end(control), is_beyond, fetch)
        };
        end.map(Sight::UpTo)
    }

    /// Whether events have notices, which say of each by itself that it may be read.
    #[inline(always)]
    pub(crate) fn has_notices(&self) -> bool {
        self.notices.is_some()
    }

    /// What may be read from `next` on, below `limit`.
    ///
    /// With a single producer the cursor may be past the end of a ring that is being closed: the
    /// caller looks at the ring's life afterwards.
    #[inline]
    pub(crate) fn span(&self, control: &Control, next: Sequence, limit: Sequence) -> Span {
        let Some(stamps) = &control.stamps else {
            let end = self.end(control).min(limit);
            return if end > next { Span::Events(end) } else { Span::Empty };
        };
        let finished = control.finished_by_all(&self.upstream);
        if finished == DETACHED {
            return stamps.settled(next, limit);
        }
        let limit = limit.min(finished);
        if limit > next { stamps.known_settled(next, limit) } else { Span::Empty }
    }

    /// First sequence that may not be read, of a ring without stamps: how far the stages upstream have finished, or what is
    /// published, if there are none or all of them have left.
    #[inline(always)]
    pub(crate) fn end(&self, control: &Control) -> Sequence {
        if self.upstream.is_empty() {
            return published(control);
        }
        let finished = control.finished_by_all(&self.upstream);
        if finished == DETACHED { published(control) } else { finished }
    }

    /// Asks for the event of `next`, before a look by whoever waits for it. In a stream that would be a line taken
    /// from its producer.
    #[inline(always)]
    pub(crate) fn fetch(&self, next: Sequence) {
        self.prefetcher.fetch(next);
    }

    /// Where to sleep until there is something to read at `next`; `None` to look again instead.
    pub(crate) fn behind<'a>(
        &self,
        control: &'a Control,
        next: Sequence,
    ) -> Option<&'a EventCount> {
        control.behind(&self.upstream, next)
    }
}

/// First sequence that a single producer has not published.
#[inline(always)]
fn published(control: &Control) -> Sequence {
    // O1, Acquire: pairs with the Release in `Single::publish`; brings the events.
    control.cursor.load(Ordering::Acquire)
}

/// The wait of a stage for the sequence `next`.
#[derive(Debug)]
pub(crate) struct NextEvent<'a> {
    pub(crate) control: &'a Control,
    pub(crate) barrier: &'a Barrier,
    pub(crate) next: Sequence,
    pub(crate) stage: StageIndex,
    /// Which of the consumers of `stage` waits.
    pub(crate) turn: u64,
}

impl Awaited for NextEvent<'_> {
    fn seems_over(&self) -> bool {
        match self.barrier.is_noticed(self.next) {
            Some(is_there) if self.control.life.is_open() => {
                is_there || self.control.is_stopping(self.stage, self.turn)
            }
            _ => self.is_over(),
        }
    }

    fn seems_over_within(&self, looks: Looks) -> bool {
        self.barrier.await_next(self.control, self.next, looks).is_some() || self.seems_over()
    }

    fn is_over(&self) -> bool {
        let life = &self.control.life;
        let is_there = || self.barrier.span(self.control, self.next, self.next + 1) != Span::Empty;
        if self.control.is_stopping(self.stage, self.turn) {
            return true;
        }
        if life.is_open() {
            self.barrier.fetch(self.next);
            return is_there();
        }
        match life.end() {
            _ if life.is_halted() => true,
            // A close is under way, and wakes everybody when it is done.
            None => false,
            Some(end) => end <= self.next || is_there(),
        }
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.barrier.behind(self.control, self.next)
    }
}
