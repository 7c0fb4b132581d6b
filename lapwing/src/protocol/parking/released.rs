//! Where those sleep who wait until a stage lets go of events: at once, or once there is room. Not here:
//! how much room that is (`control`), who is content to wait for it (`producer::wait`).
//!
//! A producer that is woken for each free slot fills it and lies down again, and each time pays for
//! a sleep and its consumer for a wake-up. So it sleeps at first until a good part of the ring is
//! free, and for a short time only: what a consumer keeps may be what it waits for.

use super::event_count::EventCount;

/// Where those sleep who wait for one stage.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Released {
    /// Until the stage lets go of anything: stages after it, producers without patience.
    pub(crate) anything: EventCount,
    /// Until there is room behind it: producers.
    pub(crate) room: EventCount,
}

impl Released {
    /// What there is to do for whoever lets go of events: 0 if nobody sleeps and no flag is raised.
    #[inline(always)]
    pub(crate) fn flags(&self) -> u32 {
        self.anything.flags() | self.room.flags()
    }

    /// Wakes those who have what they wait for. The caller has let go of events, and then run the
    /// light fence. A look at a word that hardly ever changes for each of the two, on one line.
    #[inline(always)]
    pub(crate) fn notify(&self, has_room: impl FnOnce() -> bool) {
        self.anything.notify();
        if self.room.is_awaited() && has_room() {
            self.room.notify();
        }
    }

    /// Wakes everybody.
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
