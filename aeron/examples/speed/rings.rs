//! Two rings with Aeron between them: a producer, a publisher, a subscriber and a consumer, four
//! threads.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::{Disruptor, Running, SingleProducer};
use lapwing_aeron::{Client, Publisher, Stream, Subscriber};

use crate::row::{INTERVAL_NS, Pass, Place, STEADY_EVENTS};
use crate::{Check, Event};

/// Slots of each ring.
pub(crate) const SLOTS: usize = 4096;

const ANSWER: Duration = Duration::from_secs(10);

/// As many events as the ring takes.
pub(crate) fn throughput(place: Place<'_>, events: u64) -> Pass<Duration> {
    let (publisher, subscriber) = open(place)?;
    let start = Instant::now();
    let receiving = thread::spawn(move || {
        let mut check = Check::default();
        receive(subscriber, events, |event| check.event(event));
        check.end(events);
    });
    let (mut producer, running) = sending(publisher)?;
    for number in 0..events {
        producer.publish(|event| *event = Event::new(number, 0))?;
    }
    receiving.join().map_err(|_| "the receiving thread has panicked")?;
    let took = start.elapsed();
    running.shutdown()?;
    Ok(took)
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
    let (mut producer, running) = sending(publisher)?;
    for number in 0..STEADY_EVENTS {
        let time_ns = number * INTERVAL_NS;
        while (start.elapsed().as_nanos() as u64) < time_ns {
            hint::spin_loop();
        }
        producer.publish(|event| *event = Event::new(number, time_ns))?;
    }
    let delays = receiving.join().map_err(|_| "the receiving thread has panicked")?;
    running.shutdown()?;
    Ok(delays)
}

pub(crate) fn open(place: Place<'_>) -> Pass<(Publisher<Event>, Subscriber<Event>)> {
    let client = Client::new(place.dir);
    let stream = Stream::new(place.channel, place.stream)?;
    let mut subscriber = Subscriber::plain(&client, stream.clone());
    let mut publisher = Publisher::plain(&client, stream);
    subscriber.open(ANSWER)?;
    if !publisher.wait_for_subscriber(ANSWER)? {
        return Err("the subscriber is not connected".into());
    }
    Ok((publisher, subscriber))
}

fn sending(publisher: Publisher<Event>) -> Pass<(SingleProducer<Event>, Running<'static>)> {
    let (producer, consumers) = Disruptor::single_producer(SLOTS, Event::default)
        .stage("send")
        .read_batch_handler(publisher)
        .build()?;
    Ok((producer, consumers.start()?))
}

/// Passes events to `take` on a thread of its own, until it has taken all.
fn receive(mut subscriber: Subscriber<Event>, events: u64, mut take: impl FnMut(&Event) + Send) {
    let stop = Arc::new(AtomicBool::new(false));
    let all_taken = Arc::clone(&stop);
    let (mut producer, consumers) = Disruptor::single_producer(SLOTS, Event::default)
        .stage("take")
        .read(move |event, sequence, _| {
            take(event);
            if sequence + 1 == events {
                all_taken.store(true, Ordering::Release);
            }
        })
        .build()
        .expect("the graph is valid");
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).expect("threads start");
        let ended = subscriber.run(&mut producer, &stop, |_| {});
        ended.expect("the driver runs");
        running.shutdown().expect("no event fails");
    });
}
