//! The standard library's bounded channel: `std::sync::mpsc::sync_channel`.

use std::sync::mpsc;

use crate::load::queue::{Payload, Queue, Receiver, Sender};
use crate::load::sharing::{self, SharedQueue, Sharing};
use crate::measure::crew::{Disconnected, Finish, RunError};

/// `std::sync::mpsc::sync_channel`, which spins briefly and then parks.
pub(super) struct StdMpsc;

impl Queue for StdMpsc {
    const NAME: &'static str = "std-mpsc";
    const WAIT: &'static str = "park";

    type Sender<T: Payload> = mpsc::SyncSender<T>;
    type Receiver<T: Payload> = mpsc::Receiver<T>;

    fn bounded<T: Payload>(capacity: usize) -> (mpsc::SyncSender<T>, mpsc::Receiver<T>) {
        mpsc::sync_channel(capacity)
    }
}

impl SharedQueue for StdMpsc {
    fn share(sharing: &Sharing) -> Result<Finish, RunError> {
        sharing::over_dealt_queues::<Self>(sharing)
    }
}

impl<T: Payload> Sender<T> for mpsc::SyncSender<T> {
    #[inline]
    fn send(&self, message: T) -> Result<(), Disconnected> {
        mpsc::SyncSender::send(self, message).map_err(|_| Disconnected)
    }
}

impl<T: Payload> Receiver<T> for mpsc::Receiver<T> {
    #[inline]
    fn receive(&self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}
