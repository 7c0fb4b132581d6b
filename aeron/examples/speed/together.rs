//! The same two rings on two threads: the producer's thread also sends, the subscriber's thread
//! also consumes. It shows what the rings cost without the hand-over between threads.

use std::thread;
use std::time::{Duration, Instant};

use lapwing::{Action, Disruptor, Poller, SingleProducer};
use lapwing_aeron::{Publisher, Subscriber};
use rusteron_client::{BackoffIdleStrategy, IdleStrategy};

use crate::rings::{SLOTS, open};
use crate::row::{INTERVAL_NS, Pass, Place, STEADY_EVENTS};
use crate::{Check, Event};

/// Events between two attempts to send.
const BATCH: u64 = 512;

/// As many events as the ring takes.
pub(crate) fn throughput(place: Place<'_>, events: u64) -> Pass<Duration> {
    let (publisher, subscriber) = open(place)?;
    let start = Instant::now();
    let receiving = thread::spawn(move || {
        let mut check = Check::default();
        receive(subscriber, events, |event| check.event(event));
        check.end(events);
    });
    let mut sending = Sending::new(publisher)?;
    for first in (0..events).step_by(BATCH as usize) {
        let last = events.min(first + BATCH);
        for number in first..last {
            sending.producer.publish(|event| *event = Event::new(number, 0))?;
        }
        sending.send()?;
    }
    receiving.join().map_err(|_| "the receiving thread has panicked")?;
    Ok(start.elapsed())
}

/// One event after another, at a steady rate.
pub(crate) fn delay(place: Place<'_>) -> Pass<Vec<u64>> {
    let (publisher, subscriber) = open(place)?;
    let start = Instant::now();
    let receiving = thread::spawn(move || {
        let mut delays = Vec::with_capacity(STEADY_EVENTS as usize);
        receive(subscriber, STEADY_EVENTS, |event| {
            delays.push((start.elapsed().as_nanos() as u64).saturating_sub(event.time_ns));
        });
        delays
    });
    let mut sending = Sending::new(publisher)?;
    for number in 0..STEADY_EVENTS {
        let time_ns = number * INTERVAL_NS;
        while (start.elapsed().as_nanos() as u64) < time_ns {
            std::hint::spin_loop();
        }
        sending.producer.publish(|event| *event = Event::new(number, time_ns))?;
        sending.send()?;
    }
    receiving.join().map_err(|_| "the receiving thread has panicked".into())
}

/// A ring whose only stage is polled by the thread that publishes.
pub(crate) struct Sending {
    pub(crate) producer: SingleProducer<Event>,
    poller: Poller<Event>,
    publisher: Publisher<Event>,
}

impl Sending {
    pub(crate) fn new(publisher: Publisher<Event>) -> Pass<Self> {
        let (producer, poller) = ring()?;
        Ok(Self { producer, poller, publisher })
    }

    /// Sends what is published.
    pub(crate) fn send(&mut self) -> Pass<()> {
        while let Ok(mut batch) = self.poller.poll() {
            loop {
                match self.publisher.send(batch.as_slice(), batch.first_sequence())? {
                    Action::Retry(pause) if pause.is_zero() => {}
                    Action::Retry(pause) => thread::sleep(pause),
                    _ => break,
                }
            }
            batch.consume_all();
        }
        Ok(())
    }
}

/// A ring that the polling thread fills and empties.
pub(crate) struct Receiving {
    subscriber: Subscriber<Event>,
    producer: SingleProducer<Event>,
    poller: Poller<Event>,
}

impl Receiving {
    pub(crate) fn new(subscriber: Subscriber<Event>) -> Pass<Self> {
        let (producer, poller) = ring()?;
        Ok(Self { subscriber, producer, poller })
    }

    /// Passes what has arrived to `take`. Returns the number of events.
    pub(crate) fn poll(&mut self, mut take: impl FnMut(&Event)) -> Pass<usize> {
        let polled = self.subscriber.poll_into(&mut self.producer, |_| {})?;
        while let Ok(mut batch) = self.poller.poll() {
            batch.iter().for_each(|(_, event)| take(event));
        }
        Ok(polled.events)
    }

    /// The number of events so far.
    pub(crate) fn taken(&self) -> u64 {
        self.poller.sequence()
    }
}

/// Passes events to `take` on this thread, until it has taken all.
fn receive(subscriber: Subscriber<Event>, events: u64, mut take: impl FnMut(&Event)) {
    let mut receiving = Receiving::new(subscriber).expect("the graph is valid");
    let mut idle = BackoffIdleStrategy::new();
    while receiving.taken() < events {
        let polled = receiving.poll(&mut take).expect("the driver runs");
        idle.idle(i32::from(polled > 0));
    }
}

fn ring() -> Pass<(SingleProducer<Event>, Poller<Event>)> {
    let ring = Disruptor::single_producer(SLOTS, Event::default).stage("all").poller();
    let (producer, mut consumers) = ring.build()?;
    Ok((producer, consumers.take_poller("all")?))
}
