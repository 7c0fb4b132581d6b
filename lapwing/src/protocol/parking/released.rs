//! Where threads sleep until a stage releases events: any, or enough for a producer. Not here: how much room
//! a producer waits for (`control`), which producers wait for it (`producer::wait`).
//!
//! A producer that is woken for each free slot fills it and parks again. Each time it pays for a sleep, and
//! its consumer for a wake-up. A patient producer therefore sleeps first until a good part of the ring is
//! free. That sleep is short, since the events that the consumer holds may be what the producer waits for.

use super::event_count::EventCount;

/// Where the threads sleep that wait for one stage.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Released {
    /// Until the stage releases any event: downstream stages, and producers that are not patient.
    pub(crate) anything: EventCount,
    /// Until there is room behind the stage: patient producers.
    pub(crate) room: EventCount,
}

impl Released {
    /// The marks and flags of both; 0 if no thread sleeps and no flag is raised.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.anything.flags() | self.room.flags()
    }

    /// Wakes the waiters whose wait is over. The caller has released events and then run the light fence. It
    /// loads two words on one cache line, which rarely change.
    #[inline]
    pub(crate) fn notify(&self, has_room: impl FnOnce() -> bool) {
        self.anything.notify();
        if self.room.is_awaited() && has_room() {
            self.room.notify();
        }
    }

    /// Wakes all sleepers.
    pub(crate) fn wake_all(&self) {
        self.anything.wake_all();
        self.room.wake_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::protocol::parking::event_count::FOLLOW_UP;

    #[test]
    fn a_flag_of_either_place_shows() {
        let (anything, room) = (Released::default(), Released::default());
        assert_eq!(anything.flags(), 0);
        anything.anything.raise(FOLLOW_UP);
        room.room.raise(FOLLOW_UP);
        assert_eq!((anything.flags(), room.flags()), (FOLLOW_UP, FOLLOW_UP));
    }
}
