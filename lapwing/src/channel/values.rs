//! A batch of received values: moved out of the ring, or lent.

use std::fmt;
use std::iter::FusedIterator;

use super::message_slot::MessageSlot;
use crate::Sequence;
use crate::consumer::{Batch, Exclusive, Shared};

/// The slots of values that are taken from a batch are released after at most this part of the
/// ring, a quarter, so that senders can continue. The batches of a stage with a handler do the
/// same.
const RELEASES_PER_RING: usize = 4;

/// Position up to which the only receiver of a channel has moved values out. Slots below it hold no
/// value.
///
/// The batches of the receiver may have released less than that, if it has forgotten a batch
/// (`mem::forget`) from which it took values.
#[derive(Debug, Default)]
pub(super) struct Taken(Sequence);

impl Taken {
    /// Returns the number of values at and above `next` that were taken.
    pub(super) fn count_from(&self, next: Sequence) -> u64 {
        self.0.saturating_sub(next)
    }

    /// Consumes the events whose values are taken already.
    fn pass_over<T>(&self, batch: &mut Batch<'_, MessageSlot<T>, Exclusive>) {
        let before = self.0.saturating_sub(batch.first_sequence());
        batch.consume(before as usize);
    }

    /// Takes the value of `slot`, the event of `sequence`, whose slot the caller releases next.
    /// Returns `None` if the value was taken already.
    ///
    /// # Safety
    ///
    /// The caller is the only receiver and has the slot (I2).
    #[inline]
    pub(super) unsafe fn take_one<T>(
        &mut self,
        sequence: Sequence,
        slot: &MessageSlot<T>,
    ) -> Option<T> {
        if sequence < self.0 {
            return None;
        }
        self.0 = sequence + 1;
        // SAFETY: I2, by the caller; I14: no value that was sent at or above `self` has been taken.
        Some(unsafe { slot.take() })
    }

    /// Takes the next value of `batch`. None of the values left in it may have been taken.
    #[inline]
    fn take<T>(&mut self, batch: &mut Batch<'_, MessageSlot<T>, Exclusive>) -> Option<T> {
        let (sequence, slot) = batch.next_event()?;
        debug_assert!(sequence >= self.0, "a value is taken once: sequence={sequence}");
        // SAFETY: I2: the batch has the slot, and its receiver is the only one.
        unsafe { self.take_one(sequence, slot) }
    }
}

/// An iterator that moves the values of a batch out of the ring.
///
/// Values that are not taken are received again by a later call. A value that an adapter such as
/// `zip` or `peekable` takes and drops is lost.
///
/// The iterator releases the slots of taken values after each quarter of the ring, and when it is
/// dropped. If it is forgotten (`mem::forget`), the next batch has only the values that it did not
/// take, and may be empty.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// sender.send_batch(&mut vec![1, 2, 3])?;
/// let mut values = receiver.recv_batch()?;
/// assert_eq!(values.len(), 3);
/// assert_eq!(values.next(), Some(1));
/// assert_eq!(values.len(), 2);
/// drop(values);
/// assert_eq!(receiver.recv(), Ok(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "values that are not taken are received again"]
pub struct Values<'a, T> {
    batch: Batch<'a, MessageSlot<T>, Exclusive>,
    taken: &'a mut Taken,
    /// Number of values taken since the last release of slots.
    unreleased: usize,
    /// Number of values after which slots are released.
    release_every: usize,
}

impl<'a, T> Values<'a, T> {
    pub(super) fn new(
        mut batch: Batch<'a, MessageSlot<T>, Exclusive>,
        taken: &'a mut Taken,
        capacity: usize,
    ) -> Self {
        taken.pass_over(&mut batch);
        let release_every = (capacity / RELEASES_PER_RING).max(1);
        Self { batch, taken, unreleased: 0, release_every }
    }
}

impl<T> Iterator for Values<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let value = self.taken.take(&mut self.batch)?;
        self.unreleased += 1;
        if self.unreleased == self.release_every {
            self.unreleased = 0;
            self.batch.release();
        }
        Some(value)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.batch.len(), Some(self.batch.len()))
    }
}

impl<T> ExactSizeIterator for Values<'_, T> {}

impl<T> FusedIterator for Values<'_, T> {}

impl<T> fmt::Debug for Values<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("left", &self.batch.len()).finish_non_exhaustive()
    }
}

/// The values of a batch, lent by reference.
///
/// When this is dropped, the slots of the values that were read are released. The other values are
/// received again by a later call.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receivers) = channel::broadcast(8, 1)?;
/// sender.send_batch(&mut vec![1, 2, 3])?;
/// let mut values = receivers[0].recv_batch()?;
/// assert_eq!(values.iter().next(), Some(&1));
/// assert_eq!(values.len(), 2);
/// drop(values);
/// assert_eq!(receivers[0].recv(), Ok(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "values that are not read are received again"]
pub struct SharedValues<'a, T> {
    batch: Batch<'a, MessageSlot<T>, Shared>,
}

impl<'a, T> SharedValues<'a, T> {
    pub(super) fn new(batch: Batch<'a, MessageSlot<T>, Shared>) -> Self {
        Self { batch }
    }

    /// Returns the number of values that are left.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// assert_eq!(receivers[0].recv_batch()?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Returns whether every value was read.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send(7)?;
    /// let mut values = receivers[0].recv_batch()?;
    /// assert!(!values.is_empty());
    /// assert_eq!(values.iter().last(), Some(&7));
    /// assert!(values.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Returns an iterator over the values that are left.
    ///
    /// Each value that it yields counts as received. An adapter that takes a value to decide about
    /// it, such as `take_while` or `peekable`, receives that value too.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// for number in receivers[0].recv_batch()?.iter().take(2) {
    ///     assert!(*number < 3);
    /// }
    /// assert_eq!(receivers[0].recv(), Ok(3)); // was not yielded
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(&mut self) -> impl ExactSizeIterator<Item = &T> {
        self.batch.iter().map(|(_, slot)| value_of(slot))
    }
}

impl<T> fmt::Debug for SharedValues<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedValues").field("left", &self.len()).finish_non_exhaustive()
    }
}

/// The value in a slot of a broadcast, for as long as the batch lends the slot.
#[inline]
pub(super) fn value_of<T>(slot: &MessageSlot<T>) -> &T {
    // SAFETY: I2: the batch has the slot for as long as it lends the message slot; I14: the message
    // slot was published with a value, and a broadcast takes none out.
    unsafe { slot.value() }
}
