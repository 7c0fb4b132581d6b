//! Groups in a graph: after each other, beside other stages, and upstream of a dynamic stage.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{Kind, Lcg, repeats};
use crate::feed::KEYS;
use crate::group::{Group, Sharing};
use crate::handlers::Check;
use lapwing::consumer::Outcome;
use lapwing::graph::StartAt;
use lapwing::{Disruptor, Sequence};

crate::for_each_group! {
    a_dynamic_stage_depends_on_the_workers_that_write,
}

crate::common::for_both_producers! {
    groups_in_a_row_see_what_the_ones_before_wrote_and_keep_the_order_of_each_key,
    groups_parallel_to_other_stages_read_the_same_events,
}

fn a_dynamic_stage_depends_on_the_workers_that_write<K: Kind>(sharing: Sharing) {
    let events = repeats(5_000);
    let ready = Group { dynamic_stages: 1, events, ..Group::of(3, sharing) }.build::<K>();
    let dynamic_stage = ready.consumers.dynamic_stages().join("late", StartAt::Now).unwrap();
    let late = dynamic_stage.read_handler(Check::new(&ready.book));
    let mut run = ready.start();
    let late = thread::spawn(move || late.run());
    run.feed.publish_all(events);
    let end = run.end();
    let late = late.join().unwrap();
    assert_eq!((late.outcome(), late.processed()), (&Outcome::Drained, events));
    end.assert_each_once_but(&[]);
}

/// A key, the number among the events of the key, and a value.
type Event = [u64; 3];

/// A step of a worker. Boxed, so that the workers of all groups here have the same type.
type Step = Box<dyn FnMut(&mut Event, Sequence, bool) + Send>;

fn step(change: impl FnMut(&mut Event) + Send + 'static) -> Step {
    let mut change = change;
    Box::new(move |event, _, _| change(event))
}

/// Checks that the events of a key have the same worker and come in their order.
#[derive(Clone, Default)]
struct Order(Arc<Mutex<Vec<Seen>>>);

/// The worker of a key, and how many events it has had.
type Seen = (Option<usize>, u64);

impl Order {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(vec![(None, 0); KEYS as usize + 1])))
    }

    fn see(&self, worker: usize, key: u64, number: u64) {
        let (owner, next) = &mut self.0.lock().unwrap()[key as usize];
        assert_eq!((*owner.get_or_insert(worker), *next), (worker, number));
        *next += 1;
    }

    fn total(&self) -> u64 {
        self.0.lock().unwrap().iter().map(|(_, events)| events).sum()
    }
}

fn groups_in_a_row_see_what_the_ones_before_wrote_and_keep_the_order_of_each_key<K: Kind>() {
    let (events, first, second) = (repeats(10_000), Order::new(), Order::new());
    let by_key = |order: &Order, worker| {
        let order = order.clone();
        step(move |event| {
            assert_eq!(event[2] % 2, 1);
            order.see(worker, event[0], event[1]);
            event[0] = KEYS - event[0]; // another key from now on
        })
    };
    let (mut producer, consumers) = K::ring(8, Event::default)
        .stage("first")
        .write(step(|event| event[2] += 1))
        .stage("double")
        .workers(2)
        .write(|_| step(|event| event[2] *= 2))
        .stage("add")
        .workers(3)
        .write(|_| step(|event| event[2] += 5))
        .stage("by key")
        .workers(2)
        .by_key(|event| event[0])
        .write(|worker| by_key(&first, worker))
        .stage("by another key")
        .workers(2)
        .by_key(|event| event[0])
        .write(|worker| by_key(&second, worker))
        .stage("check")
        .read(|event: &Event, sequence, _| assert_eq!(event[2], 2 * (sequence + 1) + 5))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let (mut numbers, mut chance) = ([0; KEYS as usize], Lcg(1));
    for value in 0..events {
        let key = chance.below(KEYS);
        let number = &mut numbers[key as usize];
        producer.publish(|event| *event = [key, *number, value]).unwrap();
        *number += 1;
    }
    running.shutdown().unwrap();
    assert_eq!((first.total(), second.total()), (events, events));
}

fn groups_parallel_to_other_stages_read_the_same_events<K: Kind>() {
    let events = repeats(10_000);
    let sums = [(); 4].map(|()| Arc::new(AtomicU64::new(0)));
    let read = |place: usize| {
        let sum = Arc::clone(&sums[place]);
        move |event: &u64, _: Sequence, _: bool| _ = sum.fetch_add(*event, Ordering::Relaxed)
    };
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .parallel(|parallel| {
            parallel
                .stage("journal")
                .read(read(0))
                .stage("left")
                .workers(2)
                .read(|_| read(1))
                .chain(|chain| {
                    chain
                        .stage("before")
                        .read(read(2))
                        .stage("right")
                        .workers(3)
                        .by_key(|event| *event)
                        .read(|_| read(3))
                })
        })
        .stage("clear")
        .write(|event, _, _| *event = u64::MAX)
        .build()
        .unwrap();
    let names: Vec<_> = consumers.names().map(str::to_owned).collect();
    assert_eq!(names, ["journal", "left", "before", "right", "clear"]);
    let running = consumers.start().unwrap();
    (0..events).for_each(|value| _ = producer.publish(|event| *event = value).unwrap());
    running.shutdown().unwrap();
    let sum = events * (events - 1) / 2;
    assert_eq!(sums.map(|sum| sum.load(Ordering::Relaxed)), [sum; 4]);
}

#[test]
fn workers_of_one_scope_may_borrow_and_move() {
    let owners = Mutex::new(Vec::new());
    let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
        .stage("take")
        .workers(2)
        .write(|worker| {
            let owners = &owners;
            move |line: &mut String, _, _| {
                owners.lock().unwrap().push((std::mem::take(line), worker));
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        producer.publish(|line| line.push_str("first")).unwrap();
        running.shutdown().unwrap();
    });
    let owners = owners.into_inner().unwrap();
    assert_eq!(owners[0].0, "first");
    assert!(owners.len() == 1 && owners[0].1 < 2);
}
