//! Which Aeron stream an end of this crate uses.

use std::ffi::{CStr, CString, NulError};
use std::fmt;

/// A channel and the number of a stream in it.
///
/// Both ends name the same stream. A channel is a URI of Aeron, whose parameters set the length of
/// the term buffers, the MTU, flow control and more.
///
/// ```
/// use lapwing_aeron::Stream;
///
/// assert_eq!(Stream::ipc(7).to_string(), "stream 7 of aeron:ipc");
/// let trades = Stream::udp("192.0.2.1:40123", 7)?;
/// assert_eq!(trades.to_string(), "stream 7 of aeron:udp?endpoint=192.0.2.1:40123");
/// let large = Stream::new("aeron:ipc?term-length=64m|mtu=8k", 7)?;
/// assert_eq!(large.id(), 7);
/// # Ok::<(), std::ffi::NulError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    channel: CString,
    id: i32,
}

impl Stream {
    /// Creates a stream between processes of one machine, through shared memory.
    #[must_use]
    pub fn ipc(id: i32) -> Self {
        Self { channel: c"aeron:ipc".to_owned(), id }
    }

    /// Creates a stream over UDP, to or from `endpoint` (host and port of the subscriber).
    ///
    /// # Errors
    ///
    /// [`NulError`] if `endpoint` contains a zero byte.
    pub fn udp(endpoint: &str, id: i32) -> Result<Self, NulError> {
        Self::new(&format!("aeron:udp?endpoint={endpoint}"), id)
    }

    /// Creates a stream in any channel, such as
    /// `aeron:udp?endpoint=224.0.1.1:40456|interface=localhost`. The driver checks the channel when
    /// an end opens it.
    ///
    /// # Errors
    ///
    /// [`NulError`] if `channel` contains a zero byte.
    pub fn new(channel: &str, id: i32) -> Result<Self, NulError> {
        Ok(Self { channel: CString::new(channel)?, id })
    }

    /// Returns the number of the stream.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    pub(crate) fn channel(&self) -> &CStr {
        &self.channel
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} of {}", self.id, self.channel.to_string_lossy())
    }
}
