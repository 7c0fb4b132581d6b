//! The original's queues, each as it is used without waiting, and `rtrb`: a ring with one sender and one receiver,
//! without atomic read-modify-writes. It carries orders wherever there is only one sender.

use std::sync::{Arc, mpsc};

use crossbeam_channel::TrySendError;
use crossbeam_queue::ArrayQueue;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Outlet, Pop};
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// `std::sync::mpsc::channel`. It is never full, and allocates as it grows.
pub(super) struct StdMpsc;

impl<const PAD: usize> Mpsc<PAD> for StdMpsc {
    type Sender = mpsc::Sender<Order<PAD>>;
    type Receiver = mpsc::Receiver<Order<PAD>>;

    fn build(senders: usize, _: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = mpsc::channel();
        Ok((vec![sender; senders], receiver))
    }
}

impl<const PAD: usize> Outlet<PAD> for mpsc::Sender<Order<PAD>> {
    #[inline]
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>> {
        self.send(order).map_err(|refused| refused.0)
    }
}

impl<const PAD: usize> Pop<PAD> for mpsc::Receiver<Order<PAD>> {
    #[inline]
    fn pop_one(&mut self) -> Option<Order<PAD>> {
        self.try_recv().ok()
    }
}

/// `crossbeam_channel::bounded`.
pub(super) struct CrossbeamChannel;

impl<const PAD: usize> Mpsc<PAD> for CrossbeamChannel {
    type Sender = crossbeam_channel::Sender<Order<PAD>>;
    type Receiver = crossbeam_channel::Receiver<Order<PAD>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = crossbeam_channel::bounded(config.shared_cap);
        Ok((vec![sender; senders], receiver))
    }
}

impl<const PAD: usize> Outlet<PAD> for crossbeam_channel::Sender<Order<PAD>> {
    #[inline]
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>> {
        self.try_send(order).map_err(TrySendError::into_inner)
    }
}

impl<const PAD: usize> Pop<PAD> for crossbeam_channel::Receiver<Order<PAD>> {
    #[inline]
    fn pop_one(&mut self) -> Option<Order<PAD>> {
        self.try_recv().ok()
    }
}

/// `crossbeam_queue::ArrayQueue`: one lock-free ring for all senders.
pub(super) struct CrossbeamArrayQueue;

impl<const PAD: usize> Mpsc<PAD> for CrossbeamArrayQueue {
    type Sender = Arc<ArrayQueue<Order<PAD>>>;
    type Receiver = Arc<ArrayQueue<Order<PAD>>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let queue = Arc::new(ArrayQueue::new(config.shared_cap));
        Ok((vec![Arc::clone(&queue); senders], queue))
    }
}

impl<const PAD: usize> Outlet<PAD> for Arc<ArrayQueue<Order<PAD>>> {
    #[inline]
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>> {
        self.push(order)
    }
}

impl<const PAD: usize> Pop<PAD> for Arc<ArrayQueue<Order<PAD>>> {
    #[inline]
    fn pop_one(&mut self) -> Option<Order<PAD>> {
        self.pop()
    }
}

/// An `rtrb` ring for each sender, and a receiver that polls them in turn. There is no contention, but the receiver
/// polls many rings.
pub(super) struct SpscMux;

impl<const PAD: usize> Mpsc<PAD> for SpscMux {
    type Sender = Producer<Order<PAD>>;
    type Receiver = Mux<PAD>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (senders, rings) = (0..senders).map(|_| rtrb_ring(config.spsc_cap)).unzip();
        Ok((senders, Mux { rings, next: 0 }))
    }
}

/// Creates a ring of `slots`, whose memory has been touched.
pub(super) fn rtrb_ring<const PAD: usize>(
    slots: usize,
) -> (Producer<Order<PAD>>, Consumer<Order<PAD>>) {
    let (mut producer, mut consumer) = RingBuffer::new(slots);
    while producer.push(Order::default()).is_ok() {}
    while consumer.pop().is_ok() {}
    (producer, consumer)
}

impl<const PAD: usize> Outlet<PAD> for Producer<Order<PAD>> {
    #[inline]
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>> {
        self.push(order).map_err(|PushError::Full(order)| order)
    }
}

impl<const PAD: usize> Pop<PAD> for Consumer<Order<PAD>> {
    #[inline]
    fn pop_one(&mut self) -> Option<Order<PAD>> {
        self.pop().ok()
    }
}

/// The receiving ends of several rings.
pub(super) struct Mux<const PAD: usize> {
    /// One for each sender.
    rings: Vec<Consumer<Order<PAD>>>,
    /// The ring that is polled next.
    next: usize,
}

impl<const PAD: usize> Pop<PAD> for Mux<PAD> {
    /// Returns the next order, from the first ring that has one.
    #[inline]
    fn pop_one(&mut self) -> Option<Order<PAD>> {
        for _ in 0..self.rings.len() {
            let asked = self.next;
            self.next = if asked + 1 == self.rings.len() { 0 } else { asked + 1 };
            if let Ok(message) = self.rings[asked].pop() {
                return Some(message);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::dispatch::hand_off::Inlet;
    use crate::commands::dispatch::order::SMALL;

    #[test]
    fn busy_ring_does_not_keep_the_others_waiting() {
        let (mut senders, mut mux) = <SpscMux as Mpsc<SMALL>>::build(3, &Config::scaled()).unwrap();
        for number in 0..3 {
            senders[0].push(Order::new(0, number, 0)).unwrap();
        }
        senders[2].push(Order::new(2, 0, 0)).unwrap();

        let mut strategies = Vec::new();
        assert_eq!(mux.drain(2, |order| strategies.push(order.strategy)), 2);
        assert_eq!(strategies, [0, 2]);
        assert_eq!(mux.drain(8, |order| strategies.push(order.strategy)), 2);
    }
}
