//! A technique that confuses two orders, hidden from the help. It tests that such a run is refused.
//! As many orders return as were sent, so only a check of each order finds the error.

use std::sync::mpsc::{self, Receiver, Sender};

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::Inlet;
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// The order that is lost.
const VICTIM: u32 = 1;

/// The standard library's channel, with a faulty receiver.
pub(super) struct WrongAnswer;

impl<const PAD: usize> Mpsc<PAD> for WrongAnswer {
    type Sender = Sender<Order<PAD>>;
    type Receiver = Mistaken<Receiver<Order<PAD>>>;

    fn build(senders: usize, _: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = mpsc::channel();
        Ok((vec![sender; senders], Mistaken(receiver)))
    }
}

/// Returns order 0 in place of another.
pub(super) struct Mistaken<I>(I);

impl<const PAD: usize, I: Inlet<PAD>> Inlet<PAD> for Mistaken<I> {
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        self.0.drain(most, |order| {
            let is_victim = order.number == VICTIM;
            let stamped_at = order.stamped_at();
            each(if is_victim { Order::new(order.strategy, 0, stamped_at) } else { order });
        })
    }
}
