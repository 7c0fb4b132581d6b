//! Why a ring, a channel or a tap was not made.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use lapwing_core::error::MemoryError;

use crate::observable_name::MAX_NAME;
use crate::{MAX_CAPACITY, MAX_DYNAMIC_STAGES, MAX_FIRST_SEQUENCE, MAX_RECEIVERS, Sequence};

/// Error of [`Builder::build`](crate::Builder::build), of [`tap`](crate::tap::tap) and of the calls
/// that make a [`channel`](crate::channel). No thread has been started.
///
/// ```
/// use lapwing::{Disruptor, error::BuildError};
///
/// let two = Disruptor::single_producer(8, || 0_u64).stage("log").poller().stage("log").poller();
/// let error = two.build().unwrap_err();
/// assert_eq!(error, BuildError::DuplicateName { stage: "log".into() });
/// assert_eq!(error.to_string(), "two stages share a name: stage=\"log\"");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is not a power of two in `1..=2^30`. A channel rounds its capacity up, and
    /// refuses only a capacity outside that range.
    Capacity {
        /// Slots that were asked for.
        requested: usize,
    },
    /// More dynamic stages than [`MAX_DYNAMIC_STAGES`] were asked for.
    DynamicStages {
        /// Dynamic stages that were asked for.
        requested: usize,
    },
    /// The allocator refused the memory of the ring or the tap.
    OutOfMemory {
        /// Number of slots, rounded up for a channel.
        capacity: usize,
        /// Bytes for each slot: the size of an event, or of the data that tracks it.
        bytes_per_slot: usize,
    },
    /// The first sequence is above [`MAX_FIRST_SEQUENCE`], which leaves too few for the life of the
    /// ring.
    FirstSequence {
        /// First sequence that was asked for.
        requested: Sequence,
    },
    /// The graph has no stage, or the broadcast no receiver, so no slot would ever be released.
    NoConsumers,
    /// Two stages or workers have the same name. The workers of "price" are "price-0", "price-1"
    /// and so on.
    DuplicateName {
        /// The name.
        stage: String,
    },
    /// The name of a stage or of a thread is empty, or contains a NUL. A thread's name cannot
    /// contain one.
    InvalidName {
        /// The name.
        stage: String,
    },
    /// A stage depends on a stage of another graph.
    UnknownStage {
        /// The stage with the unknown dependency.
        stage: String,
    },
    /// A stage [names](crate::Stage::after_named) a stage to depend on that its graph does not
    /// have.
    UnknownUpstream {
        /// The stage with the unknown dependency.
        stage: String,
        /// The name that no stage of the graph has.
        upstream: String,
    },
    /// A stage of a graph depends twice on the same stage, at least once by its
    /// [name](crate::Stage::after_named).
    DuplicateUpstream {
        /// The stage with the dependency.
        stage: String,
        /// The stage that it depends on.
        upstream: String,
    },
    /// Stages of a graph depend on each other in a circle, so none of them would ever get an event.
    Cycle {
        /// The stages of one circle: each depends on the next one, and the last on the first. It is
        /// a single stage if that depends on itself.
        stages: Vec<String>,
    },
    /// A stage with exclusive access could run at the same time as another stage.
    Overlap {
        /// The stage with exclusive access.
        exclusive: String,
        /// The stage that neither runs before it nor after it.
        other: String,
    },
    /// [`Placement::threads`](crate::graph::Placement::threads) allows no thread.
    ZeroThreads,
    /// A [group](crate::graph::Placement::group) names a stage or a worker that the ring does not
    /// have.
    UnknownInGroup {
        /// The thread of the group.
        thread: String,
        /// The name in the group.
        stage: String,
    },
    /// A [group](crate::graph::Placement::group) names a poller, which runs on the thread that
    /// polls it.
    PollerInGroup {
        /// The thread of the group.
        thread: String,
        /// The poller.
        stage: String,
    },
    /// A stage or a worker is placed on two threads, by two
    /// [groups](crate::graph::Placement::group), or by a group and by its own
    /// [`on_thread`](crate::Stage::on_thread).
    TwoThreads {
        /// The stage, or the worker.
        stage: String,
        /// The two threads.
        threads: (String, String),
    },
    /// Another stage or worker is placed on the thread of a [blocking](crate::Stage::may_block)
    /// stage.
    BlockingShares {
        /// The thread.
        thread: String,
        /// The blocking stage, or a worker of it.
        stage: String,
    },
    /// The [`Placement`](crate::graph::Placement) pins a thread that the ring does not have.
    UnknownThread {
        /// The name of the thread.
        thread: String,
    },
    /// A thread is pinned to two CPUs, by its stages or by the
    /// [`Placement`](crate::graph::Placement).
    TwoPins {
        /// The thread.
        thread: String,
        /// The two CPUs.
        cpus: (usize, usize),
    },
    /// The batches of a stage are limited to zero events.
    ZeroMaxBatch {
        /// The stage.
        stage: String,
    },
    /// A stage has a setting that would have no effect:
    ///
    /// - a [`timeout_after`](crate::Stage::timeout_after) for a closure or a poller, which have no
    ///   `on_timeout`;
    /// - [`on_error`](crate::Stage::on_error) for a handler that returns no `Result`, or for a
    ///   poller;
    /// - [`on_panic`](crate::Stage::on_panic), [`pin`](crate::Stage::pin),
    ///   [`on_thread`](crate::Stage::on_thread) or [`may_block`](crate::Stage::may_block) for a
    ///   poller, which has neither a handler nor a thread.
    UnusedSetting {
        /// The stage.
        stage: String,
        /// The method of [`Stage`](crate::Stage) that set it.
        setting: &'static str,
        /// What the stage must have for the setting to have an effect.
        needs: &'static str,
    },
    /// A worker group has no worker, more than its [`up_to`](crate::graph::WorkerStage::up_to), or
    /// more than a group can have.
    Workers {
        /// The group.
        stage: String,
        /// Workers that were asked for.
        requested: usize,
        /// Largest number that was possible.
        max: usize,
    },
    /// The name of an [observable](crate::Builder::observable) ring is empty, has more than 64 bytes,
    /// begins with a dot, or has a character that is neither an ASCII letter or digit nor `-`, `_` or
    /// `.`: it is part of the name of a file.
    ObservableName {
        /// The name.
        name: String,
    },
    /// The system refuses the file of an [observable](crate::Builder::observable) ring, or the folder
    /// of these files.
    ObservableFile {
        /// The file or the folder.
        path: PathBuf,
        /// The reason: for example [`StorageFull`](io::ErrorKind::StorageFull),
        /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) if the folder is another user's, is a
        /// link, or others may write to it, or [`Unsupported`](io::ErrorKind::Unsupported) on a system
        /// other than Linux.
        kind: io::ErrorKind,
        /// The number of the system's error, if it is one.
        os_error: Option<i32>,
    },
    /// A broadcast has more receivers than [`MAX_RECEIVERS`].
    Receivers {
        /// Receivers that were asked for.
        requested: usize,
    },
}

impl BuildError {
    /// Why the system refuses the file of an observable ring, or its folder.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Self {
        let (kind, os_error) = (error.kind(), error.raw_os_error());
        Self::ObservableFile { path: path.to_owned(), kind, os_error }
    }

    /// Why the core has no memory for a ring.
    pub(crate) fn of(error: MemoryError) -> Self {
        match error {
            MemoryError::Capacity { requested } => Self::Capacity { requested },
            MemoryError::OutOfMemory { capacity, bytes_per_slot } => {
                Self::OutOfMemory { capacity, bytes_per_slot }
            }
        }
    }
}

impl fmt::Display for BuildError {
    #[allow(clippy::too_many_lines)] // a message for each variant
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity { requested } => fmt_capacity(*requested, f),
            Self::DynamicStages { requested } => {
                write!(
                    f,
                    "dynamic stages must be in 0..={MAX_DYNAMIC_STAGES}: requested={requested}"
                )
            }
            Self::OutOfMemory { capacity, bytes_per_slot } => {
                write!(
                    f,
                    "cannot allocate the ring: capacity={capacity}, bytes_per_slot={bytes_per_slot}"
                )
            }
            Self::FirstSequence { requested } => {
                let most = MAX_FIRST_SEQUENCE;
                write!(f, "the first sequence must be in 0..={most}: requested={requested}")
            }
            Self::NoConsumers => {
                f.write_str("no consumer: a graph needs a stage, and a broadcast needs a receiver")
            }
            Self::DuplicateName { stage } => write!(f, "two stages share a name: stage={stage:?}"),
            Self::InvalidName { stage } => {
                write!(
                    f,
                    "the name of a stage or a thread must not be empty or contain a NUL: name={stage:?}"
                )
            }
            Self::UnknownStage { stage } => {
                write!(f, "a stage depends on a stage of another graph: stage={stage:?}")
            }
            Self::UnknownUpstream { stage, upstream } => write!(
                f,
                "a stage depends on a stage that its graph does not have: stage={stage:?}, upstream={upstream:?}"
            ),
            Self::DuplicateUpstream { stage, upstream } => {
                write!(
                    f,
                    "a stage depends twice on another: stage={stage:?}, upstream={upstream:?}"
                )
            }
            Self::Cycle { stages } => {
                f.write_str("stages depend on each other in a circle: ")?;
                stages.iter().try_for_each(|stage| write!(f, "{stage:?} after "))?;
                write!(f, "{:?}", stages.first().map_or("", String::as_str))
            }
            Self::Overlap { exclusive, other } => write!(
                f,
                "a stage with exclusive access must run before or after each other stage: \
                 exclusive={exclusive:?} and other={other:?} could run at the same time"
            ),
            Self::ZeroMaxBatch { stage } => {
                write!(f, "max_batch must be at least 1: stage={stage:?}")
            }
            Self::UnusedSetting { stage, setting, needs } => write!(
                f,
                "the setting has no effect, because it needs {needs}: stage={stage:?}, setting={setting}"
            ),
            Self::Workers { stage, requested, max } => write!(
                f,
                "a group must have 1..={max} workers: stage={stage:?}, requested={requested}"
            ),
            Self::ZeroThreads => {
                f.write_str("a placement must have at least one thread: threads=0")
            }
            Self::UnknownInGroup { thread, stage } => write!(
                f,
                "a group names a stage that the ring does not have: stage={stage:?}, thread={thread:?}"
            ),
            Self::PollerInGroup { thread, stage } => write!(
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
            Self::ObservableName { name } => write!(
                f,
                "the name of an observable ring must have 1..={MAX_NAME} of A-Z, a-z, 0-9, '-', '_' \
                 and '.', and must not begin with a dot: name={name:?}"
            ),
            Self::ObservableFile { path, kind, os_error } => {
                let error = os_error.map_or_else(|| (*kind).into(), io::Error::from_raw_os_error);
                write!(f, "cannot make the file of an observable ring: {error}: path={path:?}")
            }
            Self::Receivers { requested } => {
                write!(f, "receivers must be in 1..={MAX_RECEIVERS}: requested={requested}")
            }
        }
    }
}

/// Mentions the power of two only for a capacity in range. A channel rounds such a capacity up.
fn fmt_capacity(requested: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_in_range = (1..=MAX_CAPACITY).contains(&requested);
    let kind = if is_in_range { "a power of two " } else { "" };
    write!(f, "capacity must be {kind}in 1..={MAX_CAPACITY}: requested={requested}")
}

impl Error for BuildError {}
