//! CPU time of this process, all threads together: what a speed costs. A rival that spins while it waits
//! is not free.

use std::time::Duration;

/// CPU time used so far; none if the system does not tell.
#[cfg(unix)]
pub(crate) fn used() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec).ok()?;
    Some(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
}

/// CPU time used so far: not known here.
#[cfg(not(unix))]
pub(crate) fn used() -> Option<Duration> {
    None
}

/// CPU time used since it was `before`; none if the system does not tell.
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
