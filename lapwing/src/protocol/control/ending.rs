//! How a ring ends, and in which order the other threads learn of it. A closed ring still delivers the
//! accepted events; a halted ring does not.

use super::{CLAIMS_CLOSED, Control};
use crate::Sequence;
use crate::error::HaltCause;
use crate::protocol::parking::event_count::ENDED;
use crate::sync::Ordering;

impl Control {
    /// Accepts no further event. Consumers still get every accepted event.
    pub(crate) fn close(&self) {
        let is_first = self.life.begin_close();
        self.settle_end(is_first);
        if is_first {
            self.wake_everybody();
        }
    }

    /// Stops consumers after their batch, and producers with an error.
    pub(crate) fn halt(&self, cause: HaltCause) {
        let is_first = self.life.begin_halt(cause);
        self.settle_end(is_first);
        self.wake_everybody();
    }

    /// Grants no further claim, and publishes the end.
    ///
    /// A caller that is not the first waits until the first has published the end. Until then consumers get
    /// no event, so a poll by that caller would miss accepted events.
    fn settle_end(&self, is_first: bool) {
        let accepted = self.close_claims();
        if is_first {
            let end = accepted.unwrap_or_else(|| {
                // No end would be right, so the ring is halted: no event is refused, and no consumer reads
                // any more.
                self.life.begin_halt(HaltCause::Requested);
                Sequence::MAX
            });
            self.life.finish_close(end);
        } else {
            self.life.settled_end();
        }
    }

    /// Grants no further claim, after the caller has set the state. Returns the first sequence that is not
    /// accepted. `None` if the system refused the fence: a claim may then still be granted, and its
    /// publication sees the end.
    fn close_claims(&self) -> Option<Sequence> {
        self.published.raise(ENDED);
        if self.stamps.is_some() {
            // O12, Release: pairs with the Acquire of a thread whose claim fails; carries the reason. One
            // modification order decides which claims came first; their events come with their stamps (O4).
            return Some(self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED);
        }
        // The producer stores the cursor or its window, then loads the flag; here the order is the reverse
        // (O8, O33).
        let is_fenced = self.fence.heavy();
        self.window.close();
        // O8, Relaxed: only the number is used.
        is_fenced.then(|| self.cursor.load(Ordering::Relaxed))
    }

    /// Wakes every thread that sleeps in this ring.
    pub(crate) fn wake_everybody(&self) {
        self.published.wake_all();
        self.turns.end();
        // O6: between the caller's store and the check for idle workers.
        self.fence.light();
        for stage in &self.stages {
            stage.released.wake_all();
            stage.watch.wake_all();
        }
    }
}
