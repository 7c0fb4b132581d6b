//! The receiving end of a channel whose receivers all get every value. Values stay in their slots,
//! and are lent or cloned. Not here: receiving as a task (`awaited`).

use std::fmt;
use std::time::Duration;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::inbox::Inbox;
use super::iter::{Iter, TryIter};
use super::message_slot::MessageSlot;
use super::values::{SharedValues, value_of};
use crate::consumer::{Batch, Poller, Shared};
use crate::deadline::TimeLimit;

/// One of the receiving ends of [`broadcast`](super::broadcast) and
/// [`multi_broadcast`](super::multi_broadcast).
///
/// Each receiver gets every value, in the same order.
///
/// ```
/// use std::thread;
/// use lapwing::channel;
///
/// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
/// let mut longest = receivers.pop().unwrap();
/// let all = receivers.pop().unwrap();
///
/// let longest = thread::spawn(move || {
///     let mut length = 0;
///     while let Ok(mut lines) = longest.recv_batch() {
///         lines.iter().for_each(|line: &String| length = line.len().max(length)); // no clones
///     }
///     length
/// });
/// let all = thread::spawn(move || all.into_iter().collect::<Vec<String>>()); // clones
/// for line in ["plover", "sandpiper", "lapwing"] {
///     sender.send(line.to_owned())?;
/// }
/// drop(sender);
/// assert_eq!(longest.join().unwrap(), 9);
/// assert_eq!(all.join().unwrap(), ["plover", "sandpiper", "lapwing"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The slowest receiver holds senders back, forever if it is forgotten (`mem::forget`). A receiver
/// that is dropped does not. A value stays in its slot until the slot is used again one lap later,
/// or all ends of the channel are gone.
pub struct BroadcastReceiver<T> {
    pub(super) inbox: Inbox<T, Shared>,
}

impl<T> BroadcastReceiver<T> {
    pub(super) fn new(poller: Poller<MessageSlot<T>>, capacity: usize) -> Self {
        Self { inbox: Inbox::new(poller, capacity) }
    }

    /// Returns the number of values that the channel can hold.
    ///
    /// ```
    /// let (_sender, receivers) = lapwing::channel::broadcast::<u64>(5, 2)?;
    /// assert_eq!(receivers[0].capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.inbox.capacity()
    }

    /// Receives the available values as a batch that lends them, waiting for at least one.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not read from this batch. If the code that reads a
    /// value panics, the value counts as received.
    ///
    /// ```
    /// use lapwing::channel;
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// for receiver in &mut receivers {
    ///     assert_eq!(receiver.recv_batch()?.iter().sum::<u64>(), 6);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits until a value is sent or no sender is left. It uses the receiver's wait strategy.
    /// [`try_recv_batch`](Self::try_recv_batch) does not wait.
    pub fn recv_batch(&mut self) -> Result<SharedValues<'_, T>, RecvError> {
        Ok(SharedValues::new(self.inbox.wait_batch()?))
    }

    /// Receives the available values as a batch that lends them, without waiting.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not read from this batch.
    /// [`recv_batch`](Self::recv_batch) waits for at least one value instead.
    ///
    /// ```
    /// use lapwing::channel::{self, TryRecvError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// assert_eq!(receivers[0].try_recv_batch().err(), Some(TryRecvError::Empty));
    /// sender.send_batch(&mut vec![1, 2])?;
    /// assert!(receivers[0].try_recv_batch()?.iter().eq(&[1, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TryRecvError::Empty`] if no value is available.
    /// - [`TryRecvError::Disconnected`] if no sender is left and everything has been received.
    pub fn try_recv_batch(&mut self) -> Result<SharedValues<'_, T>, TryRecvError> {
        Ok(SharedValues::new(self.inbox.poll_batch()?))
    }

    /// Receives the available values as a batch that lends them, waiting at most `timeout` for at
    /// least one.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not read from this batch. If `timeout` is too long
    /// for the clock, there is no limit. [`recv_batch`](Self::recv_batch) waits without a limit,
    /// [`recv_batch_deadline`](Self::recv_batch_deadline) until an instant.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// let patience = Duration::from_millis(1);
    /// let error = receivers[0].recv_batch_timeout(patience).unwrap_err();
    /// assert_eq!(error, RecvTimeoutError::Timeout);
    /// sender.send_batch(&mut vec![1, 2])?;
    /// assert!(receivers[0].recv_batch_timeout(patience)?.iter().eq(&[1, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`RecvTimeoutError::Timeout`] if no value was sent in time.
    /// - [`RecvTimeoutError::Disconnected`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits until a value is sent, no sender is left, or `timeout` has passed. The call can take
    /// longer than `timeout` by the time that the system takes to wake the thread.
    /// [`try_recv_batch`](Self::try_recv_batch) does not wait.
    pub fn recv_batch_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SharedValues<'_, T>, RecvTimeoutError> {
        self.recv_batch_within(TimeLimit::For(timeout))
    }

    /// Receives the available values as a batch, waiting for one as long as `limit` allows.
    pub(super) fn recv_batch_within(
        &mut self,
        limit: TimeLimit,
    ) -> Result<SharedValues<'_, T>, RecvTimeoutError> {
        Ok(SharedValues::new(self.inbox.wait_batch_within(limit)?))
    }
}

impl<T: Clone> BroadcastReceiver<T> {
    /// Receives a clone of the next value, waiting for it.
    ///
    /// [`recv_batch`](Self::recv_batch) lends values instead of cloning them. If `clone` panics,
    /// the panic is passed on and the value counts as received.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 2)?;
    /// sender.send(7)?;
    /// assert!(receivers.iter_mut().all(|receiver| receiver.recv() == Ok(7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits until a value is sent or no sender is left. It uses the receiver's wait strategy.
    /// [`try_recv`](Self::try_recv) does not wait.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        Ok(clone_first(self.inbox.wait_first()?))
    }

    /// Receives a clone of the next value if there is one, without waiting.
    ///
    /// [`recv`](Self::recv) waits for a value instead. If `clone` panics, the panic is passed on
    /// and the value counts as received.
    ///
    /// ```
    /// use lapwing::channel::{self, TryRecvError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// assert_eq!(receivers[0].try_recv(), Err(TryRecvError::Empty));
    /// sender.send(7)?;
    /// assert_eq!(receivers[0].try_recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TryRecvError::Empty`] if no value is available.
    /// - [`TryRecvError::Disconnected`] if no sender is left and everything has been received.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        Ok(clone_first(self.inbox.poll_first()?))
    }

    /// Receives a clone of the next value, waiting for it at most `timeout`.
    ///
    /// If `timeout` is too long for the clock, there is no limit. [`recv`](Self::recv) waits
    /// without a limit, [`recv_deadline`](Self::recv_deadline) until an instant. If `clone` panics,
    /// the panic is passed on and the value counts as received.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(receivers[0].recv_timeout(patience), Err(RecvTimeoutError::Timeout));
    /// sender.send(7)?;
    /// assert_eq!(receivers[0].recv_timeout(patience), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`RecvTimeoutError::Timeout`] if no value was sent in time.
    /// - [`RecvTimeoutError::Disconnected`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits until a value is sent, no sender is left, or `timeout` has passed. The call can take
    /// longer than `timeout` by the time that the system takes to wake the thread.
    /// [`try_recv`](Self::try_recv) does not wait.
    #[inline]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_within(TimeLimit::For(timeout))
    }

    /// Receives a clone of the next value, waiting for it as long as `limit` allows.
    #[inline]
    pub(super) fn recv_within(&mut self, limit: TimeLimit) -> Result<T, RecvTimeoutError> {
        Ok(clone_first(self.inbox.wait_first_within(limit)?))
    }

    /// Returns a blocking iterator over clones of the values. It ends when no sender is left and
    /// everything has been received.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2])?;
    /// drop(sender);
    /// assert!(receivers[0].iter().eq([1, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Each step waits until a value is sent or no sender is left. [`try_iter`](Self::try_iter)
    /// does not wait.
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// Returns a non-blocking iterator over clones of the values. It ends when no value is
    /// available.
    ///
    /// The end does not tell whether a sender is left. [`try_recv`](Self::try_recv) does.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2])?;
    /// assert!(receivers[0].try_iter().eq([1, 2]));
    /// assert_eq!(receivers[0].try_iter().next(), None); // the sender is still there
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_iter(&mut self) -> TryIter<'_, Self> {
        TryIter::new(self)
    }
}

impl<T> fmt::Debug for BroadcastReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastReceiver").field("inbox", &self.inbox).finish()
    }
}

/// Clones the first value, then releases its slot.
#[inline]
pub(super) fn clone_first<T: Clone>(mut batch: Batch<'_, MessageSlot<T>, Shared>) -> T {
    let (_, slot) = batch.iter().next().expect("a batch has at least one event");
    value_of(slot).clone()
}
