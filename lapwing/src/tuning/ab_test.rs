//! Which of two ways is faster on this machine at this moment: an A/B test that times the other way now and
//! then.
//!
//! ```text
//! events ── way in use ──┬─ in use, timed ─┬─ other, timed ─┬── the faster of the two ──
//!      4096 to 262,144  │      4096       │      4096      │   or multiples of that
//! ```
//!
//! Four choices use it: whether to prefetch slots before they are written (`claim_window`) or a batch before
//! it is read (`prefetch_batch`), whether to acquire cache lines before they are released (`line_ownership`),
//! and how to poll for an event that comes alone (`looks`). The better way depends on the CPU, on
//! where the threads run, on the size of the ring and on other load. The difference can be several times, and
//! can change within seconds when a host moves its virtual CPUs. See `perf/results/experiments.md`.
//!
//! A ring may be built without tests. Each end then keeps to the first way. Monitors see each test (`ab_tests`).

use std::sync::Arc;
use std::time::Instant;

use crate::Sequence;
use crate::ab_tests::Record;

/// Events of a timed stretch; about ten microseconds of a stream.
pub(crate) const EVENTS_PER_STRETCH: u64 = 1 << 12;
/// Laps of a stretch if a way has its effect one lap later: the first lap still shows the stretch before.
const LAPS: u64 = 2;
/// Longest rest between two tests when both ways perform alike, as a power of two of stretches. Tests are
/// then three events in a hundred.
const MOST_TRUST: u32 = 6;
/// After a test that lost time, the rest lasts this many times the loss: at first, tests cost two percent.
/// The factor doubles for each `TESTS_PER_DOUBLING` tests that the way in use has won; in the end, tests
/// cost a quarter of a percent.
const REST_PER_LOSS: f64 = 50.0;
const TESTS_PER_DOUBLING: u32 = 2;
/// Longest such rest, in stretches, since the machine may change meanwhile.
const LONGEST_REST: f64 = 2048.0;
/// Trust that a lost test costs. With less trust, the other way is kept. A single loss may be chance.
const DISTRUST: u32 = 2;

/// The A/B test of one end of a ring, between a first way and the other. If both take longer than `SLOW_NS`
/// nanoseconds an event, the choice does not matter and the first way is kept.
#[derive(Debug)]
pub(crate) struct AbTest<const SLOW_NS: u64> {
    /// An event beyond this sequence ends the stretch.
    until: Sequence,
    stretch: Stretch,
    /// Whether this stretch uses the first way.
    is_first: bool,
    /// How well the way in use has done in its tests; at most `MOST_TRUST`.
    trust: u32,
    /// Events of a timed stretch.
    stretch_events: u64,
    /// Where monitors see it. The other way is "on" there.
    record: Option<Arc<Record>>,
}

/// The purpose of a stretch. A timed one has its start.
#[derive(Debug, Clone, Copy)]
enum Stretch {
    /// Not timed; uses the way in use.
    Rest,
    /// Times the way in use.
    Kept(Instant),
    /// Times the other way; the way in use took `kept_ns` an event.
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
            record: None,
        }
    }
}

impl<const SLOW_NS: u64> AbTest<SLOW_NS> {
    /// A test that begins with the first way, at the event `first`.
    pub(crate) fn starting_at(first: Sequence) -> Self {
        Self::in_stretches_of(EVENTS_PER_STRETCH, first)
    }

    /// As [`starting_at`](Self::starting_at), in stretches of `events`.
    fn in_stretches_of(events: u64, first: Sequence) -> Self {
        let until = first + events;
        Self { until, stretch_events: events, ..Self::default() }
    }

    /// As [`starting_at`](Self::starting_at), in a ring of `slots`, for a way that has its effect one lap
    /// later.
    pub(crate) fn over_laps(slots: u64, first: Sequence) -> Self {
        Self::in_stretches_of((LAPS * slots).max(EVENTS_PER_STRETCH), first)
    }

    /// The same test, shown by `record`. No test without one: the ring runs none.
    pub(crate) fn recorded(self, record: Option<Arc<Record>>) -> Self {
        if record.is_some() { Self { record, ..self } } else { Self::default() }
    }

    /// Whether to use the first way at present.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether to use the first way at the event `next`, which may begin a new stretch.
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

    /// Whether events up to `end` are part of this stretch.
    #[inline]
    pub(crate) fn covers(&self, end: Sequence) -> bool {
        end <= self.until
    }

    /// Begins the stretch whose first event is `first`.
    #[cold]
    #[inline(never)]
    pub(crate) fn next(&mut self, first: Sequence) {
        self.next_at(first, Instant::now());
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

    /// Nanoseconds an event of the timed stretch that began at `start` and ended before `first`.
    fn ns_per_event(&self, start: Instant, first: Sequence, now: Instant) -> f64 {
        let events = first.saturating_sub(self.until - self.stretch_events).max(1);
        now.duration_since(start).as_secs_f64() * 1e9 / events as f64
    }

    /// Chooses after a test of both ways. The present way is the other one.
    fn settle(&mut self, kept_ns: f64, other_ns: f64) {
        let is_slow = kept_ns.min(other_ns) > SLOW_NS as f64;
        let is_other_better = if is_slow { self.is_first } else { other_ns < kept_ns };
        let times = if self.is_first { [other_ns, kept_ns] } else { [kept_ns, other_ns] };
        let trust = if is_other_better {
            self.trust.checked_sub(DISTRUST)
        } else {
            Some((self.trust + 1).min(MOST_TRUST))
        };
        // Without enough trust, the other way is kept.
        if trust.is_some() {
            self.is_first = !self.is_first;
        }
        self.trust = trust.unwrap_or(0);
        if let Some(record) = &self.record {
            record.tested(times, !self.is_first);
        }
    }

    /// Stretches to rest after a test that took `other_ns` an event instead of `kept_ns`.
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
    use crate::ab_tests::{AbTestSubject, AbTests};

    /// An end of a ring that takes the given nanoseconds an event, on the first way and on the other.
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

        /// Processes `events`; returns how many of them on the first way.
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

    /// The fraction of the time that tests cost, over `events`.
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
    fn monitors_see_each_test_with_the_times_of_both_ways() {
        let tests = AbTests::default();
        let record = tests.of_end(None).add(AbTestSubject::PauseLonger);
        let mut end = End::new(4, 3);
        end.test = end.test.recorded(record);
        let seen = || tests.records()[0].seen();
        let took = |wanted: [f64; 2]| {
            let times = seen().nanoseconds.into_iter().zip(wanted);
            times.map(|(time, wanted)| (time - wanted).abs()).all(|difference| difference < 0.01)
        };
        end.work(3 * EVENTS_PER_STRETCH);
        assert_eq!(seen().tests, 0, "the test has not ended");
        end.work(EVENTS_PER_STRETCH);
        assert_eq!((seen().tests, seen().is_on), (1, true));
        assert!(took([4.0, 3.0]), "{:?}", seen());
        (end.first_ns, end.other_ns) = (3, 5);
        end.work(MANY);
        assert!(seen().tests > 1 && !seen().is_on);
        assert!(took([3.0, 5.0]), "{:?}", seen());
    }

    #[test]
    fn a_ring_without_tests_keeps_to_the_first_way() {
        let mut end = End::new(400, 3);
        end.test = end.test.recorded(None);
        assert_eq!(end.work(MANY), MANY);
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
        // A test ends with a stretch of the way that is not kept: here, as it were, the first.
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
