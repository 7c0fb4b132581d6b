//! How many values a channel holds, for each of its ends. The calls read words that the channel has
//! anyway, and never wait.
//!
//! A receiver counts what it would get from calls that do not wait. A sender counts the slots that
//! it could not use. The two numbers differ while a sender is in the middle of a call, and while a
//! batch has not released the slots of values that were taken from it.

use super::broadcast::BroadcastReceiver;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::producer::Sequencer;

impl<T, S: Sequencer> Sender<T, S> {
    /// Returns the number of values in the channel: those that the slowest receiver has not
    /// received.
    ///
    /// The number is a snapshot. It is exact if no other thread uses the channel. Otherwise it may be
    /// too large, but is never too small, and another thread may change it at once.
    ///
    /// What counts is whether a slot is in use:
    ///
    /// - With several senders, a value counts as soon as a sender has claimed the slot for it, which
    ///   is a moment before a receiver can get it.
    /// - A value that is taken from a [batch](super::Values) counts until the batch has released its
    ///   slot.
    /// - In a broadcast, a value that the slowest receiver has received does not count, although it
    ///   stays in its slot.
    /// - Without a receiver the number is 0.
    ///
    /// The call costs one load from a cache line for each receiver. [`Receiver::len`] counts what a
    /// receiver could get.
    ///
    /// ```
    /// use lapwing::channel;
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// assert_eq!(sender.len(), 3);
    /// assert_eq!(receivers[0].recv(), Ok(1));
    /// assert_eq!(sender.len(), 3); // the other receiver has not received it
    /// assert_eq!(receivers[1].recv(), Ok(1));
    /// assert_eq!(sender.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.producer.held_slots()
    }

    /// Returns whether the channel holds no value: [`len`](Self::len) is 0.
    ///
    /// True means that every receiver has received every value that was sent, or that no receiver is
    /// left. Another sender may change that at once.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// assert!(sender.is_empty());
    /// sender.send(7)?;
    /// assert!(!sender.is_empty());
    /// assert_eq!(receiver.recv(), Ok(7));
    /// assert!(sender.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether no slot is free: [`len`](Self::len) is the [capacity](Self::capacity).
    ///
    /// False means that a slot was free. A single sender can rely on that, since receivers only free
    /// more slots. With several senders, another sender may use the slot at once. Without a receiver
    /// the channel is not full, and [`try_send`](Self::try_send) returns
    /// [`Disconnected`](super::TrySendError::Disconnected).
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(2)?;
    /// sender.send(1)?;
    /// assert!(!sender.is_full());
    /// sender.send(2)?;
    /// assert!(sender.is_full());
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert!(!sender.is_full());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity()
    }
}

impl<T> Receiver<T> {
    /// Returns the number of values that this receiver could get now without waiting.
    ///
    /// The number is a snapshot. It is exact if no sender is in the middle of a call. Otherwise a
    /// sender may raise it at once. It is never 0 if [`try_recv`](Self::try_recv) would have returned
    /// a value. Values count after the last sender is gone too, so 0 does not tell whether a sender
    /// is left.
    ///
    /// - With one sender, a value may count a moment before `try_recv` finds it, until the sender's
    ///   call returns. A call that waits gets it.
    /// - With several senders, a value counts once all values before it are sent too, since they are
    ///   received in order.
    /// - Values beyond the last slot of the ring count too. A
    ///   [batch](Self::try_recv_batch) ends there.
    ///
    /// With one sender, the call loads the sender's position, whose cache line the sender writes for
    /// each value. With several, it loads four bytes for each value that it counts.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// assert_eq!(receiver.len(), 0);
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// assert_eq!(receiver.recv(), Ok(1));
    /// drop(sender);
    /// assert_eq!(receiver.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.count(self.capacity() as u64)
    }

    /// Returns whether this receiver could get no value now without waiting: [`len`](Self::len)
    /// is 0.
    ///
    /// The call looks for one value only. A sender may send one at once.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// assert!(receiver.is_empty());
    /// sender.send(7)?;
    /// assert!(!receiver.is_empty());
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// assert!(receiver.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count(1) == 0
    }

    /// Returns the number of values that it could get now, at most `most`.
    fn count(&self, most: u64) -> usize {
        // A batch that was forgotten has not released the slots of the values that were taken.
        let taken = self.taken.count_from(self.inbox.next());
        self.inbox.count_readable(taken + most).saturating_sub(taken) as usize
    }
}

impl<T> BroadcastReceiver<T> {
    /// Returns the number of values that this receiver could get now without waiting.
    ///
    /// The number is a snapshot. It is exact if no sender is in the middle of a call. Otherwise a
    /// sender may raise it at once. It is never 0 if [`try_recv`](Self::try_recv) would have returned
    /// a value. Values count after the last sender is gone too, so 0 does not tell whether a sender
    /// is left. Other receivers have numbers of their own.
    ///
    /// - With one sender, a value may count a moment before `try_recv` finds it, until the sender's
    ///   call returns. A call that waits gets it.
    /// - With several senders, a value counts once all values before it are sent too, since they are
    ///   received in order.
    /// - Values beyond the last slot of the ring count too. A
    ///   [batch](Self::try_recv_batch) ends there.
    ///
    /// With one sender, the call loads the sender's position, whose cache line the sender writes for
    /// each value. With several, it loads four bytes for each value that it counts.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 2)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// assert_eq!(receivers[0].recv(), Ok(1));
    /// assert_eq!((receivers[0].len(), receivers[1].len()), (2, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.inbox.count_readable(self.capacity() as u64) as usize
    }

    /// Returns whether this receiver could get no value now without waiting: [`len`](Self::len)
    /// is 0.
    ///
    /// The call looks for one value only. A sender may send one at once.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 2)?;
    /// sender.send(7)?;
    /// assert_eq!(receivers[0].try_recv(), Ok(7));
    /// assert!(receivers[0].is_empty());
    /// assert!(!receivers[1].is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inbox.count_readable(1) == 0
    }
}
