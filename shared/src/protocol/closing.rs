//! How a segment ends: its writer closes it, or the last of several that is dropped.

use super::Shared;
use super::seats::{Side, Tenure};
use crate::sync::{Ordering, fence};

/// No further event comes.
const CLOSED: u32 = 1;
/// The increment of the word for each writer that joins others.
const JOINED: u32 = 2;

impl Shared<'_> {
    /// Ends the segment: no further event comes.
    pub(crate) fn close(self) {
        // P7, Release: pairs with the Acquire in `is_closed`; carries the last event.
        self.words.life.0.closed.fetch_or(CLOSED, Ordering::Release);
        self.words.events.0.wake_all();
    }

    /// Whether no further event comes.
    pub(crate) fn is_closed(self) -> bool {
        // P7, Acquire: pairs with the Release in `close` and `close_after_last`.
        self.words.life.0.closed.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Announces a writer that has taken its seat beside others. Returns false if the last one of
    /// them has closed the segment.
    pub(super) fn announce(self) -> bool {
        // P7, Relaxed: the fence in `Claiming::join` precedes; carries the seat.
        self.words.life.0.closed.fetch_add(JOINED, Ordering::Relaxed) & CLOSED == 0
    }

    /// Ends the segment unless another writer `is_alive`. The caller has given up its own seat. Returns
    /// whether it has ended the segment.
    pub(crate) fn close_after_last(self, is_alive: impl Fn(Tenure) -> bool) -> bool {
        let closed = &self.words.life.0.closed;
        let mut seen = closed.load(Ordering::Relaxed); // P7, Relaxed: a fence follows
        // P7: orders the release of this seat before the loads of the others. If two writers leave at
        // the same time, at least one sees both seats free. Pairs with `announce` too.
        fence(Ordering::SeqCst);
        while seen & CLOSED == 0 && !self.tenures(Side::Writers).any(&is_alive) {
            // P7, Release: as in `close`; carries what writers published that have left before. Fails,
            // and acquires the seat, if another one has joined since.
            let (success, failure) = (Ordering::Release, Ordering::Acquire);
            match closed.compare_exchange(seen, seen | CLOSED, success, failure) {
                Err(now) => seen = now,
                Ok(_) => {
                    self.words.events.0.wake_all();
                    return true;
                }
            }
        }
        false
    }
}
