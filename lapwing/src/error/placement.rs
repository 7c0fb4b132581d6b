//! Why stages cannot run on threads as they or a placement say.

use std::error::Error;
use std::fmt;

/// What is wrong with a [`Placement`](crate::graph::Placement), or with what stages say of their threads, in
/// [`BuildError::Placement`](crate::error::BuildError::Placement).
///
/// ```
/// use lapwing::{Disruptor, error::{BuildError, PlacementError}, graph::Placement};
///
/// let ring = Disruptor::single_producer(8, || 0_u64)
///     .placement(Placement::threads(0))
///     .stage("sum").read(|_, _, _| {});
/// assert_eq!(ring.build().err(), Some(BuildError::Placement(PlacementError::ZeroThreads)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacementError {
    /// [`threads`](crate::graph::Placement::threads) of at most none.
    ZeroThreads,
    /// A group names a stage that the ring has not.
    UnknownStage {
        /// The thread that is to run it.
        thread: String,
        /// The name.
        stage: String,
    },
    /// A group names a poller, which runs where it is asked.
    Poller {
        /// The thread that is to run it.
        thread: String,
        /// The poller.
        stage: String,
    },
    /// A stage is to run on two threads: by two groups, or by one and by its own
    /// [`on_thread`](crate::Stage::on_thread).
    TwoThreads {
        /// The stage, or the worker.
        stage: String,
        /// The threads.
        threads: (String, String),
    },
    /// Somebody is put on the thread of a [blocking](crate::Stage::blocking) stage.
    BlockingShares {
        /// The thread.
        thread: String,
        /// The blocking stage, or a worker of it.
        stage: String,
    },
    /// A thread is to be pinned that the ring does not have.
    UnknownThread {
        /// The name.
        thread: String,
    },
    /// A thread is to be pinned to different CPUs, by its stages or by the placement.
    TwoPins {
        /// The thread.
        thread: String,
        /// The two.
        cpus: (usize, usize),
    },
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroThreads => {
                f.write_str("a placement must have at least one thread: threads=0")
            }
            Self::UnknownStage { thread, stage } => write!(
                f,
                "a group may name only stages of its ring: stage={stage:?}, thread={thread:?}"
            ),
            Self::Poller { thread, stage } => write!(
                f,
                "a poller runs where it is asked, and has no thread: \
                 stage={stage:?}, thread={thread:?}"
            ),
            Self::TwoThreads { stage, threads: (first, second) } => write!(
                f,
                "a stage must run on one thread: stage={stage:?}, first={first:?}, second={second:?}"
            ),
            Self::BlockingShares { thread, stage } => write!(
                f,
                "a blocking stage must have its thread for itself: \
                 stage={stage:?}, thread={thread:?}"
            ),
            Self::TwoPins { thread, cpus: (first, second) } => write!(
                f,
                "the stages of a thread must ask for the same CPU: \
                 thread={thread:?}, first={first}, second={second}"
            ),
            Self::UnknownThread { thread } => {
                write!(f, "only a thread that the ring has can be pinned: thread={thread:?}")
            }
        }
    }
}

impl Error for PlacementError {}
