//! Threads that wait for one event or one free slot at a time. A wake-up that is lost is a deadlock
//! here, since nothing that happens later repairs it.

use std::sync::Arc;

use lapwing::producer::Sequencer;
use lapwing::{Builder, Disruptor, EventHandler, Producer, Running, Sequence, Stage};
use shuttle::sync::{Barrier, Condvar, Mutex};
use shuttle::thread::{self, JoinHandle};

use crate::event::Event;
use crate::explore::{PARK, explore};

/// A number that grows, and that threads wait for. Clones share it.
#[derive(Clone, Default)]
struct Count(Arc<(Mutex<u64>, Condvar)>);

impl Count {
    fn add(&self) {
        *self.0.0.lock().unwrap() += 1;
        self.0.1.notify_all();
    }

    fn wait_for(&self, least: u64) {
        let (count, grown) = &*self.0;
        drop(grown.wait_while(count.lock().unwrap(), |count| *count < least).unwrap());
    }
}

/// Makes the producers of a topology out of the first one.
type Split<S> = fn(Producer<Event, S>) -> Vec<Producer<Event, S>>;

/// Publishes `events`, and waits after each one until `handled` shows it.
fn publish_singly<S: Sequencer>(
    mut producer: Producer<Event, S>,
    events: u64,
    handled: Count,
) -> JoinHandle<()>
where
    Producer<Event, S>: Send + 'static,
{
    thread::spawn(move || {
        for value in 0..events {
            let sequence = producer.publish(|event| event.write(value)).unwrap();
            handled.wait_for(sequence + 1);
        }
    })
}

/// A diamond, in which each stage parks before each event.
fn single_events<S: Sequencer>(ring: Builder<'static, Event, S>, split: Split<S>)
where
    Producer<Event, S>: Send + 'static,
{
    let handled = Count::default();
    let last = handled.clone();
    let (producer, consumers) = ring
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .parallel(|parallel| parallel.stage("left").read(read).stage("right").read(read))
        .stage("last")
        .read(move |event: &Event, sequence, end| {
            read(event, sequence, end);
            last.add();
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let feeds: Vec<_> = split(producer)
        .into_iter()
        .map(|producer| publish_singly(producer, 3, handled.clone()))
        .collect();
    feeds.into_iter().for_each(|feed| feed.join().unwrap());
    running.join().unwrap();
}

fn read(event: &Event, _: Sequence, _: bool) {
    event.read();
}

#[test]
fn single_events_of_one_producer() {
    explore("single events", || {
        single_events(Disruptor::single_producer(2, Event::default), |one| vec![one])
    });
}

#[test]
fn single_events_of_two_producers() {
    explore("single events of two", || {
        single_events(Disruptor::multi_producer(2, Event::default), |one| vec![one.clone(), one]);
    });
}

/// Each release frees a single slot, and the next one comes only after that slot is used again.
fn single_slots<S: Sequencer>(ring: Builder<'static, Event, S>, split: Split<S>)
where
    Producer<Event, S>: Send + 'static,
{
    const CAPACITY: u64 = 2;
    const EVENTS: u64 = 6;
    let published = Count::default();
    let count = published.clone();
    let (producer, consumers) = ring
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage(Stage::new("slow").max_batch(1))
        .read(move |event: &Event, sequence, _| {
            // One slot is free for each event that is finished.
            count.wait_for((sequence + CAPACITY).min(EVENTS));
            event.read();
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let producers = split(producer);
    let events = EVENTS / producers.len() as u64;
    let feeds: Vec<_> = producers
        .into_iter()
        .map(|mut producer| {
            let published = published.clone();
            thread::spawn(move || {
                for value in 0..events {
                    producer.publish(|event| event.write(value)).unwrap();
                    published.add();
                }
            })
        })
        .collect();
    feeds.into_iter().for_each(|feed| feed.join().unwrap());
    running.join().unwrap();
}

#[test]
fn single_slots_for_one_producer() {
    explore("single slots", || {
        single_slots(Disruptor::single_producer(2, Event::default), |one| vec![one])
    });
}

#[test]
fn single_slots_for_two_producers() {
    explore("single slots for two", || {
        single_slots(Disruptor::multi_producer(2, Event::default), |one| vec![one.clone(), one]);
    });
}

/// Workers of which two handle an event each at the same time.
fn meeting(workers: usize, max: usize, meanwhile: fn(&Running<'_>)) {
    let meeting = Arc::new(Barrier::new(2));
    let (mut producer, consumers) = Disruptor::single_producer(2, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage(Stage::new("work").max_batch(1))
        .workers(workers)
        .up_to(max)
        .read(|_worker| {
            let meeting = Arc::clone(&meeting);
            move |event: &Event, _: Sequence, _| {
                event.read();
                meeting.wait();
            }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let feed = thread::spawn(move || {
        for value in 0..6 {
            producer.publish(|event| event.write(value)).unwrap();
            // PCT then runs the other threads until they block.
            thread::yield_now();
        }
    });
    meanwhile(&running);
    feed.join().unwrap();
    running.join().unwrap();
}

#[test]
fn workers_that_meet() {
    explore("workers that meet", || meeting(2, 2, |_| {}));
}

/// The second worker rests until the group is resized.
#[test]
fn workers_that_meet_after_a_resize() {
    explore("workers that meet after a resize", || {
        meeting(1, 2, |running| running.workers("work").unwrap().resize(2).unwrap());
    });
}

/// Says when it ends.
struct Mortal(Count);

impl EventHandler<Event> for Mortal {
    fn on_event(&mut self, event: &Event, _: Sequence, _: bool) {
        event.read();
    }

    fn on_shutdown(&mut self) {
        self.0.add();
    }
}

/// A stage and then a worker are stopped while they may be parked, and nothing is published.
#[test]
fn idle_stages_that_are_stopped() {
    explore("idle stages are stopped", || {
        let ended = Count::default();
        let (producer, consumers) = Disruptor::single_producer(2, Event::default)
            .wait_strategy(PARK)
            .parallel(|parallel| {
                parallel
                    .stage("stage")
                    .read_handler(Mortal(ended.clone()))
                    .stage("group")
                    .workers(2)
                    .read_handlers(|_worker| Mortal(ended.clone()))
            })
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        for (stage, so_far) in [("stage", 1), ("group-0", 2)] {
            running.stop_handle(stage).unwrap().stop();
            ended.wait_for(so_far);
        }
        drop(producer);
        running.join().unwrap();
    });
}

/// Publishes one event of each key, and then events of two keys that have different workers. A
/// worker that has such an event waits for the other one, which has to route the next event itself.
#[test]
fn workers_by_key_that_meet() {
    const KEYS: u64 = 4;
    explore("workers by key that meet", || {
        let (meeting, handled) = (Arc::new(Barrier::new(2)), Count::default());
        let owners = Arc::new(std::sync::Mutex::new([0; KEYS as usize]));
        let (mut producer, consumers) = Disruptor::single_producer(4, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .stage("work")
            .workers(2)
            .by_key(|event: &Event| event.read() % KEYS)
            .read(|worker| {
                let (meeting, handled, owners) =
                    (Arc::clone(&meeting), handled.clone(), Arc::clone(&owners));
                move |event: &Event, _: Sequence, _| {
                    let value = event.read();
                    if value >= KEYS {
                        meeting.wait();
                    } else {
                        owners.lock().unwrap()[value as usize] = worker;
                        handled.add();
                    }
                }
            })
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let mut publish =
            move |value| assert!(producer.publish(|event| event.write(value)).is_ok());
        (0..KEYS).for_each(&mut publish);
        handled.wait_for(KEYS);
        let found = *owners.lock().unwrap();
        let of_other =
            (0..KEYS).find(|&key| found[key as usize] != found[0]).expect("keys are spread");
        for key in [0, of_other, of_other, 0, 0, of_other] {
            publish(KEYS + key);
        }
        drop(publish);
        running.join().unwrap();
    });
}
