//! The ways to commit events at a given rate: bare syncs, one thread, and the graph of the journal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use lapwing::{Action, Disruptor};
use lapwing_journal::error::SyncError;
use lapwing_journal::{Options, SyncPolicy};
use lapwing_lab_stats::histogram;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::logs::{Event, prepared};

/// Begin and end of each sync, from the start.
pub(crate) type Syncs = Vec<(Duration, Duration)>;

const FILE_BYTES: u64 = 64 << 20;

/// When the event `number` is due, from the start.
pub(crate) fn due(number: u64, rate: u64) -> Duration {
    Duration::from_nanos(number * 1_000_000_000 / rate)
}

/// One event after the other: write, sync.
pub(crate) fn syncs(folder: &Path, time: Duration) -> Result<Syncs, Failure> {
    let file = prepared(folder, 0)?;
    let (begun, mut syncs) = (Instant::now(), Vec::new());
    for index in 0.. {
        let before = begun.elapsed();
        if before > time {
            break;
        }
        commit(&file, index, &[1; 64])?;
        syncs.push((before, begun.elapsed()));
    }
    Ok(syncs)
}

/// Writes the bytes of events from `first` on, and syncs them. The file is used again and again.
fn commit(file: &File, first: u64, bytes: &[u8]) -> Result<(), Failure> {
    file.write_all_at(bytes, first * 64 % (FILE_BYTES / 2))?;
    Ok(file.sync_data()?)
}

/// One thread writes and syncs all events that are due: group commit without a ring.
pub(crate) fn by_one_thread(
    folder: &Path,
    rate: u64,
    time: Duration,
) -> Result<Histogram<u64>, Failure> {
    let file = prepared(folder, 0)?;
    let (mut delays, mut next, mut bytes) = (histogram(), 0, Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < time {
        let due_until = begun.elapsed().as_nanos() as u64 * rate / 1_000_000_000;
        if due_until <= next {
            std::hint::spin_loop();
            continue;
        }
        bytes.resize((due_until - next) as usize * 64, 1);
        commit(&file, next, &bytes)?;
        let now = begun.elapsed();
        for number in next..due_until {
            delays.saturating_record((now - due(number, rate)).as_nanos() as u64);
        }
        next = due_until;
    }
    Ok(delays)
}

/// The graph: journal, synced, acknowledge. Returns the delays, and the syncs.
pub(crate) fn through_graph(
    folder: &Path,
    arguments: &Arguments,
    time: Duration,
) -> Result<(Histogram<u64>, Syncs), Failure> {
    let rate = arguments.rate;
    let options = Options::new().segment_bytes(arguments.segment_mib << 20);
    let journal = Arc::new(options.open::<Event>(folder)?);
    let (delays, syncs) = (Arc::new(Mutex::new(histogram())), Arc::new(Mutex::new(Vec::new())));
    let (notes, times) = (Arc::clone(&delays), Arc::clone(&syncs));
    let (mut syncer, synced) = (journal.syncer(SyncPolicy::EachBatch), Arc::clone(&journal));
    // The first segments are prepared before the clock runs.
    std::thread::sleep(Duration::from_millis(300));
    let clock = Instant::now();
    let (mut producer, consumers) = Disruptor::single_producer(65_536, || [0; 8])
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch(move |events: &[Event], first| -> Result<Action, SyncError> {
            let (before, end) = (clock.elapsed(), first + events.len() as u64);
            let is_synced = synced.synced() >= end;
            let action = syncer.sync(end)?;
            if !is_synced {
                lock(&times).push((before, clock.elapsed()));
            }
            Ok(action)
        })
        .stage("acknowledge")
        .read_batch(move |events: &[Event], _| {
            let now = clock.elapsed().as_nanos() as u64;
            let mut notes = lock(&notes);
            for [_, due_ns, ..] in events {
                notes.saturating_record(now - due_ns);
            }
        })
        .build()?;
    let running = consumers.start()?;
    // The making of the ring and the threads is no delay of an event.
    std::thread::sleep(Duration::from_millis(50));
    let begun = clock.elapsed();
    let events = (time.as_secs_f64() * rate as f64) as u64;
    for number in 0..events {
        let due = begun + due(number, rate);
        while clock.elapsed() < due {
            std::thread::yield_now();
        }
        producer.publish(|event| [event[0], event[1]] = [number, due.as_nanos() as u64])?;
    }
    running.shutdown()?;
    if journal.synced() != events {
        return Err("events are missing".into());
    }
    let delays = lock(&delays).clone();
    let syncs = lock(&syncs).iter().map(|(from, to)| (*from - begun, *to - begun)).collect();
    Ok((delays, syncs))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
