//! A ring of Lapwing: a task publishes, a thread handles, and a task reads the end.

use std::thread;

use lapwing::{Disruptor, Poller, SingleProducer};

use crate::ends::{Inbox, Next, Receives, SENDERS, Sends};
use crate::executors::Executor;
use crate::probe::{Probe, Report, alone};

/// A power of two, so that it fits several batches.
const CAPACITY: usize = 4;

/// Most events that are published together.
const LARGEST_BATCH: u64 = 3;

/// Publishes events one by one.
pub(crate) struct Events(pub(crate) SingleProducer<u64>);

/// Publishes events together.
pub(crate) struct EventBatches(pub(crate) SingleProducer<u64>);

impl Sends for Events {
    const CALL: &'static str = "publish_async";

    async fn send(&mut self, next: Next) -> u64 {
        let published = self.0.publish_async(|event| *event = next.value(0)).await;
        assert_eq!(published, Ok(next.index));
        1
    }
}

impl Sends for EventBatches {
    const CALL: &'static str = "publish_batch_async";

    async fn send(&mut self, next: Next) -> u64 {
        let count = 1 + next.index % LARGEST_BATCH;
        let published = self.0.publish_batch_async(count as usize, |slots| {
            (0..).zip(slots.iter_mut()).for_each(|(offset, event)| *event = next.value(offset));
        });
        assert_eq!(published.await, Ok(next.index..next.index + count));
        count
    }
}

impl Receives for Poller<u64> {
    const CALL: &'static str = "wait_async";

    async fn receive(&mut self, inbox: &mut Inbox) -> bool {
        let batch = self.wait_async().await;
        let take = |(sequence, event): (u64, &u64)| {
            let sent = event / 2;
            assert_eq!((event % 2, sent / SENDERS), (1, sequence), "the stage before this one");
            inbox.take(sent);
        };
        batch.map(|mut batch| batch.iter().for_each(take)).is_ok()
    }
}

/// One producer, made `sending`, a stage that writes, and a poller behind it.
pub(crate) fn probe<P: Sends>(
    executor: Executor,
    drops: u64,
    sending: fn(SingleProducer<u64>) -> P,
) -> Report {
    alone(|| {
        let (producer, mut consumers) = Disruptor::single_producer(CAPACITY, || 0_u64)
            .stage("change")
            .write(|event, _, _| *event = 2 * *event + 1)
            .stage("end")
            .poller()
            .build()
            .unwrap();
        let end = consumers.take_poller("end").unwrap();
        let running = consumers.start().unwrap();
        let probe = Probe::new(executor, "ring, 4".to_owned(), drops, &[P::CALL, "wait_async"]);
        let tasks = vec![probe.sends(0, sending(producer)), probe.receives(0, end)];
        probe.run(tasks, vec![thread::spawn(|| running.join().map(drop).unwrap())])
    })
}
