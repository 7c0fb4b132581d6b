//! A consumer's place: in the graph from the start, or in a seat, which it leaves when it goes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Sequence;
use crate::control::{Control, ONLY_TURN, StageIndex};
use crate::error::SeatError;
use crate::joining::{Joined, StartAt};
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
    _name: TakenName,
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
        Ok(Self { control: Arc::clone(control), joined, _name: name })
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

/// Names of a ring's consumers: those of its graph, and of those who joined and have not left.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<BTreeSet<String>>);

impl Names {
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(Mutex::new(names.into_iter().collect()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        // Nothing panics under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `name`, unless somebody has it.
    pub(crate) fn take(names: &Arc<Self>, name: &str) -> Option<TakenName> {
        let is_new = names.lock().insert(name.to_owned());
        is_new.then(|| TakenName { names: Arc::clone(names), name: name.to_owned() })
    }
}

/// A name that nobody else has until this is dropped.
#[derive(Debug)]
pub(crate) struct TakenName {
    names: Arc<Names>,
    name: String,
}

impl Drop for TakenName {
    fn drop(&mut self) {
        self.names.lock().remove(&self.name);
    }
}
