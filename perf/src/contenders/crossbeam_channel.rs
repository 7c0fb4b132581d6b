//! The most common channel in Rust programs: `crossbeam_channel::bounded`.

use crossbeam_channel as channel;

use crate::load::queue::{Payload, Queue, Receiver, Sender};
use crate::load::sharing::{self, SharedQueue, Sharing};
use crate::measure::crew::{Disconnected, Finish, RunError};

/// `crossbeam_channel::bounded`, which spins briefly and then parks.
pub(super) struct CrossbeamChannel;

impl Queue for CrossbeamChannel {
    const NAME: &'static str = "crossbeam-channel";
    const WAIT: &'static str = "park";

    type Sender<T: Payload> = channel::Sender<T>;
    type Receiver<T: Payload> = channel::Receiver<T>;

    fn bounded<T: Payload>(capacity: usize) -> (channel::Sender<T>, channel::Receiver<T>) {
        channel::bounded(capacity)
    }
}

impl SharedQueue for CrossbeamChannel {
    fn share(sharing: &Sharing) -> Result<Finish, RunError> {
        sharing::over_one_queue::<Self>(sharing)
    }
}

impl<T: Payload> Sender<T> for channel::Sender<T> {
    #[inline]
    fn send(&self, message: T) -> Result<(), Disconnected> {
        channel::Sender::send(self, message).map_err(|_| Disconnected)
    }
}

impl<T: Payload> Receiver<T> for channel::Receiver<T> {
    #[inline]
    fn receive(&self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}
