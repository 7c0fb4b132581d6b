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
        // The second one as well: when it returns, no claim is granted any more.
        let is_fenced = self.end_publications();
        let claimed = self.stamps.is_some().then(|| self.close_claims());
        if !is_first {
            return;
        }
        let end = if let Some(claimed) = claimed {
            claimed
        } else if is_fenced {
            // The producer stores the cursor, then looks for the flag; here the other way round (O8).
            // O8, Relaxed: only the number is used.
            self.cursor.load(Ordering::Relaxed)
        } else {
            // No number would be right: nothing is refused, and nobody reads any more.
            self.halt();
            Sequence::MAX
        };
        self.life.finish_close(end);
        self.wake_everybody();
    }

    /// Tells producers that the ring has ended, whose state the caller has just set. False if the system has refused the
    /// fence after that: a claim may then still be granted, whose publication learns of it.
    fn end_publications(&self) -> bool {
        self.published.raise(ENDED);
        // O8 and O33: between the flag and the cursor, and between the flag and the clearance. Several producers do without.
        let is_fenced = self.stamps.is_some() || self.fence.heavy();
        self.clearance.withdraw();
        is_fenced
    }

    /// Whether the ring was closed before it counted the event of `sequence`, which its producer
    /// has published: then no stage has seen it, nor will (O8).
    #[cold]
    pub(crate) fn has_refused(&self, sequence: Sequence) -> bool {
        self.life.end().is_some_and(|end| end <= sequence)
    }

    /// Grants no claim any more, of several producers; the number of those that were granted.
    fn close_claims(&self) -> Sequence {
        // O12, Release: pairs with the Acquire of who claims in vain; carries why. One modification order decides which
        // claims came first; their events come with their stamps (O4).
        self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED
    }

    /// Stops everybody: consumers after their batch, producers with an error.
    pub(crate) fn halt(&self) {
        self.life.halt();
        // Without the fence a publication still learns of it.
        let _ = self.end_publications();
        if self.stamps.is_some() {
            self.close_claims();
        }
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
