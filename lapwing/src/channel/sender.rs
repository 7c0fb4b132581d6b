//! The sending end: one value at a time. Not here: many values at once (`send_batch`), sending as a
//! task (`awaited`).
//!
//! A value is moved into a claim, so it cannot be lost. If there is no claim, the value goes back
//! to the caller. If the ring refuses the claim, `Claim::publish_or_keep` hands it back with the
//! value in it.

use std::fmt;
use std::time::Duration;

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::message_slot::{Keeping, MessageSlot};
use crate::deadline::TimeLimit;
use crate::producer::{Claim, Multi, Producer, Sequencer, Single, SlotWait};

/// The only sender of a channel. It cannot be cloned:
///
/// ```compile_fail,E0599
/// let (sender, _receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let second = sender.clone();
/// ```
///
/// [`mpsc`](super::mpsc) makes a sender that can be cloned:
///
/// ```
/// let (sender, _receiver) = lapwing::channel::mpsc::<u64>(8).unwrap();
/// let second = sender.clone();
/// assert_eq!(second.capacity(), 8);
/// ```
pub type SingleSender<T> = Sender<T, Single>;

/// One of any number of senders of a channel. Clone it for each thread.
///
/// It is `Sync`, so threads can clone a sender that they share.
///
/// ```
/// use lapwing::channel::{self, MultiSender};
///
/// let (mut first, mut receiver): (MultiSender<u64>, _) = channel::mpsc(8)?;
/// let mut second = first.clone();
/// first.send(1)?;
/// second.send(2)?;
/// assert_eq!(receiver.recv(), Ok(1));
/// assert_eq!(receiver.recv(), Ok(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MultiSender<T> = Sender<T, Multi>;

/// The sending end of a channel.
///
/// A [`SingleSender`] is the only sender of its channel. A [`MultiSender`] can be cloned, one for
/// each thread.
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
///
/// `Ok` means that the value was accepted. If the last receiver is dropped before it has received
/// the value, no receiver gets it. An error holds the value, which no receiver gets either.
///
/// When the last sender is dropped, receivers get the values that were sent, and then an error.
pub struct Sender<T, S: Sequencer> {
    /// The wait of the task that has polled it last; only calls of tasks use it. It is dropped
    /// before the producer, whose drop may wake the tasks that wait.
    pub(super) wait: SlotWait,
    pub(super) producer: Producer<MessageSlot<T>, S>,
    pub(super) keeping: Keeping,
}

impl<T, S: Sequencer> Sender<T, S> {
    pub(super) fn new(producer: Producer<MessageSlot<T>, S>, keeping: Keeping) -> Self {
        Self { wait: SlotWait::default(), producer, keeping }
    }

    /// Returns the number of values that the channel can hold.
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

    /// Returns whether no receiver is left. While the last one is being dropped, the result may
    /// still be false.
    ///
    /// The call costs one load from a cache line that hardly ever changes.
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

    /// Sends a value, waiting while the channel is full.
    ///
    /// ```
    /// use lapwing::channel::{self, SendError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(1)?;
    /// let thread = std::thread::spawn(move || {
    ///     sender.send(1)?;
    ///     sender.send(2)?; // waits until the 1 is received
    ///     sender.send(3) // fails if the receiver is gone
    /// });
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Ok(2));
    /// drop(receiver);
    /// assert!(matches!(thread.join().unwrap(), Ok(()) | Err(SendError(3))));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] with the value, if no receiver is left or the last one is dropped while the
    /// call waits.
    ///
    /// # Blocking
    ///
    /// Waits while the channel is full, until the slowest receiver has received a value or is
    /// dropped. It uses the sender's wait strategy. While a slot is free, the call is wait-free
    /// with a single sender and lock-free with several. [`try_send`](Self::try_send) does not wait
    /// for a slot.
    ///
    /// If this thread also owns the slowest receiver, that receiver cannot advance during the wait,
    /// and the call never returns.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. `value` is sent
    /// nevertheless.
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        match self.producer.claim() {
            Ok(claim) => put(claim, value, self.keeping).map_err(SendError),
            Err(_) => Err(SendError(value)),
        }
    }

    /// Sends a value if a slot is free, and does not wait for one.
    ///
    /// [`send`](Self::send) waits for a free slot instead.
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
    /// - [`TrySendError::Full`] with the value, if no slot is free.
    /// - [`TrySendError::Disconnected`] with the value, if no receiver is left.
    ///
    /// # Blocking
    ///
    /// Does not wait for a free slot.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. `value` is sent
    /// nevertheless.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        match self.producer.try_claim() {
            Ok(claim) => put(claim, value, self.keeping).map_err(TrySendError::Disconnected),
            Err(error) => Err(TrySendError::new(error, value)),
        }
    }

    /// Sends a value, waiting at most `timeout` for a free slot.
    ///
    /// If `timeout` is too long for the clock, there is no limit. [`send`](Self::send) waits
    /// without a limit, [`send_deadline`](Self::send_deadline) until an instant.
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
    /// - [`SendTimeoutError::Timeout`] with the value, if this sender got no slot in time.
    /// - [`SendTimeoutError::Disconnected`] with the value, if no receiver is left or the last one
    ///   is dropped while the call waits.
    ///
    /// # Blocking
    ///
    /// Waits while the channel is full, until the slowest receiver has received a value or is
    /// dropped, or `timeout` has passed. It uses the sender's wait strategy. The call can take
    /// longer than `timeout` by the time that the system takes to wake the thread.
    /// [`try_send`](Self::try_send) does not wait for a slot.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. `value` is sent
    /// nevertheless.
    #[inline]
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_within(value, TimeLimit::For(timeout))
    }

    /// Sends a value, waiting for a free slot as long as `limit` allows.
    #[inline]
    pub(super) fn send_within(
        &mut self,
        value: T,
        limit: TimeLimit,
    ) -> Result<(), SendTimeoutError<T>> {
        match self.producer.claim_within(limit) {
            Ok(claim) => put(claim, value, self.keeping).map_err(SendTimeoutError::Disconnected),
            Err(error) => Err(SendTimeoutError::new(error, value)),
        }
    }
}

impl<T, S: Sequencer + Clone> Clone for Sender<T, S> {
    fn clone(&self) -> Self {
        Self::new(self.producer.clone(), self.keeping)
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

/// Publishes `value`. Hands it back if the last receiver is already gone.
#[inline(always)]
fn put<T, S: Sequencer>(
    claim: Claim<'_, MessageSlot<T>, S>,
    value: T,
    keeping: Keeping,
) -> Result<(), T> {
    // In a broadcast the slot still holds a former value. It is dropped after the publication,
    // since its drop is user code. That code may panic, wait, or receive the value that is being
    // sent.
    //
    // SAFETY: I1: the claim owns the slot; I14: a value that was moved is gone, since its receiver
    // has released the slot.
    let _former = unsafe { claim.put(value, keeping) };
    let mark = claim.pending_mark::<S>();
    match claim.publish_or_keep() {
        Ok(sequence) => {
            // SAFETY: I4: the claim was borrowed from a producer, which holds the ring.
            unsafe { mark.set(sequence) };
            Ok(())
        }
        // SAFETY: I1: the slot was not settled, so the claim still owns it; I14: the value was put
        // there above.
        Err((refused, _)) => Err(unsafe { refused.take_back() }),
    }
}
