//! How an end waits between two attempts: it polls, then yields, then pauses for longer and longer.

use std::time::Duration;
use std::{hint, thread};

/// Attempts without a yield: a microsecond or two, the time of a term rotation or of a driver's
/// cycle.
const SPINS: u32 = 100;

/// Attempts with a yield after these.
const YIELDS: u32 = 20;

/// The first pause. Linux sleeps for about that long whatever is asked for.
const FIRST_PAUSE: Duration = Duration::from_micros(50);

/// The default of the longest pause.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// After so many doublings, the first pause exceeds an hour.
const MAX_DOUBLINGS: u32 = 27;

/// What to do before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Nothing: the back-off has polled or yielded.
    Again,
    /// To pause this long, or zero: to check for a halt or a stop first.
    Pause(Duration),
}

/// Counts attempts that failed in a row.
#[derive(Debug)]
pub(crate) struct BackOff {
    failures: u32,
    longest_pause: Duration,
}

impl BackOff {
    /// A `longest_pause` of zero never pauses.
    pub(crate) fn new(longest_pause: Duration) -> Self {
        Self { failures: 0, longest_pause }
    }

    /// After an attempt that succeeded.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// After an attempt that failed.
    pub(crate) fn idle(&mut self) -> Idle {
        let failures = self.failures;
        self.failures = failures.saturating_add(1);
        if failures < SPINS {
            hint::spin_loop();
            return Idle::Again;
        }
        if failures < SPINS + YIELDS || self.longest_pause.is_zero() {
            thread::yield_now();
            return Idle::Pause(Duration::ZERO);
        }
        let doublings = (failures - SPINS - YIELDS).min(MAX_DOUBLINGS);
        Idle::Pause((FIRST_PAUSE * (1 << doublings)).min(self.longest_pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(longest: Duration, attempts: usize) -> Vec<Idle> {
        let mut back_off = BackOff::new(longest);
        (0..attempts).map(|_| back_off.idle()).collect()
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let idles = pauses(Duration::from_micros(150), 200);
        assert_eq!(idles[..100], [Idle::Again; 100]);
        assert_eq!(idles[100..120], [Idle::Pause(Duration::ZERO); 20]);
        let micros = |us| Idle::Pause(Duration::from_micros(us));
        assert_eq!(idles[120..123], [micros(50), micros(100), micros(150)]);
        assert_eq!(idles[199], micros(150));
    }

    #[test]
    fn a_longest_pause_of_zero_never_pauses() {
        let idles = pauses(Duration::ZERO, 500);
        assert!(idles.iter().all(|idle| matches!(idle, Idle::Again | Idle::Pause(Duration::ZERO))));
    }

    #[test]
    fn an_hour_of_failures_does_not_overflow() {
        let mut back_off = BackOff { failures: u32::MAX - 1, longest_pause: Duration::MAX };
        assert!(matches!(back_off.idle(), Idle::Pause(_)));
        assert!(matches!(back_off.idle(), Idle::Pause(_)));
    }
}
