//! A ring with one sender for each sender, and a receiver that polls them in turn. There is no
//! contention, but the receiver polls many rings.

use rtrb::{Consumer, Producer};

use super::{Mpsc, Queue, spsc};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::Inlet;
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// An `rtrb` ring for each sender.
pub(super) struct SpscMux;

impl<const PAD: usize> Mpsc<PAD> for SpscMux {
    type Sender = Producer<Order<PAD>>;
    type Receiver = Mux<Order<PAD>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (senders, rings) = (0..senders).map(|_| spsc::ring(config.spsc_cap)).unzip();
        Ok((senders, Mux { rings, next: 0 }))
    }
}

/// The receiving ends.
pub(super) struct Mux<T> {
    /// One for each sender.
    rings: Vec<Consumer<T>>,
    /// The ring that is polled next.
    next: usize,
}

impl<T> Mux<T> {
    /// Returns the next message, from the first ring that has one.
    #[inline]
    fn pop(&mut self) -> Option<T> {
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

impl<T: Send> Inlet<T> for Mux<T> {
    #[inline]
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        super::take(most, || self.pop(), each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
