//! The loops whose machine code `ci/hot_path.py` checks. They publish events one at a time, and pass
//! events to a handler. A slot is always free, and no thread is parked. The program prints nothing
//! and measures nothing.

use std::error::Error;
use std::hint::black_box;

use lapwing::{Disruptor, MultiProducer, SingleProducer};

/// The value of each event. No other instruction contains it, so the script finds the store by it.
const MARK: u64 = 0x4C41_5057;
/// Number of bits of the handler's rotation. No other instruction rotates by it.
const HANDLED: u32 = 41;
const EVENTS: usize = 1 << 10;

#[inline(never)]
fn lapwing_publish(producer: &mut SingleProducer<u64>, events: usize) {
    for _ in 0..events {
        producer.publish(|event| *event = MARK).expect("the ring is open");
    }
}

#[inline(never)]
fn lapwing_shared_publish(producer: &mut MultiProducer<u64>, events: usize) {
    for _ in 0..events {
        producer.publish(|event| *event = MARK).expect("the ring is open");
    }
}

#[inline(never)]
fn lapwing_try_publish(producer: &mut SingleProducer<u64>, events: usize) {
    for _ in 0..events {
        producer.try_publish(|event| *event = MARK).expect("a slot is free");
    }
}

#[inline(never)]
fn lapwing_claim(producer: &mut SingleProducer<u64>, events: usize) {
    for _ in 0..events {
        let mut claim = producer.claim().expect("the ring is open");
        *claim = MARK;
        claim.publish().expect("the ring is open");
    }
}

/// The handler's result for all events. A constant, so that the handler's loop is the only one that
/// rotates.
const FOLDED: u64 = {
    let (mut sum, mut left) = (0, EVENTS);
    while left > 0 {
        sum = fold(sum, MARK);
        left -= 1;
    }
    sum
};

/// Adds one event to the handler's result. The rotation prevents the compiler from using vector
/// instructions.
const fn fold(sum: u64, event: u64) -> u64 {
    sum.rotate_left(HANDLED).wrapping_add(event)
}

/// Runs a stage that folds `events` events of a ring into `sum`, which is behind a pointer.
fn lapwing_handle(sum: &mut u64, events: usize) -> Result<(), Box<dyn Error>> {
    let ring = Disruptor::single_producer(events, || 0_u64);
    let (mut producer, consumers) =
        ring.stage("fold").read(|event, _, _| *sum = fold(*sum, *event)).build()?;
    lapwing_publish(&mut producer, events);
    drop(producer);
    for consumer in consumers {
        assert_eq!(consumer.run().processed(), events as u64);
    }
    Ok(())
}

#[inline(never)]
fn rtrb_push(producer: &mut rtrb::Producer<u64>, events: usize) {
    for _ in 0..events {
        producer.push(MARK).expect("a slot is free");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let events = black_box(EVENTS);
    for publish in [lapwing_publish, lapwing_try_publish, lapwing_claim] {
        let ring = Disruptor::single_producer(EVENTS, || 0_u64).stage("all").poller();
        let (mut producer, mut consumers) = ring.build()?;
        publish(&mut producer, events);
        let mut poller = consumers.take_poller("all")?;
        assert!(poller.poll()?.as_slice().iter().all(|event| *event == MARK));
    }
    let ring = Disruptor::multi_producer(EVENTS, || 0_u64).stage("all").poller();
    let (mut producer, _consumers) = ring.build()?;
    lapwing_shared_publish(&mut producer, events);

    let mut sum = 0;
    lapwing_handle(&mut sum, events)?;
    assert_eq!(sum, FOLDED);

    let (mut producer, consumer) = rtrb::RingBuffer::new(EVENTS);
    rtrb_push(&mut producer, events);
    assert_eq!(consumer.slots(), EVENTS);
    Ok(())
}
