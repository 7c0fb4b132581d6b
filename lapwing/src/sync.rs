//! Decides where atomics, locks and threads come from: the standard library, or loom when a model
//! runs.
//!
//! The only file that mentions loom outside tests and the storage's access tracker.

use std::hint::black_box;

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

/// Thread-local memory of a constant, which needs no check whether it was made. Loom makes it at the first use.
macro_rules! constant_thread_local {
    ($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(loom))]
        std::thread_local! { $(#[$doc])* static $name: $type = const { $value }; }
        #[cfg(loom)]
        loom::thread_local! { $(#[$doc])* static $name: $type = $value; }
    };
}
pub(crate) use constant_thread_local;

/// Whether producers note their claims (`open_claim`).
#[cfg(not(loom))]
#[inline]
pub(crate) const fn notes_claims() -> bool {
    true
}

#[cfg(loom)]
std::thread_local! {
    /// What [`notes_claims`] says in a model: only if it asks for it, since each note would multiply its schedules.
    pub(crate) static NOTES_CLAIMS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(loom)]
pub(crate) fn notes_claims() -> bool {
    NOTES_CLAIMS.get()
}

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

/// Stores a word and loads it again, a few times: some ten cycles of a CPU, on whichever. A pause hint stops all that the CPU
/// does, and what comes after it waits; here the loads that come after are under way meanwhile. In a model and under Miri as
/// [`pause`].
#[inline]
#[cfg_attr(lapwing_plain, allow(dead_code))]
pub(crate) fn dawdle() {
    if cfg!(any(loom, miri)) {
        return pause(1);
    }
    for _ in 0..2 {
        black_box(black_box(0_u32).wrapping_add(1));
    }
}

/// Reads a word that only the calling thread writes, or threads before it that have handed it over.
#[cfg(not(loom))]
#[inline]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed) // O1, Relaxed: no other thread stores it
}

/// The same in a model, which fails if another thread's write is not before it. Not a load: of the accesses of a
/// word, loom remembers the last, so a writer's look at its own word would hide a reader's from the store that
/// follows, and loom would not try them the other way round.
#[cfg(loom)]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    // SAFETY: I1: the word is that of the only producer; and loom checks that no write is beside this.
    unsafe { word.unsync_load() }
}
