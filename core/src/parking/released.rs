//! The two event counts on which threads park until a stage releases events: any events, or enough
//! for a producer. Not here: how many slots a producer waits for (`Control::room`, a quarter of the
//! ring), and which producers wait for them (`producer::wait`).
//!
//! A producer that is woken for each free slot fills that slot and parks again. Each time, it pays
//! for parking and its consumer for a wake-up. A *patient* producer therefore parks first until a
//! quarter of the ring is free. That wait has a short limit, since the events that the consumer
//! holds may be what the producer waits for. The event count itself has the limit, so no caller can
//! park there without it.

use std::ptr;

use super::event_count::EventCount;

/// The places where threads park that wait for one stage.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Released {
    /// Until the stage releases any event: downstream stages, and producers that are not patient.
    pub(crate) anything: EventCount,
    /// Until a quarter of the ring is free behind the stage: patient producers.
    pub(crate) room: EventCount,
}

impl Default for Released {
    fn default() -> Self {
        Self { anything: EventCount::with_tasks(), room: EventCount::late() }
    }
}

impl Released {
    /// Returns the marks and flags of both; 0 if no thread is parked and no flag is raised.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.anything.flags() | self.room.flags()
    }

    /// Wakes the threads whose wait is over. The caller has released events and then run the light
    /// fence. Loads two words on one cache line, which rarely change.
    #[inline]
    pub(crate) fn notify(&self, has_room: impl FnOnce() -> bool) {
        self.anything.notify();
        if self.room.is_awaited() && has_room() {
            self.room.notify();
        }
    }

    /// Whether `place` is one of the two.
    pub(crate) fn has(&self, place: &EventCount) -> bool {
        [&self.anything, &self.room].iter().any(|&own| ptr::eq(own, place))
    }

    /// Wakes all threads.
    pub(crate) fn wake_all(&self) {
        self.anything.wake_all();
        self.room.wake_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::parking::event_count::FOLLOW_UP;

    #[test]
    fn a_flag_of_either_place_shows() {
        let (anything, room) = (Released::default(), Released::default());
        assert_eq!(anything.flags(), 0);
        anything.anything.raise(FOLLOW_UP);
        room.room.raise(FOLLOW_UP);
        assert_eq!((anything.flags(), room.flags()), (FOLLOW_UP, FOLLOW_UP));
    }
}
