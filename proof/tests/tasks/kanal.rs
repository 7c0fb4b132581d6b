//! The asynchronous channel of kanal. A future of `recv` that waits is handed a value before it is polled again, and
//! drops it with itself.

use kanal::{AsyncReceiver, AsyncSender, bounded_async};

use crate::ends::{Inbox, Next, Receives, Sends};
use crate::executors::Executor;
use crate::probe::{Probe, Report, alone};

impl Sends for AsyncSender<u64> {
    const CALL: &'static str = "send";

    async fn send(&mut self, next: Next) -> u64 {
        AsyncSender::send(self, next.value(0)).await.expect("the receiver waits for the end");
        1
    }
}

impl Receives for AsyncReceiver<u64> {
    const CALL: &'static str = "recv";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        self.recv().await.map(|value| inbox.take(value)).is_ok()
    }
}

/// One sender and one receiver.
pub(crate) fn probe(executor: Executor, capacity: usize, drops: u64) -> Report {
    alone(|| {
        let (sender, receiver) = bounded_async(capacity);
        let case = format!("kanal, {capacity}");
        let probe = Probe::new(executor, case, drops, &["send", "recv"]);
        let tasks = vec![probe.sends(0, sender), probe.receives(0, receiver)];
        probe.run(tasks, Vec::new())
    })
}
