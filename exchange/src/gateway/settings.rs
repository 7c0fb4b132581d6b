//! The limits of a gateway, and what the system allows.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

/// Sessions that a gateway serves by default, if the system allows so many descriptors.
const MOST_SESSIONS: usize = 1_000;
/// Descriptors that are not for sessions: the standard streams, the listener, the journal with its
/// segments, a snapshot that is written, and a client that is refused.
const RESERVED: usize = 32;
/// By default, a client that sends nothing for this long is gone.
const IDLE_LIMIT: Duration = Duration::from_secs(300);
/// Answers that may wait for a client by default.
const LONGEST_QUEUE: usize = 1 << 16;

/// The limits of a [`Gateway`](super::Gateway).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Sessions at a time, at least 1. A further client is told so, and its connection is closed.
    pub sessions: usize,
    /// How long a client that may send commands may send nothing. `None` is no limit. A client of
    /// market data sends nothing anyway.
    pub idle_limit: Option<Duration>,
    /// The file of secrets. Without one, each session may send all commands, and the gateway listens
    /// at the loopback only.
    pub secrets: Option<PathBuf>,
    /// Answers that may wait for a client. One that lets more wait is disconnected.
    pub queue: usize,
}

impl Default for Settings {
    /// Returns no secrets, 1,000 sessions, or as many as [`most_sessions`](Self::most_sessions) if that is less,
    /// an idle limit of five minutes, and 65,536 answers.
    fn default() -> Self {
        let sessions = Self::most_sessions().min(MOST_SESSIONS);
        Self { sessions, idle_limit: Some(IDLE_LIMIT), secrets: None, queue: LONGEST_QUEUE }
    }
}

impl Settings {
    /// Returns the largest number of sessions for which this process may have descriptors: its soft
    /// limit, without 32 for journal, snapshots and other files. At least 1.
    #[must_use]
    pub fn most_sessions() -> usize {
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        limit.saturating_sub(RESERVED).max(1)
    }

    /// Fails if the limits are not those of a gateway that works.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let most = Self::most_sessions();
        match self {
            Self { sessions, .. } if !(1..=most).contains(sessions) => {
                Err(SettingsError::Sessions { requested: *sessions, most })
            }
            Self { idle_limit: Some(Duration::ZERO), .. } => Err(SettingsError::IdleLimit),
            Self { queue: 0, .. } => Err(SettingsError::Queue),
            _ => Ok(()),
        }
    }
}

/// Why a gateway does not start with these settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// No session, or more than there are descriptors for.
    Sessions {
        /// The setting.
        requested: usize,
        /// What the limit of descriptors allows.
        most: usize,
    },
    /// The idle limit is 0.
    IdleLimit,
    /// No answer may wait.
    Queue,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sessions { requested, most } => write!(
                f,
                "the limit of file descriptors allows 1 to {most} sessions: requested={requested}"
            ),
            Self::IdleLimit => f.write_str("the idle limit must be above 0"),
            Self::Queue => f.write_str("at least one answer must be able to wait"),
        }
    }
}

impl std::error::Error for SettingsError {}
