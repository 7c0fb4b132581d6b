//! The ends of rival channels, which send and receive one value at a time.

use crossfire::{BlockingRxTrait, BlockingTxTrait};
use thingbuf::mpsc::blocking;

use crate::load::traffic::{ReceiveEnd, SendEnd};
use crate::load::value::Value;
use crate::measure::crew::Disconnected;

/// An end of the crate `crossfire`, whose types depend on the kind of channel.
pub(super) struct Crossfire<End>(pub(super) End);

impl<T: Value> SendEnd<T> for std::sync::mpsc::SyncSender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        std::sync::mpsc::SyncSender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for std::sync::mpsc::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}

impl<T: Value> SendEnd<T> for crossbeam_channel::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        crossbeam_channel::Sender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for crossbeam_channel::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}

impl<T: Value> SendEnd<T> for kanal::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        kanal::Sender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for kanal::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}

impl<T: Value> SendEnd<T> for flume::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        flume::Sender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for flume::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}

impl<T: Value, End: BlockingTxTrait<T> + Send> SendEnd<T> for Crossfire<End> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        self.0.send(value).map_err(|_| Disconnected)
    }
}

impl<T: Value, End: BlockingRxTrait<T> + Send> ReceiveEnd<T> for Crossfire<End> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.0.recv().map_err(|_| Disconnected)
    }
}

impl<T: Value> SendEnd<T> for blocking::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        blocking::Sender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for blocking::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().ok_or(Disconnected)
    }
}

// The ends of `gil` do not report whether the other end exists.

impl<T: Value> SendEnd<T> for gil::spsc::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        gil::spsc::Sender::send(self, value);
        Ok(())
    }
}

impl<T: Value> ReceiveEnd<T> for gil::spsc::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        Ok(self.recv())
    }
}

impl<T: Value> SendEnd<T> for gil::mpsc::Sender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        gil::mpsc::Sender::send(self, value);
        Ok(())
    }
}

impl<T: Value> ReceiveEnd<T> for gil::mpsc::Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        Ok(self.recv())
    }
}
