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

use crate::delays::{due, histogram};
use crate::logs::{Event, prepared};
use crate::{Arguments, Failure};

/// Begin and end of each sync, from the start.
pub(crate) type Syncs = Vec<(Duration, Duration)>;

const FILE_BYTES: u64 = 64 << 20;

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
    let (mut delays, mut next, mut bytes) = (histogram()?, 0, Vec::new());
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
            delays.record((now - due(number, rate)).as_nanos() as u64)?;
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
    let (delays, syncs) = (Arc::new(Mutex::new(histogram()?)), Arc::new(Mutex::new(Vec::new())));
    let (notes, times) = (Arc::clone(&delays), Arc::clone(&syncs));
    let (mut syncer, synced) = (journal.syncer(SyncPolicy::EachBatch), Arc::clone(&journal));
    // The first segments are prepared before the clock runs.
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let (mut producer, consumers) = Disruptor::single_producer(65_536, || [0; 8])
        .stage("journal")
        .read_batch(journal.writer().handler())
        .stage("synced")
        .read_batch(move |events: &[Event], first| -> Result<Action, SyncError> {
            let (before, end) = (begun.elapsed(), first + events.len() as u64);
            let is_synced = synced.synced() >= end;
            let action = syncer.sync(end)?;
            if !is_synced {
                lock(&times).push((before, begun.elapsed()));
            }
            Ok(action)
        })
        .stage("acknowledge")
        .read_batch(move |events: &[Event], first| {
            let now = begun.elapsed();
            let mut notes = lock(&notes);
            for number in first..first + events.len() as u64 {
                let _ = notes.record((now - due(number, rate)).as_nanos() as u64);
            }
        })
        .build()?;
    let running = consumers.start()?;
    let events = (time.as_secs_f64() * rate as f64) as u64;
    for number in 0..events {
        while begun.elapsed() < due(number, rate) {
            std::thread::yield_now();
        }
        producer.publish(|event| event[0] = number)?;
    }
    running.shutdown()?;
    if journal.synced() != events {
        return Err("events are missing".into());
    }
    let delays = lock(&delays).clone();
    let syncs = lock(&syncs).clone();
    Ok((delays, syncs))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
