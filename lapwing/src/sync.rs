//! Decides where atomics, locks and threads come from: the standard library, or loom when a model
//! runs.
//!
//! The only file that mentions loom outside tests and the storage's access tracker.

#[cfg(all(not(loom), any(miri, lapwing_portable, not(target_os = "linux"))))]
pub(crate) use std::sync::{Condvar, Mutex};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};

/// A number that is only looked at. The standard library's in a model as well: nothing depends on
/// it, so it would only multiply the schedules.
pub(crate) use std::sync::atomic::AtomicU64 as Figure;

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};

/// Number of CPUs that the calling thread may use, by its affinity mask and its cgroup's quota. One in a
/// model, which asks often.
pub(crate) fn available_cpus() -> u64 {
    let asked = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    if cfg!(loom) { 1 } else { asked() }
}

/// Keeps off the bus for `times` pause hints of the CPU, 10 to 20 ns each on x86-64. A model
/// and Miri, where a hint is a change of threads, only let others run.
pub(crate) fn pause(times: u32) {
    for _ in 0..if cfg!(any(loom, miri)) { 1 } else { times } {
        spin_loop();
    }
}
