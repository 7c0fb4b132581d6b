//! Pinning a thread to a CPU.

use std::io;

/// Pins the calling thread to `cpu`, by the number that the operating system uses.
///
/// # Errors
///
/// The error of the operating system, if there is no such CPU or if the process may not use it.
/// Unsupported outside Linux.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn pin_current_thread(cpu: usize) -> io::Result<()> {
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
pub(super) fn pin_current_thread(_: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "pinning is supported on Linux only"))
}
