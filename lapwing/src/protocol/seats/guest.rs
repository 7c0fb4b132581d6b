//! A consumer's place: in the graph from the start, or in a seat, which it leaves when it goes.

use std::fmt;

use super::joining::{Joined, StartAt};
use crate::Sequence;
use crate::description::TakenName;
use crate::error::SeatError;
use crate::protocol::control::{Control, ONLY_TURN, StageIndex};
use crate::sync::Arc;

/// Where a consumer has its place.
#[derive(Debug)]
pub(crate) enum Place {
    /// A stage of the graph.
    Graph(StageIndex),
    /// A seat that it took as the ring ran.
    Seat(Guest),
}

impl Place {
    pub(crate) fn stage(&self) -> StageIndex {
        match self {
            Self::Graph(stage) => *stage,
            Self::Seat(guest) => guest.joined.seat,
        }
    }

    /// Which of the consumers of its stage it is.
    pub(crate) fn turn(&self) -> u64 {
        match self {
            Self::Graph(_) => ONLY_TURN,
            Self::Seat(guest) => guest.joined.turn,
        }
    }
}

/// A consumer that took a seat: dropped, it holds nobody back any more, and others may have its
/// seat and its name.
pub(crate) struct Guest {
    control: Arc<Control>,
    joined: Joined,
    /// Given back after the seat.
    name: TakenName,
}

impl Guest {
    /// Takes a seat of the ring.
    ///
    /// # Errors
    ///
    /// As [`Control::join`].
    pub(crate) fn join(
        control: &Arc<Control>,
        name: TakenName,
        start: StartAt,
    ) -> Result<Self, SeatError> {
        let joined = control.join(start)?;
        name.sits_at(joined.seat);
        // Of whoever sat there before.
        control.stages[joined.seat].activity.reset();
        Ok(Self { control: Arc::clone(control), joined, name })
    }

    /// Says that it has a handler, for monitors: it is no poller.
    pub(crate) fn has_handler(&self) {
        self.name.has_handler();
    }

    /// Its first sequence.
    pub(crate) fn start(&self) -> Sequence {
        self.joined.start
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.control.leave_seat(self.joined.seat);
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guest").field(&self.joined).finish()
    }
}
