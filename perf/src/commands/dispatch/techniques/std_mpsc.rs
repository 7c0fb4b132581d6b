//! The standard library's unbounded channel. It is never full, and allocates as it grows.

use std::sync::mpsc::{self, Receiver, Sender};

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet};
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// `std::sync::mpsc::channel`.
pub(super) struct StdMpsc;

impl<const PAD: usize> Mpsc<PAD> for StdMpsc {
    type Sender = Sender<Order<PAD>>;
    type Receiver = Receiver<Order<PAD>>;

    fn build(senders: usize, _: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = mpsc::channel();
        Ok((vec![sender; senders], receiver))
    }
}

impl<T: Send> Outlet<T> for Sender<T> {
    #[inline]
    fn offer(&mut self, message: T) -> Result<(), T> {
        self.send(message).map_err(|refused| refused.0)
    }
}

impl<T: Send> Inlet<T> for Receiver<T> {
    #[inline]
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        super::take(most, || self.try_recv().ok(), each)
    }
}
