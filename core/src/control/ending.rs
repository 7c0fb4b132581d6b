//! How a ring ends by a close or a halt, and in which order other threads see it. Consumers of a
//! closed ring still get every accepted event. Consumers of a halted ring stop after their batch.
//! Not here: the state words (`life`).

use super::Control;
use crate::Sequence;
use crate::error::Cause;
use crate::parking::event_count::ENDED;
use crate::sync::{Ordering, fence};

impl Control {
    /// Closes the ring: it accepts no further event. Consumers still get every accepted event.
    ///
    /// When the call returns, every thread that was parked in this ring is woken. That holds also if
    /// another thread has begun to close the ring and has not woken them yet.
    pub fn close(&self) {
        if self.life.end().is_none() {
            self.life.begin_close();
            self.fix_end();
        }
        self.wake_all();
    }

    /// Halts the ring: consumers stop after their batch, producers get an error.
    pub fn halt(&self, cause: Cause) {
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

    /// Returns the end of the accepted events; with several producers, of the claims. A snapshot of an
    /// open ring.
    ///
    /// A single producer's cursor may be beyond an event that a close refuses. If a thread has begun to
    /// close or halt the ring and has not fixed the end yet, the caller takes the same steps and waits
    /// for no other thread.
    #[must_use]
    pub fn accepted(&self) -> Sequence {
        let claimed = self.claimed();
        self.end_if_begun().map_or(claimed, |end| end.min(claimed))
    }

    /// Returns the end, if a thread has begun to close or halt the ring; fixes it if need be. The
    /// caller has loaded the cursor.
    fn end_if_begun(&self) -> Option<Sequence> {
        // O8: between the load of the cursor and the load of the flag.
        self.fence().light();
        if self.parking.published().flags() & ENDED == 0 {
            return None;
        }
        // O32: pairs with the Release in `Epoch::raise`; brings what came before the close, which
        // the end is to carry (O9).
        fence(Ordering::Acquire);
        if self.life.end().is_none() {
            self.fix_end();
        }
        self.life.end()
    }

    /// Stops granting claims, after the caller has set the state. Returns the first sequence that
    /// is not accepted.
    fn close_claims(&self) -> Sequence {
        self.parking.published().raise(ENDED);
        if self.publication.is_multi() {
            return self.publication.close_counter();
        }
        // The producer stores the cursor or its window and then loads the flag. Here the order is
        // the reverse (O8, O33).
        self.fence().heavy_or_wait();
        self.publication.close_window()
    }

    /// Wakes every thread that is parked in this ring.
    pub fn wake_all(&self) {
        self.parking.published().wake_all();
        // O6: between the caller's store and the check for idle workers.
        self.fence().light();
        for stage in self.stages.all() {
            stage.released().wake_all();
            stage.watch().wake_all();
        }
        // Last, so that its fence hides no other one in a model.
        self.places().wake_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::parking::EventCount;

    /// A thread that closes the ring has fixed the end and then lost its CPU. Another close returned
    /// at once, and parked threads slept on.
    #[test]
    fn a_second_close_left_the_wake_up_to_the_first() {
        let control = Control::of_graph(4, None, &[&[], &[0]]);
        let room = |stage| &control.stages.of(stage).released().room;
        let places = || {
            let stages =
                [0, 1].into_iter().flat_map(|stage| [control.released(stage), room(stage)]);
            stages.chain([control.parking.published()])
        };
        let before: Vec<_> = places().map(EventCount::epochs).collect();
        control.life.begin_close();
        control.fix_end();
        control.close();
        let are_woken = places().zip(before).all(|(place, before)| place.epochs() > before);
        assert!(are_woken);
    }
}
