//! The calls that wait until an instant. Not here: those with a timeout, and the code that both
//! share (`sender`, `receiver`, `broadcast`).

use std::time::Instant;

use super::broadcast::BroadcastReceiver;
use super::error::{RecvTimeoutError, SendTimeoutError};
use super::receiver::Receiver;
use super::sender::Sender;
use super::values::{SharedValues, Values};
use crate::deadline::TimeLimit;
use crate::producer::Sequencer;

impl<T, S: Sequencer> Sender<T, S> {
    /// Sends a value, waiting until `deadline` at most for a free slot.
    ///
    /// If a slot is free, the value is sent even if `deadline` has passed.
    /// [`send_timeout`](Self::send_timeout) waits for a time instead, [`send`](Self::send) without a
    /// limit.
    ///
    /// Several calls can share one deadline:
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::channel::{self, SendTimeoutError};
    ///
    /// let (mut sender, _receiver) = channel::spsc(2)?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// let sent = (1..=4).try_for_each(|number| sender.send_deadline(number, deadline));
    /// assert_eq!(sent, Err(SendTimeoutError::Timeout(3)));
    /// assert!(Instant::now() >= deadline);
    /// # Ok::<(), lapwing::error::BuildError>(())
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
    /// dropped, or until `deadline`. It uses the sender's wait strategy. The call can take longer by
    /// the time that the system takes to wake the thread. [`try_send`](Self::try_send) does not wait
    /// for a slot.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. `value` is sent
    /// nevertheless.
    #[inline]
    pub fn send_deadline(
        &mut self,
        value: T,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<T>> {
        self.send_within(value, TimeLimit::Until(deadline))
    }
}

impl<T> Receiver<T> {
    /// Receives the next value, waiting for it until `deadline` at most.
    ///
    /// A value that is there is received even if `deadline` has passed.
    /// [`recv_timeout`](Self::recv_timeout) waits for a time instead, [`recv`](Self::recv) without a
    /// limit.
    ///
    /// Several calls can share one deadline:
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2])?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(receiver.recv_deadline(deadline), Ok(1));
    /// assert_eq!(receiver.recv_deadline(deadline), Ok(2));
    /// assert_eq!(receiver.recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
    /// assert!(Instant::now() >= deadline);
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
    /// Waits while the channel is empty, until a value is sent, no sender is left, or until
    /// `deadline`. The call can take longer by the time that the system takes to wake the thread.
    /// [`try_recv`](Self::try_recv) does not wait.
    #[inline]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_within(TimeLimit::Until(deadline))
    }

    /// Receives the available values as a batch, waiting until `deadline` at most for at least one.
    ///
    /// Values that are there are received even if `deadline` has passed. A batch ends at the last
    /// slot of the ring, even if more values are available. The next call returns them, after the
    /// values that were not taken from this batch.
    /// [`recv_batch_timeout`](Self::recv_batch_timeout) waits for a time instead,
    /// [`recv_batch`](Self::recv_batch) without a limit.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2])?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert!(receiver.recv_batch_deadline(deadline)?.eq([1, 2]));
    /// let error = receiver.recv_batch_deadline(deadline).unwrap_err();
    /// assert_eq!(error, RecvTimeoutError::Timeout);
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
    /// Waits while the channel is empty, until a value is sent, no sender is left, or until
    /// `deadline`. The call can take longer by the time that the system takes to wake the thread.
    /// [`try_recv_batch`](Self::try_recv_batch) does not wait.
    #[inline]
    pub fn recv_batch_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<Values<'_, T>, RecvTimeoutError> {
        self.recv_batch_within(TimeLimit::Until(deadline))
    }
}

impl<T> BroadcastReceiver<T> {
    /// Receives the available values as a batch that lends them, waiting until `deadline` at most
    /// for at least one.
    ///
    /// Values that are there are received even if `deadline` has passed. A batch ends at the last
    /// slot of the ring, even if more values are available. The next call returns them, after the
    /// values that were not read from this batch.
    /// [`recv_batch_timeout`](Self::recv_batch_timeout) waits for a time instead,
    /// [`recv_batch`](Self::recv_batch) without a limit.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2])?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert!(receivers[0].recv_batch_deadline(deadline)?.iter().eq(&[1, 2]));
    /// let error = receivers[0].recv_batch_deadline(deadline).unwrap_err();
    /// assert_eq!(error, RecvTimeoutError::Timeout);
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
    /// Waits until a value is sent, no sender is left, or until `deadline`. The call can take longer
    /// by the time that the system takes to wake the thread.
    /// [`try_recv_batch`](Self::try_recv_batch) does not wait.
    pub fn recv_batch_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SharedValues<'_, T>, RecvTimeoutError> {
        self.recv_batch_within(TimeLimit::Until(deadline))
    }
}

impl<T: Clone> BroadcastReceiver<T> {
    /// Receives a clone of the next value, waiting for it until `deadline` at most.
    ///
    /// A value that is there is received even if `deadline` has passed.
    /// [`recv_timeout`](Self::recv_timeout) waits for a time instead, [`recv`](Self::recv) without a
    /// limit. If `clone` panics, the panic is passed on and the value counts as received.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::channel::{self, RecvTimeoutError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
    /// sender.send(7)?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(receivers[0].recv_deadline(deadline), Ok(7));
    /// assert_eq!(receivers[0].recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
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
    /// Waits until a value is sent, no sender is left, or until `deadline`. The call can take longer
    /// by the time that the system takes to wake the thread. [`try_recv`](Self::try_recv) does not
    /// wait.
    #[inline]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_within(TimeLimit::Until(deadline))
    }
}
