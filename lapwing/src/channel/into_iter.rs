//! What makes the receivers of both kinds iterable. Not here: the iterators (`iter`).

use super::broadcast::BroadcastReceiver;
use super::iter::{IntoIter, Iter, Receive};
use super::receiver::Receiver;

impl<T> Receive for Receiver<T> {
    type Value = T;

    #[inline]
    fn next_value(&mut self) -> Option<T> {
        self.recv().ok()
    }

    #[inline]
    fn try_next_value(&mut self) -> Option<T> {
        self.try_recv().ok()
    }
}

impl<T: Clone> Receive for BroadcastReceiver<T> {
    type Value = T;

    #[inline]
    fn next_value(&mut self) -> Option<T> {
        self.recv().ok()
    }

    #[inline]
    fn try_next_value(&mut self) -> Option<T> {
        self.try_recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<Self>;

    /// Returns a blocking iterator over the values, up to the end of the channel.
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

impl<T: Clone> IntoIterator for BroadcastReceiver<T> {
    type Item = T;
    type IntoIter = IntoIter<Self>;

    /// Returns a blocking iterator over clones of the values, up to the end of the channel.
    fn into_iter(self) -> IntoIter<Self> {
        IntoIter::new(self)
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut BroadcastReceiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, BroadcastReceiver<T>>;

    fn into_iter(self) -> Iter<'a, BroadcastReceiver<T>> {
        self.iter()
    }
}
