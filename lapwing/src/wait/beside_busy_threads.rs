//! How the default strategy waits where a yield takes a time slice: it polls, sleeps once, and
//! parks.
//!
//! | step | longest | pays if |
//! |---|---|---|
//! | spin | 50 µs, the cost of a wake-up | the other side is running: an exchange then takes a microsecond |
//! | sleep once | 65 µs, most of it timer slack | the thread gets its CPU soon: it then finds a batch, and costs the other side nothing |
//! | park | until woken | always |
//!
//! With one busy thread on each CPU, the first two steps pay: they are 2 to 70 times as fast as
//! parking at once. With two, a thread that has slept waits for its CPU, and parking at once is up
//! to 5 times as fast: there, a wake-up by a thread on the same CPU takes 2 µs.
//!
//! So a step that did not pay is skipped in the next wait, then in the next 3, and so on up to 63.
//! A spin after a failed one is a trial, and takes longer. See E69 in
//! `lab/results/experiments.md`.
//!
//! Not here: how a ring detects busy threads (`cpu_load`).

use std::time::{Duration, Instant};

use super::usual_wait::{PARKING, POLLS_PER_CLOCK};
use super::waiter::SHORTEST_SLEEP;
use super::{Step, Waited, Waiting};
use crate::sync::now;

/// Longest spin of a trial. The other side may sleep as well instead of spinning, and answers only
/// after that. A shorter spin would never find that both sides could spin.
const LONGEST_TRIAL: Duration = Duration::from_micros(100);
/// A sleep takes about 65 µs. If it takes longer than this, the thread has waited for its CPU, and
/// a wake-up would have been as fast.
const LONGEST_NAP: Duration = Duration::from_micros(200);

/// What one thread has learnt about its waits beside busy threads, and the phase of its wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BesideBusyThreads {
    phase: Phase,
    spin: Attempt,
    nap: Attempt,
}

/// The phases of a wait, in this order. A wait skips those that do not pay.
#[derive(Debug, Clone, Copy, Default)]
enum Phase {
    /// Yields, which is refused until it is time to try again.
    #[default]
    Yield,
    /// Polls until this time.
    Spin(Instant),
    Nap,
    Parked,
}

impl BesideBusyThreads {
    /// The first step of a wait.
    pub(super) fn begin(&mut self) -> Step {
        self.phase = Phase::Yield;
        Step::Yield
    }

    /// The next step; `None` after the last one.
    pub(super) fn next(&mut self, waiting: &Waiting<'_>) -> Option<Step> {
        Some(match self.phase {
            Phase::Yield if self.spin.is_due() && waiting.may_spin() => {
                let longest = if self.spin.is_a_trial() { LONGEST_TRIAL } else { PARKING };
                self.phase = Phase::Spin(now() + longest);
                Step::Poll(POLLS_PER_CLOCK)
            }
            Phase::Spin(until) if now() < until && waiting.may_spin() => {
                Step::Poll(POLLS_PER_CLOCK)
            }
            Phase::Spin(_) => {
                self.spin.learn(false);
                self.nap_or_park()
            }
            Phase::Yield => self.nap_or_park(),
            Phase::Nap => {
                self.nap.learn(waiting.slept() <= LONGEST_NAP);
                self.park()
            }
            Phase::Parked => return None,
        })
    }

    /// Learns from a wait that has not expired.
    pub(super) fn ended(&mut self, waited: &Waited) {
        match self.phase {
            Phase::Spin(_) => self.spin.learn(true),
            Phase::Nap => self.nap.learn(waited.slept() <= LONGEST_NAP),
            Phase::Yield | Phase::Parked => {}
        }
    }

    fn nap_or_park(&mut self) -> Step {
        if !self.nap.is_due() {
            return self.park();
        }
        self.phase = Phase::Nap;
        Step::Sleep(SHORTEST_SLEEP)
    }

    fn park(&mut self) -> Step {
        self.phase = Phase::Parked;
        Step::Park
    }
}

/// A step that is skipped more and more often while it does not pay.
#[derive(Debug, Clone, Copy, Default)]
struct Attempt {
    /// Waits without the step after the last wait with it.
    interval: u32,
    /// How many of these are left.
    left: u32,
}

impl Attempt {
    /// Most waits without the step.
    const LONGEST: u32 = 63;

    /// Whether this wait has the step.
    fn is_due(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Whether the step did not pay the last time.
    fn is_a_trial(&self) -> bool {
        self.interval > 0
    }

    /// Learns whether the step `paid`.
    fn learn(&mut self, paid: bool) {
        self.interval = if paid { 0 } else { (2 * self.interval + 1).min(Self::LONGEST) };
        self.left = self.interval;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_does_not_pay_is_left_out_more_and_more_often() {
        let mut attempt = Attempt::default();
        let mut waits_until_due = |paid| {
            attempt.learn(paid);
            (1..).find(|_| attempt.is_due()).unwrap()
        };
        let vain = [false; 7].map(&mut waits_until_due);
        assert_eq!(vain, [2, 4, 8, 16, 32, 64, 64]);
        assert_eq!([true, false].map(&mut waits_until_due), [1, 2], "one that pays is tried again");
    }
}
