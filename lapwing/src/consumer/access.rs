//! How a stage may access events: beside other stages, or alone.

use std::fmt::Debug;
use std::ops::Range;
use std::slice;

use super::events::Events;
use crate::Sequence;
use crate::chosen::Reader;

/// The kind of access of a stage to its events: [`Shared`] or [`Exclusive`].
///
/// The trait is sealed: the graph decides which stage may have which access. A handler that does
/// not change events can support both:
///
/// ```
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::Access};
///
/// struct Count(u64);
///
/// impl<E, A: Access> EventHandler<E, A> for Count {
///     fn on_event(&mut self, _: A::Ref<'_, E>, _: Sequence, _: bool) { self.0 += 1; }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("writer").write_handler(Count(0))
///     .stage("reader").read_handler(Count(0))
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish_batch(3, |_| {})?;
/// let mut report = running.shutdown()?;
/// let (Count(writer), Count(reader)) = (report.take("writer")?, report.take("reader")?);
/// assert_eq!((writer, reader), (3, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Access: sealed::Access {
    /// The type of an event that a handler gets: `&E` or `&mut E`.
    type Ref<'a, E: 'a>;
    /// The type of a batch that a handler gets: `&[E]` or `&mut [E]`.
    type Slice<'a, E: 'a>;
    /// The iterator over the events of a slice.
    type Events<'a, E: 'a>: ExactSizeIterator<Item = Self::Ref<'a, E>>;

    /// Returns an iterator over the events of a slice. It prefetches the cache lines of [large
    /// events](Events).
    ///
    /// ```
    /// use lapwing::consumer::{Access, Exclusive, Shared};
    ///
    /// let mut batch = [7, 8, 9];
    /// Exclusive::events(&mut batch[..]).for_each(|event| *event += 1);
    /// assert!(Shared::events(&batch[..]).eq(&[8, 9, 10]));
    /// ```
    fn events<'a, E: 'a>(slice: Self::Slice<'a, E>) -> Self::Events<'a, E>;

    /// Reborrows an event, for a shorter lifetime.
    ///
    /// ```
    /// use lapwing::consumer::{Access, Exclusive};
    ///
    /// let mut event = 7;
    /// let mut lent = &mut event;
    /// *Exclusive::reborrow(&mut lent) += 1;
    /// assert_eq!(*lent, 8);
    /// ```
    fn reborrow<'a, 'b: 'a, E: 'b>(event: &'a mut Self::Ref<'b, E>) -> Self::Ref<'a, E>;
}

/// Shared access, as `&E`: other stages may read the same events at the same time.
///
/// ```
/// use lapwing::{Disruptor, Poller, consumer::Shared};
///
/// let (_producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let poller: Poller<u64, Shared> = consumers.take_poller("all")?; // or `Poller<u64>`
/// assert_eq!(poller.sequence(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Shared {}

/// Exclusive access, as `&mut E`: no other stage accesses the events at the same time.
///
/// ```
/// use lapwing::{Disruptor, Poller, consumer::Exclusive};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller_mut().build()?;
/// let mut poller: Poller<u64, Exclusive> = consumers.take_poller_mut("all")?;
/// producer.publish(|event| *event = 7)?;
/// assert_eq!(poller.poll()?.as_mut_slice(), [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Exclusive {}

impl Access for Shared {
    type Ref<'a, E: 'a> = &'a E;
    type Slice<'a, E: 'a> = &'a [E];
    type Events<'a, E: 'a> = Events<slice::Iter<'a, E>, E>;

    #[inline]
    fn events<'a, E: 'a>(slice: &'a [E]) -> Self::Events<'a, E> {
        Events::shared(slice)
    }

    fn reborrow<'a, 'b: 'a, E: 'b>(event: &'a mut &'b E) -> &'a E {
        event
    }
}

impl Access for Exclusive {
    type Ref<'a, E: 'a> = &'a mut E;
    type Slice<'a, E: 'a> = &'a mut [E];
    type Events<'a, E: 'a> = Events<slice::IterMut<'a, E>, E>;

    #[inline]
    fn events<'a, E: 'a>(slice: &'a mut [E]) -> Self::Events<'a, E> {
        Events::exclusive(slice)
    }

    fn reborrow<'a, 'b: 'a, E: 'b>(event: &'a mut &'b mut E) -> &'a mut E {
        event
    }
}

mod sealed {
    use super::{Debug, Range, Reader, Sequence};

    /// The part of an access that only the library uses.
    pub trait Access: Debug + Send + Sync + 'static {
        /// Whether no other stage may run beside a stage with this access.
        #[doc(hidden)]
        const IS_EXCLUSIVE: bool;

        /// Returns the events of `range`, which `reader` may access.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn slice<E>(reader: &mut Reader<E>, range: Range<Sequence>) -> Self::Slice<'_, E>
        where
            Self: super::Access;

        /// Returns the events of `range` to a worker of a group.
        ///
        /// # Safety
        ///
        /// The worker owns the events of `range`, which does not cross the wrap, for as long as the
        /// slice is used (I2, I12).
        #[doc(hidden)]
        #[allow(private_interfaces)]
        unsafe fn slice_of_worker<E>(
            reader: &mut Reader<E>,
            range: Range<Sequence>,
        ) -> Self::Slice<'_, E>
        where
            Self: super::Access;
    }
}

#[allow(private_interfaces)]
impl sealed::Access for Shared {
    const IS_EXCLUSIVE: bool = false;

    #[inline]
    fn slice<E>(reader: &mut Reader<E>, range: Range<Sequence>) -> &[E] {
        reader.events(range)
    }

    #[inline]
    unsafe fn slice_of_worker<E>(reader: &mut Reader<E>, range: Range<Sequence>) -> &[E] {
        // SAFETY: I2 and I12, by the caller.
        unsafe { reader.events_of_worker(range) }
    }
}

#[allow(private_interfaces)]
impl sealed::Access for Exclusive {
    const IS_EXCLUSIVE: bool = true;

    #[inline]
    fn slice<E>(reader: &mut Reader<E>, range: Range<Sequence>) -> &mut [E] {
        reader.events_mut(range)
    }

    #[inline]
    unsafe fn slice_of_worker<E>(reader: &mut Reader<E>, range: Range<Sequence>) -> &mut [E] {
        // SAFETY: I2 and I12, by the caller.
        unsafe { reader.events_of_worker_mut(range) }
    }
}
