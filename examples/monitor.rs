//! Monitor: what a ring is doing, from outside, which stage limits it, and which one has stopped.
//!
//! ```text
//! P1 --> [ring] <-- decode <--+-- journal (its disk is slow)        
//!                             +-- risk                                 arrow: "waits for"
//! ```
//!
//! A monitor costs the ring nothing to speak of, so a service can have one that looks every second,
//! or an endpoint that prints it. Two verdicts come of two looks:
//!
//! - While `journal` writes slowly, nothing has stopped. The bottleneck is still known: the events pile
//!   up in front of `journal`, while `decode` and `risk` have done what they could.
//! - When the disk does not answer any more, `journal` stops, and with it the ring. This is a stall.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::Disruptor;
use lapwing::monitor::{Bottleneck, Culprit, Monitor, StageState, Throughput};

const ORDERS: u64 = 200;
/// Number of events that the disk takes before it stops.
const ANSWERED: u64 = 150;
/// How long the disk takes for one.
const WRITE: Duration = Duration::from_millis(1);
/// A watchdog of a real service would rather wait for seconds.
const TOO_LONG: Duration = Duration::from_millis(20);

/// Looks at the ring until the difference of two looks names this stage as the limit. On a busy machine another stage may
/// just wait for a CPU, so it takes several looks.
fn limited_by(stage: &str, monitor: &Monitor) -> Throughput {
    let limit = Bottleneck::Stage { name: stage.to_owned() };
    let mut earlier = monitor.snapshot();
    loop {
        thread::sleep(WRITE * 10);
        let later = monitor.snapshot();
        let throughput = later.since(&earlier);
        if throughput.bottleneck() == Some(&limit) {
            return throughput;
        }
        earlier = later;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The disk is slow, and at some time does not answer any more.
    let (repair, disk) = mpsc::channel::<()>();
    let (mut producer, consumers) = Disruptor::single_producer(16, u64::default)
        .name("orders")
        .stage("decode")
        .write(|order, _, _| *order += 1)
        .side_by_side(|side| {
            // Short batches, so that each look shows how far it is.
            side.stage("journal")
                .max_batch(1)
                .read(move |_, sequence, _| {
                    if sequence < ANSWERED {
                        thread::sleep(WRITE);
                    } else {
                        let _ = disk.recv(); // until `repair` is dropped
                    }
                })
                .stage("risk")
                .read(|_, _, _| {})
        })
        .build()?;

    let monitor = producer.monitor();
    let running = consumers.start()?;
    let feed = thread::spawn(move || {
        (0..ORDERS).try_for_each(|order| producer.publish(|slot| *slot = order).map(|_| ()))
    });

    let throughput = limited_by("journal", &monitor);
    println!("{throughput}\n");
    assert_eq!(throughput.stages.len(), 3);

    // The watchdog. Until the producer waits, the ring is only slow.
    let (snapshot, stall) = loop {
        thread::sleep(TOO_LONG);
        let snapshot = monitor.snapshot();
        if let Some(stall) = snapshot.stall(TOO_LONG)
            && snapshot.waiting_producers > 0
        {
            break (snapshot, stall);
        }
    };
    println!("{stall}\n\n{snapshot}\n\n{}", snapshot.to_mermaid());
    let journal = Culprit::Stage { name: "journal".to_owned(), state: StageState::InHandler };
    assert_eq!((stall.culprit, snapshot.free_slots), (journal, 0));

    drop(repair);
    feed.join().map_err(|_| "the feed panicked")??;
    running.join()?;
    println!("{}", monitor.snapshot());
    assert!(monitor.snapshot().stages.iter().all(|stage| stage.sequence == ORDERS));
    Ok(())
}
