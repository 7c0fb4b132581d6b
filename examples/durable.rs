//! Durable: nobody is answered before what he asked for is on disk; and the disk is asked once for many.
//!
//! ```text
//! P1 --> [ring] <-- journal <-- reply              arrow: "waits for"
//!                      |          ^
//!                      v          |                `journal` writes; its events count as finished once
//!                    fsync ---> acknowledge        the thread that syncs says so
//! ```
//!
//! Two threads share the file: `journal` appends while the other waits for the disk. Each sync covers
//! all that was written before it began, so a slow disk makes larger groups, not a longer queue.

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

/// Syncs `file` as long as somebody writes, each time for all that was written until then; how often.
///
/// Where the disk fails, the acknowledger is dropped with this call, and the ring halts: nobody gets an
/// answer that is not true.
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
            // Who syncs may have failed; then the ring is about to halt.
            let _ = note.send(first + orders.len() as u64);
            Ok::<(), std::io::Error>(()) // an error halts the ring
        })
        .stage("reply")
        .read(|_, _, _| replies += 1) // the file has it
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
            .expect("the disk's thread")
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
