//! Why an end cannot be opened, and why it cannot go on.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use lapwing::error::RingError;

/// Why a publication or a subscription is not open.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// No media driver runs in this folder.
    NoDriver {
        /// The folder that driver and clients share.
        dir: PathBuf,
    },
    /// The client could not be made.
    Client {
        /// What Aeron says.
        reason: String,
    },
    /// The driver refuses the stream: its channel is not valid, its address is in use, and so on.
    Refused {
        /// The stream.
        stream: String,
        /// What Aeron says.
        reason: String,
    },
    /// The driver has not answered in time.
    TimedOut {
        /// The stream.
        stream: String,
        /// How long the end has waited.
        waited: Duration,
    },
}

/// Why a publisher cannot send. The events that it was to send are not sent.
///
/// After each of these, the next call opens a new publication, if need be to a new driver, and
/// sends the rest of the batch. So a stage with the error policy
/// [`Retries`](lapwing::consumer::Retries) continues once the cause is gone. Without a policy, the
/// ring halts.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The publication cannot be opened.
    Open(OpenError),
    /// The media driver has died or has dropped this client.
    DriverGone {
        /// The stream.
        stream: String,
        /// What Aeron says.
        reason: String,
    },
    /// No subscriber has been connected for as long as
    /// [`WhenNotConnected`](crate::WhenNotConnected) allows.
    NotConnected {
        /// The stream.
        stream: String,
        /// How long the publisher has waited.
        waited: Duration,
    },
    /// The publication has reached the largest position of its terms: 2^31 times the term length.
    AtLimit {
        /// The stream.
        stream: String,
    },
    /// An encoded event exceeds the longest message of the publication.
    TooLarge {
        /// The stream.
        stream: String,
        /// Bytes of the message.
        bytes: usize,
        /// Bytes of the longest message.
        longest: usize,
    },
    /// Aeron reports another error.
    Other {
        /// The stream.
        stream: String,
        /// What Aeron says.
        reason: String,
    },
}

/// Why a subscriber cannot receive. It has lost no event that it had delivered.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The subscription cannot be opened. The next call tries again.
    Open(OpenError),
    /// The media driver has died or has dropped this client. The next call opens a new
    /// subscription, if need be to a new driver.
    DriverGone {
        /// The stream.
        stream: String,
        /// What Aeron says.
        reason: String,
    },
    /// The ring accepts no further event. What it has not accepted stays in the stream.
    Ring(RingError),
    /// Aeron reports another error.
    Other {
        /// The stream.
        stream: String,
        /// What Aeron says.
        reason: String,
    },
}

/// Prints the sentence of `Display`, so that a `main` that returns the error prints it too.
macro_rules! debug_as_display {
    ($($error:ty),+ $(,)?) => {
        $(impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })+
    };
}

debug_as_display! { OpenError, SendError, ReceiveError }

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver { dir } => write!(f, "no media driver runs in {}", dir.display()),
            Self::Client { reason } => write!(f, "cannot connect to the media driver: {reason}"),
            Self::Refused { stream, reason } => {
                write!(f, "the media driver refuses {stream}: {reason}")
            }
            Self::TimedOut { stream, waited } => {
                write!(f, "the media driver has not opened {stream}: waited={waited:?}")
            }
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::DriverGone { stream, reason } => {
                write!(f, "the media driver has gone while {stream} was open: {reason}")
            }
            Self::NotConnected { stream, waited } => {
                write!(f, "no subscriber is connected to {stream}: waited={waited:?}")
            }
            Self::AtLimit { stream } => write!(
                f,
                "{stream} is at its largest position; a new publication or longer terms are needed"
            ),
            Self::TooLarge { stream, bytes, longest } => {
                write!(
                    f,
                    "a message exceeds the longest of {stream}: bytes={bytes}, longest={longest}"
                )
            }
            Self::Other { stream, reason } => write!(f, "cannot send to {stream}: {reason}"),
        }
    }
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::DriverGone { stream, reason } => {
                write!(f, "the media driver has gone while {stream} was open: {reason}")
            }
            Self::Ring(error) => error.fmt(f),
            Self::Other { stream, reason } => write!(f, "cannot receive from {stream}: {reason}"),
        }
    }
}

impl Error for OpenError {}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Open(error) = self { Some(error) } else { None }
    }
}

impl Error for ReceiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Open(error) => Some(error),
            Self::Ring(error) => Some(error),
            _ => None,
        }
    }
}

impl From<OpenError> for SendError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<OpenError> for ReceiveError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}
