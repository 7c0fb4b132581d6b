//! How a ring ends: closed, when what was accepted is still consumed, or halted. Who has to be told, and in which order.

use super::{CLAIMS_CLOSED, Control};
use crate::Sequence;
use crate::sync::Ordering;
use crate::wait::event_count::ENDED;

impl Control {
    /// Accepts no further event. Everything accepted is still consumed. The second time it only sees to it that no claim
    /// is granted once it has returned.
    pub(crate) fn close(&self) {
        let is_first = self.life.begin_close();
        let accepted = self.close_claims();
        if !is_first {
            return;
        }
        let end = accepted.unwrap_or_else(|| {
            // No number would be right: nothing is refused, and nobody reads any more.
            self.halt();
            Sequence::MAX
        });
        self.life.finish_close(end);
        self.wake_everybody();
    }

    /// Grants no claim any more, of a ring whose state the caller has just set; the number of events that are accepted. None if
    /// the system has refused the fence that it takes: a claim may then still be granted, whose publication learns of it.
    fn close_claims(&self) -> Option<Sequence> {
        self.published.raise(ENDED);
        if self.stamps.is_some() {
            // O12, Release: pairs with the Acquire of who claims in vain; carries why. One modification order decides which
            // claims came first; their events come with their stamps (O4).
            return Some(self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED);
        }
        // The producer stores the cursor, or its clearance, then looks for the flag; here the other way round (O8, O33).
        let is_fenced = self.fence.heavy();
        self.clearance.withdraw();
        // O8, Relaxed: only the number is used.
        is_fenced.then(|| self.cursor.load(Ordering::Relaxed))
    }

    /// Whether the ring was closed before it counted the event of `sequence`, which its producer
    /// has published: then no stage has seen it, nor will (O8).
    #[cold]
    pub(crate) fn has_refused(&self, sequence: Sequence) -> bool {
        self.life.end().is_some_and(|end| end <= sequence)
    }

    /// Stops everybody: consumers after their batch, producers with an error.
    pub(crate) fn halt(&self) {
        self.life.halt();
        self.close_claims();
        self.wake_everybody();
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
