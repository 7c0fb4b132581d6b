//! A batch of values in a receiver's hand: moved out of the ring, or lent.

use std::fmt;
use std::iter::FusedIterator;

use super::letter::Letter;
use crate::Sequence;
use crate::consumer::{Batch, Exclusive, Shared};

/// Values that are taken from a batch are let go of after this part of the ring at the latest, so
/// that senders can go on meanwhile; as for the batches of a stage with a handler.
const RELEASES_PER_RING: usize = 4;

/// How far the one receiver of a channel has moved values out: below, slots are empty. Its batches say how far it has let
/// go of them, which is less where it forgot a batch (`mem::forget`) of which it took values.
#[derive(Debug, Default)]
pub(super) struct Taken(Sequence);

impl Taken {
    /// Consumes what is taken already.
    fn pass_over<T>(&self, batch: &mut Batch<'_, Letter<T>, Exclusive>) {
        let before = self.0.saturating_sub(batch.first_sequence());
        batch.consume(before as usize);
    }

    /// Takes the value of `letter`, the event of `sequence`, whose slot is let go of next. None if it was taken already.
    ///
    /// # Safety
    ///
    /// The caller is the only receiver, and has the slot (I2).
    #[inline]
    pub(super) unsafe fn take_one<T>(
        &mut self,
        sequence: Sequence,
        letter: &Letter<T>,
    ) -> Option<T> {
        if sequence < self.0 {
            return None;
        }
        self.0 = sequence + 1;
        // SAFETY: I2, by the caller; I14: of all that was sent, what is not below `self` has not been taken.
        Some(unsafe { letter.take() })
    }

    /// Takes the next value of `batch`, of which none that is left was taken.
    #[inline]
    fn take<T>(&mut self, batch: &mut Batch<'_, Letter<T>, Exclusive>) -> Option<T> {
        let (sequence, letter) = batch.iter().next()?;
        debug_assert!(sequence >= self.0, "a value is taken once: sequence={sequence}");
        // SAFETY: I2: the batch has the slot, and its receiver is the only one.
        unsafe { self.take_one(sequence, letter) }
    }
}

/// The values of a batch, on their way out of the ring. Those that are not taken come again. One that an adapter such as
/// `zip` or `peekable` has taken ahead and drops is gone.
///
/// Slots are free again a quarter of the ring later at the latest, and when this is dropped.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// sender.send_batch(&mut vec![1, 2, 3])?;
/// let mut values = receiver.recv_batch()?;
/// assert_eq!((values.len(), values.next()), (3, Some(1)));
/// assert_eq!(values.len(), 2);
/// drop(values);
/// assert_eq!(receiver.recv(), Ok(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "values that are not taken come again"]
pub struct Values<'a, T> {
    batch: Batch<'a, Letter<T>, Exclusive>,
    taken: &'a mut Taken,
    /// Values taken since slots were last let go of.
    unreleased: usize,
    /// Most of them.
    release_every: usize,
}

impl<'a, T> Values<'a, T> {
    pub(super) fn new(
        mut batch: Batch<'a, Letter<T>, Exclusive>,
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

/// The values of a batch, lent. Those that are not looked at come again; the others let go of their
/// slots when this is dropped.
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
#[must_use = "values that are not looked at come again"]
pub struct SharedValues<'a, T> {
    batch: Batch<'a, Letter<T>, Shared>,
}

impl<'a, T> SharedValues<'a, T> {
    pub(super) fn new(batch: Batch<'a, Letter<T>, Shared>) -> Self {
        Self { batch }
    }

    /// Number of values that are left.
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

    /// Whether every value was looked at.
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

    /// Goes through the values that are left. Each one that was yielded counts as received, also if
    /// an adapter such as `peekable` only looked ahead.
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

/// What lies in a slot of a broadcast whose batch lends it.
#[inline]
pub(super) fn value_of<T>(letter: &Letter<T>) -> &T {
    // SAFETY: I2: the batch has the slot, for as long as it lends the letter; I14: it was published with a value, and of
    // a broadcast none is taken.
    unsafe { letter.value() }
}
