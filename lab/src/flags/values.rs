//! Parsers and limits of flag values that several commands use.

use std::time::Duration;

/// The largest ring, in slots. Lapwing has the same limit.
const MAX_RING_SLOTS: usize = 1 << 30;
/// The longest time that a flag accepts, in seconds.
const MAX_SECONDS: f64 = 3_600.0;

/// The highest load, in events per second.
pub(crate) const MAX_RATE: u32 = 1_000_000_000;

/// Returns each value of `asked` once, in order, or `all` if `asked` is empty.
pub(crate) fn each_once<T: Copy + PartialEq>(asked: &[T], all: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for value in if asked.is_empty() { all } else { asked } {
        if !once.contains(value) {
            once.push(*value);
        }
    }
    once
}

/// Parses the number of slots of a ring.
pub(crate) fn ring(text: &str) -> Result<usize, String> {
    let slots = text.parse::<usize>().map_err(|error| error.to_string())?;
    if slots.is_power_of_two() && slots <= MAX_RING_SLOTS {
        Ok(slots)
    } else {
        Err(format!("expected a power of two in 1..={MAX_RING_SLOTS}"))
    }
}

/// Parses a positive, finite number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    if seconds > 0.0 && seconds <= MAX_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("expected a number above 0, at most {MAX_SECONDS}"))
    }
}
