//! The queues of other libraries, a few lines each. A further one implements [`Queue`], and has an entry in
//! [`CONTENDERS`](super::registry::CONTENDERS) that says where it takes part: in graphs, under load, or both.

use std::num::NonZeroUsize;
use std::sync::mpsc;

use crossfire::{BlockingRxTrait, BlockingTxTrait};
use thingbuf::mpsc::blocking;

use crate::load::queue::{Payload, Queue};
use crate::measure::crew::Disconnected;

/// `std::sync::mpsc::sync_channel`, which spins briefly and then parks.
#[derive(Clone, Copy, Default)]
pub(crate) struct StdMpsc;

/// `crossbeam_channel::bounded`, which spins briefly and then parks.
#[derive(Clone, Copy, Default)]
pub(super) struct CrossbeamChannel;

/// `flume::bounded`, a lock around a queue, which parks.
#[derive(Clone, Copy, Default)]
pub(super) struct Flume;

/// `kanal::bounded`, which spins briefly and then parks. It copies a value from stack to stack if the other side waits.
#[derive(Clone, Copy, Default)]
pub(super) struct Kanal;

/// `crossfire::mpsc::bounded_blocking`. As its documentation asks, it counts the CPUs first.
#[derive(Clone, Copy, Default)]
pub(super) struct Crossfire;

/// `crossfire::spsc::bounded_blocking`.
#[derive(Clone, Copy, Default)]
pub(super) struct CrossfireSingle;

/// `gil::mpsc::channel`, which spins and yields. The channel of `gil` that parks loses wake-ups, so it is not measured.
/// No end of `gil` reports whether the other one exists.
#[derive(Clone, Copy, Default)]
pub(super) struct Gil;

/// `gil::spsc::channel`.
#[derive(Clone, Copy, Default)]
pub(super) struct GilSingle;

/// `thingbuf::mpsc::blocking`, which parks. A sender that waits for a slot can sleep forever after the receiver is gone.
#[derive(Clone, Copy, Default)]
pub(super) struct Thingbuf;

impl Queue for StdMpsc {
    const NAME: &'static str = "std-mpsc";
    const WAIT: &'static str = "park";
    type Sender<T: Payload> = mpsc::SyncSender<T>;
    type Receiver<T: Payload> = mpsc::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<mpsc::SyncSender<T>>, mpsc::Receiver<T>) {
        several(mpsc::sync_channel(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut mpsc::SyncSender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut mpsc::Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }
}

impl Queue for CrossbeamChannel {
    const NAME: &'static str = "crossbeam-channel";
    const WAIT: &'static str = "park";
    type Sender<T: Payload> = crossbeam_channel::Sender<T>;
    type Receiver<T: Payload> = crossbeam_channel::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        several(crossbeam_channel::bounded(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }

    fn share<T: Payload>(receiver: &Self::Receiver<T>) -> Option<Self::Receiver<T>> {
        Some(receiver.clone())
    }
}

impl Queue for Flume {
    const NAME: &'static str = "flume";
    const WAIT: &'static str = "park";
    type Sender<T: Payload> = flume::Sender<T>;
    type Receiver<T: Payload> = flume::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        several(flume::bounded(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }

    fn share<T: Payload>(receiver: &Self::Receiver<T>) -> Option<Self::Receiver<T>> {
        Some(receiver.clone())
    }
}

impl Queue for Kanal {
    const NAME: &'static str = "kanal";
    const WAIT: &'static str = "park";
    type Sender<T: Payload> = kanal::Sender<T>;
    type Receiver<T: Payload> = kanal::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        several(kanal::bounded(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().map_err(|_| Disconnected)
    }

    fn share<T: Payload>(receiver: &Self::Receiver<T>) -> Option<Self::Receiver<T>> {
        Some(receiver.clone())
    }
}

impl Queue for Crossfire {
    const NAME: &'static str = "crossfire";
    const WAIT: &'static str = "park";
    type Sender<T: Payload> = crossfire::MTx<crossfire::mpsc::Array<T>>;
    type Receiver<T: Payload> = crossfire::Rx<crossfire::mpsc::Array<T>>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        crossfire::detect_backoff_cfg();
        several(crossfire::mpsc::bounded_blocking(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        BlockingTxTrait::send(sender, message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        BlockingRxTrait::recv(receiver).map_err(|_| Disconnected)
    }
}

impl Queue for CrossfireSingle {
    const NAME: &'static str = Crossfire::NAME;
    const WAIT: &'static str = Crossfire::WAIT;
    type Sender<T: Payload> = crossfire::Tx<crossfire::spsc::Array<T>>;
    type Receiver<T: Payload> = crossfire::Rx<crossfire::spsc::Array<T>>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        assert_eq!(senders, 1, "the channel is for one sender");
        crossfire::detect_backoff_cfg();
        let (sender, receiver) = crossfire::spsc::bounded_blocking(slots);
        (vec![sender], receiver)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        BlockingTxTrait::send(sender, message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        BlockingRxTrait::recv(receiver).map_err(|_| Disconnected)
    }
}

impl Queue for Gil {
    const NAME: &'static str = "gil";
    const WAIT: &'static str = "yield";
    const REPORTS_ENDS: bool = false;
    type Sender<T: Payload> = gil::mpsc::Sender<T>;
    type Receiver<T: Payload> = gil::mpsc::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        several(gil::mpsc::channel(at_least_one(slots)), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message);
        Ok(())
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        Ok(receiver.recv())
    }
}

impl Queue for GilSingle {
    const NAME: &'static str = Gil::NAME;
    const WAIT: &'static str = Gil::WAIT;
    const REPORTS_ENDS: bool = Gil::REPORTS_ENDS;
    type Sender<T: Payload> = gil::spsc::Sender<T>;
    type Receiver<T: Payload> = gil::spsc::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        assert_eq!(senders, 1, "the channel is for one sender");
        let (sender, receiver) = gil::spsc::channel(at_least_one(slots));
        (vec![sender], receiver)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message);
        Ok(())
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        Ok(receiver.recv())
    }
}

impl Queue for Thingbuf {
    const NAME: &'static str = "thingbuf";
    const WAIT: &'static str = "park";
    const REPORTS_ENDS: bool = false;
    type Sender<T: Payload> = blocking::Sender<T>;
    type Receiver<T: Payload> = blocking::Receiver<T>;

    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>) {
        several(blocking::channel(slots), senders)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message).map_err(|_| Disconnected)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected> {
        receiver.recv().ok_or(Disconnected)
    }
}

/// Clones the sender until there are this many, so that no further clone keeps the queue open.
fn several<S: Clone, R>((sender, receiver): (S, R), senders: usize) -> (Vec<S>, R) {
    (vec![sender; senders], receiver)
}

fn at_least_one(slots: usize) -> NonZeroUsize {
    NonZeroUsize::new(slots).unwrap_or(NonZeroUsize::MIN)
}
