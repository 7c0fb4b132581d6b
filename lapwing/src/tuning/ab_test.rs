//! Which of two ways is faster here and now: learnt by going the other one for a moment.
//!
//! ```text
//! events ─── as it is kept ───┬── kept, timed ──┬── other, timed ──┬─── the faster of them ───
//!           4096 to 262,144   │      4096       │       4096       │        or multiples of that
//! ```
//!
//! Whether it pays to ask for the lines of slots before they are written (`claim_window`), for those of a batch before
//! they are read (`prefetch_batch`), or to take them before they are given back (`line_ownership`), and how long to look away
//! while a lone event is waited for (`looks`), changes with the CPU, with where the threads are just now, with the
//! size of the ring and with what others do. By several times, and within seconds where a host moves its CPUs. So whoever
//! goes one of the ways tries the other now and then. See `perf/results/experiments.md`.

use std::time::Instant;

use crate::Sequence;

/// Events of a stretch that is timed, some ten microseconds of a stream.
pub(crate) const EVENTS_PER_STRETCH: u64 = 1 << 12;
/// Laps of a stretch where a way shows a lap later: the first is still that of the stretch before.
const LAPS: u64 = 2;
/// Rest between two trials at most, in powers of two of stretches, where both ways are much the same: then trials are
/// three events in a hundred.
const MOST_TRUST: u32 = 6;
/// So many times the time that a trial has lost passes before the next one: at first they cost two parts in a hundred.
/// Twice as many times for each `TRIALS_PER_DOUBLING` that have been stood: a quarter of a part in the end.
const REST_PER_LOSS: f64 = 50.0;
const TRIALS_PER_DOUBLING: u32 = 2;
/// Longest rest for that, in stretches: the machine may change meanwhile.
const LONGEST_REST: f64 = 2048.0;
/// Trust that a lost trial costs; where there is less, the other way is kept. One lost alone may be chance.
const DISTRUST: u32 = 2;

/// The trials of one end of a ring: of a first way, and of the other. Where both take longer than `SLOW_NS` nanoseconds for
/// each event, neither makes the difference, and the first is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AbTest<const SLOW_NS: u64> {
    /// An event beyond this sequence ends the stretch.
    until: Sequence,
    stretch: Stretch,
    /// Whether the first way is gone in this stretch.
    is_first: bool,
    /// How well the way that is kept has stood its trials.
    trust: u32,
    /// Events of a stretch that is timed.
    stretch_events: u64,
}

/// What a stretch is for. One that is timed has its beginning.
#[derive(Debug, Clone, Copy)]
enum Stretch {
    /// Nothing but the work, in the way that is kept.
    Rest,
    /// To time the way that is kept.
    Kept(Instant),
    /// To time the other one, when the kept one has taken `kept_ns` for each event.
    Other { start: Instant, kept_ns: f64 },
}

impl<const SLOW_NS: u64> Default for AbTest<SLOW_NS> {
    /// None at all, and always the first way.
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
    /// AbTests that begin with the first way and the event `first`.
    pub(crate) fn starting_at(first: Sequence) -> Self {
        Self::in_stretches_of(EVENTS_PER_STRETCH, first)
    }

    /// The same in stretches of so many `events`, where it takes that long until a way shows.
    fn in_stretches_of(events: u64, first: Sequence) -> Self {
        let until = first + events;
        Self { until, stretch_events: events, ..Self::default() }
    }

    /// The same in a ring of so many `slots`, where a way shows a lap later.
    pub(crate) fn over_laps(slots: u64, first: Sequence) -> Self {
        Self::in_stretches_of((LAPS * slots).max(EVENTS_PER_STRETCH), first)
    }

    /// Whether to go the first way just now.
    #[inline(always)]
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether to go the first way at the event `next`, which may begin another stretch.
    #[inline(always)]
    pub(crate) fn is_first_at(&mut self, next: Sequence) -> bool {
        if !self.covers(next) {
            *self = self.next(next);
        }
        self.is_first
    }

    /// The other way, without a trial.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn always_other() -> Self {
        Self { is_first: false, ..Self::default() }
    }

    /// Whether events up to `end` are still of this stretch.
    #[inline(always)]
    pub(crate) fn covers(&self, end: Sequence) -> bool {
        end <= self.until
    }

    /// The stretch that begins with the event `first`.
    #[cold]
    #[inline(never)]
    pub(crate) fn next(self, first: Sequence) -> Self {
        self.next_at(first, Instant::now())
    }

    fn next_at(self, first: Sequence, now: Instant) -> Self {
        let until = first + self.stretch_events;
        match self.stretch {
            Stretch::Rest => Self { until, stretch: Stretch::Kept(now), ..self },
            Stretch::Kept(start) => {
                let kept_ns = self.ns_per_event(start, first, now);
                let stretch = Stretch::Other { start: now, kept_ns };
                Self { until, is_first: !self.is_first, stretch, ..self }
            }
            Stretch::Other { start, kept_ns } => {
                let other_ns = self.ns_per_event(start, first, now);
                let settled = self.settled(kept_ns, other_ns);
                let rest = (1 << settled.trust).max(settled.rest_after_loss(kept_ns, other_ns));
                let until = first + self.stretch_events * rest;
                Self { until, stretch: Stretch::Rest, ..settled }
            }
        }
    }

    /// Nanoseconds for each event of the timed stretch that began at `start` and has ended before `first`.
    fn ns_per_event(&self, start: Instant, first: Sequence, now: Instant) -> f64 {
        let events = first.saturating_sub(self.until - self.stretch_events).max(1);
        now.duration_since(start).as_secs_f64() * 1e9 / events as f64
    }

    /// What is kept after a trial of both ways, of which the other is the present one.
    fn settled(self, kept_ns: f64, other_ns: f64) -> Self {
        let is_slow = kept_ns.min(other_ns) > SLOW_NS as f64;
        let is_other_better = if is_slow { self.is_first } else { other_ns < kept_ns };
        let trust = if is_other_better {
            self.trust.checked_sub(DISTRUST)
        } else {
            Some((self.trust + 1).min(MOST_TRUST))
        };
        match trust {
            Some(trust) => Self { is_first: !self.is_first, trust, ..self },
            None => Self { trust: 0, ..self },
        }
    }

    /// Stretches to rest after one that took `other_ns` for each event and not `kept_ns`.
    fn rest_after_loss(&self, kept_ns: f64, other_ns: f64) -> u64 {
        let per_loss = REST_PER_LOSS * f64::from(1_u32 << (self.trust / TRIALS_PER_DOUBLING));
        // Of no number, which stays one, it makes 0.
        ((other_ns / kept_ns - 1.0) * per_loss).clamp(0.0, LONGEST_REST) as u64
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    /// An end of a ring that takes so many nanoseconds for an event on the first way, and on the other.
    struct End {
        trial: AbTest<100>,
        next: Sequence,
        now: Instant,
        first_ns: u64,
        other_ns: u64,
    }

    impl End {
        fn new(first_ns: u64, other_ns: u64) -> Self {
            let (trial, now) = (AbTest::starting_at(0), Instant::now());
            Self { trial, next: 0, now, first_ns, other_ns }
        }

        /// Does so many events; how many of them on the first way.
        fn work(&mut self, events: u64) -> u64 {
            let mut first = 0;
            for _ in 0..events {
                if !self.trial.covers(self.next + 1) {
                    self.trial = self.trial.next_at(self.next, self.now);
                }
                self.next += 1;
                first += u64::from(self.trial.is_first());
                let ns = if self.trial.is_first() { self.first_ns } else { self.other_ns };
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
    fn the_first_trial_settles_it() {
        let mut end = End::new(4, 3);
        end.work(SETTLES);
        assert!(!end.trial.is_first());
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

    /// The part of the time that trials take of so many events, of ways that take so long for each.
    fn lost(end: &mut End, events: u64) -> f64 {
        let start = end.now;
        end.work(events);
        let least = Duration::from_nanos(events * end.first_ns.min(end.other_ns));
        (end.now - start).as_secs_f64() / least.as_secs_f64() - 1.0
    }

    #[test]
    fn trials_of_what_is_worse_cost_two_parts_in_a_hundred_and_then_less() {
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
        let trial = |trust| AbTest::<100> { trust, ..AbTest::default() };
        for trust in [0, MOST_TRUST] {
            assert_eq!(trial(trust).rest_after_loss(1.0, f64::INFINITY), 2048);
            assert_eq!(trial(trust).rest_after_loss(0.0, 0.0), 0);
            assert_eq!(trial(trust).rest_after_loss(2.0, 1.0), 0);
        }
        assert_eq!(
            [0, 1, 2, MOST_TRUST].map(|trust| trial(trust).rest_after_loss(2.0, 3.0)),
            [25, 25, 50, 200]
        );
    }

    #[test]
    fn stretches_may_be_longer() {
        let mut trial = AbTest::<100>::in_stretches_of(3 * EVENTS_PER_STRETCH, 7);
        let mut starts = vec![];
        for next in 7..7 + 10 * EVENTS_PER_STRETCH {
            if !trial.covers(next + 1) {
                trial = trial.next(next);
                starts.push(next - 7);
            }
        }
        assert_eq!(starts[..2], [3 * EVENTS_PER_STRETCH, 6 * EVENTS_PER_STRETCH]);
    }

    #[test]
    fn one_lost_trial_is_chance() {
        let mut end = End::new(3, 4);
        end.work(MANY);
        let trust = end.trial.trust;
        let lost = end.trial.settled(4.0, 3.0);
        // `settled` is called at the end of a stretch of the way that is not kept: here, as it were, the first.
        assert_eq!((trust, lost.trust, lost.is_first), (MOST_TRUST, MOST_TRUST - DISTRUST, false));
    }

    #[test]
    fn who_is_slow_keeps_to_the_first_way() {
        let mut end = End::new(400, 300);
        end.work(MANY);
        assert!(end.work(MANY) > MANY / 100 * 98);
    }

    #[test]
    fn who_has_no_trial_goes_the_first_way() {
        let trial = AbTest::<100>::default();
        assert!(trial.is_first() && trial.covers(1 << 62));
    }
}
