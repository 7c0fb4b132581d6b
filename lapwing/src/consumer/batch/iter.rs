//! The iterators of a batch. They yield events with their sequences, and consume what they yield.

use std::slice;

use crate::Sequence;
use crate::consumer::events::Events;

/// The common part of both iterators.
#[derive(Debug)]
struct Consuming<'a, I> {
    events: I,
    next: Sequence,
    consumed: &'a mut u64,
}

impl<I: ExactSizeIterator> Iterator for Consuming<'_, I> {
    type Item = (Sequence, I::Item);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let event = self.events.next()?;
        let sequence = self.next;
        self.next += 1;
        *self.consumed += 1;
        Some((sequence, event))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.events.size_hint()
    }
}

/// An iterator over the events of a batch and their sequences, from
/// [`Batch::iter`](super::Batch::iter). It consumes each event that it yields.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 7_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// producer.publish_batch(3, |_| {})?;
/// let mut batch = poller.poll()?;
/// let mut events = batch.iter();
/// assert_eq!(events.len(), 3);
/// assert_eq!(events.next(), Some((0, &7)));
/// assert_eq!(events.len(), 2);
/// drop(batch);
/// assert_eq!(poller.sequence(), 1); // the first event is consumed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Iter<'a, E>(Consuming<'a, Events<slice::Iter<'a, E>, E>>);

impl<'a, E> Iter<'a, E> {
    /// `next` is the sequence of the first of `events`. The iterator adds to `consumed` what it
    /// yields.
    #[inline]
    pub(super) fn new(events: &'a [E], next: Sequence, consumed: &'a mut u64) -> Self {
        Self(Consuming { events: Events::shared(events), next, consumed })
    }
}

impl<'a, E> Iterator for Iter<'a, E> {
    type Item = (Sequence, &'a E);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<E> ExactSizeIterator for Iter<'_, E> {}

/// A mutable iterator over the events of a batch and their sequences, from
/// [`Batch::iter_mut`](super::Batch::iter_mut). It consumes each event that it yields.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 7_u64).stage("all").poller_mut().build()?;
/// let mut poller = consumers.take_poller_mut("all")?;
/// producer.publish_batch(3, |_| {})?;
/// let mut batch = poller.poll()?;
/// let mut events = batch.iter_mut();
/// assert_eq!(events.len(), 3);
/// assert_eq!(events.next(), Some((0, &mut 7)));
/// assert_eq!(events.len(), 2);
/// drop(batch);
/// assert_eq!(poller.sequence(), 1); // the first event is consumed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IterMut<'a, E>(Consuming<'a, Events<slice::IterMut<'a, E>, E>>);

impl<'a, E> IterMut<'a, E> {
    /// `next` is the sequence of the first of `events`. The iterator adds to `consumed` what it
    /// yields.
    #[inline]
    pub(super) fn new(events: &'a mut [E], next: Sequence, consumed: &'a mut u64) -> Self {
        Self(Consuming { events: Events::exclusive(events), next, consumed })
    }
}

impl<'a, E> Iterator for IterMut<'a, E> {
    type Item = (Sequence, &'a mut E);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<E> ExactSizeIterator for IterMut<'_, E> {}
