//! Crossbeam's `ArrayQueue`: one lock-free ring for all senders.

use std::sync::Arc;

use crossbeam_queue::ArrayQueue;

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet};
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// `crossbeam_queue::ArrayQueue`.
pub(super) struct CrossbeamArrayQueue;

impl<const PAD: usize> Mpsc<PAD> for CrossbeamArrayQueue {
    type Sender = Arc<ArrayQueue<Order<PAD>>>;
    type Receiver = Arc<ArrayQueue<Order<PAD>>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let queue = Arc::new(ArrayQueue::new(config.shared_cap));
        Ok((vec![Arc::clone(&queue); senders], queue))
    }
}

impl<T: Send> Outlet<T> for Arc<ArrayQueue<T>> {
    #[inline]
    fn offer(&mut self, message: T) -> Result<(), T> {
        self.push(message)
    }
}

impl<T: Send> Inlet<T> for Arc<ArrayQueue<T>> {
    #[inline]
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        super::take(most, || self.pop(), each)
    }
}
