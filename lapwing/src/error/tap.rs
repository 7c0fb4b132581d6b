//! Why a reader of a tap got no event.

use std::error::Error;
use std::fmt;

/// The message of [`TapError::Closed`] and [`TapTimeoutError::Closed`].
const CLOSED: &str = "the tap is closed and no event is left";

/// Error of [`TapReader::try_next`](crate::tap::TapReader::try_next) and
/// [`TapReader::latest`](crate::tap::TapReader::latest).
///
/// ```
/// use lapwing::{error::TapError, tap::tap};
///
/// let (mut writer, mut reader) = tap::<u64>(8)?;
/// assert_eq!(reader.try_next(), Err(TapError::Empty));
/// writer.write(0, &7);
/// drop(writer);
/// assert_eq!(reader.try_next()?.event, 7); // closed, but not yet at the end
/// let error = reader.try_next().unwrap_err();
/// assert_eq!(error, TapError::Closed);
/// assert_eq!(
///     error.to_string(),
///     "the tap is closed and no event is left"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapError {
    /// No event is available now, or the writer overwrote each event before it was copied.
    Empty,
    /// The writer has closed the tap, and no event is left to read.
    Closed,
}

impl fmt::Display for TapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the tap has no event to read now",
            Self::Closed => CLOSED,
        })
    }
}

impl Error for TapError {}

/// Error of [`TapReader::next_timeout`](crate::tap::TapReader::next_timeout).
///
/// ```
/// use std::time::Duration;
/// use lapwing::{error::TapTimeoutError, tap::tap};
///
/// let (writer, mut reader) = tap::<u64>(8)?;
/// let error = reader.next_timeout(Duration::ZERO).unwrap_err();
/// assert_eq!(error, TapTimeoutError::TimedOut);
/// assert_eq!(error.to_string(), "the tap had no event to read until the timeout");
/// drop(writer);
/// assert_eq!(reader.next_timeout(Duration::ZERO), Err(TapTimeoutError::Closed));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapTimeoutError {
    /// No event became available in time.
    TimedOut,
    /// The writer has closed the tap, and no event is left to read.
    Closed,
}

impl fmt::Display for TapTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the tap had no event to read until the timeout",
            Self::Closed => CLOSED,
        })
    }
}

impl Error for TapTimeoutError {}
