//! A consumer's place: a stage of the graph, or a seat that it frees when it is dropped. Not here: the
//! protocol of joining (`joining`).

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
    /// A seat that it took in a running ring.
    Seat(Guest),
}

impl Place {
    pub(crate) fn stage(&self) -> StageIndex {
        match self {
            Self::Graph(stage) => *stage,
            Self::Seat(guest) => guest.joined.seat,
        }
    }

    /// Which consumer of its stage it is.
    pub(crate) fn turn(&self) -> u64 {
        match self {
            Self::Graph(_) => ONLY_TURN,
            Self::Seat(guest) => guest.joined.turn,
        }
    }
}

/// A consumer that took a seat. When dropped, it holds no producer back, and frees its seat and its name.
pub(crate) struct Guest {
    control: Arc<Control>,
    joined: Joined,
    /// Released after the seat.
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
        // Clears the activity of the last consumer in this seat.
        control.stages[joined.seat].activity.reset();
        Ok(Self { control: Arc::clone(control), joined, name })
    }

    /// Records that it has a handler, for monitors: it is not a poller.
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
