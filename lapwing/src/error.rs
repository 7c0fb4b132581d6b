//! Every public error, with the call that returns it: small, `Copy` where it can be, one per
//! operation.
//!
//! A call that returns one has published nothing, holds no slot, and has lost no event that was
//! accepted.

use std::error::Error;
use std::fmt;
use std::io;

use crate::MAX_CAPACITY;

/// Why a call that waits without limit came back empty: [`publish`](crate::Producer::publish),
/// [`claim`](crate::Producer::claim), [`Poller::wait`](crate::Poller::wait).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Closed: no event is accepted any more; for a poller, and everything before has been
    /// consumed.
    Closed,
    /// Halted, by [`Running::halt`](crate::Running::halt), by a stage that panicked, or since no
    /// consumer is left.
    Halted,
}

impl Stopped {
    fn text(self) -> &'static str {
        match self {
            Self::Closed => "the ring is closed",
            Self::Halted => {
                "the ring is halted: a stage panicked, nobody consumes, or halt was called"
            }
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Error for Stopped {}

/// Error of [`try_publish`](crate::Producer::try_publish) and
/// [`try_claim`](crate::Producer::try_claim).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryPublishError {
    /// No slot is free: the slowest consumer is a lap behind.
    Full,
    /// As [`Stopped::Closed`].
    Closed,
    /// As [`Stopped::Halted`].
    Halted,
}

impl fmt::Display for TryPublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the ring is full",
            Self::Closed => Stopped::Closed.text(),
            Self::Halted => Stopped::Halted.text(),
        })
    }
}

impl Error for TryPublishError {}

impl From<Stopped> for TryPublishError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Closed => Self::Closed,
            Stopped::Halted => Self::Halted,
        }
    }
}

/// Error of [`publish_timeout`](crate::Producer::publish_timeout) and
/// [`claim_timeout`](crate::Producer::claim_timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishTimeoutError {
    /// The ring was full until the time had passed.
    TimedOut,
    /// As [`Stopped::Closed`].
    Closed,
    /// As [`Stopped::Halted`].
    Halted,
}

impl fmt::Display for PublishTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the ring was full until the timeout",
            Self::Closed => Stopped::Closed.text(),
            Self::Halted => Stopped::Halted.text(),
        })
    }
}

impl Error for PublishTimeoutError {}

impl From<Stopped> for PublishTimeoutError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Closed => Self::Closed,
            Stopped::Halted => Self::Halted,
        }
    }
}

/// Error of the batch calls of a producer: [`publish_batch`](crate::Producer::publish_batch),
/// [`claim_batch`](crate::Producer::claim_batch) and their `try_` and `_timeout` twins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchError {
    /// A batch of no events was asked for.
    Zero,
    /// More events were asked for than the ring has slots; it can never be granted.
    TooLarge {
        /// Events asked for.
        requested: usize,
        /// Slots of the ring, the most that can be asked for.
        capacity: usize,
    },
    /// Fewer slots are free than asked for. Only from the `try_` calls.
    Full,
    /// Fewer slots were free until the time had passed. Only from the `_timeout` calls.
    TimedOut,
    /// As [`Stopped::Closed`].
    Closed,
    /// As [`Stopped::Halted`].
    Halted,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("a batch must have at least one event"),
            Self::TooLarge { requested, capacity } => {
                write!(f, "a batch must fit the ring: requested={requested}, capacity={capacity}")
            }
            Self::Full => f.write_str("the ring has too few free slots"),
            Self::TimedOut => f.write_str("the ring had too few free slots until the timeout"),
            Self::Closed => f.write_str(Stopped::Closed.text()),
            Self::Halted => f.write_str(Stopped::Halted.text()),
        }
    }
}

impl Error for BatchError {}

impl From<Stopped> for BatchError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Closed => Self::Closed,
            Stopped::Halted => Self::Halted,
        }
    }
}

impl From<TryPublishError> for BatchError {
    fn from(error: TryPublishError) -> Self {
        match error {
            TryPublishError::Full => Self::Full,
            TryPublishError::Closed => Self::Closed,
            TryPublishError::Halted => Self::Halted,
        }
    }
}

impl From<PublishTimeoutError> for BatchError {
    fn from(error: PublishTimeoutError) -> Self {
        match error {
            PublishTimeoutError::TimedOut => Self::TimedOut,
            PublishTimeoutError::Closed => Self::Closed,
            PublishTimeoutError::Halted => Self::Halted,
        }
    }
}

/// Error of [`Poller::poll`](crate::Poller::poll) and
/// [`Poller::poll_max`](crate::Poller::poll_max).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollError {
    /// Nothing to read now.
    Empty,
    /// As [`Stopped::Closed`]: there will never be anything to read.
    Closed,
    /// As [`Stopped::Halted`].
    Halted,
}

impl fmt::Display for PollError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "nothing to read now",
            Self::Closed => "the ring is closed and everything has been consumed",
            Self::Halted => Stopped::Halted.text(),
        })
    }
}

impl Error for PollError {}

/// Error of [`Poller::wait_timeout`](crate::Poller::wait_timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitTimeoutError {
    /// Nothing came until the time had passed.
    TimedOut,
    /// As [`Stopped::Closed`].
    Closed,
    /// As [`Stopped::Halted`].
    Halted,
}

impl fmt::Display for WaitTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "nothing to read until the timeout",
            Self::Closed => "the ring is closed and everything has been consumed",
            Self::Halted => Stopped::Halted.text(),
        })
    }
}

impl Error for WaitTimeoutError {}

impl From<Stopped> for WaitTimeoutError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Closed => Self::Closed,
            Stopped::Halted => Self::Halted,
        }
    }
}

/// Error of [`Builder::build`](crate::Builder::build). No thread has been started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is not a power of two in `1..=2^30`.
    Capacity {
        /// Slots asked for.
        requested: usize,
    },
    /// The allocator refused the memory of the ring.
    OutOfMemory {
        /// Slots asked for.
        capacity: usize,
        /// Bytes asked for each of them: for an event, or for what keeps track of it.
        bytes_per_slot: usize,
    },
    /// The graph has no stage, so nobody would ever free a slot.
    NoConsumers,
    /// Two stages have the same name.
    DuplicateName {
        /// The name.
        stage: String,
    },
    /// A name is empty or has a NUL in it, which a thread's name cannot have.
    InvalidName {
        /// The name.
        stage: String,
    },
    /// A stage comes after a stage of another graph.
    UnknownStage {
        /// The stage whose dependency is unknown.
        stage: String,
    },
    /// A stage with exclusive access could run at the same time as another stage.
    Overlap {
        /// The stage that writes.
        exclusive: String,
        /// The stage that is neither before nor after it.
        other: String,
    },
    /// A stage was given batches of at most no events.
    ZeroMaxBatch {
        /// The stage.
        stage: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity { requested } => write!(
                f,
                "capacity must be a power of two in 1..={MAX_CAPACITY}: requested={requested}"
            ),
            Self::OutOfMemory { capacity, bytes_per_slot } => {
                write!(
                    f,
                    "no memory for the ring: capacity={capacity}, bytes_per_slot={bytes_per_slot}"
                )
            }
            Self::NoConsumers => f.write_str("the graph has no stage: add a consumer before build"),
            Self::DuplicateName { stage } => write!(f, "two stages have one name: stage={stage:?}"),
            Self::InvalidName { stage } => {
                write!(f, "a stage's name must not be empty or hold a NUL: stage={stage:?}")
            }
            Self::UnknownStage { stage } => {
                write!(f, "a stage comes after a stage of another graph: stage={stage:?}")
            }
            Self::Overlap { exclusive, other } => write!(
                f,
                "an exclusive stage must be ordered against every other: \
                 exclusive={exclusive:?} and other={other:?} could run at the same time"
            ),
            Self::ZeroMaxBatch { stage } => {
                write!(f, "the longest batch must have at least one event: stage={stage:?}")
            }
        }
    }
}

impl Error for BuildError {}

/// Error of [`Consumers::start`](crate::Consumers::start): which stage has no thread, and why. The
/// ring is halted and the threads that had begun have ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The operating system refused a thread.
    Spawn {
        /// The stage.
        stage: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// The thread could not be pinned to its CPU.
    Pin {
        /// The stage.
        stage: String,
        /// The CPU that was asked for.
        cpu: usize,
        /// What the operating system said.
        source: io::Error,
    },
    /// A stage is a poller that nobody has taken: its events would never be done.
    UntakenPoller {
        /// The stage.
        stage: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { stage, .. } => write!(f, "cannot start a thread: stage={stage:?}"),
            Self::Pin { stage, cpu, .. } => {
                write!(f, "cannot pin a thread: stage={stage:?}, cpu={cpu}")
            }
            Self::UntakenPoller { stage } => {
                write!(f, "a poller must be taken before the start: stage={stage:?}")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Spawn { source, .. } | Self::Pin { source, .. } => Some(source),
            Self::UntakenPoller { .. } => None,
        }
    }
}

/// Error of [`Consumers::take_poller`](crate::Consumers::take_poller) and
/// [`Report::take`](crate::Report::take).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeError {
    /// No stage has this name.
    UnknownName,
    /// The stage is of another kind or type: a handler of another type, a stage that hands nothing
    /// back (a closure, a handler made on its thread), or a poller with the other access.
    WrongType,
    /// It was taken before.
    AlreadyTaken,
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownName => "no stage has this name",
            Self::WrongType => "the stage holds nothing of this type",
            Self::AlreadyTaken => "it has been taken before",
        })
    }
}

impl Error for TakeError {}
