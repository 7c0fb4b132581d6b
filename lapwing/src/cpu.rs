//! The CPUs of the process: how many there are, on which one a thread runs and for how long, and
//! pinning it to one.

use std::io;
use std::time::Duration;

use crate::sync::IS_CHECKED;

/// Returns the number of CPUs that the calling thread may use, by its affinity mask and the quota
/// of its cgroup. Returns one under a checker: in a model, which calls this often, and under
/// shuttle, whose schedules must not depend on the machine.
pub(crate) fn available_cpus() -> u64 {
    let asked = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    if IS_CHECKED { 1 } else { asked() }
}

/// Returns the CPU on which the calling thread runs; `None` where the system does not say, and under
/// a checker, whose schedules must not depend on the machine.
pub(crate) fn this_cpu() -> Option<u64> {
    #[cfg(all(target_os = "linux", not(miri)))]
    let cpu = Some(rustix::thread::sched_getcpu() as u64);
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let cpu = None;
    cpu.filter(|_| !IS_CHECKED)
}

/// Returns the CPU time that the calling thread has used; `None` where the system does not say, and
/// under a checker. Each call is a system call.
pub(crate) fn cpu_time() -> Option<Duration> {
    #[cfg(all(target_os = "linux", not(miri)))]
    let time = {
        use rustix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
    };
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let time = None;
    time.filter(|_| !IS_CHECKED)
}

/// Pins the calling thread to `cpu`, by the number that the operating system uses.
///
/// # Errors
///
/// The error of the operating system, if there is no such CPU or if the process may not use it.
/// Unsupported outside Linux.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn pin_current_thread(cpu: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    if cpu >= CpuSet::MAX_CPU {
        let text = format!("the number of a CPU must be below {}: cpu={cpu}", CpuSet::MAX_CPU);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)?;
    Ok(())
}

/// Returns an error: pinning is not supported here.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn pin_current_thread(_: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "pinning is supported on Linux only"))
}

#[cfg(all(test, not(any(loom, lapwing_shuttle))))]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_that_sleeps_uses_no_cpu_time() {
        let Some(before) = cpu_time() else { return };
        let asleep = Duration::from_millis(20);
        thread::sleep(asleep);
        assert!(cpu_time().unwrap() - before < asleep / 2);
        while cpu_time().unwrap() < before + asleep {
            std::hint::spin_loop();
        }
    }
}
