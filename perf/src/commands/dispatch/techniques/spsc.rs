//! `rtrb`: a ring with one sender and one receiver, without atomic read-modify-writes. It carries
//! orders wherever there is only one sender.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::commands::dispatch::hand_off::{Inlet, Outlet};
use crate::commands::dispatch::order::Order;

/// Creates a ring of `slots`, whose memory has been touched.
pub(super) fn ring<const PAD: usize>(slots: usize) -> (Producer<Order<PAD>>, Consumer<Order<PAD>>) {
    let (mut producer, mut consumer) = RingBuffer::new(slots);
    while producer.push(Order::default()).is_ok() {}
    while consumer.pop().is_ok() {}
    (producer, consumer)
}

impl<T: Send> Outlet<T> for Producer<T> {
    #[inline]
    fn offer(&mut self, message: T) -> Result<(), T> {
        self.push(message).map_err(|PushError::Full(message)| message)
    }
}

impl<T: Send> Inlet<T> for Consumer<T> {
    #[inline]
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        super::take(most, || self.pop().ok(), each)
    }
}
