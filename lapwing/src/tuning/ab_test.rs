//! A run-time A/B test: times two ways of doing the same thing, and uses the one that is faster on
//! this machine at this moment.
//!
//! ```text
//! events ── way in use ──┬─ in use, timed ─┬─ other, timed ─┬── the faster of the two ──
//!       4096 to 262,144  │      4096       │      4096      │   or multiples of that
//! ```
//!
//! Two choices use it:
//!
//! - whether to prefetch slots before they are written (`claim_window`),
//! - whether to acquire ownership of cache lines before they are released (`line_ownership`).
//!
//! The better way depends on the CPU, on which cores run the threads, on the size of the ring and
//! on other load. The difference can be several times, and can change within seconds when a host
//! moves its virtual CPUs. See E42 in `perf/results/experiments.md`.

use std::time::Instant;

use crate::Sequence;
use crate::sync::now;

/// Events of a timed stretch, which take about ten microseconds in a stream.
pub(crate) const EVENTS_PER_STRETCH: u64 = 1 << 12;
/// Laps of a timed stretch for a way that has its effect one lap later. The first lap still shows
/// the effect of the stretch before.
const LAPS: u64 = 2;
/// Longest rest between two tests if both ways perform alike, as a power of two of stretches. Three
/// events in a hundred are then part of a test.
const MOST_TRUST: u32 = 6;
/// After a test that lost time, the rest lasts this many times the loss. Tests then cost two
/// percent of the time at first. The factor doubles for each `TESTS_PER_DOUBLING` tests that the
/// way in use has won. In the end, tests cost a quarter of a percent.
const REST_PER_LOSS: f64 = 50.0;
const TESTS_PER_DOUBLING: u32 = 2;
/// Longest rest after a loss, in stretches. The machine may change in the meantime.
const LONGEST_REST: f64 = 2048.0;
/// Trust that the way in use loses with a lost test, since a single loss may be chance. If it has
/// less trust left, the other way replaces it.
const DISTRUST: u32 = 2;

/// The A/B test between a first way and another one, for one end of a ring. If both take longer
/// than `SLOW_NS` nanoseconds per event, the choice does not matter and the test keeps the first
/// way.
#[derive(Debug)]
pub(crate) struct AbTest<const SLOW_NS: u64> {
    /// The stretch ends with the event before this sequence.
    until: Sequence,
    stretch: Stretch,
    /// Whether the current stretch uses the first way.
    is_first: bool,
    /// How many tests the way in use has won, less what lost tests cost; at most `MOST_TRUST`.
    trust: u32,
    /// Number of events of a timed stretch.
    stretch_events: u64,
}

/// The purpose of a stretch of events. A timed stretch has its start.
#[derive(Debug, Clone, Copy)]
enum Stretch {
    /// Runs the way in use, without timing.
    Rest,
    /// Times the way in use.
    Kept(Instant),
    /// Times the other way. The way in use took `kept_ns` per event.
    Other { start: Instant, kept_ns: f64 },
}

impl<const SLOW_NS: u64> Default for AbTest<SLOW_NS> {
    /// No test: always the first way.
    fn default() -> Self {
        Self {
            until: Sequence::MAX,
            is_first: true,
            stretch: Stretch::Rest,
            trust: 0,
            stretch_events: EVENTS_PER_STRETCH,
        }
    }
}

impl<const SLOW_NS: u64> AbTest<SLOW_NS> {
    /// Creates a test that begins with the first way, at the event `first`.
    pub(crate) fn starting_at(first: Sequence) -> Self {
        Self::in_stretches_of(EVENTS_PER_STRETCH, first)
    }

    /// Creates a test whose timed stretches have `events` events each.
    fn in_stretches_of(events: u64, first: Sequence) -> Self {
        let until = first + events;
        Self { until, stretch_events: events, ..Self::default() }
    }

    /// Creates a test for a way that has its effect one lap later, in a ring of `slots`.
    pub(crate) fn over_laps(slots: u64, first: Sequence) -> Self {
        Self::in_stretches_of((LAPS * slots).max(EVENTS_PER_STRETCH), first)
    }

    /// Whether the current stretch uses the first way.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns whether to use the first way at the event `next`, which may begin a new stretch.
    #[inline]
    pub(crate) fn is_first_at(&mut self, next: Sequence) -> bool {
        if !self.covers(next) {
            self.next(next);
        }
        self.is_first
    }

    /// Always the other way, without a test.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn always_other() -> Self {
        Self { is_first: false, ..Self::default() }
    }

    /// Whether all events below `end` belong to the current stretch.
    #[inline]
    pub(crate) fn covers(&self, end: Sequence) -> bool {
        end <= self.until
    }

    /// Begins the stretch whose first event is `first`.
    #[cold]
    #[inline(never)]
    pub(crate) fn next(&mut self, first: Sequence) {
        self.next_at(first, now());
    }

    fn next_at(&mut self, first: Sequence, now: Instant) {
        let (stretch, stretches) = match self.stretch {
            Stretch::Rest => (Stretch::Kept(now), 1),
            Stretch::Kept(start) => {
                let kept_ns = self.ns_per_event(start, first, now);
                self.is_first = !self.is_first;
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

    /// Chooses a way after both were timed. The current stretch uses the other way.
    fn settle(&mut self, kept_ns: f64, other_ns: f64) {
        let is_slow = kept_ns.min(other_ns) > SLOW_NS as f64;
        let is_other_better = if is_slow { self.is_first } else { other_ns < kept_ns };
        let trust = if is_other_better {
            self.trust.checked_sub(DISTRUST)
        } else {
            Some((self.trust + 1).min(MOST_TRUST))
        };
        // Without enough trust, the other way stays in use.
        if trust.is_some() {
            self.is_first = !self.is_first;
        }
        self.trust = trust.unwrap_or(0);
    }

    /// Returns the stretches to rest after a test in which the other way took `other_ns` per event
    /// and the way in use `kept_ns`.
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

    /// An end of a ring that takes the given nanoseconds per event, with the first way and with the
    /// other.
    struct End {
        test: AbTest<100>,
        next: Sequence,
        now: Instant,
        first_ns: u64,
        other_ns: u64,
    }

    impl End {
        fn new(first_ns: u64, other_ns: u64) -> Self {
            let (test, now) = (AbTest::starting_at(0), Instant::now());
            Self { test, next: 0, now, first_ns, other_ns }
        }

        /// Processes `events`; returns how many of them used the first way.
        fn work(&mut self, events: u64) -> u64 {
            let mut first = 0;
            for _ in 0..events {
                if !self.test.covers(self.next + 1) {
                    self.test.next_at(self.next, self.now);
                }
                self.next += 1;
                first += u64::from(self.test.is_first());
                let ns = if self.test.is_first() { self.first_ns } else { self.other_ns };
                self.now += Duration::from_nanos(ns);
            }
            first
        }
    }

    const SETTLES: u64 = 4 * EVENTS_PER_STRETCH;
    const MANY: u64 = 1 << 21;

    #[test]
    fn what_is_faster_is_kept_and_the_other_tried_for_an_event_in_a_hundred_or_two() {
        for (first_ns, other_ns, is_kept) in [(3, 4, true), (4, 3, false), (50, 200, true)] {
            let mut end = End::new(first_ns, other_ns);
            end.work(MANY);
            let first = end.work(MANY);
            let kept = if is_kept { first } else { MANY - first };
            assert!((MANY / 100 * 98..MANY).contains(&kept), "{first_ns} {other_ns}: {kept}");
        }
    }

    #[test]
    fn the_first_test_settles_it() {
        let mut end = End::new(4, 3);
        end.work(SETTLES);
        assert!(!end.test.is_first());
    }

    #[test]
    fn it_changes_when_the_machine_does() {
        let mut end = End::new(3, 4);
        end.work(MANY);
        (end.first_ns, end.other_ns) = (4, 3);
        end.work(MANY);
        assert!(end.work(MANY) < MANY / 50);
        (end.first_ns, end.other_ns) = (3, 4);
        end.work(MANY);
        assert!(end.work(MANY) > MANY / 100 * 98);
    }

    /// Returns the fraction of the time that tests cost over `events`.
    fn lost(end: &mut End, events: u64) -> f64 {
        let start = end.now;
        end.work(events);
        let least = Duration::from_nanos(events * end.first_ns.min(end.other_ns));
        (end.now - start).as_secs_f64() / least.as_secs_f64() - 1.0
    }

    #[test]
    fn tests_of_what_is_worse_cost_two_parts_in_a_hundred_and_then_less() {
        for (first_ns, other_ns) in [(3, 30), (30, 3), (2, 3), (3, 2)] {
            let mut end = End::new(first_ns, other_ns);
            end.work(SETTLES);
            let early = lost(&mut end, 2 * MANY);
            assert!((0.0..0.03).contains(&early), "{first_ns} {other_ns}: {early}");
            end.work(4 * MANY);
            let late = lost(&mut end, 4 * MANY);
            assert!((0.0..0.01).contains(&late), "{first_ns} {other_ns}: {late}");
        }
    }

    #[test]
    fn no_rest_is_longer_than_the_longest() {
        let test = |trust| AbTest::<100> { trust, ..AbTest::default() };
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
    fn stretches_may_be_longer() {
        let mut test = AbTest::<100>::in_stretches_of(3 * EVENTS_PER_STRETCH, 7);
        let mut starts = vec![];
        for next in 7..7 + 10 * EVENTS_PER_STRETCH {
            if !test.covers(next + 1) {
                test.next(next);
                starts.push(next - 7);
            }
        }
        assert_eq!(starts[..2], [3 * EVENTS_PER_STRETCH, 6 * EVENTS_PER_STRETCH]);
    }

    #[test]
    fn one_lost_test_is_chance() {
        let mut end = End::new(3, 4);
        end.work(MANY);
        assert_eq!(end.test.trust, MOST_TRUST);
        // A test ends with a stretch of the way that is not in use; here that is the first way.
        end.test.settle(4.0, 3.0);
        assert_eq!((end.test.trust, end.test.is_first), (MOST_TRUST - DISTRUST, false));
    }

    #[test]
    fn a_slow_end_keeps_to_the_first_way() {
        let mut end = End::new(400, 300);
        end.work(MANY);
        assert!(end.work(MANY) > MANY / 100 * 98);
    }

    #[test]
    fn an_end_without_a_test_goes_the_first_way() {
        let test = AbTest::<100>::default();
        assert!(test.is_first() && test.covers(1 << 62));
    }
}
