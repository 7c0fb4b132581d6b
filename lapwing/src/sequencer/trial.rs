//! Whether it pays to ask for lines before they are written: learnt by doing the other thing for a moment.
//!
//! ```text
//! claims ─── as it is kept ───┬── kept, timed ──┬── other, timed ──┬─── the faster of them ───
//!           4096 to 262,144   │      4096       │       4096       │
//! ```
//!
//! Where a slot's line has to come from a cache far away, asking for it early pays several times over. Where it is near, or
//! where the CPU fetches ahead of the stores by itself, asking costs up to half. Which of them it is changes with the CPU, with
//! where the threads are just now, with the size of the ring and with what others do, so a producer tries it. Where the CPU
//! cannot be asked there is no trial, and no clock is read. See `perf/results/experiments.md`.

use std::time::{Duration, Instant};

use super::runway::EVENTS_PER_LOOK;
use crate::Sequence;

/// Events of a stretch that is timed, some ten microseconds of a stream. It ends at a look.
const EVENTS_PER_STRETCH: u64 = EVENTS_PER_LOOK;
/// A producer that takes longer than this for each event has time to ask, and does.
const SLOW: Duration = Duration::from_nanos(100);
/// Longest rest between two trials is two to this power of stretches: then trials are three events in a hundred.
const MOST_TRUST: u32 = 6;
/// Trust that a lost trial costs; where there is less, the other way is kept. One lost alone may be chance.
const DISTRUST: u32 = 2;

/// One producer's trials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// A claim beyond this sequence ends the stretch.
    until: Sequence,
    stretch: Stretch,
    /// Whether lines are asked for in this stretch.
    asks: bool,
    /// How well the way that is kept has stood its trials.
    trust: u32,
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

impl Default for Trial {
    /// None at all, and nothing is asked for.
    fn default() -> Self {
        Self { until: Sequence::MAX, asks: false, stretch: Stretch::Rest, trust: 0 }
    }
}

impl Trial {
    /// One that begins to ask at `first`.
    pub(super) fn starting_at(first: Sequence) -> Self {
        Self { until: first + EVENTS_PER_STRETCH, asks: true, ..Self::default() }
    }

    /// Whether lines are asked for just now.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Whether a claim up to `end` is still of this stretch.
    pub(super) fn covers(&self, end: Sequence) -> bool {
        end <= self.until
    }

    /// The stretch that begins with a claim of `first`. Out of line: most looks have none to begin.
    #[cold]
    #[inline(never)]
    pub(super) fn next(self, first: Sequence) -> Self {
        self.next_at(first, Instant::now())
    }

    fn next_at(self, first: Sequence, now: Instant) -> Self {
        let until = first + EVENTS_PER_STRETCH;
        match self.stretch {
            Stretch::Rest => Self { until, stretch: Stretch::Kept(now), ..self },
            Stretch::Kept(start) => {
                let kept_ns = self.ns_per_event(start, first, now);
                let stretch = Stretch::Other { start: now, kept_ns };
                Self { until, asks: !self.asks, stretch, ..self }
            }
            Stretch::Other { start, kept_ns } => {
                let settled = self.settled(kept_ns, self.ns_per_event(start, first, now));
                let until = first + (EVENTS_PER_STRETCH << settled.trust);
                Self { until, stretch: Stretch::Rest, ..settled }
            }
        }
    }

    /// Nanoseconds for each event of the timed stretch that began at `start` and has ended before `first`.
    fn ns_per_event(&self, start: Instant, first: Sequence, now: Instant) -> f64 {
        let events = first.saturating_sub(self.until - EVENTS_PER_STRETCH).max(1);
        now.duration_since(start).as_secs_f64() * 1e9 / events as f64
    }

    /// What is kept after a trial of both ways, of which the other is the present one.
    fn settled(self, kept_ns: f64, other_ns: f64) -> Self {
        let has_time = kept_ns.min(other_ns) > SLOW.as_nanos() as f64;
        let is_other_better = if has_time { self.asks } else { other_ns < kept_ns };
        let trust = if is_other_better {
            self.trust.checked_sub(DISTRUST)
        } else {
            Some((self.trust + 1).min(MOST_TRUST))
        };
        match trust {
            Some(trust) => Self { asks: !self.asks, trust, ..self },
            None => Self { trust: 0, ..self },
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A producer that takes so many nanoseconds for an event when it asks, and when it does not.
    struct Producer {
        trial: Trial,
        next: Sequence,
        now: Instant,
        asking_ns: u64,
        other_ns: u64,
    }

    impl Producer {
        fn new(asking_ns: u64, other_ns: u64) -> Self {
            let (trial, now) = (Trial::starting_at(0), Instant::now());
            Self { trial, next: 0, now, asking_ns, other_ns }
        }

        /// Publishes so many events; how many of them it has asked for.
        fn publish(&mut self, events: u64) -> u64 {
            let mut asked = 0;
            for _ in 0..events {
                if !self.trial.covers(self.next + 1) {
                    self.trial = self.trial.next_at(self.next, self.now);
                }
                self.next += 1;
                asked += u64::from(self.trial.asks());
                let ns = if self.trial.asks() { self.asking_ns } else { self.other_ns };
                self.now += Duration::from_nanos(ns);
            }
            asked
        }
    }

    const SETTLES: u64 = 4 * EVENTS_PER_STRETCH;
    const MANY: u64 = 1 << 21;

    #[test]
    fn what_is_faster_is_kept_and_the_other_tried_for_two_events_in_a_hundred() {
        for (asking_ns, other_ns, is_kept) in [(3, 4, true), (4, 3, false), (50, 200, true)] {
            let mut producer = Producer::new(asking_ns, other_ns);
            producer.publish(MANY);
            let asked = producer.publish(MANY);
            let kept = if is_kept { asked } else { MANY - asked };
            assert!((MANY / 100 * 98..MANY).contains(&kept), "{asking_ns} {other_ns}: {kept}");
        }
    }

    #[test]
    fn the_first_trial_settles_it() {
        let mut producer = Producer::new(4, 3);
        producer.publish(SETTLES);
        assert!(!producer.trial.asks());
    }

    #[test]
    fn it_changes_when_the_machine_does() {
        let mut producer = Producer::new(3, 4);
        producer.publish(MANY);
        (producer.asking_ns, producer.other_ns) = (4, 3);
        producer.publish(MANY);
        assert!(producer.publish(MANY) < MANY / 50);
        (producer.asking_ns, producer.other_ns) = (3, 4);
        producer.publish(MANY);
        assert!(producer.publish(MANY) > MANY / 100 * 98);
    }

    #[test]
    fn one_lost_trial_is_chance() {
        let mut producer = Producer::new(3, 4);
        producer.publish(MANY);
        let trust = producer.trial.trust;
        let lost = producer.trial.settled(4.0, 3.0);
        // `settled` is asked at the end of a stretch of the other way: here that is to ask.
        assert_eq!((trust, lost.trust, lost.asks), (MOST_TRUST, MOST_TRUST - DISTRUST, false));
    }

    #[test]
    fn who_has_time_asks() {
        let mut producer = Producer::new(400, 300);
        producer.publish(MANY);
        assert!(producer.publish(MANY) > MANY / 100 * 98);
    }

    #[test]
    fn who_never_asks_has_no_trial() {
        let trial = Trial::default();
        assert!(!trial.asks() && trial.covers(1 << 62));
    }
}
