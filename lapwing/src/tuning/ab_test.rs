//! A run-time A/B test: times a stream with acquired cache lines and without, and uses what is faster
//! on this machine at this moment. Not here: which lines are acquired (`line_ownership`).
//!
//! ```text
//! events ── as chosen ──┬─ as chosen, timed ─┬─ the other, timed ─┬── the faster of the two ──
//!      4096 to 262,144  │        4096        │        4096        │   or multiples of that
//! ```
//!
//! The better choice depends on the CPU, on which cores run the threads, on the size of the ring and
//! on other load. The difference can be several times, and can change within seconds when a host
//! moves its virtual CPUs. See E22 and E42 in `lab/results/experiments.md`.

use std::time::Instant;

use crate::Sequence;
use crate::sync::now;

/// Events of a timed stretch, which take about ten microseconds in a stream.
pub(super) const EVENTS_PER_STRETCH: u64 = 1 << 12;
/// Laps of a timed stretch. An acquired line has its effect one lap later, so the first lap still
/// shows the effect of the stretch before.
const LAPS: u64 = 2;
/// Longest rest between two tests if both choices perform alike, as a power of two of stretches.
/// Three events in a hundred are then part of a test.
const MOST_TRUST: u32 = 6;
/// After a test that lost time, the rest lasts this many times the loss. Tests then cost two
/// percent of the time at first. The factor doubles for each `TESTS_PER_DOUBLING` tests that the
/// choice has won. In the end, tests cost a quarter of a percent.
const REST_PER_LOSS: f64 = 50.0;
const TESTS_PER_DOUBLING: u32 = 2;
/// Longest rest after a loss, in stretches. The machine may change in the meantime.
const LONGEST_REST: f64 = 2048.0;
/// Trust that the choice loses with a lost test, since a single loss may be chance. If it has less
/// trust left, the other choice replaces it.
const DISTRUST: u32 = 2;
/// Time per event in nanoseconds above which the cache lines make no difference to producers. Then
/// they are left alone.
const SLOW_NS: f64 = 100.0;

/// The A/B test of one end of a ring.
#[derive(Debug)]
pub(super) struct AbTest {
    /// The stretch ends with the event before this sequence.
    until: Sequence,
    stretch: Stretch,
    /// Whether lines are acquired in the current stretch.
    is_on: bool,
    /// How many tests the choice has won, less what lost tests cost; at most `MOST_TRUST`.
    trust: u32,
    /// Number of events of a timed stretch.
    stretch_events: u64,
}

/// The purpose of a stretch of events. A timed stretch has its start.
#[derive(Debug, Clone, Copy)]
enum Stretch {
    /// Keeps to the choice, without timing.
    Rest,
    /// Times the choice.
    Kept(Instant),
    /// Times the other one. The choice took `kept_ns` per event.
    Other { start: Instant, kept_ns: f64 },
}

impl AbTest {
    /// Creates the test of a consumer of a ring of `slots`, whose first event is `first`. It begins
    /// without acquired lines.
    pub(super) fn new(slots: u64, first: Sequence) -> Self {
        let stretch_events = (LAPS * slots).max(EVENTS_PER_STRETCH);
        let until = first + stretch_events;
        Self { until, stretch: Stretch::Rest, is_on: false, trust: 0, stretch_events }
    }

    /// Returns whether to acquire the lines of events below `end`, which may begin a new stretch.
    #[inline]
    pub(super) fn is_on_at(&mut self, end: Sequence) -> bool {
        if end > self.until {
            self.next(end, now());
        }
        self.is_on
    }

    /// Begins the stretch whose first event is `first`.
    #[cold]
    #[inline(never)]
    fn next(&mut self, first: Sequence, now: Instant) {
        let (stretch, stretches) = match self.stretch {
            Stretch::Rest => (Stretch::Kept(now), 1),
            Stretch::Kept(start) => {
                let kept_ns = self.ns_per_event(start, first, now);
                self.is_on = !self.is_on;
                (Stretch::Other { start: now, kept_ns }, 1)
            }
            Stretch::Other { start, kept_ns } => {
                let other_ns = self.ns_per_event(start, first, now);
                self.settle(kept_ns, other_ns);
                let rest = (1 << self.trust).max(self.rest_after_loss(kept_ns, other_ns));
                (Stretch::Rest, rest)
            }
        };
        self.stretch = stretch;
        self.until = first + self.stretch_events * stretches;
    }

    /// Returns the nanoseconds per event of the timed stretch that began at `start` and ended
    /// before `first`.
    fn ns_per_event(&self, start: Instant, first: Sequence, now: Instant) -> f64 {
        let events = first.saturating_sub(self.until - self.stretch_events).max(1);
        now.duration_since(start).as_secs_f64() * 1e9 / events as f64
    }

    /// Chooses after both were timed. The current stretch is that of the other choice.
    fn settle(&mut self, kept_ns: f64, other_ns: f64) {
        let is_slow = kept_ns.min(other_ns) > SLOW_NS;
        let is_other_better = if is_slow { !self.is_on } else { other_ns < kept_ns };
        let trust = if is_other_better {
            self.trust.checked_sub(DISTRUST)
        } else {
            Some((self.trust + 1).min(MOST_TRUST))
        };
        // Without enough trust, the other choice stays in use.
        if trust.is_some() {
            self.is_on = !self.is_on;
        }
        self.trust = trust.unwrap_or(0);
    }

    /// Returns the stretches to rest after a test in which the other choice took `other_ns` per
    /// event and the one in use `kept_ns`.
    fn rest_after_loss(&self, kept_ns: f64, other_ns: f64) -> u64 {
        let per_loss = REST_PER_LOSS * f64::from(1_u32 << (self.trust / TESTS_PER_DOUBLING));
        // NaN passes `clamp` unchanged; the cast makes it 0.
        ((other_ns / kept_ns - 1.0) * per_loss).clamp(0.0, LONGEST_REST) as u64
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A consumer that takes the given nanoseconds per event, without acquired lines and with them.
    struct End {
        test: AbTest,
        next: Sequence,
        now: Instant,
        off_ns: u64,
        on_ns: u64,
    }

    impl End {
        fn new(off_ns: u64, on_ns: u64) -> Self {
            Self { test: AbTest::new(1, 0), next: 0, now: Instant::now(), off_ns, on_ns }
        }

        /// Processes `events`; returns for how many of them it left the lines.
        fn work(&mut self, events: u64) -> u64 {
            let mut off = 0;
            for _ in 0..events {
                if self.next >= self.test.until {
                    self.test.next(self.next, self.now);
                }
                self.next += 1;
                off += u64::from(!self.test.is_on);
                let ns = if self.test.is_on { self.on_ns } else { self.off_ns };
                self.now += Duration::from_nanos(ns);
            }
            off
        }
    }

    const SETTLES: u64 = 4 * EVENTS_PER_STRETCH;
    const MANY: u64 = 1 << 21;

    #[test]
    fn what_is_faster_is_kept_and_the_other_tried_for_an_event_in_a_hundred_or_two() {
        for (off_ns, on_ns, is_off_kept) in [(3, 4, true), (4, 3, false), (50, 200, true)] {
            let mut end = End::new(off_ns, on_ns);
            end.work(MANY);
            let off = end.work(MANY);
            let kept = if is_off_kept { off } else { MANY - off };
            assert!((MANY / 100 * 98..MANY).contains(&kept), "{off_ns} {on_ns}: {kept}");
        }
    }

    #[test]
    fn the_first_test_settles_it() {
        let mut end = End::new(4, 3);
        end.work(SETTLES);
        assert!(end.test.is_on);
    }

    #[test]
    fn it_changes_when_the_machine_does() {
        let mut end = End::new(3, 4);
        end.work(MANY);
        (end.off_ns, end.on_ns) = (4, 3);
        end.work(MANY);
        assert!(end.work(MANY) < MANY / 50);
        (end.off_ns, end.on_ns) = (3, 4);
        end.work(MANY);
        assert!(end.work(MANY) > MANY / 100 * 98);
    }

    /// Returns the fraction of the time that tests cost over `events`.
    fn lost(end: &mut End, events: u64) -> f64 {
        let start = end.now;
        end.work(events);
        let least = Duration::from_nanos(events * end.off_ns.min(end.on_ns));
        (end.now - start).as_secs_f64() / least.as_secs_f64() - 1.0
    }

    #[test]
    fn tests_of_what_is_worse_cost_two_parts_in_a_hundred_and_then_less() {
        for (off_ns, on_ns) in [(3, 30), (30, 3), (2, 3), (3, 2)] {
            let mut end = End::new(off_ns, on_ns);
            end.work(SETTLES);
            let early = lost(&mut end, 2 * MANY);
            assert!((0.0..0.03).contains(&early), "{off_ns} {on_ns}: {early}");
            end.work(4 * MANY);
            let late = lost(&mut end, 4 * MANY);
            assert!((0.0..0.01).contains(&late), "{off_ns} {on_ns}: {late}");
        }
    }

    #[test]
    fn no_rest_is_longer_than_the_longest() {
        let test = |trust| AbTest { trust, ..AbTest::new(1, 0) };
        for trust in [0, MOST_TRUST] {
            assert_eq!(test(trust).rest_after_loss(1.0, f64::INFINITY), 2048);
            assert_eq!(test(trust).rest_after_loss(0.0, 0.0), 0);
            assert_eq!(test(trust).rest_after_loss(2.0, 1.0), 0);
        }
        assert_eq!(
            [0, 1, 2, MOST_TRUST].map(|trust| test(trust).rest_after_loss(2.0, 3.0)),
            [25, 25, 50, 200]
        );
    }

    #[test]
    fn a_stretch_lasts_two_laps_of_a_large_ring() {
        let mut test = AbTest::new(3 * EVENTS_PER_STRETCH, 7);
        assert_eq!(test.until, 7 + 6 * EVENTS_PER_STRETCH);
        assert!(!test.is_on_at(test.until), "still the first stretch");
        assert_eq!(test.until, 7 + 6 * EVENTS_PER_STRETCH);
        test.is_on_at(test.until + 1);
        assert_eq!(test.until, 8 + 12 * EVENTS_PER_STRETCH);
    }

    #[test]
    fn one_lost_test_is_chance() {
        let mut end = End::new(3, 4);
        end.work(MANY);
        assert_eq!(end.test.trust, MOST_TRUST);
        // A test ends with a stretch of what is not in use; here that is to leave the lines.
        end.test.settle(4.0, 3.0);
        assert_eq!((end.test.trust, end.test.is_on), (MOST_TRUST - DISTRUST, true));
    }

    #[test]
    fn lines_of_a_slow_end_are_left() {
        let mut end = End::new(400, 300);
        end.work(MANY);
        assert!(end.work(MANY) > MANY / 100 * 98);
    }
}
