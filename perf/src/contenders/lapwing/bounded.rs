//! Lapwing's channel under load: one value at a time, with the default strategy at both ends or
//! another one. Channels as the arcs of a graph are in `channel`.

use lapwing::channel::{Builder, MultiSender, Receiver, SingleSender};
use lapwing::wait::{Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};

use super::WaitName;
use super::one_ring::setting::PHASED_BACKOFF;
use crate::contenders::channels::Library;
use crate::load::traffic::{ReceiveEnd, SendEnd};
use crate::load::value::Value;
use crate::measure::crew::Disconnected;

/// Channels with this strategy at both ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::contenders) struct Own(pub(in crate::contenders) WaitName);

impl Library for Own {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        let builder = Builder::new(capacity);
        let (sender, receiver) = match self.0 {
            WaitName::Adaptive => builder.mpsc(), // the default, whatever the builder starts with
            WaitName::BusySpin => both(builder, BusySpin).mpsc(),
            WaitName::Yielding => both(builder, Yielding::default()).mpsc(),
            WaitName::Sleeping => both(builder, Sleeping::default()).mpsc(),
            WaitName::Blocking => both(builder, Blocking::default()).mpsc(),
            WaitName::PhasedBackoff => both(builder, PHASED_BACKOFF).mpsc(),
        }
        .expect("the command line takes capacities that a channel takes");
        (vec![sender; senders], receiver)
    }

    fn spsc<T: Value>(
        self,
        capacity: usize,
    ) -> (impl SendEnd<T> + use<T>, impl ReceiveEnd<T> + use<T>) {
        let builder = Builder::new(capacity);
        match self.0 {
            WaitName::Adaptive => builder.spsc(),
            WaitName::BusySpin => both(builder, BusySpin).spsc(),
            WaitName::Yielding => both(builder, Yielding::default()).spsc(),
            WaitName::Sleeping => both(builder, Sleeping::default()).spsc(),
            WaitName::Blocking => both(builder, Blocking::default()).spsc(),
            WaitName::PhasedBackoff => both(builder, PHASED_BACKOFF).spsc(),
        }
        .expect("the command line takes capacities that a channel takes")
    }
}

/// Returns `builder` with `strategy` at both ends.
fn both<W: WaitStrategy + Clone>(builder: Builder, strategy: W) -> Builder<W, W> {
    builder.receiver_wait(strategy.clone()).sender_wait(strategy)
}

impl<T: Value> SendEnd<T> for SingleSender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        SingleSender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> SendEnd<T> for MultiSender<T> {
    #[inline]
    fn send(&mut self, value: T) -> Result<(), Disconnected> {
        MultiSender::send(self, value).map_err(|_| Disconnected)
    }
}

impl<T: Value> ReceiveEnd<T> for Receiver<T> {
    #[inline]
    fn receive(&mut self) -> Result<T, Disconnected> {
        self.recv().map_err(|_| Disconnected)
    }
}
