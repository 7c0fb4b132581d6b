//! A third thread closes or halts the ring while producers hold claims. Five or six threads.
//!
//! ```text
//! producer ──┐
//!            ├─> [ring] ──> first ──> second
//! producer ──┘
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lapwing::error::{HaltCause, PollError, RingError, TryPublishError};
use lapwing::{Consumers, Disruptor, MultiProducer, Running};
use shuttle::thread::{self, JoinHandle};

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::{claim_each, publish, publish_pairs, publish_what_fits};
use crate::record::{Events, Log, merged, start_reader};

struct Stages {
    running: Running<'static>,
    logs: [Log; 2],
}

fn start(consumers: Consumers<'static, Event>, logs: [Log; 2]) -> Stages {
    Stages { running: consumers.start().unwrap(), logs }
}

fn one_producer() -> (JoinHandle<Events>, Stages) {
    let logs = [(); 2].map(|()| Log::default());
    let (mut producer, consumers) = Disruptor::single_producer(2, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage("first")
        .read(logs[0].reader())
        .stage("second")
        .read(logs[1].reader())
        .build()
        .unwrap();
    let feed = thread::spawn(move || {
        merged([
            publish(&mut producer, 10..13),
            claim_each(&mut producer, 20..24),
            publish_pairs(&mut producer, 30..34),
        ])
    });
    (feed, start(consumers, logs))
}

fn two_producers() -> ([JoinHandle<Events>; 2], MultiProducer<Event>, Stages) {
    let logs = [(); 2].map(|()| Log::default());
    let (producer, consumers) = Disruptor::multi_producer(4, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage("first")
        .read(logs[0].reader())
        .stage("second")
        .read(logs[1].reader())
        .build()
        .unwrap();
    let (mut one, mut other) = (producer.clone(), producer.clone());
    let feeds = [
        thread::spawn(move || {
            merged([claim_each(&mut one, 100..103), publish_what_fits(&mut one, 110..113)])
        }),
        thread::spawn(move || publish_pairs(&mut other, 200..206)),
    ];
    (feeds, producer, start(consumers, logs))
}

/// Each accepted event is seen, and no other.
fn is_drained(stages: Stages, accepted: &Events) {
    stages.running.join().unwrap();
    for log in stages.logs {
        assert_eq!(log.seen(), *accepted);
    }
}

/// Each stage has seen the first of the accepted events.
fn is_halted(stages: Stages, accepted: &Events) {
    let _ = stages.running.join();
    for log in stages.logs {
        let seen = log.seen();
        assert!(accepted.starts_with(&seen), "{seen:?} of {accepted:?}");
    }
}

#[test]
fn close_against_one_producer() {
    explore("close", || {
        let (feed, stages) = one_producer();
        stages.running.close();
        is_drained(stages, &feed.join().unwrap());
    });
}

#[test]
fn halt_against_one_producer() {
    explore("halt", || {
        let (feed, stages) = one_producer();
        stages.running.halt();
        is_halted(stages, &feed.join().unwrap());
    });
}

/// Two threads close the ring at the same time. After a close nothing is accepted.
#[test]
fn closes_against_two_producers() {
    explore("close, several producers", || {
        let (feeds, mut producer, stages) = two_producers();
        let closer = thread::spawn(move || {
            producer.close();
            assert!(producer.try_publish(|event| event.write(0)).is_err(), "the ring is closed");
        });
        stages.running.close();
        let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
        closer.join().unwrap();
        is_drained(stages, &accepted);
    });
}

/// A halt meets a close.
#[test]
fn halt_against_two_producers() {
    explore("halt, several producers", || {
        let (feeds, producer, stages) = two_producers();
        let closer = thread::spawn(move || producer.close());
        stages.running.halt();
        let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
        closer.join().unwrap();
        is_halted(stages, &accepted);
    });
}

/// Of two pollers, one leaves early and the other after it. The last one that leaves an open ring
/// halts it.
#[test]
fn consumers_that_leave() {
    explore("leaving", || {
        let (producer, mut consumers) = Disruptor::multi_producer(2, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .parallel(|parallel| parallel.stage("short").poller().stage("long").poller())
            .build()
            .unwrap();
        let readers = [("short", 1), ("long", 2)].map(|(name, batches)| {
            let mut poller = consumers.take_poller(name).unwrap();
            thread::spawn(move || {
                let mut seen = Events::new();
                for _ in 0..batches {
                    let Ok(mut batch) = poller.wait() else { break };
                    seen.extend(batch.iter().map(|(sequence, event)| (sequence, event.read())));
                }
                seen
            })
        });
        let (mut one, mut other, mut last) = (producer.clone(), producer.clone(), producer);
        let feeds = [
            thread::spawn(move || publish(&mut one, 10..14)),
            thread::spawn(move || publish(&mut other, 20..24)),
        ];
        let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
        for seen in readers.map(|reader| reader.join().unwrap()) {
            assert!(accepted.starts_with(&seen), "{seen:?} of {accepted:?}");
        }
        let halted = TryPublishError::Halted(HaltCause::NoConsumers);
        assert_eq!(last.try_publish(|_| {}), Err(halted));
    });
}

/// A poller learns how the ring ended, also if it is parked.
#[test]
fn poller_of_a_ring_that_ends() {
    explore("end of a poller", || {
        let (producer, mut consumers) = Disruptor::multi_producer(2, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .stage("poller")
            .poller()
            .build()
            .unwrap();
        let reader = start_reader(&mut consumers, "poller");
        let running = consumers.start().unwrap();
        let mut feed = producer.clone();
        let feed = thread::spawn(move || publish(&mut feed, 10..13));
        let closer = thread::spawn(move || producer.close());
        running.halt();
        closer.join().unwrap();
        let accepted = feed.join().unwrap();
        let (seen, end) = reader.join().unwrap();
        match end {
            RingError::Closed => assert_eq!(seen, accepted),
            RingError::Halted(cause) => {
                assert_eq!(cause, HaltCause::Requested);
                assert!(accepted.starts_with(&seen), "{seen:?} of {accepted:?}");
            }
        }
    });
}

/// Few steps, so that the close meets each of them often. After the close no claim is granted.
#[test]
fn close_against_three_events() {
    explore("close, three events", || {
        let (mut producer, mut consumers) = Disruptor::single_producer(4, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .stage("poller")
            .poller()
            .build()
            .unwrap();
        let reader = start_reader(&mut consumers, "poller");
        let running = consumers.start().unwrap();
        let is_closed = Arc::new(AtomicBool::new(false));
        let is_closed_before = Arc::clone(&is_closed);
        let feed = thread::spawn(move || {
            let mut accepted = Events::new();
            for value in 10..13 {
                if is_closed_before.load(Ordering::Relaxed) {
                    assert_eq!(producer.try_claim().err(), Some(TryPublishError::Closed));
                }
                accepted.extend(publish(&mut producer, value..value + 1));
            }
            accepted
        });
        running.close();
        is_closed.store(true, Ordering::Relaxed);
        let accepted = feed.join().unwrap();
        assert_eq!(reader.join().unwrap(), (accepted, RingError::Closed));
    });
}

/// Two threads close the ring. It is closed for each of them when its call returns: no claim is
/// granted, and each accepted event can be read.
#[test]
fn two_closes() {
    explore("two closes", || {
        let (mut producer, mut consumers) =
            Disruptor::single_producer(4, Event::default).stage("poller").poller().build().unwrap();
        let mut poller = consumers.take_poller("poller").unwrap();
        let running = consumers.start().unwrap();
        let closer = thread::spawn(move || {
            let published = producer.try_publish(|event| event.write(7)).is_ok();
            producer.close();
            assert_eq!(producer.try_claim().err(), Some(TryPublishError::Closed));
            let read = poller.poll().map(|batch| batch.len());
            assert_eq!(read, if published { Ok(1) } else { Err(PollError::Closed) });
        });
        running.close();
        closer.join().unwrap();
    });
}

#[test]
fn two_closes_of_two_producers() {
    explore("two closes of two producers", || {
        let (producer, _consumers) =
            Disruptor::multi_producer(4, Event::default).stage("poller").poller().build().unwrap();
        let closers = [producer.clone(), producer].map(|mut producer| {
            thread::spawn(move || {
                // Later claims need no look at the gate.
                let _ = producer.try_publish(|_| {});
                producer.close();
                assert_eq!(producer.try_claim().err(), Some(TryPublishError::Closed));
            })
        });
        for closer in closers {
            closer.join().unwrap();
        }
    });
}
