//! Rivals that hand each value to one receiver. Of these, tokio's channel receives several values together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossfire::{AsyncRx, AsyncTx, MAsyncTx};
use tokio::sync::{Notify, mpsc};

use crate::load::tasks::wake_up::Bell;
use crate::load::tasks::{Tally, TaskReceiver, TaskSender};
use crate::measure::crew::Disconnected;

/// Most values that tokio's channel receives together: a ring of the default size.
const MOST: usize = 1024;
/// The value that ends the wake-ups of a [`Notify`].
const END: u64 = u64::MAX;

type Ends<S, R> = (Vec<S>, Vec<R>);
type SpscArray = crossfire::spsc::Array<u64>;
type MpscArray = crossfire::mpsc::Array<u64>;

/// Returns a sending end for each of `senders`.
fn shared<S: Clone, R>((sender, receiver): (S, R), senders: usize) -> Ends<S, R> {
    (vec![sender; senders], vec![receiver])
}

pub(super) fn async_channel(
    senders: usize,
    slots: usize,
) -> Ends<async_channel::Sender<u64>, async_channel::Receiver<u64>> {
    shared(async_channel::bounded(slots), senders)
}

pub(super) fn crossfire_spsc(slots: usize) -> Ends<AsyncTx<SpscArray>, AsyncRx<SpscArray>> {
    let (sender, receiver) = crossfire::spsc::bounded_async(slots);
    (vec![sender], vec![receiver])
}

pub(super) fn crossfire_mpsc(
    senders: usize,
    slots: usize,
) -> Ends<MAsyncTx<MpscArray>, AsyncRx<MpscArray>> {
    shared(crossfire::mpsc::bounded_async(slots), senders)
}

pub(super) fn flume(
    senders: usize,
    slots: usize,
) -> Ends<flume::Sender<u64>, flume::Receiver<u64>> {
    shared(flume::bounded(slots), senders)
}

pub(super) fn kanal(
    senders: usize,
    slots: usize,
) -> Ends<kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>> {
    shared(kanal::bounded_async(slots), senders)
}

pub(super) fn thingbuf(
    senders: usize,
    slots: usize,
) -> Ends<thingbuf::mpsc::Sender<u64>, thingbuf::mpsc::Receiver<u64>> {
    shared(thingbuf::mpsc::channel(slots), senders)
}

pub(super) fn tokio(senders: usize, slots: usize) -> Ends<mpsc::Sender<u64>, mpsc::Receiver<u64>> {
    shared(mpsc::channel(slots), senders)
}

/// tokio's channel whose sender is a thread.
pub(super) fn tokio_bell() -> (mpsc::Sender<u64>, mpsc::Receiver<u64>) {
    mpsc::channel(1)
}

/// tokio's channels to wait at.
pub(super) fn idle_tokio(channels: usize) -> Ends<mpsc::Sender<u64>, mpsc::Receiver<u64>> {
    (0..channels).map(|_| mpsc::channel(1)).collect()
}

/// A bare wake-up, and a word beside it.
#[derive(Default)]
struct Word {
    notify: Notify,
    value: AtomicU64,
}

/// The two ends of a [`Word`].
pub(super) struct NotifyBell(Arc<Word>);
pub(super) struct Notified(Arc<Word>);

pub(super) fn notify() -> (NotifyBell, Notified) {
    let word = Arc::<Word>::default();
    (NotifyBell(Arc::clone(&word)), Notified(word))
}

impl Bell for NotifyBell {
    fn ring(&mut self, value: u64) {
        self.0.value.store(value, Ordering::Relaxed); // `notify_one` orders it
        self.0.notify.notify_one();
    }
}

impl Drop for NotifyBell {
    fn drop(&mut self) {
        self.ring(END);
    }
}

impl TaskReceiver for Notified {
    async fn receive_one(&mut self) -> Option<u64> {
        self.0.notify.notified().await;
        let value = self.0.value.load(Ordering::Relaxed);
        (value != END).then_some(value)
    }
}

impl Bell for mpsc::Sender<u64> {
    fn ring(&mut self, value: u64) {
        self.try_send(value).expect("the task has received the last one");
    }
}

/// Implements an end by the methods that it has under these names.
macro_rules! ends {
    ($($sender:ty => $send:ident, $receiver:ty => $receive:ident;)*) => { $(
        impl TaskSender for $sender {
            async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
                self.$send(value).await.map_err(|_| Disconnected)
            }
        }

        impl TaskReceiver for $receiver {
            async fn receive_one(&mut self) -> Option<u64> {
                self.$receive().await.ok()
            }
        }
    )* };
}

ends! {
    async_channel::Sender<u64> => send, async_channel::Receiver<u64> => recv;
    AsyncTx<SpscArray> => send, AsyncRx<SpscArray> => recv;
    MAsyncTx<MpscArray> => send, AsyncRx<MpscArray> => recv;
    flume::Sender<u64> => send_async, flume::Receiver<u64> => recv_async;
    kanal::AsyncSender<u64> => send, kanal::AsyncReceiver<u64> => recv;
}

impl TaskSender for thingbuf::mpsc::Sender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send(value).await.map_err(|_| Disconnected)
    }
}

impl TaskReceiver for thingbuf::mpsc::Receiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv().await
    }
}

impl TaskSender for mpsc::Sender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send(value).await.map_err(|_| Disconnected)
    }
}

impl TaskReceiver for mpsc::Receiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv().await
    }

    async fn receive_batch(&mut self) -> Option<Tally> {
        let mut values = Vec::with_capacity(MOST);
        let count = self.recv_many(&mut values, MOST).await;
        (count > 0).then(|| values.into_iter().collect())
    }
}
