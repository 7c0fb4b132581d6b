//! How many events one timed run moves: given on the command line, or found by short pilots so that
//! a run takes about the asked time.

use std::time::Duration;

/// The largest number of events of one run: an event's number fits its `value: u32`.
pub(crate) const MAX_EVENTS: u32 = u32::MAX;
/// Events of the first pilot. Small, as the slowest contender on the busiest machine runs it as
/// well.
pub(crate) const PILOT_EVENTS: u32 = 10_000;

/// A pilot of at least this part of the asked time is long enough to extrapolate from.
const LONG_ENOUGH: f64 = 0.125;
/// What an insufficient pilot's successor aims at, as a part of the asked time.
const NEXT_PILOT: f64 = 0.25;
/// An insufficient pilot's successor has at most this many times its events: short pilots are
/// dominated by the start of the threads and mislead.
const MAX_GROWTH: f64 = 10.0;
/// And at least this many times, so that pilots come to an end.
const MIN_GROWTH: f64 = 2.0;

/// What follows from a pilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A pilot of this many events has to follow.
    Again(u32),
    /// A run of this many events takes about the asked time.
    Settled(u32),
}

/// Judges a pilot of `events` that took `elapsed`, when a run should take `target`.
pub(crate) fn judge(events: u32, elapsed: Duration, target: Duration) -> Verdict {
    let part_of_target = elapsed.as_secs_f64() / target.as_secs_f64();
    if part_of_target >= LONG_ENOUGH || events == MAX_EVENTS {
        return Verdict::Settled(fitted(events, elapsed, target));
    }
    let growth = (NEXT_PILOT / part_of_target).clamp(MIN_GROWTH, MAX_GROWTH);
    Verdict::Again(scaled(events, growth))
}

/// How many events take `target`, if `events` took `elapsed`.
pub(crate) fn fitted(events: u32, elapsed: Duration, target: Duration) -> u32 {
    scaled(events, target.as_secs_f64() / elapsed.as_secs_f64())
}

/// `events * factor`, within the bounds of a run.
fn scaled(events: u32, factor: f64) -> u32 {
    let product = (f64::from(events) * factor).round();
    product.clamp(1.0, f64::from(MAX_EVENTS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that a run should take in these tests.
    const TARGET: Duration = Duration::from_millis(400);

    #[test]
    fn long_pilot_settles_the_count() {
        let verdict = judge(1_000, Duration::from_millis(100), TARGET);
        assert_eq!(verdict, Verdict::Settled(4_000));
    }

    #[test]
    fn short_pilot_grows_by_a_bounded_factor() {
        let hasty = judge(1_000, Duration::from_micros(1), TARGET);
        assert_eq!(hasty, Verdict::Again(10_000));

        let nearly = judge(1_000, Duration::from_millis(49), TARGET);
        assert_eq!(nearly, Verdict::Again(2_041));
    }

    #[test]
    fn count_stays_within_the_bounds_of_a_run() {
        let fast = judge(MAX_EVENTS, Duration::from_nanos(1), TARGET);
        assert_eq!(fast, Verdict::Settled(MAX_EVENTS));

        let slow = judge(10, Duration::from_secs(3_600), TARGET);
        assert_eq!(slow, Verdict::Settled(1));
    }
}
