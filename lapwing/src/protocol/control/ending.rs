//! How a ring ends by a close or a halt, and in which order other threads see it. Consumers of a
//! closed ring still get every accepted event. Consumers of a halted ring stop after their batch.
//! Not here: the state words (`life`).

use super::{CLAIMS_CLOSED, Control};
use crate::Sequence;
use crate::error::HaltCause;
use crate::protocol::parking::event_count::ENDED;
use crate::sync::Ordering;

impl Control {
    /// Closes the ring: it accepts no further event. Consumers still get every accepted event.
    pub(crate) fn close(&self) {
        if self.life.end().is_some() {
            // The ring is closed or halted. The thread that has begun it wakes the others.
            return;
        }
        self.life.begin_close();
        self.fix_end();
        self.wake_all();
    }

    /// Halts the ring: consumers stop after their batch, producers get an error.
    pub(crate) fn halt(&self, cause: HaltCause) {
        self.life.begin_halt(cause);
        self.fix_end();
        self.wake_all();
    }

    /// Stops granting claims, and fixes the end: the first sequence that is not accepted. Before
    /// that, consumers get no event, so a poll by the caller would miss accepted events.
    ///
    /// If another thread has begun to close the ring, it may have lost its CPU. So the caller does
    /// not wait for it, and takes all steps itself. The first end that is stored counts.
    fn fix_end(&self) {
        let end = self.close_claims();
        self.life.fix_end(end);
    }

    /// Stops granting claims, after the caller has set the state. Returns the first sequence that
    /// is not accepted.
    fn close_claims(&self) -> Sequence {
        self.published.raise(ENDED);
        if self.stamps.is_some() {
            // O12, Release: pairs with the Acquire of a thread whose claim fails; carries the
            // reason. One modification order decides which claims came first; their events come
            // with their stamps (O4).
            return self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED;
        }
        // The producer stores the cursor or its window and then loads the flag. Here the order is
        // the reverse (O8, O33).
        self.fence.heavy_or_wait();
        self.window.close();
        // O8, Relaxed: only the number is used.
        self.cursor.load(Ordering::Relaxed)
    }

    /// Wakes every thread that is parked in this ring.
    pub(crate) fn wake_all(&self) {
        self.published.wake_all();
        // O6: between the caller's store and the check for idle workers.
        self.fence.light();
        for stage in &self.stages {
            stage.released.wake_all();
            stage.watch.wake_all();
        }
        // Last, so that its fence hides no other one in a model.
        self.places.wake_all();
    }
}
