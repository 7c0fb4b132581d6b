//! Delays of acknowledged events at a given rate, from the time when an event was due.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use lapwing::Disruptor;
use lapwing_journal::{Options, SyncPolicy};

use crate::logs::Event;
use crate::{Arguments, Failure};

/// Measures the journal's delays and the bare sync's, in turns.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    println!("delay until acknowledged, {} events/s, us: 50 %, 99 %, 99.9 %", arguments.rate);
    let (mut bare, mut ours, mut loops) = (histogram()?, histogram()?, histogram()?);
    for round in 0..=arguments.rounds {
        let runs = [syncs(arguments)?, by_one_thread(arguments)?, through_graph(arguments)?];
        if round > 0 {
            bare.add(&runs[0])?;
            loops.add(&runs[1])?;
            ours.add(&runs[2])?;
        }
    }
    row("a bare pwrite + fdatasync", &bare, &bare);
    row("bare group commit, one thread", &loops, &bare);
    row("lapwing-journal, three stages", &ours, &bare);
    Ok(())
}

fn row(name: &str, delays: &Histogram<u64>, bare: &Histogram<u64>) {
    let at = |quantile| delays.value_at_quantile(quantile) as f64 / 1e3;
    let ratio = delays.value_at_quantile(0.99) as f64 / bare.value_at_quantile(0.99) as f64;
    println!(
        "  {name:<30} {:>8.0} {:>8.0} {:>8.0}  99 %: {ratio:.2}",
        at(0.5),
        at(0.99),
        at(0.999)
    );
}

fn histogram() -> Result<Histogram<u64>, Failure> {
    Ok(Histogram::new(3)?)
}

fn time(arguments: &Arguments) -> Duration {
    Duration::from_secs_f64(arguments.seconds * 2.0)
}

/// A file of zeros.
fn prepared(folder: &std::path::Path) -> Result<(tempfile::TempDir, File), Failure> {
    let folder = tempfile::tempdir_in(folder)?;
    let file = File::options().write(true).create_new(true).open(folder.path().join("bare"))?;
    (&file).write_all(&vec![0; 64 << 20])?;
    file.sync_all()?;
    Ok((folder, file))
}

/// One event after the other: write, sync. What a sync takes.
fn syncs(arguments: &Arguments) -> Result<Histogram<u64>, Failure> {
    use std::os::unix::fs::FileExt;
    let (_folder, file) = prepared(&arguments.folder)?;
    let mut delays = histogram()?;
    let begun = Instant::now();
    for index in 0.. {
        let before = Instant::now();
        if before - begun > time(arguments) {
            break;
        }
        file.write_all_at(&[1; 64], index * 64 % (64 << 20))?;
        file.sync_data()?;
        delays.record(before.elapsed().as_nanos() as u64)?;
    }
    Ok(delays)
}

/// When the event `number` is due.
fn due(begun: Instant, number: u64, rate: u64) -> Instant {
    begun + Duration::from_nanos(number * 1_000_000_000 / rate)
}

/// One thread writes and syncs all events that are due: group commit without a ring.
fn by_one_thread(arguments: &Arguments) -> Result<Histogram<u64>, Failure> {
    use std::os::unix::fs::FileExt;
    let (_folder, file) = prepared(&arguments.folder)?;
    let (rate, mut delays) = (arguments.rate, histogram()?);
    let (begun, mut next, mut bytes) = (Instant::now(), 0_u64, Vec::new());
    while begun.elapsed() < time(arguments) {
        let due_until = begun.elapsed().as_nanos() as u64 * rate / 1_000_000_000;
        if due_until <= next {
            std::hint::spin_loop();
            continue;
        }
        bytes.resize((due_until - next) as usize * 64, 1);
        file.write_all_at(&bytes, next * 64 % (32 << 20))?;
        file.sync_data()?;
        let now = Instant::now();
        for number in next..due_until {
            delays.record((now - due(begun, number, rate)).as_nanos() as u64)?;
        }
        next = due_until;
    }
    Ok(delays)
}

/// The graph: journal, synced, acknowledge.
fn through_graph(arguments: &Arguments) -> Result<Histogram<u64>, Failure> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let journal = Options::new().open::<Event>(folder.path())?;
    let delays = Arc::new(Mutex::new(histogram()?));
    let (notes, rate) = (Arc::clone(&delays), arguments.rate);
    // The first segments are prepared before the clock runs.
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let (mut producer, consumers) = Disruptor::single_producer(65_536, || [0; 8])
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
        .stage("acknowledge")
        .read_batch(move |events: &[Event], first| {
            let now = Instant::now();
            let mut notes = notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for number in first..first + events.len() as u64 {
                let _ = notes.record((now - due(begun, number, rate)).as_nanos() as u64);
            }
        })
        .build()?;
    let running = consumers.start()?;
    let events = (time(arguments).as_secs_f64() * rate as f64) as u64;
    for number in 0..events {
        while Instant::now() < due(begun, number, rate) {
            std::thread::yield_now();
        }
        producer.publish(|event| event[0] = number)?;
    }
    running.shutdown()?;
    if journal.synced() != events {
        return Err("events are missing".into());
    }
    let delays = delays.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(delays.clone())
}
