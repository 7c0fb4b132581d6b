//! Events per second, in batches.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::logs::{Event, LOGS, Log, Open};
use crate::{Arguments, Failure};

const BATCHES: [usize; 3] = [1, 64, 1024];

/// Measures each log with each size of a batch, synced and not.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    for is_synced in [true, false] {
        let what = if is_synced { "synced" } else { "unsynced" };
        println!("{what}, 64-byte events, M/s: median (min..max), and the median ratio to `bare`");
        for batch in BATCHES {
            let rates = measure(arguments, batch, is_synced)?;
            for (index, (name, _)) in LOGS.iter().enumerate() {
                row(name, batch, &rates[index], &rates[0]);
            }
        }
    }
    Ok(())
}

fn row(name: &str, batch: usize, rates: &[f64], bare: &[f64]) {
    let Some(middle) = median(rates.to_vec()) else { return };
    let ratios = rates.iter().zip(bare).map(|(rate, bare)| rate / bare).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let ratio = median(ratios).unwrap_or_default();
    println!("  {batch:>5} {name:<16} {middle:>8.3} ({least:.3}..{most:.3}) {ratio:>6.2}");
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The rate of each log in each round. None for a log that cannot do it.
fn measure(arguments: &Arguments, batch: usize, is_synced: bool) -> Result<Vec<Vec<f64>>, Failure> {
    let mut rates = vec![Vec::new(); LOGS.len()];
    for round in 0..=arguments.rounds {
        let mut order: Vec<_> = (0..LOGS.len()).collect();
        fastrand::shuffle(&mut order);
        for index in order {
            let time = Duration::from_secs_f64(arguments.seconds);
            let always_syncs = matches!(LOGS[index].0, "okaywal" | "open-wal");
            if always_syncs && !is_synced {
                continue;
            }
            let rate = time_log(LOGS[index].1, &arguments.folder, batch, is_synced, time)?;
            if round > 0 {
                rates[index].push(rate);
            }
        }
    }
    Ok(rates)
}

/// Appends for `time`, and checks what the log then has. Returns millions of events per second.
fn time_log(
    open: Open,
    folder: &Path,
    batch: usize,
    is_synced: bool,
    time: Duration,
) -> Result<f64, Failure> {
    let folder = tempfile::tempdir_in(folder)?;
    let mut log = open(folder.path())?;
    let mut events: Vec<Event> = vec![[0; 8]; batch];
    let (begun, mut next) = (Instant::now(), 0);
    while begun.elapsed() < time {
        next = fill(&mut events, next);
        log.append(&events, is_synced)?;
    }
    let rate = next as f64 / begun.elapsed().as_secs_f64() / 1e6;
    expect(log, next)?;
    Ok(rate)
}

/// Gives each event its number.
fn fill(events: &mut [Event], mut next: u64) -> u64 {
    for event in events {
        event[0] = next;
        next += 1;
    }
    next
}

fn expect(log: Box<dyn Log>, events: u64) -> Result<(), Failure> {
    let found = log.count()?;
    if found == events { Ok(()) } else { Err(format!("{found} of {events} events").into()) }
}
