//! Lapwing: its channels one by one and with batches at the receiving end, and its ring with batches at both.

use lapwing::channel::{self, BroadcastReceiver, MultiSender, Receiver, SingleSender};
use lapwing::{Disruptor, Poller, SingleProducer};

use crate::load::tasks::wake_up::Bell;
use crate::load::tasks::{Tally, TaskReceiver, TaskSender};
use crate::measure::crew::{Disconnected, RunError};

pub(super) struct Ring(SingleProducer<u64>);
pub(super) struct Reader(Poller<u64>);

type Ends<S, R> = Result<(Vec<S>, Vec<R>), RunError>;

/// A channel with one sender.
pub(super) fn spsc(slots: usize) -> Ends<SingleSender<u64>, Receiver<u64>> {
    let (sender, receiver) = channel::spsc(slots).map_err(RunError::refused)?;
    Ok((vec![sender], vec![receiver]))
}

/// A channel with several senders.
pub(super) fn mpsc(senders: usize, slots: usize) -> Ends<MultiSender<u64>, Receiver<u64>> {
    let (sender, receiver) = channel::mpsc(slots).map_err(RunError::refused)?;
    Ok((vec![sender; senders], vec![receiver]))
}

/// A broadcast.
pub(super) fn broadcast(
    receivers: usize,
    slots: usize,
) -> Ends<SingleSender<u64>, BroadcastReceiver<u64>> {
    let (sender, receivers) = channel::broadcast(slots, receivers).map_err(RunError::refused)?;
    Ok((vec![sender], receivers.into_iter().collect()))
}

/// A ring with pollers side by side.
pub(super) fn ring(readers: usize, slots: usize) -> Ends<Ring, Reader> {
    let name = |reader: usize| format!("reader {reader}");
    let build = Disruptor::single_producer(slots, u64::default).parallel(|stages| {
        let first = stages.stage(name(0)).poller();
        (1..readers).fold(first, |stages, reader| stages.stage(name(reader)).poller())
    });
    let (producer, mut consumers) = build.build().map_err(RunError::refused)?;
    let readers = (0..readers)
        .map(|reader| consumers.take_poller(&name(reader)).map(Reader).map_err(RunError::refused));
    Ok((vec![Ring(producer)], readers.collect::<Result<_, _>>()?))
}

/// A channel whose sender is a thread.
pub(super) fn bell() -> Result<(SingleSender<u64>, Receiver<u64>), RunError> {
    channel::spsc(1).map_err(RunError::refused)
}

/// Channels to wait at.
pub(super) fn idle(channels: usize) -> Ends<SingleSender<u64>, Receiver<u64>> {
    (0..channels).map(|_| bell()).collect()
}

impl TaskSender for SingleSender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send_async(value).await.map_err(|_| Disconnected)
    }
}

impl TaskSender for MultiSender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send_async(value).await.map_err(|_| Disconnected)
    }
}

impl Bell for SingleSender<u64> {
    fn ring(&mut self, value: u64) {
        self.send(value).expect("the task stays until the end");
    }
}

impl TaskReceiver for Receiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv_async().await.ok()
    }

    async fn receive_batch(&mut self) -> Option<Tally> {
        Some(self.recv_batch_async().await.ok()?.collect())
    }
}

impl TaskReceiver for BroadcastReceiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv_async().await.ok()
    }

    async fn receive_batch(&mut self) -> Option<Tally> {
        Some(self.recv_batch_async().await.ok()?.iter().copied().collect())
    }
}

impl TaskSender for Ring {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send_batch(value..value + 1).await
    }

    async fn send_batch(&mut self, values: std::ops::Range<u64>) -> Result<(), Disconnected> {
        let count = (values.end - values.start) as usize;
        let fill = self.0.publish_batch_async(count, |slots| {
            values.zip(slots.iter_mut()).for_each(|(value, slot)| *slot = value);
        });
        fill.await.map(drop).map_err(|_| Disconnected)
    }
}

impl TaskReceiver for Reader {
    async fn receive_one(&mut self) -> Option<u64> {
        let mut batch = self.0.wait_async().await.ok()?;
        batch.iter().next().map(|(_, value)| *value)
    }

    async fn receive_batch(&mut self) -> Option<Tally> {
        let mut batch = self.0.wait_async().await.ok()?;
        Some(batch.iter().map(|(_, value)| *value).collect())
    }
}
