//! Channels of Lapwing.

use std::mem;
use std::sync::Arc;
use std::thread;

use lapwing::channel::{self, BroadcastReceiver, Receiver, Sender, SingleSender};
use lapwing::producer::Sequencer;

use crate::ends::{Inbox, Next, Receives, Sends, send_as_thread};
use crate::executors::Executor;
use crate::probe::{Probe, Report, alone};

impl<S: Sequencer + Send + 'static> Sends for Sender<u64, S> {
    const CALL: &'static str = "send_async";

    async fn send(&mut self, next: Next) -> u64 {
        self.send_async(next.value(0)).await.expect("the receiver waits for the end");
        1
    }
}

/// Values of one batch: enough for several waits in a small channel.
const BATCH: u64 = 7;

/// A sender that sends batches.
pub(crate) struct Vectors {
    sender: SingleSender<u64>,
    /// What is left of the batch.
    unsent: Vec<u64>,
    /// Length of the whole batch; 0 between two of them.
    begun: u64,
}

impl Vectors {
    pub(crate) fn new(sender: SingleSender<u64>) -> Self {
        Self { sender, unsent: Vec::new(), begun: 0 }
    }
}

impl Sends for Vectors {
    const CALL: &'static str = "send_batch_async";

    async fn send(&mut self, next: Next) -> u64 {
        if self.begun == 0 {
            self.unsent.extend((0..BATCH).map(|offset| next.value(offset)));
            self.begun = BATCH;
        }
        let sent = self.sender.send_batch_async(&mut self.unsent).await;
        sent.expect("the receiver waits for the end");
        mem::take(&mut self.begun)
    }

    fn is_within_a_batch(&self) -> bool {
        self.begun > 0
    }
}

/// A receiver that receives one by one.
pub(crate) struct One<R = Receiver<u64>>(pub(crate) R);

/// A receiver that receives in batches.
pub(crate) struct Batches<R = Receiver<u64>>(pub(crate) R);

impl Receives for One {
    const CALL: &'static str = "recv_async";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        self.0.recv_async().await.map(|value| inbox.take(value)).is_ok()
    }
}

impl Receives for Batches {
    const CALL: &'static str = "recv_batch_async";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        let batch = self.0.recv_batch_async().await;
        batch.map(|values| values.for_each(|value| inbox.take(value))).is_ok()
    }
}

impl Receives for One<BroadcastReceiver<u64>> {
    const CALL: &'static str = "recv_async";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        self.0.recv_async().await.map(|value| inbox.take(value)).is_ok()
    }
}

impl Receives for Batches<BroadcastReceiver<u64>> {
    const CALL: &'static str = "recv_batch_async";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        let batch = self.0.recv_batch_async().await;
        batch.map(|mut values| values.iter().for_each(|&value| inbox.take(value))).is_ok()
    }
}

/// One sender, made `sending`, and one receiver, made `receiving`.
pub(crate) fn spsc<S: Sends, R: Receives>(
    executor: Executor,
    capacity: usize,
    drops: u64,
    sending: fn(SingleSender<u64>) -> S,
    receiving: fn(Receiver<u64>) -> R,
) -> Report {
    alone(|| {
        let (sender, receiver) = channel::spsc(capacity).unwrap();
        let case = format!("spsc, {capacity}");
        let probe = Probe::new(executor, case, drops, &[S::CALL, R::CALL]);
        let tasks = vec![probe.sends(0, sending(sender)), probe.receives(0, receiving(receiver))];
        probe.run(tasks, Vec::new())
    })
}

/// Four senders, of which two are threads, and one receiver, made `receiving`.
pub(crate) fn mpsc<R: Receives>(
    executor: Executor,
    drops: u64,
    receiving: fn(Receiver<u64>) -> R,
) -> Report {
    alone(|| {
        let (sender, receiver) = channel::mpsc(4).unwrap();
        let probe = Probe::new(executor, "mpsc, 4".to_owned(), drops, &["send_async", R::CALL]);
        let tasks = vec![
            probe.sends(0, sender.clone()),
            probe.sends(1, sender.clone()),
            probe.receives(0, receiving(receiver)),
        ];
        let thread = |number| {
            let (mut sender, probe) = (sender.clone(), Arc::clone(&probe));
            thread::spawn(move || {
                let send = |value| sender.send(value).expect("the receiver waits for the end");
                send_as_thread(&probe, number, || probe.is_behind(R::CALL), send);
            })
        };
        let threads = [2, 3].map(thread).into();
        drop(sender);
        probe.run(tasks, threads)
    })
}

/// One sender and three receivers, of which one receives in batches.
pub(crate) fn broadcast(executor: Executor, drops: u64) -> Report {
    alone(|| {
        let (sender, receivers) = channel::broadcast(4, 3).unwrap();
        let Ok([one, other, third]) = <[_; 3]>::try_from(receivers) else {
            panic!("three receivers")
        };
        let calls = ["send_async", "recv_async", "recv_batch_async"];
        let probe = Probe::new(executor, "broadcast, 4".to_owned(), drops, &calls);
        let tasks = vec![
            probe.sends(0, sender),
            probe.receives(0, One(one)),
            probe.receives(1, One(other)),
            probe.receives(2, Batches(third)),
        ];
        probe.run(tasks, Vec::new())
    })
}
