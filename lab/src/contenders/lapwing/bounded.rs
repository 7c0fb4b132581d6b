//! Lapwing's channel under load: one value at a time, with the default strategy at both ends or
//! another one. Channels as the arcs of a graph are in `channel`.

use lapwing::channel::{Builder, MultiSender, Receiver, SingleSender};
use lapwing::wait::{Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};

use super::WaitName;
use super::one_ring::setting::PHASED_BACKOFF;
use crate::load::queue::{Payload, Queue};
use crate::measure::crew::Disconnected;

/// Channels for one sender, with this strategy at both ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::contenders) struct Single(pub(in crate::contenders) WaitName);

/// Channels for several senders, with this strategy at both ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::contenders) struct Multi(pub(in crate::contenders) WaitName);

impl Queue for Single {
    const NAME: &'static str = "lapwing";
    const WAIT: &'static str = "adaptive";
    type Sender<T: Payload> = SingleSender<T>;
    type Receiver<T: Payload> = Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<SingleSender<T>>, Receiver<T>) {
        assert_eq!(senders, 1, "the channel is for one sender");
        let builder = Builder::new(slots);
        let (sender, receiver) = match self.0 {
            WaitName::Adaptive => builder.spsc(), // the default, whatever the builder starts with
            WaitName::BusySpin => both(builder, BusySpin).spsc(),
            WaitName::Yielding => both(builder, Yielding::default()).spsc(),
            WaitName::Sleeping => both(builder, Sleeping::default()).spsc(),
            WaitName::Blocking => both(builder, Blocking::default()).spsc(),
            WaitName::PhasedBackoff => both(builder, PHASED_BACKOFF).spsc(),
        }
        .expect("the command line takes capacities that a channel takes");
        (vec![sender], receiver)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut SingleSender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }
}

impl Queue for Multi {
    const NAME: &'static str = Single::NAME;
    const WAIT: &'static str = Single::WAIT;
    type Sender<T: Payload> = MultiSender<T>;
    type Receiver<T: Payload> = Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<MultiSender<T>>, Receiver<T>) {
        let builder = Builder::new(slots);
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

    #[inline]
    fn send<T: Payload>(sender: &mut MultiSender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }
}

/// Returns `builder` with `strategy` at both ends.
fn both<W: WaitStrategy + Clone>(builder: Builder, strategy: W) -> Builder<W, W> {
    builder.receiver_wait_strategy(strategy.clone()).sender_wait_strategy(strategy)
}
