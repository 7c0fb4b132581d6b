//! How a ring ends: closed, when what was accepted is still consumed, or halted. Who has to be told, and in which order.

use super::{CLAIMS_CLOSED, Control};
use crate::Sequence;
use crate::error::HaltCause;
use crate::protocol::parking::event_count::ENDED;
use crate::sync::Ordering;

impl Control {
    /// Accepts no further event. Consumers still get everything that was accepted.
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

    /// Grants no further claim, and makes the end known.
    ///
    /// A caller that is not the first to end the ring waits until the first has made the end known. Until then consumers
    /// get no event, so a caller that polled the ring would find accepted events missing.
    fn settle_end(&self, is_first: bool) {
        let accepted = self.close_claims();
        if is_first {
            let end = accepted.unwrap_or_else(|| {
                // No number would be right: no event is refused, and no consumer reads any more.
                self.life.begin_halt(HaltCause::Requested);
                Sequence::MAX
            });
            self.life.finish_close(end);
        } else {
            self.life.settled_end();
        }
    }

    /// Grants no further claim, of a ring whose state the caller has just set; the first sequence that is not accepted. None if
    /// the system refused the fence: a claim may then still be granted, and its publication learns of the end.
    fn close_claims(&self) -> Option<Sequence> {
        self.published.raise(ENDED);
        if self.stamps.is_some() {
            // O12, Release: pairs with the Acquire of who claims in vain; carries why. One modification order decides which
            // claims came first; their events come with their stamps (O4).
            return Some(self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED);
        }
        // The producer stores the cursor, or its window, then looks for the flag; here the other way round (O8, O33).
        let is_fenced = self.fence.heavy();
        self.window.close();
        // O8, Relaxed: only the number is used.
        is_fenced.then(|| self.cursor.load(Ordering::Relaxed))
    }

    /// Wakes all who sleep in this ring, to look again.
    pub(crate) fn wake_everybody(&self) {
        self.published.wake_all();
        // O6: between what the caller has stored and the look for idle workers.
        self.fence.light();
        for stage in &self.stages {
            stage.released.wake_all();
            stage.watch.wake_all();
        }
    }
}
