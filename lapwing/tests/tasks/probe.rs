//! Probes: values go through a channel or a ring whose ends wait as tasks, and futures are dropped at
//! random polls. Each value arrives once and in order, and no wait takes long.

use std::env;
use std::future::Future;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::Disruptor;
use lapwing::channel::{self, RecvError};
use lapwing::error::{PublishError, RingError};
use pollster::block_on;

use crate::common::{Lcg, repeats, watched};

/// Longest wait of a value.
const LONGEST: Duration = Duration::from_secs(1);

fn values() -> u64 {
    let asked = env::var("LAPWING_TASKS").ok().map(|values| values.parse().unwrap());
    asked.unwrap_or(repeats(20_000))
}

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
            let since = Instant::now();
            let future = pin!($make);
            let output = Restless { future, random: &mut $random, is_polled: false }.await;
            assert!(since.elapsed() < LONGEST, "a wait of {:?}", since.elapsed());
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
        let count = values();
        let receiving = thread::spawn(move || block_on(receive(receiver, count, by_batch)));
        block_on(async {
            let mut random = Lcg(1);
            for value in 0..count {
                restlessly!(random, sender.send_async(value)).unwrap();
            }
        });
        drop(sender);
        receiving.join().unwrap();
    });
}

#[test]
fn no_value_is_lost_or_doubled_by_futures_that_are_dropped() {
    for capacity in [1, 2, 64] {
        for by_batch in [false, true] {
            spsc_probe(capacity, by_batch);
        }
    }
}

/// Senders that are tasks and threads, by turns.
#[test]
fn several_senders_lose_no_value_either() {
    watched(|| {
        let (sender, mut receiver) = channel::mpsc(2).unwrap();
        let count = values() / 4;
        let senders: Vec<_> = (0..4_u64)
            .map(|number| {
                let mut sender = sender.clone();
                thread::spawn(move || {
                    let mut random = Lcg(number);
                    for value in 0..count {
                        if number % 2 == 0 {
                            sender.send((number, value)).unwrap();
                        } else {
                            let sending =
                                async { restlessly!(random, sender.send_async((number, value))) };
                            block_on(sending).unwrap();
                        }
                    }
                })
            })
            .collect();
        drop(sender);
        let mut next = [0; 4];
        block_on(async {
            let mut random = Lcg(7);
            while let Ok((number, value)) = restlessly!(random, receiver.recv_async()) {
                assert_eq!(value, next[number as usize]);
                next[number as usize] += 1;
            }
        });
        assert_eq!(next, [count; 4]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn each_receiver_of_a_broadcast_gets_each_value() {
    watched(|| {
        let (mut sender, receivers) = channel::broadcast(4, 3).unwrap();
        let count = values() / 4;
        let receiving: Vec<_> = (0..)
            .zip(receivers)
            .map(|(number, mut receiver)| {
                thread::spawn(move || {
                    let (mut random, mut next) = (Lcg(number), 0);
                    block_on(async {
                        while let Ok(value) = restlessly!(random, receiver.recv_async()) {
                            assert_eq!(value, next);
                            next += 1;
                        }
                    });
                    next
                })
            })
            .collect();
        block_on(async {
            let mut random = Lcg(1);
            for value in 0..count {
                restlessly!(random, sender.send_async(value)).unwrap();
            }
        });
        drop(sender);
        let received = receiving.into_iter().map(|receiver| receiver.join().unwrap());
        assert_eq!(Vec::from_iter(received), [count; 3]);
    });
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
        let count = values();
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
            for value in 0..count {
                restlessly!(random, producer.publish_async(|event| *event = value)).unwrap();
            }
            producer.close();
            let refused = producer.publish_async(|_| unreachable!()).await;
            assert_eq!(refused, Err(PublishError::Closed));
        });
        assert_eq!(reading.join().unwrap(), count);
        running.join().unwrap();
    });
}
