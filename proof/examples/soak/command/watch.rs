//! Stalls and hangs: how long nothing has moved.
//!
//! A watching thread polls the progress at short intervals. It counts the time that it has observed
//! itself: an interval that took much longer than it should, because the process was stopped or had
//! no CPU, counts as two intervals only. So `SIGSTOP` is neither a stall nor a hang.

use std::time::Duration;

use lapwing_proof::threads::Seen;

/// The time between two polls.
pub(super) const INTERVAL: Duration = Duration::from_millis(5);
/// The longest time that counts for one interval.
const MOST_OBSERVED: Duration = INTERVAL.saturating_mul(2);
/// The time without progress after which the soak has failed, in spite of every injected fault.
pub(super) const HANG: Duration = Duration::from_secs(30);

/// How long nothing has moved.
#[derive(Debug, Default)]
pub(super) struct Watch {
    last: Seen,
    /// Observed time without progress.
    still: Duration,
    /// The same, since the last excuse.
    unexplained: Duration,
    /// Whether CPUs were missing during it.
    was_crowded: bool,
    /// The longest stall that no fault explains.
    pub(super) longest: Duration,
    /// The same, while CPUs were missing.
    pub(super) longest_crowded: Duration,
}

impl Watch {
    /// Notes what a poll sees, `elapsed` after the one before. Returns the time without progress if
    /// that is a hang.
    pub(super) fn poll(&mut self, elapsed: Duration, seen: Seen) -> Option<Duration> {
        let observed = elapsed.min(MOST_OBSERVED);
        let moved = seen.progress != self.last.progress;
        let is_excused = seen.is_excused || seen.excuses != self.last.excuses;
        self.last = seen;
        self.still = if moved { Duration::ZERO } else { self.still + observed };
        if moved || is_excused {
            (self.unexplained, self.was_crowded) = (Duration::ZERO, seen.is_crowded);
        } else {
            self.unexplained += observed;
            self.was_crowded |= seen.is_crowded;
        }
        let longest = if self.was_crowded { &mut self.longest_crowded } else { &mut self.longest };
        *longest = self.unexplained.max(*longest);
        (self.still >= HANG).then_some(self.still)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls `count` times, each time one interval later.
    fn polls(watch: &mut Watch, count: u32, seen: Seen) -> Option<Duration> {
        (0..count).filter_map(|_| watch.poll(INTERVAL, seen)).last()
    }

    #[test]
    fn the_longest_stall_is_the_longest_time_without_progress() {
        let mut watch = Watch::default();
        for (count, progress) in [(3, 1), (8, 2), (5, 3)] {
            polls(&mut watch, count, Seen { progress, ..Seen::default() });
        }
        assert_eq!(watch.longest, INTERVAL * 7); // the first poll saw progress
    }

    #[test]
    fn a_fault_explains_a_stall_and_never_a_hang() {
        let mut watch = Watch::default();
        let excused = Seen { is_excused: true, ..Seen::default() };
        let polls_until_hang = (HANG.as_millis() / INTERVAL.as_millis()) as u32;
        assert_eq!(polls(&mut watch, polls_until_hang - 1, excused), None);
        assert_eq!(watch.longest, Duration::ZERO);
        assert_eq!(polls(&mut watch, 1, excused), Some(HANG));
    }

    #[test]
    fn a_fault_that_ended_between_two_polls_explains_too() {
        let mut watch = Watch::default();
        polls(&mut watch, 9, Seen::default());
        polls(&mut watch, 1, Seen { excuses: 2, ..Seen::default() });
        polls(&mut watch, 3, Seen { excuses: 2, ..Seen::default() });
        assert_eq!(watch.longest, INTERVAL * 9);
    }

    #[test]
    fn the_time_of_a_stopped_process_does_not_count() {
        let mut watch = Watch::default();
        assert_eq!(watch.poll(HANG * 2, Seen::default()), None);
        assert_eq!(watch.longest, MOST_OBSERVED);
    }

    #[test]
    fn stalls_without_cpus_are_counted_apart() {
        let mut watch = Watch::default();
        polls(&mut watch, 2, Seen { is_crowded: true, ..Seen::default() });
        polls(&mut watch, 2, Seen::default());
        assert_eq!((watch.longest, watch.longest_crowded), (Duration::ZERO, INTERVAL * 4));
    }
}
