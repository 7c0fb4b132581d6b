//! The receiving end of a channel that hands each value to one receiver. Values are moved out of
//! their slots, so the ring keeps nothing alive. Not here: receiving as a task (`awaited`).

use std::fmt;
use std::mem;
use std::time::Duration;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::inbox::Inbox;
use super::iter::{Iter, TryIter};
use super::message_slot::MessageSlot;
use super::values::{Taken, Values};
use crate::consumer::{Exclusive, Poller};
use crate::deadline::TimeLimit;

/// The receiving end of [`spsc`](super::spsc) and [`mpsc`](super::mpsc).
///
/// ```
/// use lapwing::channel::{self, TryRecvError};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// for number in 1..=6 {
///     sender.send(number)?;
/// }
/// assert_eq!(receiver.recv(), Ok(1));
/// assert_eq!(receiver.iter().next(), Some(2));
/// assert!(receiver.recv_batch()?.take(2).eq([3, 4])); // of four that are there
/// drop(sender);
/// assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [5, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// To loop over the values, use [`iter`](Self::iter), or the receiver itself by value or as `&mut`.
/// `&receiver` is no iterator, because receiving changes the receiver.
///
/// When the receiver is dropped, the values that are left in the channel are dropped with it. From
/// then on senders get their values back. If the drop of one value panics, the others are still
/// dropped. The receiver's drop waits for a sender that is moving a value into its slot at that
/// moment, which runs no user code.
///
/// A receiver that is forgotten (`mem::forget`) leaves its senders waiting forever once the channel
/// is full.
///
/// A receiver cannot be cloned:
///
/// ```compile_fail,E0599
/// let (_sender, receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let second = receiver.clone();
/// ```
///
/// It can be sent to another thread:
///
/// ```
/// let (_sender, receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let thread = std::thread::spawn(move || receiver.capacity());
/// assert_eq!(thread.join().unwrap(), 8);
/// ```
pub struct Receiver<T> {
    pub(super) inbox: Inbox<T, Exclusive>,
    pub(super) taken: Taken,
}

impl<T> Receiver<T> {
    pub(super) fn new(poller: Poller<MessageSlot<T>, Exclusive>, capacity: usize) -> Self {
        Self { inbox: Inbox::new(poller, capacity), taken: Taken::default() }
    }

    /// Returns the number of values that the channel can hold.
    ///
    /// ```
    /// let (_sender, receiver) = lapwing::channel::spsc::<u64>(5)?;
    /// assert_eq!(receiver.capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.inbox.capacity()
    }

    /// Receives the next value, waiting for it.
    ///
    /// ```
    /// use lapwing::channel::{self, RecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let thread = std::thread::spawn(move || sender.send(7));
    /// assert_eq!(receiver.recv(), Ok(7)); // whichever thread is first
    /// assert_eq!(receiver.recv(), Err(RecvError)); // no sender is left
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits while the channel is empty, until a value is sent or no sender is left. It uses the
    /// receiver's wait strategy. [`try_recv`](Self::try_recv) does not wait.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        loop {
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
            self.inbox.wait_known()?;
        }
    }

    /// Receives the next value if there is one, without waiting.
    ///
    /// [`recv`](Self::recv) waits for a value instead.
    ///
    /// ```
    /// use lapwing::channel::{self, TryRecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(7)?;
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TryRecvError::Empty`] if no value is available.
    /// - [`TryRecvError::Disconnected`] if no sender is left and everything has been received.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        loop {
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
            self.inbox.poll_known()?;
        }
    }

    /// Receives the next value, waiting for it at most `timeout`.
    ///
    /// If `timeout` is too long for the clock, there is no limit. [`recv`](Self::recv) waits
    /// without a limit, [`recv_deadline`](Self::recv_deadline) until an instant.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
    /// sender.send(7)?;
    /// assert_eq!(receiver.recv_timeout(patience), Ok(7));
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
    /// Waits while the channel is empty, until a value is sent, no sender is left, or `timeout` has
    /// passed. The call can take longer than `timeout` by the time that the system takes to wake
    /// the thread. [`try_recv`](Self::try_recv) does not wait.
    #[inline]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_within(TimeLimit::For(timeout))
    }

    /// Receives the next value, waiting for it as long as `limit` allows.
    #[inline]
    pub(super) fn recv_within(&mut self, limit: TimeLimit) -> Result<T, RecvTimeoutError> {
        if let Some(value) = self.take_known() {
            return Ok(value);
        }
        let deadline = limit.deadline();
        loop {
            self.inbox.wait_known_until(deadline)?;
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
        }
    }

    /// The next value, if the last poll has found it. This is the common case in a stream.
    #[inline]
    pub(super) fn take_known(&mut self) -> Option<T> {
        let Self { inbox, taken } = self;
        loop {
            // SAFETY: I2: the inbox has the slot until this has returned; there is one receiver.
            let take = |sequence, slot: &MessageSlot<T>| unsafe { taken.take_one(sequence, slot) };
            match inbox.pass_known(take)? {
                None => {}
                value => return value,
            }
        }
    }

    /// Receives the available values as a batch, waiting for at least one.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not taken from this batch.
    ///
    /// A batch of any size costs at most one poll that finds values, and at most four releases of
    /// slots. [`recv`](Self::recv) releases the slot of each value separately.
    ///
    /// ```
    /// use lapwing::channel;
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2, 3, 4])?;
    /// let mut numbers = Vec::new();
    /// numbers.extend(receiver.recv_batch()?.take(3)); // at most three
    /// assert_eq!(numbers, [1, 2, 3]);
    /// for number in receiver.recv_batch()? {
    ///     assert_eq!(number, 4); // was not taken
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
    /// Waits while the channel is empty, until a value is sent or no sender is left. It uses the
    /// receiver's wait strategy. [`try_recv_batch`](Self::try_recv_batch) does not wait.
    #[inline]
    pub fn recv_batch(&mut self) -> Result<Values<'_, T>, RecvError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.wait_batch()?, &mut self.taken, capacity))
    }

    /// Receives the available values as a batch, without waiting.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not taken from this batch.
    /// [`recv_batch`](Self::recv_batch) waits for at least one value instead.
    ///
    /// ```
    /// use lapwing::channel::{self, TryRecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// assert_eq!(receiver.try_recv_batch().err(), Some(TryRecvError::Empty));
    /// sender.send_batch(&mut vec![1, 2])?;
    /// assert!(receiver.try_recv_batch()?.eq([1, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TryRecvError::Empty`] if no value is available.
    /// - [`TryRecvError::Disconnected`] if no sender is left and everything has been received.
    #[inline]
    pub fn try_recv_batch(&mut self) -> Result<Values<'_, T>, TryRecvError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.poll_batch()?, &mut self.taken, capacity))
    }

    /// Receives the available values as a batch, waiting at most `timeout` for at least one.
    ///
    /// A batch ends at the last slot of the ring, even if more values are available. The next call
    /// returns them, after the values that were not taken from this batch.
    ///
    /// If `timeout` is too long for the clock, there is no limit. [`recv_batch`](Self::recv_batch)
    /// waits without a limit, [`recv_batch_deadline`](Self::recv_batch_deadline) until an instant.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let patience = Duration::from_millis(1);
    /// let error = receiver.recv_batch_timeout(patience).unwrap_err();
    /// assert_eq!(error, RecvTimeoutError::Timeout);
    /// sender.send_batch(&mut vec![1, 2])?;
    /// assert!(receiver.recv_batch_timeout(patience)?.eq([1, 2]));
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
    /// Waits while the channel is empty, until a value is sent, no sender is left, or `timeout` has
    /// passed. The call can take longer than `timeout` by the time that the system takes to wake
    /// the thread. [`try_recv_batch`](Self::try_recv_batch) does not wait.
    #[inline]
    pub fn recv_batch_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Values<'_, T>, RecvTimeoutError> {
        self.recv_batch_within(TimeLimit::For(timeout))
    }

    /// Receives the available values as a batch, waiting for one as long as `limit` allows.
    #[inline]
    pub(super) fn recv_batch_within(
        &mut self,
        limit: TimeLimit,
    ) -> Result<Values<'_, T>, RecvTimeoutError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.wait_batch_within(limit)?, &mut self.taken, capacity))
    }

    /// Returns a blocking iterator over the values. It ends when no sender is left and everything
    /// has been received.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// let thread = std::thread::spawn(move || (1..=3).try_for_each(|number| sender.send(number)));
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Each step waits while the channel is empty, until a value is sent or no sender is left.
    /// [`try_iter`](Self::try_iter) does not wait.
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// Returns a non-blocking iterator over the values. It ends when no value is available.
    ///
    /// The end does not tell whether a sender is left. [`try_recv`](Self::try_recv) does.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// sender.send(1)?;
    /// sender.send(2)?;
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(receiver.try_iter().next(), None); // the sender is still there
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_iter(&mut self) -> TryIter<'_, Self> {
        TryIter::new(self)
    }
}

impl<T> Receiver<T> {
    /// Drops values until no more can come. If the drop of one value panics, the others are still
    /// dropped.
    fn drain(&mut self) {
        let rest = Rest(self);
        rest.0.drop_all();
        mem::forget(rest);
    }

    fn drop_all(&mut self) {
        while let Ok(values) = self.recv_batch() {
            values.for_each(drop);
        }
    }
}

/// What a receiver still has to drain when it unwinds. A second panic aborts the process.
struct Rest<'a, T>(&'a mut Receiver<T>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        self.0.drop_all();
    }
}

impl<T> Drop for Receiver<T> {
    /// Drops the values that are left, at once.
    ///
    /// A value that stays in a channel without a receiver may hold something that another thread
    /// waits for. Nothing else could drop these values, since the ring does not know which of them
    /// were taken.
    fn drop(&mut self) {
        // First: the close wakes the tasks that wait, and this one need not learn of it.
        self.inbox.leave_place();
        self.inbox.close();
        self.drain();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("inbox", &self.inbox).finish()
    }
}
