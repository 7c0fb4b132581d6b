//! Why a reader of a tap got no event.

use std::error::Error;
use std::fmt;

/// Error of [`TapReader::try_next`](crate::tap::TapReader::try_next),
/// [`TapReader::next_timeout`](crate::tap::TapReader::next_timeout) and
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TapError {
    /// No event is available now, or the writer overwrote each event before it was copied. After
    /// [`next_timeout`](crate::tap::TapReader::next_timeout): this was so until the time had passed.
    Empty,
    /// The writer has closed the tap, and no event is left to read.
    Closed,
}

impl fmt::Display for TapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the tap has no event to read now",
            Self::Closed => "the tap is closed and no event is left",
        })
    }
}

impl Error for TapError {}
