//! CPU time of this process over all threads: the cost of a speed. A rival that spins while it
//! waits is not free.

use std::time::Duration;

/// Returns the CPU time used so far, or `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn used() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec).ok()?;
    Some(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
}

/// Returns `None`: this system does not report CPU time.
#[cfg(not(unix))]
pub(crate) fn used() -> Option<Duration> {
    None
}

/// Returns the CPU time used since `before`, or `None` if the system does not report it.
pub(crate) fn since(before: Option<Duration>) -> Option<Duration> {
    Some(used()?.saturating_sub(before?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let Some(before) = used() else { return };
        while since(Some(before)) < Some(Duration::from_millis(2)) {
            std::hint::spin_loop();
        }
    }
}
