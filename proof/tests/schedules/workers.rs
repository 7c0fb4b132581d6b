//! A group of workers that share events, and a stage after it. The group is resized, or one of its
//! workers leaves, while the producer publishes. Six threads.
//!
//! ```text
//!                      ┌──> work-0 ──┐
//! producer ──> [ring] ─┼──> work-1 ──┼──> after
//!                      └──> work-2 ──┘
//! ```

use lapwing::{Disruptor, Running, Sequence, Stage};
use shuttle::thread;

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::{claim_each, publish};
use crate::record::{Log, changed, merged};

fn workers(longest: usize, meanwhile: fn(&Running<'_>)) {
    let after = Log::default();
    let (mut producer, consumers) = Disruptor::multi_producer(4, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage(Stage::new("work").max_batch(longest))
        .workers(2)
        .up_to(3)
        .write(|_worker| |event: &mut Event, _: Sequence, _| event.change(|value| value + 1_000))
        .stage("after")
        .read(after.reader())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let feed = thread::spawn(move || {
        merged([publish(&mut producer, 10..13), claim_each(&mut producer, 20..23)])
    });
    meanwhile(&running);
    let accepted = feed.join().unwrap();
    assert_eq!(accepted.len(), 5);
    let report = running.join().unwrap();
    // A worker that handles an event again adds to it twice.
    assert_eq!(after.seen(), changed(&accepted, |value| value + 1_000));
    let of_workers = report.stages().filter(|stage| stage.name() != "after");
    assert_eq!(of_workers.map(|worker| worker.handled()).sum::<u64>(), 5);
}

#[test]
fn workers_that_are_resized() {
    explore("workers", || {
        workers(1, |running| {
            let group = running.workers("work").unwrap();
            group.resize(3).unwrap();
            group.resize(1).unwrap();
        });
    });
}

/// What it has claimed goes to the other worker.
#[test]
fn worker_that_leaves() {
    explore("worker leaves", || {
        workers(2, |running| running.stop_handle("work-0").unwrap().stop());
    });
}
