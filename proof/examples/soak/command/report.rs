//! What a soak prints: a line each minute, and the figures at the end.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::memory::NOISE_BYTES;
use super::supervisor::Result;
use super::wire::State;

/// The record of a soak in the JSON file.
#[derive(Debug, Serialize)]
pub(super) struct Record<'a> {
    benchmark: &'static str,
    seed: u64,
    seconds: f64,
    events_per_second: f64,
    losses: u64,
    violation: Option<&'a str>,
    noise_bytes: i64,
    #[serde(flatten)]
    state: &'a State,
}

impl<'a> Record<'a> {
    /// The record of `result`.
    pub(super) fn new(seed: u64, result: &'a Result) -> Self {
        let seconds = result.elapsed.as_secs_f64();
        Self {
            benchmark: "soak",
            seed,
            seconds,
            events_per_second: result.state.events as f64 / seconds,
            losses: u64::from(result.violation.is_some()),
            violation: result.violation.as_deref(),
            noise_bytes: NOISE_BYTES,
            state: &result.state,
        }
    }
}

/// Returns the line of a minute.
pub(super) fn line(state: &State, elapsed: Duration) -> String {
    let faults: u64 = state.faults.values().sum();
    format!(
        "{:>5.0} min  {:.3e} events  {:.1} M/s  {} rings  {faults} faults  0 violations  longest \
         stall {} ms ({} ms without CPUs)  {} MiB",
        elapsed.as_secs_f64() / 60.0,
        state.events as f64,
        state.events as f64 / elapsed.as_secs_f64() / 1e6,
        state.rings,
        state.longest_stall_ms,
        state.longest_crowded_stall_ms,
        state.resident_bytes.unwrap_or(0) >> 20,
    )
}

/// Returns the figures at the end.
pub(super) fn table(seed: u64, result: &Result) -> String {
    let Result { state, violation, elapsed } = result;
    let seconds = elapsed.as_secs_f64();
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string never fails.
        let _written = writeln!(text, "{name:<28}{value}");
    };
    row("seed", seed.to_string());
    row("seconds", format!("{seconds:.1}"));
    row("events accepted", format!("{} ({:.3e})", state.events, state.events as f64));
    row("events per second", format!("{:.1} million", state.events as f64 / seconds / 1e6));
    row("events checked", format!("{} ({:.3e})", state.checked, state.checked as f64));
    row("rings and channels built", state.rings.to_string());
    for (topology, events) in &state.topologies {
        row(&format!("  {topology}"), format!("{:.3e} events", *events as f64));
    }
    row("faults injected", state.faults.values().sum::<u64>().to_string());
    for (kind, count) in &state.faults {
        row(&format!("  {kind}"), count.to_string());
    }
    row("longest unexplained stall", format!("{} ms", state.longest_stall_ms));
    row("  with CPUs taken away", format!("{} ms", state.longest_crowded_stall_ms));
    row("memory growth", growth(state.growth_bytes));
    row("losses, other violations", u64::from(violation.is_some()).to_string());
    text.truncate(text.trim_end().len());
    text
}

/// Returns whether memory grows beyond the noise.
pub(super) fn leaks(state: &State) -> bool {
    state.growth_bytes.is_some_and(|bytes| bytes > NOISE_BYTES)
}

fn growth(bytes: Option<i64>) -> String {
    let noise = NOISE_BYTES >> 20;
    match bytes {
        None => "unknown: too few rings".to_owned(),
        Some(bytes) if bytes.abs() <= NOISE_BYTES => {
            format!("0 (measured {:.1} MiB, noise {noise} MiB)", bytes as f64 / 1048576.0)
        }
        Some(bytes) => format!("{:.1} MiB (noise {noise} MiB)", bytes as f64 / 1048576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_within_the_noise_is_zero() {
        assert!(growth(Some(NOISE_BYTES)).starts_with("0 "));
        assert!(growth(Some(NOISE_BYTES + 1)).starts_with("4.0 MiB"));
        let state = |bytes| State { growth_bytes: Some(bytes), ..State::default() };
        assert!(!leaks(&state(NOISE_BYTES)) && leaks(&state(NOISE_BYTES + 1)));
    }

    #[test]
    fn the_table_has_each_fault() {
        let mut result = Result { elapsed: Duration::from_secs(2), ..Result::default() };
        result.state.faults.insert("halt".to_owned(), 3);
        result.state.events = 4_000_000;
        let table = table(9, &result);
        assert!(table.contains("  halt                      3"), "{table}");
        assert!(table.contains("2.0 million"), "{table}");
        assert!(table.ends_with("losses, other violations    0"), "{table}");
    }
}
