//! A consumer's place: a stage of the graph, or a seat, which is freed when the place is dropped.
//! Not here: how a consumer joins (`joining`).

use std::fmt;

use super::joining::{Joined, StartAt};
use crate::Sequence;
use crate::description::TakenName;
use crate::error::SeatError;
use crate::protocol::control::{Control, ONLY_TURN, StageIndex};
use crate::sync::Arc;

/// The place of a consumer.
#[derive(Debug)]
pub(crate) enum Place {
    /// A stage of the graph.
    Graph(StageIndex),
    /// A seat that the consumer took in a running ring.
    Seat(Guest),
}

impl Place {
    pub(crate) fn stage(&self) -> StageIndex {
        match self {
            Self::Graph(stage) => *stage,
            Self::Seat(guest) => guest.joined.seat,
        }
    }

    /// Returns which consumer of its stage it is.
    pub(crate) fn turn(&self) -> u64 {
        match self {
            Self::Graph(_) => ONLY_TURN,
            Self::Seat(guest) => guest.joined.turn,
        }
    }
}

/// A consumer that took a seat. When dropped, it stops holding producers back, and frees its seat
/// and its name.
pub(crate) struct Guest {
    control: Arc<Control>,
    joined: Joined,
    /// The consumer's name, freed after the seat.
    name: TakenName,
}

impl Guest {
    /// Takes a seat of the ring.
    ///
    /// # Errors
    ///
    /// [`SeatError`] if there is no free seat, if the ring does not hold the sequence `start`, or
    /// if the ring is halted.
    pub(crate) fn join(
        control: &Arc<Control>,
        name: TakenName,
        start: StartAt,
    ) -> Result<Self, SeatError> {
        let joined = control.join(start)?;
        // Clears the activity of the last consumer in this seat, before monitors find this one there.
        control.stages[joined.seat].activity.reset();
        name.sits_at(joined.seat);
        Ok(Self { control: Arc::clone(control), joined, name })
    }

    /// Records that it has a handler and is not a poller, for monitors.
    pub(crate) fn has_handler(&self) {
        self.name.has_handler();
    }

    /// Returns its first sequence.
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
