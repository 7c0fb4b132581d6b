//! Delays of acknowledged events at a given rate, from the time when an event was due. Not here: how
//! each contender commits (`commits`).
//!
//! An event that arrives during a sync waits for the rest of it and for the next one. So even a
//! perfect group commit has up to twice the delay of a sync. Long syncs also count more often than
//! short ones, since more events arrive in them. An `ideal` row is the perfect group commit, computed
//! from the syncs of the row above it. The ideal of the bare syncs is what a contender can be compared
//! with, in the same round. The ideal of the journal's own syncs shows what its hand-overs cost.

use std::time::Duration;

use hdrhistogram::Histogram;
use lapwing_lab_stats::{histogram, median, quartiles};
use serde_json::json;

use crate::arguments::Arguments;
use crate::chronicle::Chronicle;
use crate::commits::{by_one_thread, due, syncs, through_graph};
use crate::failure::Failure;

const BARE: usize = 0;
const IDEAL: usize = 1;
const ONE_THREAD: usize = 2;
const JOURNAL: usize = 3;
const CHRONICLE: usize = 6;
const ROWS: [&str; 7] = [
    "bare pwrite + fdatasync",
    "ideal group commit on these",
    "bare group commit, one thread",
    "lapwing-journal, three stages",
    "its syncs",
    "ideal group commit on these",
    "Chronicle Queue, one thread",
];
/// What is printed, and stored.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// The delays of each row in each round. Chronicle Queue can be missing.
type Rounds = [Vec<Histogram<u64>>; ROWS.len()];

/// Measures each contender in turns. Returns the rows for the file.
pub(crate) fn run(
    arguments: &Arguments,
    chronicle: &mut Option<Chronicle>,
) -> Result<Vec<serde_json::Value>, Failure> {
    let mut rounds = Rounds::default();
    for round in 0..=arguments.rounds {
        let mut order = [BARE, ONE_THREAD, JOURNAL, CHRONICLE];
        fastrand::shuffle(&mut order);
        for row in order {
            for (row, delays) in measure(row, arguments, chronicle)? {
                if round > 0 {
                    rounds[row].push(delays);
                }
            }
        }
    }
    println!("delay until acknowledged, {} events/s, us: median of the rounds", arguments.rate);
    println!(
        "  {:<30}{:>9}{:>9}{:>9}{:>9}   p99 to bare, to ideal",
        "", "p50", "p90", "p99", "p99.9"
    );
    let rows = (0..ROWS.len()).filter(|&row| !rounds[row].is_empty());
    Ok(rows.map(|row| report(row, &rounds, arguments)).collect())
}

/// Runs a contender. It has up to three rows.
fn measure(
    row: usize,
    arguments: &Arguments,
    chronicle: &mut Option<Chronicle>,
) -> Result<Vec<(usize, Histogram<u64>)>, Failure> {
    let (rate, time) = (arguments.rate, Duration::from_secs_f64(arguments.seconds * 2.0));
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    Ok(match row {
        BARE => {
            let found = syncs(folder.path(), time)?;
            vec![(BARE, lengths(&found)), (IDEAL, ideal(&found, rate))]
        }
        ONE_THREAD => vec![(ONE_THREAD, by_one_thread(folder.path(), rate, time)?)],
        JOURNAL => {
            let (delays, found) = through_graph(folder.path(), arguments, time)?;
            let ideal = ideal(&found, rate);
            vec![(JOURNAL, delays), (JOURNAL + 1, lengths(&found)), (JOURNAL + 2, ideal)]
        }
        _ => match chronicle {
            Some(chronicle) => vec![(CHRONICLE, chronicle.delays(folder.path(), rate, time)?)],
            None => Vec::new(),
        },
    })
}

/// How long the syncs take.
fn lengths(syncs: &[(Duration, Duration)]) -> Histogram<u64> {
    let mut lengths = histogram();
    for (begun, end) in syncs {
        lengths.saturating_record((*end - *begun).as_nanos() as u64);
    }
    lengths
}

/// The delays of a group commit with these syncs, if an event that is due during a sync is
/// acknowledged at the end of the next one. Times are from the start, when the first event is due.
fn ideal(syncs: &[(Duration, Duration)], rate: u64) -> Histogram<u64> {
    let mut delays = histogram();
    let mut number = 0;
    for (begun, end) in syncs {
        while due(number, rate) < *begun {
            delays.saturating_record((*end - due(number, rate)).as_nanos() as u64);
            number += 1;
        }
    }
    delays
}

/// The ratios of a quantile to that of another row in the same round.
fn ratios(row: usize, to: usize, rounds: &Rounds, quantile: f64) -> Vec<f64> {
    let at = |delays: &Histogram<u64>| delays.value_at_quantile(quantile) as f64;
    rounds[row].iter().zip(&rounds[to]).map(|(delays, to)| at(delays) / at(to).max(1.0)).collect()
}

/// Prints a row, and returns it for the file.
fn report(row: usize, rounds: &Rounds, arguments: &Arguments) -> serde_json::Value {
    let us = |delays: &Histogram<u64>, at| delays.value_at_quantile(at) as f64 / 1e3;
    let medians = QUANTILES.map(|(name, at)| {
        let found: Vec<_> = rounds[row].iter().map(|delays| us(delays, at)).collect();
        (name, median(&found).unwrap_or_default(), quartiles(&found))
    });
    let (to_bare, to_ideal) = (ratios(row, BARE, rounds, 0.99), ratios(row, IDEAL, rounds, 0.99));
    print!("  {:<30}", ROWS[row]);
    for (_, middle, _) in &medians {
        print!("{middle:>9.0}");
    }
    let middle = |ratios: &[f64]| median(ratios).unwrap_or_default();
    println!("   {:>11.2}{:>10.2}", middle(&to_bare), middle(&to_ideal));
    let figures = medians.map(|(name, median, quartiles)| {
        (name.to_owned(), json!({ "median_us": median, "quartiles_us": quartiles }))
    });
    json!({
        "benchmark": "journal-delays",
        "row": row,
        "log": ROWS[row],
        "events_per_second": arguments.rate,
        "delays": serde_json::Map::from_iter(figures),
        "p99_to_bare": { "median": median(&to_bare), "quartiles": quartiles(&to_bare) },
        "p99_to_ideal": { "median": median(&to_ideal), "quartiles": quartiles(&to_ideal) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_the_rest_of_a_sync_and_for_the_next_one() {
        let us = Duration::from_micros;
        let syncs = [(us(0), us(150)), (us(150), us(250)), (us(250), us(400))];
        // Events are due at 0, 100 and 200 us. The first sync has none of them.
        let delays = ideal(&syncs, 10_000);
        let rounded = |ns: u64| (ns as f64 / 1e3).round();
        let found = (delays.len(), rounded(delays.min()), rounded(delays.max()));
        assert_eq!(found, (3, 150.0, 250.0));
    }
}
