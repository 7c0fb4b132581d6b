//! Durable: an order is answered only after it is on disk, and one sync covers many orders.
//!
//! ```text
//! producer ──> [ring] ──> journal ──> file
//!                            │          │
//!                            │          └──> sync thread ── acknowledges ──┐
//!                            └─────────────────────────────────────────────┴──> reply
//! ```
//!
//! The events of `journal` count as finished once the sync thread has acknowledged them, and
//! `reply` depends on that. `journal` appends to the file while the sync thread waits for the disk.
//! Each sync covers everything that was written before it began, so a slow disk makes larger
//! groups, not a longer queue.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc;
use std::thread;

use lapwing::consumer::Acknowledger;
use lapwing::{Disruptor, Sequence};

const ORDERS: u64 = 20_000;

#[derive(Default)]
struct Order {
    account: u64,
    pieces: u64,
}

/// Syncs `file` until `written` is closed, and returns the number of syncs. Each sync covers all
/// orders that were written before it.
///
/// If the disk fails, this function drops the acknowledger. That halts the ring, so no order gets a
/// false reply.
fn sync_and_acknowledge(
    file: &File,
    written: &mpsc::Receiver<Sequence>,
    disk: &Acknowledger,
) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let mut syncs = 0;
    while let Ok(first) = written.recv() {
        let end = written.try_iter().last().unwrap_or(first);
        file.sync_data()?;
        syncs += 1;
        disk.acknowledge(end)?;
    }
    Ok(syncs)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("lapwing-durable-{}", std::process::id()));
    let file = File::create(&path)?;
    #[cfg(unix)] // the name of a new file is on disk once its folder is synced
    File::open(std::env::temp_dir())?.sync_all()?;
    let mut appending = file.try_clone()?;

    let (note, written) = mpsc::channel();
    let mut lines = Vec::new();
    let mut replies = 0;
    let (mut producer, mut consumers) = Disruptor::single_producer(4096, Order::default)
        .stage("journal")
        .acknowledged()
        .read_batch(move |orders, first| {
            lines.clear();
            for order in orders {
                writeln!(lines, "{} {}", order.account, order.pieces)?;
            }
            appending.write_all(&lines)?;
            // Fails only if the sync thread has failed. Then the ring is about to halt.
            let _ = note.send(first + orders.len() as u64);
            Ok::<(), std::io::Error>(()) // an error halts the ring
        })
        .stage("reply")
        .read(|_, _, _| replies += 1) // the order is on disk
        .build()?;
    let disk = consumers.take_acknowledger("journal")?;

    let syncs = thread::scope(|scope| {
        let syncing = scope.spawn(move || sync_and_acknowledge(&file, &written, &disk));
        let running = consumers.start_scoped(scope)?;
        for number in 0..ORDERS {
            producer.publish(|order| (order.account, order.pieces) = (number % 7, number))?;
        }
        running.shutdown()?;
        syncing
            .join()
            .expect("the sync thread does not panic")
            .map_err(|error| error.to_string())
            .map_err(Box::<dyn Error>::from)
    })?;

    println!("{ORDERS} orders on disk in {syncs} syncs, {replies} replies");
    let journal = BufReader::new(File::open(&path)?).lines().collect::<Result<Vec<_>, _>>()?;
    fs::remove_file(&path)?;
    let expected = (0..ORDERS).map(|number| format!("{} {number}", number % 7));
    assert!(journal.into_iter().eq(expected));
    assert_eq!(replies, ORDERS);
    assert!(syncs <= ORDERS);
    Ok(())
}
