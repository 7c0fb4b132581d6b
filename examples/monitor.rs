//! Monitor: observes a ring from outside, and names the stage that limits it or has stopped it.
//!
//! ```text
//! producer ──> [ring] ──> decode ─┬──> journal (its disk is slow)
//!                                 └──> risk
//! ```
//!
//! A monitor has no measurable cost, so a service can take a snapshot every second or serve one
//! over an endpoint. Two snapshots give two verdicts:
//!
//! - While `journal` writes slowly, no stage has stopped. The bottleneck is `journal`: events pile
//!   up in front of it, while `decode` and `risk` have no events left to handle.
//! - Once the disk no longer answers, `journal` stops, and with it the ring. This is a stall.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::Disruptor;
use lapwing::monitor::{Monitor, Part, StageState, Throughput};

const ORDERS: u64 = 200;
/// Number of writes that the disk answers before it stops.
const ANSWERED: u64 = 150;
/// Duration of one write.
const WRITE: Duration = Duration::from_millis(1);
/// The limit of the watchdog. A real service would use some seconds.
const TOO_LONG: Duration = Duration::from_millis(20);

/// Takes snapshots until two in a row name `stage` as the bottleneck. On a busy machine another
/// stage may be waiting for a CPU, so this can take several snapshots.
fn limited_by(stage: &str, monitor: &Monitor) -> Throughput {
    let limit = Part::Stage { name: stage.to_owned() };
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
    // The disk is slow, and later stops answering.
    let (repair, disk) = mpsc::channel::<()>();
    let (mut producer, consumers) = Disruptor::single_producer(16, u64::default)
        .name("orders")
        .stage("decode")
        .write(|order, _, _| *order += 1)
        .parallel(|parallel| {
            // Short batches, so that each snapshot shows the current progress.
            parallel
                .stage("journal")
                .max_batch(1)
                .read(move |_, sequence, _| {
                    if sequence < ANSWERED {
                        thread::sleep(WRITE);
                    } else {
                        let _ = disk.recv(); // blocks until `repair` is dropped
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
    let journal = Part::Stage { name: "journal".to_owned() };
    assert_eq!((stall.culprit, stall.stage_state), (journal, Some(StageState::InHandler)));
    assert_eq!(snapshot.free_slots, 0);

    drop(repair);
    feed.join().map_err(|_| "the feed panicked")??;
    running.join()?;
    println!("{}", monitor.snapshot());
    assert!(monitor.snapshot().stages.iter().all(|stage| stage.sequence == ORDERS));
    Ok(())
}
