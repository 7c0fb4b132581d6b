//! Monitor: what a ring is doing, from outside, and who holds it up.
//!
//! ```text
//! P1 --> [ring] <-- decode <--+-- journal (its disk does not answer)
//!                             +-- risk                                 arrow: "waits for"
//! ```
//!
//! A monitor costs the ring nothing to speak of, so a service can have one that looks every second,
//! or an endpoint that prints it. This one finds out who holds up a full ring: not the producer,
//! which waits, nor `decode` and `risk`, which have done what they could, but `journal`. That it
//! has stood still is known by looking twice.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::{Culprit, Disruptor, StageState};

const ORDERS: u64 = 100;
/// A watchdog of a real service would rather wait for seconds.
const TOO_LONG: Duration = Duration::from_millis(20);

fn main() -> Result<(), Box<dyn Error>> {
    // The disk answers each write, or, from the fifth one on, does not.
    let (repair, disk) = mpsc::channel::<()>();
    let (mut producer, consumers) = Disruptor::single_producer(16, u64::default)
        .name("orders")
        .then_mut("decode", |order, _, _| *order += 1)
        .then_all(|side| {
            side.read("journal", move |_, sequence, _| {
                if sequence >= 4 {
                    let _ = disk.recv(); // until `repair` is dropped
                }
            })
            .read("risk", |_, _, _| {})
        })
        .build()?;

    let monitor = producer.monitor();
    let running = consumers.start()?;
    let feed = thread::spawn(move || {
        (0..ORDERS).try_for_each(|order| producer.publish(|slot| *slot = order).map(|_| ()))
    });

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
