//! Why a value was not sent or not received. The names are those of `std::sync::mpsc`, so that a
//! program can switch between the two.
//!
//! An error of a sender holds the value. The value was not sent, and no receiver gets it.

use std::error::Error;
use std::fmt;

use crate::error::{PollError, TryPublishError, WhenFullError, debug_as_display};

const NO_RECEIVER: &str = "the channel is disconnected: no receiver is left";
const NO_SENDER: &str = "the channel is disconnected and every value has been received";

/// Error of [`Sender::send`](super::Sender::send): no receiver is left.
///
/// It holds the value. From [`send_batch`](super::Sender::send_batch) it holds `()`, since the
/// values that were not sent are still in the vector.
///
/// ```
/// use lapwing::channel::{self, SendError};
///
/// let (mut sender, receiver) = channel::spsc(8)?;
/// drop(receiver);
/// let error = sender.send("tick").unwrap_err();
/// assert_eq!(error, SendError("tick"));
/// assert_eq!(error.to_string(), "the channel is disconnected: no receiver is left");
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_RECEIVER)
    }
}

impl<T> Error for SendError<T> {}

/// Error of [`Sender::try_send`](super::Sender::try_send).
///
/// It holds the value. From [`try_send_batch`](super::Sender::try_send_batch) it holds `()`, since
/// the values that were not sent are still in the vector.
///
/// ```
/// use lapwing::channel::{self, SendError, TrySendError};
///
/// let (mut sender, receiver) = channel::spsc(1)?;
/// assert_eq!(sender.try_send(7), Ok(()));
/// assert_eq!(sender.try_send(8), Err(TrySendError::Full(8)));
/// drop(receiver);
/// assert_eq!(sender.try_send(9), Err(TrySendError::Disconnected(9)));
/// assert_eq!(TrySendError::from(SendError(9)), TrySendError::Disconnected(9));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// No slot is free: the slowest receiver is a lap behind.
    Full(T),
    /// No receiver is left.
    Disconnected(T),
}

impl<T> TrySendError<T> {
    /// Returns the value that was not sent.
    ///
    /// ```
    /// use lapwing::channel;
    ///
    /// let (mut sender, _receiver) = channel::spsc(1)?;
    /// sender.try_send(String::from("first")).unwrap(); // the one slot
    /// let error = sender.try_send(String::from("second")).unwrap_err();
    /// assert_eq!(error.into_inner(), "second");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use = "it is the value that was not sent"]
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Disconnected(value) => value,
        }
    }

    /// The error of a call that does not wait, for the ring's `error`.
    pub(super) fn new(error: TryPublishError, value: T) -> Self {
        match error {
            TryPublishError::Full => Self::Full(value),
            TryPublishError::Closed | TryPublishError::Halted(_) => Self::Disconnected(value),
        }
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the channel is full",
            Self::Disconnected(_) => NO_RECEIVER,
        })
    }
}

impl<T> Error for TrySendError<T> {}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(value): SendError<T>) -> Self {
        Self::Disconnected(value)
    }
}

/// Error of [`Sender::send_timeout`](super::Sender::send_timeout) and
/// [`Sender::send_deadline`](super::Sender::send_deadline). It holds the value.
///
/// ```
/// use std::time::Duration;
/// use lapwing::channel::{self, SendError, SendTimeoutError};
///
/// let (mut sender, receiver) = channel::spsc(1)?;
/// let patience = Duration::from_millis(1);
/// assert_eq!(sender.send_timeout(7, patience), Ok(()));
/// assert_eq!(sender.send_timeout(8, patience), Err(SendTimeoutError::Timeout(8)));
/// drop(receiver);
/// assert_eq!(sender.send_timeout(9, patience), Err(SendTimeoutError::Disconnected(9)));
/// assert_eq!(SendTimeoutError::from(SendError(9)), SendTimeoutError::Disconnected(9));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The sender got no slot in time.
    Timeout(T),
    /// No receiver is left.
    Disconnected(T),
}

impl<T> SendTimeoutError<T> {
    /// Returns the value that was not sent.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel;
    ///
    /// let (mut sender, _receiver) = channel::spsc(1)?;
    /// sender.try_send(String::from("first")).unwrap(); // the one slot
    /// let error = sender.send_timeout(String::from("second"), Duration::ZERO).unwrap_err();
    /// assert_eq!(error.into_inner(), "second");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use = "it is the value that was not sent"]
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(value) | Self::Disconnected(value) => value,
        }
    }

    /// The error of a call with a time limit, for the ring's `error`.
    pub(super) fn new(error: WhenFullError, value: T) -> Self {
        match error {
            // A deadlock needs a handler, or a claim that the thread holds. A channel has neither:
            // its receivers are pollers.
            WhenFullError::Full | WhenFullError::TimedOut | WhenFullError::WouldDeadlock => {
                Self::Timeout(value)
            }
            WhenFullError::Closed | WhenFullError::Halted(_) => Self::Disconnected(value),
        }
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "the channel stayed full until the timeout",
            Self::Disconnected(_) => NO_RECEIVER,
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(SendError(value): SendError<T>) -> Self {
        Self::Disconnected(value)
    }
}

/// Error of the receiving calls without a time limit: no sender is left, and everything that was
/// sent has been received.
///
/// These are [`recv`](super::Receiver::recv) and [`recv_batch`](super::Receiver::recv_batch) of
/// both receivers.
///
/// ```
/// use lapwing::channel::{self, RecvError};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// sender.send(7)?;
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(7)); // disconnected, but not yet at the end
/// assert_eq!(receiver.recv(), Err(RecvError));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_SENDER)
    }
}

impl Error for RecvError {}

/// Error of the receiving calls that do not wait.
///
/// These are [`try_recv`](super::Receiver::try_recv) and
/// [`try_recv_batch`](super::Receiver::try_recv_batch) of both receivers.
///
/// ```
/// use lapwing::channel::{self, RecvError, TryRecvError};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// sender.send(7)?;
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Ok(7));
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
/// assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// No value is available now.
    Empty,
    /// No sender is left, and everything that was sent has been received.
    Disconnected,
}

impl TryRecvError {
    /// The error of a call that does not wait, for the ring's `error`.
    pub(super) fn new(error: PollError) -> Self {
        match error {
            PollError::Empty => Self::Empty,
            PollError::Closed | PollError::Halted(_) => Self::Disconnected,
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the channel is empty",
            Self::Disconnected => NO_SENDER,
        })
    }
}

impl Error for TryRecvError {}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

/// Error of the receiving calls with a timeout or a deadline.
///
/// These are [`recv_timeout`](super::Receiver::recv_timeout),
/// [`recv_deadline`](super::Receiver::recv_deadline),
/// [`recv_batch_timeout`](super::Receiver::recv_batch_timeout) and
/// [`recv_batch_deadline`](super::Receiver::recv_batch_deadline) of both receivers.
///
/// ```
/// use std::time::Duration;
/// use lapwing::channel::{self, RecvError, RecvTimeoutError};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// let patience = Duration::from_millis(1);
/// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
/// sender.send(7)?;
/// drop(sender);
/// assert_eq!(receiver.recv_timeout(patience), Ok(7));
/// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Disconnected));
/// assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Disconnected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// No value arrived in time.
    Timeout,
    /// No sender is left, and everything that was sent has been received.
    Disconnected,
}

impl RecvTimeoutError {
    /// The error of a call with a time limit, for the ring's `error`.
    pub(super) fn new(error: PollError) -> Self {
        match error {
            PollError::Empty => Self::Timeout,
            PollError::Closed | PollError::Halted(_) => Self::Disconnected,
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the channel stayed empty until the timeout",
            Self::Disconnected => NO_SENDER,
        })
    }
}

impl Error for RecvTimeoutError {}

debug_as_display! {
    SendError<T>, SendTimeoutError<T>, TrySendError<T>, RecvError, RecvTimeoutError, TryRecvError,
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}
