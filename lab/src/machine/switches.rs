//! Context switches of this process, including threads that have ended. Those of each thread are in
//! `threads`.

use std::time::Duration;

/// Context switches of the threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// A thread blocked.
    pub(crate) voluntary: u64,
    /// A thread was preempted or yielded.
    pub(crate) involuntary: u64,
}

/// Context switches per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SwitchRates {
    /// Of [`Switches::voluntary`].
    pub(crate) voluntary: f64,
    /// Of [`Switches::involuntary`].
    pub(crate) involuntary: f64,
}

impl Switches {
    /// Returns the switches so far, or `None` if the system does not report them.
    #[cfg(unix)]
    pub(crate) fn so_far() -> Option<Self> {
        use nix::sys::resource::{UsageWho, getrusage};

        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let voluntary = u64::try_from(usage.voluntary_context_switches()).ok()?;
        let involuntary = u64::try_from(usage.involuntary_context_switches()).ok()?;
        Some(Self { voluntary, involuntary })
    }

    /// Returns `None`: this system does not report the switches.
    #[cfg(not(unix))]
    pub(crate) fn so_far() -> Option<Self> {
        None
    }

    /// Returns the switches since `before`, as rates over a run of length `elapsed`. Returns `None`
    /// if the system does not report them.
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
