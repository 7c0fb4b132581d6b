//! Why a step of the protocol was refused. The errors of `lapwing`, which users see, are made from
//! these.

use crate::Sequence;

/// Why a ring was halted. The caller of [`Control::halt`](crate::Control::halt) chooses the
/// meaning of every code but one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause(u8);

impl Cause {
    /// No consumer is left, so no event would be handled.
    pub const NO_CONSUMERS: Self = Self(0);

    /// Creates the cause with this code. The code 0 is that of
    /// [`NO_CONSUMERS`](Self::NO_CONSUMERS).
    #[must_use]
    pub const fn new(code: u8) -> Self {
        Self(code)
    }

    /// Returns the code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

/// Why a ring accepts no more events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It is closed. Consumers still get every accepted event.
    Closed,
    /// It is halted. Consumers stop after their batch.
    Halted(Cause),
}

/// Why a claim was not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimError {
    /// Too few slots are free at present.
    Full,
    /// The ring is closed.
    Closed,
    /// The ring is halted.
    Halted(Cause),
}

impl From<Ended> for ClaimError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Closed => Self::Closed,
            Ended::Halted(cause) => Self::Halted(cause),
        }
    }
}

/// Why a poll found no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollError {
    /// There is none at present.
    Empty,
    /// The ring is closed, and the stage has finished every event.
    Closed,
    /// The ring is halted.
    Halted(Cause),
}

/// Why a consumer could not join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinError {
    /// Every dynamic stage is taken.
    NoneFree,
    /// The ring does not hold the sequence at which the consumer was to begin.
    OutOfRange {
        /// The oldest sequence that it holds.
        oldest: Sequence,
        /// The first sequence that is not published.
        newest: Sequence,
    },
    /// The ring is halted.
    Halted(Cause),
}

/// Why there is no memory for one value per slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryError {
    /// The capacity is not a power of two in `1..=MAX_CAPACITY`.
    Capacity {
        /// The capacity.
        requested: usize,
    },
    /// The allocator refused.
    OutOfMemory {
        /// The number of slots.
        capacity: usize,
        /// The size of one value.
        bytes_per_slot: usize,
    },
}
