//! Why the ring of another process cannot be observed.

use std::error::Error;
use std::fmt;

use crate::ring_file::VERSION;

/// Error of [`RingFile::observe`](super::RingFile::observe) and
/// [`Observer::open`](super::Observer::open).
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use lapwing::observe::{ObserveError, Observer};
///
/// let error = Observer::open("/dev/null").unwrap_err();
/// assert!(matches!(error, ObserveError::NotARing));
/// assert_eq!(error.to_string(), "not the file of a ring");
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ObserveError {
    /// The file does not begin as that of a ring.
    NotARing,
    /// The ring is being built at this moment, or its process died while it built it.
    NotReady,
    /// Another version of the library has made the ring, with another kind of file.
    Version {
        /// The version of the file.
        found: u32,
    },
    /// The file ends early, or has numbers that no ring has.
    Damaged,
    /// The system refuses the file.
    Io(std::io::Error),
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARing => f.write_str("not the file of a ring"),
            Self::NotReady => {
                f.write_str("the ring is still being built, or its process ended while building it")
            }
            Self::Version { found } => write!(
                f,
                "the file has layout version {found}, but this program reads version {VERSION}: \
                 use the version of lapwing with which the ring was built"
            ),
            Self::Damaged => f.write_str("the file is truncated, or describes no valid ring"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for ObserveError {}

impl From<std::io::Error> for ObserveError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
