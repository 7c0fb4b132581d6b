//! Futures that are dropped at random polls, on threads without an executor, for the builds that have
//! no other: Miri, sanitizers, other processors. Each value arrives once and in order. Not here: the
//! executors, the other calls and how long a wait takes (`proof/tests/tasks`).

use std::future::Future;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::thread;

use lapwing::Disruptor;
use lapwing::channel::{self, RecvError};
use lapwing::error::{PublishError, RingError};
use pollster::block_on;

use crate::common::{Lcg, repeats, watched};

const VALUES: u64 = repeats(2_000);

/// Polls a future, and gives it up at a random poll: after it has registered to be woken, or after it
/// was woken and before it learns that.
struct Restless<'a, F> {
    future: Pin<&'a mut F>,
    random: &'a mut Lcg,
    is_polled: bool,
}

impl<F: Future> Future for Restless<'_, F> {
    /// `None` if the future was given up.
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let is_woken = mem::replace(&mut self.is_polled, true);
        if is_woken && self.random.below(4) == 0 {
            return Poll::Ready(None);
        }
        match self.future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.random.below(4) == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Awaits the futures that `make` makes, and drops most of those that wait, until one is ready.
macro_rules! restlessly {
    ($random:expr, $make:expr) => {
        loop {
            let future = pin!($make);
            let output = Restless { future, random: &mut $random, is_polled: false }.await;
            if let Some(output) = output {
                break output;
            }
        }
    };
}

/// Receives `count` values as a task that is restless, in batches or one by one.
async fn receive(mut receiver: channel::Receiver<u64>, count: u64, by_batch: bool) {
    let (mut random, mut next) = (Lcg(7), 0);
    while next < count {
        if by_batch {
            // A batch borrows the receiver, so it cannot be lent out of a loop.
            let is_there = restlessly!(random, async {
                let batch = receiver.recv_batch_async().await.unwrap();
                batch
                    .inspect(|value| assert_eq!(*value, mem::replace(&mut next, value + 1)))
                    .count()
            });
            assert!(is_there > 0);
        } else {
            assert_eq!(restlessly!(random, receiver.recv_async()), Ok(next));
            next += 1;
        }
    }
    assert_eq!(receiver.recv_async().await, Err(RecvError));
}

fn spsc_probe(capacity: usize, by_batch: bool) {
    watched(|| {
        let (mut sender, receiver) = channel::spsc(capacity).unwrap();
        let receiving = thread::spawn(move || block_on(receive(receiver, VALUES, by_batch)));
        block_on(async {
            let mut random = Lcg(1);
            for value in 0..VALUES {
                restlessly!(random, sender.send_async(value)).unwrap();
            }
        });
        drop(sender);
        receiving.join().unwrap();
    });
}

#[test]
fn no_value_is_lost_or_doubled_by_futures_that_are_dropped() {
    for capacity in [1, 2] {
        for by_batch in [false, true] {
            spsc_probe(capacity, by_batch);
        }
    }
}

/// Futures that send several values, and are dropped when some of them are sent.
#[test]
fn a_batch_that_is_sent_in_parts_loses_and_doubles_nothing() {
    for (capacity, count) in [(1, 3), (2, 5), (8, 5), (8, 100)] {
        watched(move || {
            let (mut sender, receiver) = channel::mpsc(capacity).unwrap();
            let receiving = thread::spawn(move || block_on(receive(receiver, VALUES, false)));
            block_on(async {
                let mut random = Lcg(1);
                for first in (0..VALUES).step_by(count) {
                    let end = VALUES.min(first + count as u64);
                    let mut values: Vec<_> = (first..end).collect();
                    restlessly!(random, sender.send_batch_async(&mut values)).unwrap();
                    assert!(values.is_empty());
                }
            });
            drop(sender);
            receiving.join().unwrap();
        });
    }
}

/// A task publishes, a thread handles, and a task reads the end.
#[test]
fn a_ring_has_tasks_at_its_ends_and_a_thread_between() {
    watched(|| {
        let (mut producer, mut consumers) = Disruptor::single_producer(4, || 0_u64)
            .stage("double")
            .write(|event, _, _| *event *= 2)
            .stage("end")
            .poller()
            .build()
            .unwrap();
        let mut end = consumers.take_poller("end").unwrap();
        let running = consumers.start().unwrap();
        let reading = thread::spawn(move || {
            let (mut random, mut next) = (Lcg(7), 0);
            block_on(async {
                loop {
                    let found = restlessly!(random, async {
                        end.wait_async().await.map(|mut batch| {
                            for (_, event) in batch.iter() {
                                assert_eq!(*event, 2 * next);
                                next += 1;
                            }
                        })
                    });
                    if found == Err(RingError::Closed) {
                        return next;
                    }
                    found.unwrap();
                }
            })
        });
        block_on(async {
            let mut random = Lcg(1);
            for value in 0..VALUES {
                restlessly!(random, producer.publish_async(|event| *event = value)).unwrap();
            }
            producer.close();
            let refused = producer.publish_async(|_| unreachable!()).await;
            assert_eq!(refused, Err(PublishError::Closed));
        });
        assert_eq!(reading.join().unwrap(), VALUES);
        running.join().unwrap();
    });
}
