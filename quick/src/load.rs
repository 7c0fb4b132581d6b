//! What other programs use of the CPUs, from the counters of the system. Linux only: elsewhere it is not known.

use std::fs;
use std::thread;
use std::time::Duration;

/// How long the counters are observed. They count hundredths of a second for each CPU.
const OBSERVED: Duration = Duration::from_millis(500);

/// Returns the share of all CPU time that is used while this program sleeps, from 0 to 1. Time that a hypervisor gives to
/// other machines counts as used.
pub(crate) fn of_others() -> Option<f64> {
    let before = Times::now()?;
    thread::sleep(OBSERVED);
    Times::now()?.share_since(&before)
}

/// Hundredths of a second of all CPUs since the system started.
#[derive(Debug, PartialEq)]
struct Times {
    all: u64,
    idle: u64,
}

impl Times {
    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line is `cpu`, then user, nice, system, idle, iowait, irq, softirq and steal. What follows is part of the
    /// first two.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let times = line.split_whitespace().take(8).map(str::parse);
        let times = times.collect::<Result<Vec<u64>, _>>().ok()?;
        let idle = times.get(3)? + times.get(4)?;
        Some(Self { all: times.iter().sum(), idle })
    }

    fn share_since(&self, before: &Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        let idle = self.idle.saturating_sub(before.idle).min(all);
        Some((all - idle) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_idle_nor_waiting_for_a_disk_is_used() {
        let before = Times::parse("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1 2").unwrap();
        assert_eq!(before, Times { all: 100, idle: 80 });
        let after = Times::parse("cpu  20 0 20 110 20 10 10 10 9 9\n").unwrap();
        assert_eq!(after.share_since(&before), Some(0.5));
        assert_eq!(before.share_since(&after), None, "the counters went back");
    }

    #[test]
    fn a_file_of_another_form_shows_nothing() {
        for text in ["", "cpu", "intr 1 2 3", "cpu  1 2 3", "cpu  1 x 3 4 5 6 7 8"] {
            assert_eq!(Times::parse(text), None, "{text:?}");
        }
    }
}
