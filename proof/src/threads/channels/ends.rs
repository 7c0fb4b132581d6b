//! The ends of the channels, behind one interface for each side.

use lapwing::channel::{BroadcastReceiver, MultiSender, Receiver, SingleSender, TryRecvError};

use crate::threads::event::Payload as Value;

/// A receiving end.
pub(super) trait Receives: Send + 'static {
    /// Receives some values by one of several calls. Returns whether there may be more.
    fn receive(&mut self, turn: u64, see: impl FnMut(&Value)) -> bool;
}

/// Sees what a call found that does not wait. Returns whether there may be more.
fn tried(found: Result<Value, TryRecvError>, mut see: impl FnMut(&Value)) -> bool {
    match found {
        Ok(value) => {
            see(&value);
            true
        }
        Err(TryRecvError::Empty) => true,
        Err(TryRecvError::Disconnected) => false,
    }
}

impl Receives for Receiver<Value> {
    fn receive(&mut self, turn: u64, mut see: impl FnMut(&Value)) -> bool {
        match turn % 8 {
            0 => self.recv().map(|value| see(&value)).is_ok(),
            1 => tried(self.try_recv(), see),
            _ => self.recv_batch().map(|values| values.for_each(|value| see(&value))).is_ok(),
        }
    }
}

impl Receives for BroadcastReceiver<Value> {
    fn receive(&mut self, turn: u64, mut see: impl FnMut(&Value)) -> bool {
        match turn % 8 {
            0 => self.recv().map(|value| see(&value)).is_ok(),
            1 => tried(self.try_recv(), see),
            _ => self.recv_batch().map(|mut values| values.iter().for_each(see)).is_ok(),
        }
    }
}

/// A sending end that may have more of its kind.
pub(super) trait Another: Sized + Send + 'static {
    /// Returns another sender, if there can be one.
    fn another(&self) -> Option<Self>;
}

impl Another for SingleSender<Value> {
    fn another(&self) -> Option<Self> {
        None
    }
}

impl Another for MultiSender<Value> {
    fn another(&self) -> Option<Self> {
        Some(self.clone())
    }
}
