//! Events per second, in batches. Not here: the logs (`logs`, `chronicle`).

use std::path::Path;
use std::time::{Duration, Instant};

use lapwing_lab_stats::{median, quartiles};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::chronicle::Chronicle;
use crate::failure::Failure;
use crate::logs::{EVENT_BYTES, Event, LOGS, Log, Open};

const BATCHES: [usize; 3] = [1, 64, 1024];
/// `LOGS`, and Chronicle Queue after them.
const ROWS: usize = LOGS.len() + 1;

/// Millions of events per second of each row in each round. Nothing for a log that cannot do it.
type Rates = [Vec<f64>; ROWS];

/// Measures each log with each size of a batch, synced and not. Returns the rows for the file.
pub(crate) fn run(
    arguments: &Arguments,
    chronicle: &mut Option<Chronicle>,
) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for is_synced in [true, false] {
        let what = if is_synced { "synced" } else { "unsynced" };
        println!("{what}, 64-byte events, M/s: median (min..max), and the median ratio to `bare`");
        for batch in BATCHES {
            let rates = measure(arguments, chronicle, batch, is_synced)?;
            let measured = (0..ROWS).filter(|&row| !rates[row].is_empty());
            rows.extend(measured.map(|row| report(row, batch, is_synced, &rates)));
        }
    }
    Ok(rows)
}

/// Prints a row, and returns it for the file.
fn report(row: usize, batch: usize, is_synced: bool, rates: &Rates) -> Value {
    let name = LOGS.get(row).map_or("Chronicle Queue", |(name, _)| name);
    let (rates, bare) = (&rates[row], &rates[0]);
    let ratios: Vec<_> = rates.iter().zip(bare).map(|(rate, bare)| rate / bare).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let (middle, ratio) = (median(rates), median(&ratios));
    println!(
        "  {batch:>5} {name:<16} {:>9} ({}..{}) {:>6.2}",
        short(middle.unwrap_or_default()),
        short(least),
        short(most),
        ratio.unwrap_or_default(),
    );
    json!({
        "benchmark": "journal-appends",
        "log": name,
        "is_synced": is_synced,
        "events_per_batch": batch,
        "event_bytes": EVENT_BYTES,
        "verified": true,
        "runs": rates,
        "median_m_per_second": middle,
        "quartiles_m_per_second": quartiles(rates),
        "baseline": LOGS[0].0,
        "ratio_to_baseline": ratio,
        "ratio_quartiles": quartiles(&ratios),
    })
}

/// Three digits or more.
fn short(rate: f64) -> String {
    let digits = if rate < 0.01 {
        5
    } else if rate < 1.0 {
        4
    } else {
        2
    };
    format!("{rate:.digits$}")
}

fn measure(
    arguments: &Arguments,
    chronicle: &mut Option<Chronicle>,
    batch: usize,
    is_synced: bool,
) -> Result<Rates, Failure> {
    let mut rates = Rates::default();
    let time = Duration::from_secs_f64(arguments.seconds);
    for round in 0..=arguments.rounds {
        let mut order: Vec<_> = (0..ROWS).collect();
        fastrand::shuffle(&mut order);
        for row in order {
            let folder = tempfile::tempdir_in(&arguments.folder)?;
            let rate = match (LOGS.get(row), &mut *chronicle) {
                (Some(("okaywal" | "open-wal", _)), _) if !is_synced => continue, // they always sync
                (Some((_, open)), _) => time_log(*open, folder.path(), batch, is_synced, time)?,
                (None, None) => continue,
                (None, Some(rival)) => rival.append(folder.path(), batch, is_synced, time)?,
            };
            if round > 0 {
                rates[row].push(rate / 1e6);
            }
        }
    }
    Ok(rates)
}

/// Appends for `time`, and checks what the log then has. Returns events per second.
fn time_log(
    open: Open,
    folder: &Path,
    batch: usize,
    is_synced: bool,
    time: Duration,
) -> Result<f64, Failure> {
    let mut log = open(folder)?;
    let mut events: Vec<Event> = vec![[0; 8]; batch];
    let (begun, mut next) = (Instant::now(), 0);
    while begun.elapsed() < time {
        next = fill(&mut events, next);
        log.append(&events, is_synced)?;
    }
    let rate = next as f64 / begun.elapsed().as_secs_f64();
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
