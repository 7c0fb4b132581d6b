//! A batch of values in a receiver's hand: moved out of the ring, or lent.

use std::fmt;
use std::iter::FusedIterator;

use crate::consumer::{Batch, Exclusive, Shared};

/// Values that are taken from a batch are let go of after this part of the ring at the latest, so
/// that senders can go on meanwhile; as for the batches of a stage with a handler.
const RELEASES_PER_RING: usize = 4;

/// The values of a batch, on their way out of the ring. Those that are not taken come again.
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
    batch: Batch<'a, Option<T>, Exclusive>,
    /// Values taken since slots were last let go of.
    unreleased: usize,
    /// Most of them.
    release_every: usize,
}

impl<'a, T> Values<'a, T> {
    pub(super) fn new(mut batch: Batch<'a, Option<T>, Exclusive>, capacity: usize) -> Self {
        // Whoever took values from a batch and forgot it (`mem::forget`) has let go of nothing: the
        // slots come again, and are empty.
        while let Some(None) = batch.as_slice().first() {
            batch.consume(1);
        }
        let release_every = (capacity / RELEASES_PER_RING).max(1);
        Self { batch, unreleased: 0, release_every }
    }
}

impl<T> Iterator for Values<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (_, slot) = self.batch.iter_mut().next()?;
        let value = slot.take();
        self.unreleased += 1;
        if self.unreleased == self.release_every {
            self.unreleased = 0;
            self.batch.release();
        }
        value
    }

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
    batch: Batch<'a, Option<T>, Shared>,
}

impl<'a, T> SharedValues<'a, T> {
    pub(super) fn new(batch: Batch<'a, Option<T>, Shared>) -> Self {
        Self { batch }
    }

    /// Number of values that are left.
    ///
    /// ```
    /// # let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
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
    /// # let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
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
    /// # let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
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

/// What a slot holds that is published and from which nothing is taken.
#[inline]
pub(super) fn value_of<T>(slot: &Option<T>) -> &T {
    slot.as_ref().expect("a sender publishes values, and receivers of a broadcast take none out")
}
