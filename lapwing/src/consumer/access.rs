//! How a stage may touch events: beside others, or alone.

use std::fmt::Debug;
use std::ops::Range;
use std::slice;

use crate::Sequence;
use crate::ring_buffer::RingBuffer;

/// [`Shared`] or [`Exclusive`]. Sealed: the graph decides which stage may have which.
pub trait Access: sealed::Access {
    /// An event as a handler gets it: `&E` or `&mut E`.
    type Ref<'a, E: 'a>;
    /// A batch as a handler gets it: `&[E]` or `&mut [E]`.
    type Slice<'a, E: 'a>;
    /// The events of a slice, one after another.
    type Events<'a, E: 'a>: ExactSizeIterator<Item = Self::Ref<'a, E>>;

    /// Goes through a slice.
    fn events<'a, E: 'a>(slice: Self::Slice<'a, E>) -> Self::Events<'a, E>;
}

/// Other stages may read the same events at the same time: `&E`.
#[derive(Debug, Clone, Copy)]
pub enum Shared {}

/// No other stage touches the events at the same time: `&mut E`.
#[derive(Debug, Clone, Copy)]
pub enum Exclusive {}

impl Access for Shared {
    type Ref<'a, E: 'a> = &'a E;
    type Slice<'a, E: 'a> = &'a [E];
    type Events<'a, E: 'a> = slice::Iter<'a, E>;

    fn events<'a, E: 'a>(slice: &'a [E]) -> slice::Iter<'a, E> {
        slice.iter()
    }
}

impl Access for Exclusive {
    type Ref<'a, E: 'a> = &'a mut E;
    type Slice<'a, E: 'a> = &'a mut [E];
    type Events<'a, E: 'a> = slice::IterMut<'a, E>;

    fn events<'a, E: 'a>(slice: &'a mut [E]) -> slice::IterMut<'a, E> {
        slice.iter_mut()
    }
}

mod sealed {
    use super::{Debug, Range, RingBuffer, Sequence};

    /// What only the library does with an access.
    pub trait Access: Debug + Send + Sync + 'static {
        /// Whether no other stage may run beside one with this access.
        #[doc(hidden)]
        const IS_EXCLUSIVE: bool;

        /// The events of `range`.
        ///
        /// # Safety
        ///
        /// The caller is a stage with this access that has `range`, which does not cross the wrap
        /// (I2), and the slice is its only borrow of it.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        unsafe fn slice<E>(ring: &RingBuffer<E>, range: Range<Sequence>) -> Self::Slice<'_, E>
        where
            Self: super::Access;

        /// Tells a model that the borrow of `range` ends.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn watch<E>(ring: &RingBuffer<E>, range: Range<Sequence>);
    }
}

#[allow(private_interfaces)]
impl sealed::Access for Shared {
    const IS_EXCLUSIVE: bool = false;

    #[inline(always)]
    unsafe fn slice<E>(ring: &RingBuffer<E>, range: Range<Sequence>) -> &[E] {
        // SAFETY: I2, by the caller.
        unsafe { ring.slice(range) }
    }

    #[inline(always)]
    fn watch<E>(ring: &RingBuffer<E>, range: Range<Sequence>) {
        ring.watch_read(range);
    }
}

#[allow(private_interfaces)]
impl sealed::Access for Exclusive {
    const IS_EXCLUSIVE: bool = true;

    #[inline(always)]
    unsafe fn slice<E>(ring: &RingBuffer<E>, range: Range<Sequence>) -> &mut [E] {
        // SAFETY: I2, by the caller.
        unsafe { ring.slice_mut(range) }
    }

    #[inline(always)]
    fn watch<E>(ring: &RingBuffer<E>, range: Range<Sequence>) {
        ring.watch_write(range);
    }
}
