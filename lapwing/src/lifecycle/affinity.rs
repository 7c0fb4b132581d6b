//! Pinning a thread to a CPU.

use std::io;

/// Pins the calling thread to `cpu`, as the system numbers them.
///
/// # Errors
///
/// What the system says: that there is no such CPU, or that the process may not use it. Unsupported
/// outside Linux.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn pin_current_thread(cpu: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    if cpu >= CpuSet::MAX_CPU {
        let text = format!("a CPU's number must be below {}: cpu={cpu}", CpuSet::MAX_CPU);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)?;
    Ok(())
}

/// Pins the calling thread to `cpu`: not supported here.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn pin_current_thread(_: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "pinning is supported on Linux only"))
}
