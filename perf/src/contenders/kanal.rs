//! A channel that copies values from stack to stack: `kanal::bounded`.

use kanal as channel;

use crate::load::queue::{Payload, Queue, Receiver, Sender};
use crate::load::sharing::{self, SharedQueue, Sharing};
use crate::measure::crew::{Disconnected, Finish, RunError};

/// `kanal::bounded`, which spins briefly and then parks.
pub(super) struct Kanal;

impl Queue for Kanal {
    const NAME: &'static str = "kanal";
    const WAIT: &'static str = "park";

    type Sender<T: Payload> = channel::Sender<T>;
    type Receiver<T: Payload> = channel::Receiver<T>;

    fn bounded<T: Payload>(capacity: usize) -> (channel::Sender<T>, channel::Receiver<T>) {
        channel::bounded(capacity)
    }
}

impl SharedQueue for Kanal {
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
