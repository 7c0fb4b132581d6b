//! Publishes events one at a time, and hands them to a handler, in loops that `ci/hot_path.py` finds in the machine
//! code: what an event costs where a slot is free and nobody sleeps. And waits for one by spinning, where that looks
//! for how it looks. Prints nothing, and measures nothing by itself.

use std::error::Error;
use std::hint::black_box;

use lapwing::wait::BusySpin;
use lapwing::{Disruptor, Poller, SingleProducer};

/// What is written to each event: a number that stands nowhere else, by which the store is found.
const MARK: u64 = 0x4C41_5057;
/// Bits by which only the handler rotates.
const HANDLED: u32 = 41;
const EVENTS: usize = 1 << 10;

#[inline(never)]
fn lapwing_publish(producer: &mut SingleProducer<u64>, events: usize) {
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

/// What the handler makes of all events; known beforehand, so that the handler's loop is the only one.
const FOLDED: u64 = {
    let (mut sum, mut left) = (0, EVENTS);
    while left > 0 {
        sum = fold(sum, MARK);
        left -= 1;
    }
    sum
};

/// What a handler makes of one more event. No two of them at once, as a vector.
const fn fold(sum: u64, event: u64) -> u64 {
    sum.rotate_left(HANDLED).wrapping_add(event)
}

/// Runs a stage that folds `events` of a ring into `sum`, which lies behind a pointer.
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

/// What the next event is. Its ring has one producer.
#[inline(never)]
fn lapwing_wait(poller: &mut Poller<u64>) -> Option<u64> {
    let mut batch = poller.wait().ok()?;
    batch.iter().map(|(_, event)| *event).last()
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
    let mut sum = 0;
    lapwing_handle(&mut sum, events)?;
    assert_eq!(sum, FOLDED);

    let ring = Disruptor::single_producer(1, || 0_u64).wait(BusySpin).stage("all").poller();
    let (mut producer, mut consumers) = ring.build()?;
    producer.publish(|event| *event = MARK)?;
    assert_eq!(lapwing_wait(&mut consumers.take_poller("all")?), Some(MARK));

    let (mut producer, consumer) = rtrb::RingBuffer::new(EVENTS);
    rtrb_push(&mut producer, events);
    assert_eq!(consumer.slots(), EVENTS);
    Ok(())
}
