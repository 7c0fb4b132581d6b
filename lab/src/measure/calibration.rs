//! The number of events of a timed run: given on the command line, or found by short pilots so that
//! a run has about the requested length.

use std::time::Duration;

/// The largest number of events of one run. The number of an event fits its `value: u32`.
pub(crate) const MAX_EVENTS: u32 = u32::MAX;
/// Events of the first pilot. The number is small because the slowest contender on the busiest
/// machine runs it as well.
pub(crate) const PILOT_EVENTS: u32 = 10_000;

/// A pilot of at least this fraction of the requested length is long enough to extrapolate from.
const LONG_ENOUGH: f64 = 0.125;
/// The length of the pilot after an insufficient one, as a fraction of the requested length.
const NEXT_PILOT: f64 = 0.25;
/// The pilot after an insufficient one has at most this many times its events. The start of the
/// threads dominates short pilots, so they mislead.
const MAX_GROWTH: f64 = 10.0;
/// The pilot after an insufficient one has at least this many times its events, so that the pilots
/// end.
const MIN_GROWTH: f64 = 2.0;

/// The result of a pilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Another pilot of this many events is necessary.
    Again(u32),
    /// A run of this many events has about the requested length.
    Settled(u32),
}

/// Evaluates a pilot of `events` that took `elapsed`, for runs of length `target`.
pub(crate) fn judge(events: u32, elapsed: Duration, target: Duration) -> Verdict {
    let part_of_target = elapsed.as_secs_f64() / target.as_secs_f64();
    if part_of_target >= LONG_ENOUGH || events == MAX_EVENTS {
        return Verdict::Settled(fitted(events, elapsed, target));
    }
    let growth = (NEXT_PILOT / part_of_target).clamp(MIN_GROWTH, MAX_GROWTH);
    Verdict::Again(scaled(events, growth))
}

/// Returns the number of events that take `target`, if `events` took `elapsed`.
pub(crate) fn fitted(events: u32, elapsed: Duration, target: Duration) -> u32 {
    scaled(events, target.as_secs_f64() / elapsed.as_secs_f64())
}

/// Returns `events * factor`, within the bounds of a run.
fn scaled(events: u32, factor: f64) -> u32 {
    let product = (f64::from(events) * factor).round();
    product.clamp(1.0, f64::from(MAX_EVENTS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a run in these tests.
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
