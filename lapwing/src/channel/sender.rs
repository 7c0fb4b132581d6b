//! The sending end: one value at a time. Not here: many at once (`send_batch`).
//!
//! A value is moved into a claim, so it cannot be lost. Without a claim it goes back to the caller.
//! A claim that the ring refuses is handed back with the value in it (`Claim::publish_or_keep`).

use std::fmt;
use std::time::Duration;

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::letter::{Keeping, Letter};
use crate::producer::{Claim, Cloneable, Multi, Producer, Sequencer, Single};

/// The one sender of a channel; it cannot be cloned.
///
/// ```compile_fail,E0599
/// let (sender, _receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let second = sender.clone();
/// ```
///
/// ```
/// let (sender, _receiver) = lapwing::channel::mpsc::<u64>(8).unwrap();
/// let second = sender.clone();
/// assert_eq!(second.capacity(), 8);
/// ```
pub type SingleSender<T> = Sender<T, Single>;

/// One of any number of senders of a channel; clone it for each thread. It is `Sync`, so threads can
/// clone one that they share.
///
/// ```
/// use lapwing::channel::{self, MultiSender};
///
/// let (mut first, mut receiver): (MultiSender<u64>, _) = channel::mpsc(8)?;
/// let mut second = first.clone();
/// first.send(1)?;
/// second.send(2)?;
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MultiSender<T> = Sender<T, Multi>;

/// The sending end of a channel, for one sender ([`SingleSender`]) or one of many
/// ([`MultiSender`]).
///
/// When the last sender is dropped, receivers get what was sent, and then an error.
///
/// `Ok` means that the value was accepted. It does not mean that it will be received: the receiver
/// may be dropped before, and the value with it. An error holds the value, which nobody else has.
///
/// ```
/// use lapwing::channel::{self, SendError};
///
/// let (mut sender, receiver) = channel::spsc(8)?;
/// sender.send(String::from("first"))?;
/// drop(receiver); // and the first value with it
/// let SendError(line) = sender.send(String::from("second")).unwrap_err();
/// assert_eq!(line, "second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sender<T, S: Sequencer> {
    pub(super) producer: Producer<Letter<T>, S>,
    pub(super) keeping: Keeping,
}

impl<T, S: Sequencer> Sender<T, S> {
    pub(super) fn new(producer: Producer<Letter<T>, S>, keeping: Keeping) -> Self {
        Self { producer, keeping }
    }

    /// Number of values that fit.
    ///
    /// ```
    /// let (sender, _receiver) = lapwing::channel::spsc::<u64>(5)?;
    /// assert_eq!(sender.capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    /// Whether no receiver is left, as far as is known here: a receiver may be leaving just now.
    ///
    /// One load of a line that hardly ever changes.
    ///
    /// ```
    /// let (sender, receiver) = lapwing::channel::spsc::<u64>(8)?;
    /// assert!(!sender.is_disconnected());
    /// drop(receiver);
    /// assert!(sender.is_disconnected());
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        !self.producer.is_open()
    }

    /// Sends a value; waits while the channel is full.
    ///
    /// ```
    /// use lapwing::channel::{self, SendError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(1)?;
    /// let thread = std::thread::spawn(move || {
    ///     sender.send(1)?;
    ///     sender.send(2)?; // when the 1 has been received
    ///     sender.send(3) // there is nobody to receive it, now or in a moment
    /// });
    /// assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    /// drop(receiver);
    /// assert!(matches!(thread.join().unwrap(), Ok(()) | Err(SendError(3))));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] with the value if no receiver is left, or none is before there is room.
    ///
    /// # Blocking
    ///
    /// Wait-free for a single sender and lock-free for many while a slot is free; otherwise waits
    /// on the receiver, or the slowest one, by the sender's strategy. [`try_send`](Self::try_send)
    /// does not wait. If a receiver is just leaving, a single sender waits for its count of the
    /// values, a few instructions and a system call.
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        match self.producer.claim() {
            Ok(claim) => put(claim, value, self.keeping).map_err(SendError),
            Err(_) => Err(SendError(value)),
        }
    }

    /// As [`send`](Self::send), but never waits for room.
    ///
    /// ```
    /// use lapwing::channel::{self, TrySendError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(1)?;
    /// assert_eq!(sender.try_send(7), Ok(()));
    /// assert_eq!(sender.try_send(8), Err(TrySendError::Full(8)));
    /// assert_eq!(receiver.recv(), Ok(7));
    /// assert_eq!(sender.try_send(8), Ok(()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] with the value if no slot is free, and
    /// [`TrySendError::Disconnected`] with the value if no receiver is left.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        match self.producer.try_claim() {
            Ok(claim) => put(claim, value, self.keeping).map_err(TrySendError::Disconnected),
            Err(error) => Err(TrySendError::new(error, value)),
        }
    }

    /// As [`send`](Self::send), but waits for `timeout` at most. One that is too long for the clock
    /// is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel::{self, SendTimeoutError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(1)?;
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(sender.send_timeout(7, patience), Ok(()));
    /// assert_eq!(sender.send_timeout(8, patience), Err(SendTimeoutError::Timeout(8)));
    /// assert_eq!(receiver.recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] with the value if the channel stayed full, and
    /// [`SendTimeoutError::Disconnected`] with the value if no receiver is left.
    ///
    /// # Blocking
    ///
    /// As [`send`](Self::send), for `timeout` and the time that the system takes to wake the
    /// thread.
    #[inline]
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.producer.claim_timeout(timeout) {
            Ok(claim) => put(claim, value, self.keeping).map_err(SendTimeoutError::Disconnected),
            Err(error) => Err(SendTimeoutError::new(error, value)),
        }
    }
}

impl<T, S: Cloneable> Clone for Sender<T, S> {
    fn clone(&self) -> Self {
        Self { producer: self.producer.clone(), keeping: self.keeping }
    }
}

impl<T, S: Sequencer> fmt::Debug for Sender<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("capacity", &self.capacity())
            .field("is_disconnected", &self.is_disconnected())
            .finish_non_exhaustive()
    }
}

/// Publishes `value`; hands it back if the last receiver left before.
#[inline(always)]
fn put<T, S: Sequencer>(
    claim: Claim<'_, Letter<T>, S>,
    value: T,
    keeping: Keeping,
) -> Result<(), T> {
    // A receiver of a broadcast leaves a value where it is. It is dropped after the publication,
    // since its drop is code of the user's, which may panic, wait, or ask for this very value.
    // SAFETY: I1: the claim has the slot; I14: what was moved is gone, since its receiver let go of the slot.
    let _former = unsafe { claim.put(value, keeping) };
    let notice = claim.pending_notice::<S>();
    match claim.publish_or_keep() {
        Ok(sequence) => {
            // SAFETY: I4: the claim was borrowed from a producer, which has the ring.
            unsafe { notice.give(sequence) };
            Ok(())
        }
        // SAFETY: I1: it was not settled, so the claim still has the slot; I14: the value was put there just now.
        Err((refused, _)) => Err(unsafe { refused.take_back() }),
    }
}
