//! The slots of a claimed batch: at most two slices, since the batch may cross the end of the ring.

use std::iter::FusedIterator;
use std::{mem, slice};

use crate::Sequence;
use crate::error::BatchError;

/// The events of a claimed batch, in order, to be filled.
///
/// [`ClaimBatch::slots`](crate::producer::ClaimBatch::slots) returns it, and
/// [`publish_batch`](crate::Producer::publish_batch) passes it to its closure. Each event still has
/// the value that was last written to its slot, or that the factory made. A batch that crosses the
/// end of the ring continues at the first slot.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// producer.claim_batch(3)?.publish()?; // three of the four slots
/// poller.poll()?.consume_all();
///
/// producer.publish_batch(3, |slots| {
///     assert_eq!((slots.len(), slots.first_sequence()), (3, 3));
///     let (before_wrap, after_wrap) = slots.as_mut_slices();
///     assert_eq!((before_wrap.len(), after_wrap.len()), (1, 2));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Slots<'a, E> {
    before_wrap: &'a mut [E],
    after_wrap: &'a mut [E],
    first: Sequence,
}

impl<'a, E> Slots<'a, E> {
    pub(super) fn new(before_wrap: &'a mut [E], after_wrap: &'a mut [E], first: Sequence) -> Self {
        Self { before_wrap, after_wrap, first }
    }

    /// Returns the number of events.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// producer.publish_batch(3, |slots| assert_eq!(slots.len(), 3))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a batch has at least one event
    pub fn len(&self) -> usize {
        self.before_wrap.len() + self.after_wrap.len()
    }

    /// Returns the sequence that the first event will have.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// producer.publish_batch(3, |slots| {
    ///     let first = slots.first_sequence();
    ///     slots.iter_mut().zip(first..).for_each(|(slot, sequence)| *slot = sequence);
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn first_sequence(&self) -> Sequence {
        self.first
    }

    /// Returns the events as two slices. The second one is empty unless the batch crosses the end
    /// of the ring.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let prices = [7, 8, 9];
    /// producer.publish_batch(prices.len(), |slots| {
    ///     let (before_wrap, after_wrap) = slots.as_mut_slices();
    ///     let (start, end) = prices.split_at(before_wrap.len());
    ///     before_wrap.copy_from_slice(start);
    ///     after_wrap.copy_from_slice(end);
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), prices);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_mut_slices(&mut self) -> (&mut [E], &mut [E]) {
        (self.before_wrap, self.after_wrap)
    }

    /// Returns an iterator over the events.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// producer.publish_batch(2, |slots| {
    ///     for slot in slots.iter_mut() {
    ///         *slot += 1; // the event of one lap before, or of the factory
    ///     }
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), [1, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `for_each` and `fold` run one loop for each slice, in which the compiler can write several
    /// small events at once. `for` and `zip` check for the end of the ring at each slot. To number
    /// events of 8 bytes, `for_each` is 1.4 times as fast:
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// producer.publish_batch(3, |slots| {
    ///     slots.iter_mut().enumerate().for_each(|(index, slot)| *slot = 7 + index as u64);
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), [7, 8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter_mut(&mut self) -> SlotsIter<'_, E> {
        SlotsIter { here: self.before_wrap.iter_mut(), after_wrap: self.after_wrap.iter_mut() }
    }

    /// Copies `events` into the slots, one into each slot, even if the batch crosses the end of the
    /// ring.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.claim_batch(3)?.publish()?; // three of the four slots
    /// poller.poll()?.consume_all();
    ///
    /// let prices = [7, 8, 9];
    /// let mut batch = producer.claim_batch(prices.len())?;
    /// batch.slots().copy_from_slice(&prices)?;
    /// batch.publish()?;
    /// assert_eq!(poller.poll()?.as_slice(), [7]); // up to the end of the ring
    /// poller.poll()?.consume_all();
    /// assert_eq!(poller.poll()?.as_slice(), [8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Length`] if the numbers of events and slots differ. No slot is written, and the
    /// claim of the slots stays as it is.
    pub fn copy_from_slice(&mut self, events: &[E]) -> Result<(), BatchError>
    where
        E: Copy,
    {
        let (start, end) = self.split(events)?;
        self.before_wrap.copy_from_slice(start);
        self.after_wrap.copy_from_slice(end);
        Ok(())
    }

    /// Clones `events` into the slots, one into each slot, even if the batch crosses the end of the
    /// ring.
    ///
    /// It calls [`Clone::clone_from`], so a type that implements it can reuse the allocation in the
    /// slot. If a clone panics, the panic is passed on, and the slots before it keep their clones.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(4, String::new)
    ///     .stage("all").poller()
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let lines = ["first".to_owned(), "second".to_owned()];
    /// let mut batch = producer.claim_batch(lines.len())?;
    /// batch.slots().clone_from_slice(&lines)?;
    /// batch.publish()?;
    /// assert_eq!(poller.poll()?.as_slice(), lines);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Length`] if the numbers of events and slots differ. No slot is written, and the
    /// claim of the slots stays as it is.
    pub fn clone_from_slice(&mut self, events: &[E]) -> Result<(), BatchError>
    where
        E: Clone,
    {
        let (start, end) = self.split(events)?;
        self.before_wrap.clone_from_slice(start);
        self.after_wrap.clone_from_slice(end);
        Ok(())
    }

    /// Splits `events` at the end of the ring.
    fn split<'b>(&self, events: &'b [E]) -> Result<(&'b [E], &'b [E]), BatchError> {
        if events.len() != self.len() {
            return Err(BatchError::Length { events: events.len(), slots: self.len() });
        }
        Ok(events.split_at(self.before_wrap.len()))
    }
}

/// An iterator over the events of [`Slots`], even if the batch crosses the end of the ring.
/// [`Slots::iter_mut`] returns it.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
///
/// producer.publish_batch(3, |slots| {
///     let mut iter = slots.iter_mut();
///     assert_eq!(iter.len(), 3);
///     if let Some(last) = iter.next_back() {
///         *last = 9;
///     }
///     iter.zip([7, 8]).for_each(|(slot, value)| *slot = value);
/// })?;
/// assert_eq!(poller.poll()?.as_slice(), [7, 8, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SlotsIter<'a, E> {
    /// Next events. Once there are none, `after_wrap` takes their place.
    here: slice::IterMut<'a, E>,
    after_wrap: slice::IterMut<'a, E>,
}

impl<'a, E> Iterator for SlotsIter<'a, E> {
    type Item = &'a mut E;

    #[inline]
    fn next(&mut self) -> Option<&'a mut E> {
        if let event @ Some(_) = self.here.next() {
            return event;
        }
        self.here = mem::take(&mut self.after_wrap);
        self.here.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.here.len() + self.after_wrap.len();
        (left, Some(left))
    }

    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<&'a mut E> {
        let before_wrap = self.here.len();
        if skipped < before_wrap {
            return self.here.nth(skipped);
        }
        self.here = mem::take(&mut self.after_wrap);
        self.here.nth(skipped - before_wrap)
    }

    /// Runs one loop for each slice, in which the compiler can write several events at once.
    #[inline]
    fn fold<B, F: FnMut(B, &'a mut E) -> B>(self, init: B, mut step: F) -> B {
        let at_wrap = self.here.fold(init, &mut step);
        self.after_wrap.fold(at_wrap, step)
    }
}

impl<'a, E> DoubleEndedIterator for SlotsIter<'a, E> {
    #[inline]
    fn next_back(&mut self) -> Option<&'a mut E> {
        self.after_wrap.next_back().or_else(|| self.here.next_back())
    }
}

impl<E> ExactSizeIterator for SlotsIter<'_, E> {}
impl<E> FusedIterator for SlotsIter<'_, E> {}

impl<'a, E> IntoIterator for &'a mut Slots<'_, E> {
    type Item = &'a mut E;
    type IntoIter = SlotsIter<'a, E>;

    fn into_iter(self) -> SlotsIter<'a, E> {
        self.iter_mut()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Runs `check` on the slots of `0..6`, for each place of the wrap.
    fn with_slots(check: impl Fn(Slots<'_, u32>)) {
        for wrap in 0..=6 {
            let mut events = [0, 1, 2, 3, 4, 5];
            let (before_wrap, after_wrap) = events.split_at_mut(wrap);
            check(Slots::new(before_wrap, after_wrap, 0));
        }
    }

    #[test]
    fn every_way_through_the_slots_crosses_the_wrap() {
        with_slots(|mut slots| assert!(slots.iter_mut().zip(0..).all(|(slot, n)| *slot == n)));
        with_slots(|mut slots| {
            let mut passed = Vec::new();
            slots.iter_mut().for_each(|slot| passed.push(*slot));
            assert_eq!(passed, [0, 1, 2, 3, 4, 5]);
        });
        with_slots(|mut slots| {
            assert!(slots.iter_mut().rev().map(|slot| *slot).eq([5, 4, 3, 2, 1, 0]));
        });
        with_slots(|mut slots| {
            assert!(slots.iter_mut().step_by(2).map(|slot| *slot).eq([0, 2, 4]));
        });
        with_slots(|mut slots| {
            let mut next = 0;
            for slot in &mut slots {
                assert_eq!(*slot, next);
                next += 1;
            }
            assert_eq!(next, 6);
        });
    }

    #[test]
    fn both_ends_meet_and_say_how_many_are_left() {
        for from_the_front in 0..=6 {
            with_slots(|mut slots| {
                let mut iter = slots.iter_mut();
                for n in 0..from_the_front {
                    assert_eq!(iter.next(), Some(&mut { n }));
                    assert_eq!(iter.len(), 5 - n as usize);
                }
                for n in (from_the_front..6).rev() {
                    assert_eq!(iter.next_back(), Some(&mut { n }));
                }
                assert_eq!((iter.next(), iter.next_back(), iter.nth(1)), (None, None, None));
            });
        }
    }

    #[test]
    fn a_slot_further_on_is_found_across_the_wrap_and_none_beyond_the_end() {
        with_slots(|mut slots| {
            let mut iter = slots.iter_mut();
            assert_eq!((iter.nth(1), iter.nth(2), iter.len()), (Some(&mut 1), Some(&mut 4), 1));
            assert_eq!((iter.nth(1), iter.next()), (None, None));
        });
    }
}
