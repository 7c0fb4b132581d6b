//! The receiving end of a channel that hands each value to one receiver: values are moved out of
//! their slots, so that the ring keeps nothing alive.

use std::fmt;
use std::mem;
use std::time::Duration;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::inbox::Inbox;
use super::iter::{IntoIter, Iter, TryIter};
use super::letter::Letter;
use super::values::{Taken, Values};
use crate::consumer::{Exclusive, Poller};

/// The receiving end of [`spsc`](super::spsc) and [`mpsc`](super::mpsc).
///
/// When it is dropped, what is left in the channel is dropped with it, and senders get their values
/// back from then on. It waits for a sender that is just moving a value into its slot, which no
/// code of yours can delay. Forgotten (`mem::forget`), it leaves its senders waiting for ever once
/// the channel is full.
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
/// It has one owner:
///
/// ```compile_fail,E0599
/// let (_sender, receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let second = receiver.clone();
/// ```
///
/// ```
/// let (_sender, receiver) = lapwing::channel::spsc::<u64>(8).unwrap();
/// let thread = std::thread::spawn(move || receiver.capacity());
/// assert_eq!(thread.join().unwrap(), 8);
/// ```
pub struct Receiver<T> {
    inbox: Inbox<T, Exclusive>,
    taken: Taken,
}

impl<T> Receiver<T> {
    pub(super) fn new(poller: Poller<Letter<T>, Exclusive>, capacity: usize) -> Self {
        Self { inbox: Inbox::new(poller, capacity), taken: Taken::default() }
    }

    /// Number of values that fit.
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

    /// Receives the next value; waits for it.
    ///
    /// ```
    /// use lapwing::channel::{self, RecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let thread = std::thread::spawn(move || sender.send(7));
    /// assert_eq!(receiver.recv(), Ok(7)); // whichever thread is first
    /// assert_eq!(receiver.recv(), Err(RecvError)); // no sender is left
    /// # thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Blocking
    ///
    /// Waits by the receiver's strategy until a value is sent. [`try_recv`](Self::try_recv) does
    /// not wait.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        loop {
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
            drop(self.inbox.wait_first()?); // it is known now
        }
    }

    /// As [`recv`](Self::recv), but never waits.
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
    /// [`TryRecvError::Empty`] if there is none now, [`TryRecvError::Disconnected`] if there will
    /// never be any.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        loop {
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
            drop(self.inbox.poll_first()?); // it is known now
        }
    }

    /// As [`recv`](Self::recv), but waits for `timeout` at most. One that is too long for the clock
    /// is no limit.
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
    /// [`RecvTimeoutError::Timeout`] if none came, [`RecvTimeoutError::Disconnected`] if there will
    /// never be any.
    ///
    /// # Blocking
    ///
    /// As [`recv`](Self::recv), for `timeout` and the time that the system takes to wake the
    /// thread.
    #[inline]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        loop {
            if let Some(value) = self.take_known() {
                return Ok(value);
            }
            drop(self.inbox.wait_first_timeout(timeout)?); // it is known now
        }
    }

    /// The next value, if the last look has shown it: all but the first of a stream come so.
    #[inline]
    fn take_known(&mut self) -> Option<T> {
        let Self { inbox, taken } = self;
        loop {
            // SAFETY: I2: the inbox has the slot until this has returned; there is one receiver.
            let take = |sequence, letter: &Letter<T>| unsafe { taken.take_one(sequence, letter) };
            match inbox.pass_known(take)? {
                None => {}
                value => return value,
            }
        }
    }

    /// Receives a batch: the values that are there, up to the end of the ring; waits for one. Those
    /// that are not taken from it come again.
    ///
    /// However many there are, it costs one look at the ring and at most four releases; `recv`
    /// releases each value by itself.
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
    /// As [`recv`](Self::recv).
    ///
    /// # Blocking
    ///
    /// As [`recv`](Self::recv). [`try_recv_batch`](Self::try_recv_batch) does not wait.
    #[inline]
    pub fn recv_batch(&mut self) -> Result<Values<'_, T>, RecvError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.wait_batch()?, &mut self.taken, capacity))
    }

    /// As [`recv_batch`](Self::recv_batch), but never waits.
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
    /// As [`try_recv`](Self::try_recv).
    #[inline]
    pub fn try_recv_batch(&mut self) -> Result<Values<'_, T>, TryRecvError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.poll_batch()?, &mut self.taken, capacity))
    }

    /// As [`recv_batch`](Self::recv_batch), but waits for `timeout` at most.
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
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Blocking
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    #[inline]
    pub fn recv_batch_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Values<'_, T>, RecvTimeoutError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.wait_batch_timeout(timeout)?, &mut self.taken, capacity))
    }

    /// Goes through the values as they come, until no sender is left.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// let thread = std::thread::spawn(move || (1..=3).try_for_each(|number| sender.send(number)));
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// # thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Each step as [`recv`](Self::recv). [`try_iter`](Self::try_iter) does not wait.
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// Goes through the values that are there, and ends where [`recv`](Self::recv) would wait.
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

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<Self>;

    /// Goes through the values as they come, until no sender is left.
    fn into_iter(self) -> IntoIter<Self> {
        IntoIter::new(self)
    }
}

impl<'a, T> IntoIterator for &'a mut Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, Receiver<T>>;

    fn into_iter(self) -> Iter<'a, Receiver<T>> {
        self.iter()
    }
}

impl<T> Receiver<T> {
    /// Drops what comes until nothing more will. If the drop of a value panics, the others are dropped all the same.
    fn drain(&mut self) {
        let rest = Rest(self);
        while let Ok(values) = rest.0.recv_batch() {
            values.for_each(drop);
        }
        mem::forget(rest);
    }
}

/// What is left for a receiver to drain when it unwinds.
struct Rest<'a, T>(&'a mut Receiver<T>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        self.0.drain();
    }
}

impl<T> Drop for Receiver<T> {
    /// Drops what is left here and now: a value that waits in a channel without a receiver may hold
    /// what somebody waits for. Nor would anybody else: the ring does not know which were taken.
    fn drop(&mut self) {
        self.inbox.close();
        self.drain();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("inbox", &self.inbox).finish()
    }
}
