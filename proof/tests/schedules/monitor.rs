//! A monitor and a part of the program that acknowledges events, beside a pipeline. Six threads.
//!
//! ```text
//! producer ──> [ring] ──> journal ──> reply
//!                            ^
//!                disk ───────┘ acknowledges
//! ```

use lapwing::monitor::{Monitor, Snapshot};
use lapwing::{Disruptor, Sequence, Stage};
use shuttle::sync::mpsc;
use shuttle::thread;

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::publish;
use crate::record::Log;

/// No stage is ahead of what it waits for.
fn check(snapshot: &Snapshot) {
    let [journal, reply] = &snapshot.stages[..] else { panic!("there are two stages") };
    assert!(snapshot.published <= snapshot.claimed, "{snapshot}");
    assert!(journal.sequence <= snapshot.published, "{snapshot}");
    let acknowledged = journal.acknowledged.expect("it is acknowledged");
    assert!(reply.sequence <= journal.sequence.min(acknowledged), "{snapshot}");
}

fn watch(monitor: &Monitor) {
    for _ in 0..3 {
        check(&monitor.snapshot());
        thread::yield_now();
    }
}

#[test]
fn monitor_of_an_acknowledged_stage() {
    explore("monitor", || {
        let (journal, reply) = (Log::default(), Log::default());
        let (to_disk, writes) = mpsc::channel::<Sequence>();
        let mut note = journal.reader();
        let (mut producer, mut consumers) = Disruptor::single_producer(2, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .stage(Stage::new("journal").acknowledged())
            .read(move |event: &Event, sequence, end| {
                note(event, sequence, end);
                to_disk.send(sequence).unwrap();
            })
            .stage("reply")
            .read(reply.reader())
            .build()
            .unwrap();
        let acknowledger = consumers.take_acknowledger("journal").unwrap();
        let monitor = producer.monitor();
        let disk = thread::spawn(move || {
            while let Ok(sequence) = writes.recv() {
                acknowledger.acknowledge(sequence + 1).unwrap();
            }
        });
        let running = consumers.start().unwrap();
        let watcher = thread::spawn(move || watch(&monitor));
        let feed = thread::spawn(move || publish(&mut producer, 10..15));
        let accepted = feed.join().unwrap();
        running.join().unwrap();
        disk.join().unwrap();
        watcher.join().unwrap();
        assert_eq!((journal.seen(), reply.seen()), (accepted.clone(), accepted));
    });
}
