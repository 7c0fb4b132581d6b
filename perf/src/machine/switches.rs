//! Context switches of this process, all threads together, those that have ended too. Not here: those of each thread
//! (`threads`).

use std::time::Duration;

/// How often threads of this process have left their CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// A thread went to sleep.
    pub(crate) voluntary: u64,
    /// A thread lost its CPU to another one, or yielded it.
    pub(crate) involuntary: u64,
}

/// Switches of one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SwitchRates {
    /// Of [`Switches::voluntary`].
    pub(crate) voluntary: f64,
    /// Of [`Switches::involuntary`].
    pub(crate) involuntary: f64,
}

impl Switches {
    /// Those so far; none if the system does not tell.
    #[cfg(unix)]
    pub(crate) fn so_far() -> Option<Self> {
        use nix::sys::resource::{UsageWho, getrusage};

        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let voluntary = u64::try_from(usage.voluntary_context_switches()).ok()?;
        let involuntary = u64::try_from(usage.involuntary_context_switches()).ok()?;
        Some(Self { voluntary, involuntary })
    }

    /// Those so far: not known here.
    #[cfg(not(unix))]
    pub(crate) fn so_far() -> Option<Self> {
        None
    }

    /// Those since it was `before`, as rates over a run that took `elapsed`; none if the system does not tell.
    pub(crate) fn rates(before: Option<Self>, elapsed: Duration) -> Option<SwitchRates> {
        let (now, before) = (Self::so_far()?, before?);
        let rate =
            |now: u64, before: u64| now.saturating_sub(before) as f64 / elapsed.as_secs_f64();
        Some(SwitchRates {
            voluntary: rate(now.voluntary, before.voluntary),
            involuntary: rate(now.involuntary, before.involuntary),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let Some(before) = Switches::so_far() else { return };
        thread::sleep(Duration::from_millis(1));
        let rates = Switches::rates(Some(before), Duration::from_millis(500)).unwrap();
        assert!(rates.voluntary >= 2.0, "{rates:?}");
        assert_eq!(Switches::rates(None, Duration::from_secs(1)), None);
    }
}
