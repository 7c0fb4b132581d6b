//! Why stages did not start, why something could not be taken from them, and why a group was not
//! resized.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::io;

/// Error of [`Consumers::start`](crate::Consumers::start) and
/// [`start_scoped`](crate::Consumers::start_scoped). It names the stage that could not start.
///
/// The threads that had started have ended, and the ring is halted. The exception is a graph of
/// pollers: untaken ones leave it, and the ring goes on if another consumer is left.
///
/// ```
/// use lapwing::{Disruptor, error::StartError};
///
/// let (_producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let error = consumers.start().unwrap_err();
/// assert!(matches!(&error, StartError::UntakenPoller { stage } if stage == "ticks"));
/// assert_eq!(error.to_string(), "a poller must be taken before the start: stage=\"ticks\"");
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[non_exhaustive]
pub enum StartError {
    /// The operating system refused to start a thread.
    Spawn {
        /// The stage or the worker. On a shared thread, the first of them.
        stage: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The thread could not be pinned to its CPU.
    Pin {
        /// The stage or the worker. On a shared thread, the first of them.
        stage: String,
        /// The CPU that was asked for.
        cpu: usize,
        /// The error of the operating system. Outside Linux, its kind is
        /// [`Unsupported`](io::ErrorKind::Unsupported).
        source: io::Error,
    },
    /// The poller of a stage was not taken, so its events would never be consumed.
    UntakenPoller {
        /// The stage.
        stage: String,
    },
    /// The [`Acknowledger`](crate::consumer::Acknowledger) of a stage was not taken, so its events
    /// would never be released.
    UntakenAcknowledger {
        /// The stage.
        stage: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { stage, source } => {
                write!(f, "cannot start a thread: {source}: stage={stage:?}")
            }
            Self::Pin { stage, cpu, source } => {
                write!(f, "cannot pin a thread: {source}: stage={stage:?}, cpu={cpu}")
            }
            Self::UntakenPoller { stage } => {
                write!(f, "a poller must be taken before the start: stage={stage:?}")
            }
            Self::UntakenAcknowledger { stage } => {
                write!(f, "an acknowledger must be taken before the start: stage={stage:?}")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Spawn { source, .. } | Self::Pin { source, .. } => Some(source),
            Self::UntakenPoller { .. } | Self::UntakenAcknowledger { .. } => None,
        }
    }
}

/// Error of the calls that take something from a stage:
/// [`Consumers::take_poller`](crate::Consumers::take_poller),
/// [`take_poller_mut`](crate::Consumers::take_poller_mut),
/// [`take_acknowledger`](crate::Consumers::take_acknowledger),
/// [`Report::take`](crate::Report::take) and
/// [`StageReport::take_handler`](crate::consumer::StageReport::take_handler).
///
/// ```
/// use lapwing::{Disruptor, error::TakeError};
///
/// let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("ticks").poller()
///     .stage("log").read(|_, _, _| {})
///     .build()?;
/// let _ticks = consumers.take_poller("ticks")?;
/// let error = consumers.take_poller("ticks").unwrap_err();
/// assert_eq!(error, TakeError::AlreadyTaken { name: "ticks".into() });
/// let error = consumers.take_poller("log").unwrap_err();
/// assert!(matches!(&error, TakeError::WrongType { name, .. } if name == "log"));
/// let error = consumers.take_poller("tocks").unwrap_err();
/// let text = "no stage has this name: name=\"tocks\", known=[\"ticks\", \"log\"]";
/// assert_eq!(error.to_string(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeError {
    /// No stage has this name.
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// The names of the stages; for a report, those that it lists.
        known: Vec<String>,
    },
    /// The stage has nothing of this type. It has no poller or no acknowledger, or its poller has
    /// the other access. Or it has a handler of another type, or none to hand back: a closure, or a
    /// handler that was made on its thread, or that was dropped after a panic that ended its stage.
    WrongType {
        /// The stage.
        name: String,
        /// The type that was asked for, as [`type_name`](std::any::type_name) writes it.
        requested: &'static str,
    },
    /// It was taken before.
    AlreadyTaken {
        /// The stage.
        name: String,
    },
}

impl TakeError {
    pub(crate) fn unknown_name<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::UnknownName { name: name.to_owned(), known: known.map(str::to_owned).collect() }
    }

    /// The stage `name` has no `T`.
    pub(crate) fn wrong_type<T: ?Sized>(name: &str) -> Self {
        Self::WrongType { name: name.to_owned(), requested: type_name::<T>() }
    }

    pub(crate) fn already_taken(name: &str) -> Self {
        Self::AlreadyTaken { name: name.to_owned() }
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name, known } => {
                write!(f, "no stage has this name: name={name:?}, known={known:?}")
            }
            Self::WrongType { name, requested } => {
                write!(f, "a stage has nothing of this type: name={name:?}, requested={requested}")
            }
            Self::AlreadyTaken { name } => write!(f, "already taken: name={name:?}"),
        }
    }
}

impl Error for TakeError {}

/// Error of [`WorkerGroup::resize`](crate::lifecycle::WorkerGroup::resize). The group is unchanged.
///
/// ```
/// use lapwing::{Disruptor, error::ResizeError};
///
/// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("work").workers(2).up_to(3).read(|_| |_, _, _| {})
///     .build()?;
/// let work = consumers.workers("work").unwrap();
/// let error = work.resize(4).unwrap_err();
/// assert_eq!(error, ResizeError { requested: 4, max: 3 });
/// assert_eq!(error.to_string(), "a group must have 1..=3 workers: requested=4");
/// assert!(work.resize(0).is_err());
/// assert_eq!(work.size(), 2); // unchanged
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResizeError {
    /// Workers that were asked for.
    pub requested: usize,
    /// Largest number of workers of the group, set by
    /// [`WorkerStage::up_to`](crate::graph::WorkerStage::up_to). By default, the number that it began with.
    pub max: usize,
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requested, max } = self;
        write!(f, "a group must have 1..={max} workers: requested={requested}")
    }
}

impl Error for ResizeError {}
