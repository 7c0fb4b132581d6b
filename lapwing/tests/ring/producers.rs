//! Tests several producers of one ring, on one thread and on several. Not here: what is the same
//! with one producer (`claims`).

use std::thread;

use crate::common::{Lcg, repeats, watched};
use crate::rings::{drain, events, on_event, with_pollers};
use lapwing::error::{PollError, PublishError, TryPublishError};
use lapwing::producer::Slots;
use lapwing::{Disruptor, MultiProducer, Sequence};

#[test]
fn claim_of_several_producers_is_accepted_although_the_ring_was_closed_meanwhile() {
    watched(|| {
        let ring = Disruptor::multi_producer(4, || 0_u64);
        let (mut producer, consumers) =
            ring.stage("count").read(on_event(|_, _, _| {})).build().unwrap();
        let mut second = producer.clone();
        let running = consumers.start().unwrap();
        let claim = producer.claim().unwrap();
        running.close();
        assert_eq!(second.publish(|_| {}), Err(PublishError::Closed));
        assert!(!running.is_finished());
        assert_eq!(claim.publish(), Ok(0));
        assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), 1);
    });
}

#[test]
fn miri_others_go_on_behind_a_held_claim_until_the_ring_is_full() {
    let ring = Disruptor::multi_producer(4, || 0_u64).stage("all").poller();
    let (mut slow, [mut all]) = with_pollers(ring, ["all"]);
    let mut quick = slow.clone();
    for is_given_up in [false, true] {
        let first = quick.publish(|event| *event = 0).unwrap();
        let mut claim = slow.claim().unwrap();
        quick.publish(|event| *event = 2).unwrap();
        assert_eq!(drain(&mut all), [(first, 0)]);
        quick.publish(|event| *event = 3).unwrap();
        quick.publish(|event| *event = 4).unwrap();
        assert_eq!(all.poll().err(), Some(PollError::Empty), "all of them are after the gap");
        assert_eq!(quick.try_publish(|_| {}), Err(TryPublishError::Full));
        assert_eq!(quick.clone().try_claim().err(), Some(TryPublishError::Full));
        *claim = 1;
        if is_given_up {
            drop(claim);
        } else {
            claim.publish().unwrap();
        }
        assert_eq!(events(&mut all), if is_given_up { vec![2, 3, 4] } else { vec![1, 2, 3, 4] });
        let next = first + 5..first + 7;
        assert_eq!(slow.publish_batch(2, |_| {}), Ok(next.clone()));
        assert_eq!(quick.try_publish(|_| {}), Ok(next.end), "a slot goes to any of them");
        drain(&mut all);
    }
}

// ---- several threads ----

const CAPACITY: usize = 8;
const PRODUCERS: u64 = 4;

/// The thread, a number of it, and the sequence.
type Event = (u64, u64, Sequence);

/// Publishes the numbers below `events` by calls of every kind, and gives up some claims.
fn publish_all(producer: &mut MultiProducer<Event>, id: u64, events: u64) {
    let (mut next, mut random) = (0, Lcg(id));
    while next < events {
        let max = (random.below(CAPACITY as u64 + 4) + 1).min(events - next) as usize;
        let fill = |slots: &mut Slots<'_, Event>| {
            let first = slots.first_sequence();
            for (place, event) in (0..).zip(slots.iter_mut()) {
                *event = (id, next + place, first + place);
            }
        };
        let published = match random.below(5) {
            0 => {
                drop(producer.claim().unwrap());
                continue;
            }
            1 => {
                drop(producer.claim_batch(2).unwrap());
                continue;
            }
            2 => {
                let mut claim = producer.claim().unwrap();
                *claim = (id, next, claim.sequence());
                claim.publish().map(|sequence| sequence..sequence + 1)
            }
            3 => {
                let mut batch = producer.claim_up_to(max).unwrap();
                assert!((1..=max.min(CAPACITY)).contains(&batch.len()));
                fill(&mut batch.slots());
                batch.publish()
            }
            _ => Ok(producer.publish_batch(max.min(CAPACITY), fill).unwrap()),
        };
        next += published.map(|range| range.end - range.start).unwrap();
    }
}

/// Each event of each thread arrives once, in the order of its thread, with its own sequence, and
/// in the same order at all consumers. The number of free slots never exceeds the capacity.
#[test]
fn miri_events_of_many_threads_arrive_once_and_in_one_order() {
    watched(|| {
        let events = repeats(30_000).max(20);
        let ring = Disruptor::multi_producer(CAPACITY, || (0, 0, 0));
        let ring =
            ring.parallel(|parallel| parallel.stage("left").poller().stage("right").poller());
        let (producer, pollers) = with_pollers(ring, ["left", "right"]);
        let [left, right] = thread::scope(|scope| {
            let threads: [_; PRODUCERS as usize] = std::array::from_fn(|id| {
                let mut producer = producer.clone();
                scope.spawn(move || publish_all(&mut producer, id as u64, events))
            });
            let readers = pollers.map(|mut poller| {
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    while let Ok(mut batch) = poller.wait() {
                        for (sequence, event) in batch.iter() {
                            assert_eq!(event.2, sequence);
                            seen.push(*event);
                        }
                    }
                    seen
                })
            });
            while !threads.iter().all(|thread| thread.is_finished()) {
                assert!(producer.free_slots() <= CAPACITY);
                thread::yield_now();
            }
            drop(producer);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            readers.map(|reader| reader.join().unwrap())
        });
        assert!(left == right);
        assert_eq!(left.len() as u64, PRODUCERS * events);
        for id in 0..PRODUCERS {
            let numbers = left.iter().filter(|event| event.0 == id).map(|event| event.1);
            assert!(numbers.eq(0..events), "of thread {id}");
        }
    });
}
