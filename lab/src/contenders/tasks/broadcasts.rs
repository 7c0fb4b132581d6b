//! Rivals that hand each value to each receiver. None sends or receives several values together.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::load::tasks::{TaskReceiver, TaskSender};
use crate::measure::crew::Disconnected;

/// The receiver of tokio's broadcast, and how many values it has lost.
pub(super) struct Lossy {
    receiver: broadcast::Receiver<u64>,
    lost: u64,
}

/// async-broadcast.
pub(super) fn async_broadcast(
    receivers: usize,
    slots: usize,
) -> (Vec<async_broadcast::Sender<u64>>, Vec<async_broadcast::Receiver<u64>>) {
    let (sender, receiver) = async_broadcast::broadcast(slots);
    (vec![sender], vec![receiver; receivers])
}

/// The bounded broadcast of asyncband.
pub(super) fn asyncband(
    receivers: usize,
    slots: usize,
) -> (
    Vec<asyncband::broadcast::mpmc::BoundedSender<u64>>,
    Vec<asyncband::broadcast::mpmc::BoundedReceiver<u64>>,
) {
    let (sender, first) = asyncband::broadcast::mpmc::bounded(slots);
    let receivers = (1..receivers).map(|_| sender.subscribe()).chain([first]).collect();
    (vec![sender], receivers)
}

/// tokio's broadcast.
pub(super) fn tokio(receivers: usize, slots: usize) -> (Vec<broadcast::Sender<u64>>, Vec<Lossy>) {
    let (sender, _) = broadcast::channel(slots);
    let receiver = |_| Lossy { receiver: sender.subscribe(), lost: 0 };
    let receivers = (0..receivers).map(receiver).collect();
    (vec![sender], receivers)
}

impl TaskSender for async_broadcast::Sender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.broadcast_direct(value).await.map(drop).map_err(|_| Disconnected)
    }
}

impl TaskReceiver for async_broadcast::Receiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv_direct().await.ok()
    }
}

impl TaskSender for asyncband::broadcast::mpmc::BoundedSender<u64> {
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        self.send(value).await;
        Ok(())
    }
}

impl TaskReceiver for asyncband::broadcast::mpmc::BoundedReceiver<u64> {
    async fn receive_one(&mut self) -> Option<u64> {
        self.recv().await.ok()
    }
}

impl TaskSender for broadcast::Sender<u64> {
    /// Never waits. So it lets other tasks run as often as the runtime asks of a task that does.
    async fn send_one(&mut self, value: u64) -> Result<(), Disconnected> {
        tokio::task::consume_budget().await;
        self.send(value).map(drop).map_err(|_| Disconnected)
    }
}

impl TaskReceiver for Lossy {
    async fn receive_one(&mut self) -> Option<u64> {
        loop {
            match self.receiver.recv().await {
                Ok(value) => return Some(value),
                Err(RecvError::Lagged(lost)) => self.lost += lost,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}
