//! Receiving as an iterator, for both kinds of receiver.

use std::iter::FusedIterator;

pub(super) use sealed::Receive;

/// A blocking iterator over received values. It ends when no sender is left and everything has been
/// received.
///
/// [`Receiver::iter`](super::Receiver::iter) and
/// [`BroadcastReceiver::iter`](super::BroadcastReceiver::iter) return it. `R` is the type of the
/// receiver.
///
/// ```
/// use lapwing::channel::{self, Iter, Receiver};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// sender.send(7)?;
/// drop(sender);
/// let mut values: Iter<'_, Receiver<u64>> = receiver.iter();
/// assert_eq!(values.next(), Some(7));
/// assert_eq!(values.next(), None);
/// assert_eq!(values.next(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an iterator does nothing until `next` is called"]
pub struct Iter<'a, R> {
    receiver: &'a mut R,
}

impl<'a, R> Iter<'a, R> {
    pub(super) fn new(receiver: &'a mut R) -> Self {
        Self { receiver }
    }
}

impl<R: Receive> Iterator for Iter<'_, R> {
    type Item = R::Value;

    #[inline]
    fn next(&mut self) -> Option<R::Value> {
        self.receiver.next_value()
    }
}

impl<R: Receive> FusedIterator for Iter<'_, R> {}

/// A non-blocking iterator over received values. It ends when no value is available, and continues
/// if `next` is called after a value has arrived.
///
/// [`Receiver::try_iter`](super::Receiver::try_iter) and
/// [`BroadcastReceiver::try_iter`](super::BroadcastReceiver::try_iter) return it. `R` is the type
/// of the receiver.
///
/// ```
/// use lapwing::channel::{self, Receiver, TryIter};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// sender.send(7)?;
/// let mut values: TryIter<'_, Receiver<u64>> = receiver.try_iter();
/// assert_eq!(values.next(), Some(7));
/// assert_eq!(values.next(), None);
/// sender.send(8)?;
/// assert_eq!(values.next(), Some(8)); // there is one again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an iterator does nothing until `next` is called"]
pub struct TryIter<'a, R> {
    receiver: &'a mut R,
}

impl<'a, R> TryIter<'a, R> {
    pub(super) fn new(receiver: &'a mut R) -> Self {
        Self { receiver }
    }
}

impl<R: Receive> Iterator for TryIter<'_, R> {
    type Item = R::Value;

    #[inline]
    fn next(&mut self) -> Option<R::Value> {
        self.receiver.try_next_value()
    }
}

/// A blocking iterator over received values that owns its receiver. It ends when no sender is left
/// and everything has been received.
///
/// The `into_iter` of a [`Receiver`](super::Receiver) or
/// [`BroadcastReceiver`](super::BroadcastReceiver) returns it. `R` is the type of the receiver.
///
/// ```
/// use lapwing::channel::{self, IntoIter, Receiver};
///
/// let (mut sender, receiver) = channel::spsc(8)?;
/// sender.send(7)?;
/// let mut values: IntoIter<Receiver<u64>> = receiver.into_iter();
/// assert_eq!(values.next(), Some(7));
/// drop(values); // and the receiver with it
/// assert!(sender.send(8).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an iterator does nothing until `next` is called"]
pub struct IntoIter<R> {
    receiver: R,
}

impl<R> IntoIter<R> {
    pub(super) fn new(receiver: R) -> Self {
        Self { receiver }
    }
}

impl<R: Receive> Iterator for IntoIter<R> {
    type Item = R::Value;

    #[inline]
    fn next(&mut self) -> Option<R::Value> {
        self.receiver.next_value()
    }
}

impl<R: Receive> FusedIterator for IntoIter<R> {}

mod sealed {
    /// A receiver of either kind.
    pub trait Receive {
        /// The type of the received values.
        type Value;

        /// Returns the next value, waiting for it. Returns `None` at the end of the channel, and
        /// from then on.
        fn next_value(&mut self) -> Option<Self::Value>;

        /// Returns the next value if it is available.
        fn try_next_value(&mut self) -> Option<Self::Value>;
    }
}
