//! Why stages cannot run on the threads that they, or a placement, ask for.

use std::error::Error;
use std::fmt;

/// What is wrong with a [`Placement`](crate::graph::Placement), or with the threads that stages ask
/// for.
///
/// It is part of [`BuildError::Placement`](crate::error::BuildError::Placement).
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
    /// [`Placement::threads`](crate::graph::Placement::threads) allows no thread.
    ZeroThreads,
    /// A group names a stage or a worker that the ring does not have.
    UnknownStage {
        /// The thread of the group.
        thread: String,
        /// The name in the group.
        stage: String,
    },
    /// A group names a poller, which runs on the thread that polls it.
    Poller {
        /// The thread of the group.
        thread: String,
        /// The poller.
        stage: String,
    },
    /// A stage or a worker is placed on two threads, by two groups, or by a group and by its own
    /// [`on_thread`](crate::Stage::on_thread).
    TwoThreads {
        /// The stage, or the worker.
        stage: String,
        /// The two threads.
        threads: (String, String),
    },
    /// Another stage or worker is placed on the thread of a [blocking](crate::Stage::blocking)
    /// stage.
    BlockingShares {
        /// The thread.
        thread: String,
        /// The blocking stage, or a worker of it.
        stage: String,
    },
    /// The placement pins a thread that the ring does not have.
    UnknownThread {
        /// The name of the thread.
        thread: String,
    },
    /// A thread is pinned to two CPUs, by its stages or by the placement.
    TwoPins {
        /// The thread.
        thread: String,
        /// The two CPUs.
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
                "a group names a stage that the ring does not have: stage={stage:?}, thread={thread:?}"
            ),
            Self::Poller { thread, stage } => write!(
                f,
                "a group cannot name a poller, which runs on the thread that polls it: \
                 stage={stage:?}, thread={thread:?}"
            ),
            Self::TwoThreads { stage, threads: (first, second) } => write!(
                f,
                "a stage must run on one thread: stage={stage:?}, first={first:?}, second={second:?}"
            ),
            Self::BlockingShares { thread, stage } => write!(
                f,
                "a blocking stage must not share its thread: \
                 stage={stage:?}, thread={thread:?}"
            ),
            Self::TwoPins { thread, cpus: (first, second) } => write!(
                f,
                "a thread must be pinned to one CPU: \
                 thread={thread:?}, first={first}, second={second}"
            ),
            Self::UnknownThread { thread } => {
                write!(f, "the ring does not have the thread to pin: thread={thread:?}")
            }
        }
    }
}

impl Error for PlacementError {}
