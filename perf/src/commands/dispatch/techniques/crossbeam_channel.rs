//! Crossbeam's bounded channel.

use crossbeam_channel::{Receiver, Sender};

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet};
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// `crossbeam_channel::bounded`.
pub(super) struct CrossbeamChannel;

impl<const PAD: usize> Mpsc<PAD> for CrossbeamChannel {
    type Sender = Sender<Order<PAD>>;
    type Receiver = Receiver<Order<PAD>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = crossbeam_channel::bounded(config.shared_cap);
        Ok((vec![sender; senders], receiver))
    }
}

impl<T: Send> Outlet<T> for Sender<T> {
    #[inline]
    fn offer(&mut self, message: T) -> Result<(), T> {
        self.try_send(message).map_err(crossbeam_channel::TrySendError::into_inner)
    }
}

impl<T: Send> Inlet<T> for Receiver<T> {
    #[inline]
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        super::take(most, || self.try_recv().ok(), each)
    }
}
