//! Selects the source of atomics, locks and threads: the standard library, or loom in a model.
//!
//! No other file mentions loom, except tests and the access tracker of the storage.

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

/// A number that only monitors load. It is the standard library's atomic in models too: nothing
/// depends on it, so it would only multiply the schedules.
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

/// Declares a thread-local constant, whose use needs no check for initialisation. Loom initialises
/// it at the first use.
macro_rules! constant_thread_local {
    ($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(loom))]
        std::thread_local! { $(#[$doc])* static $name: $type = const { $value }; }
        #[cfg(loom)]
        loom::thread_local! { $(#[$doc])* static $name: $type = $value; }
    };
}
pub(crate) use constant_thread_local;

/// Whether producers record their claims (`open_claim`).
#[cfg(not(loom))]
#[inline]
pub(crate) const fn notes_claims() -> bool {
    true
}

#[cfg(loom)]
std::thread_local! {
    /// The result of [`notes_claims`] in a model. Off unless the model turns it on, because each
    /// record would multiply its schedules.
    pub(crate) static NOTES_CLAIMS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(loom)]
pub(crate) fn notes_claims() -> bool {
    NOTES_CLAIMS.get()
}

/// Returns the number of CPUs that the calling thread may use, by its affinity mask and the quota
/// of its cgroup. Returns one in a model, which calls this often.
pub(crate) fn available_cpus() -> u64 {
    let asked = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    if cfg!(loom) { 1 } else { asked() }
}

/// Issues `times` pause hints of the CPU, 10 to 20 ns each on x86-64, to stay off the bus. In a
/// model and under Miri a hint is a thread switch, so a single one suffices.
pub(crate) fn pause(times: u32) {
    for _ in 0..if cfg!(any(loom, miri)) { 1 } else { times } {
        spin_loop();
    }
}

/// Delays by about ten CPU cycles on any CPU, by storing a word and loading it again. A pause hint
/// would stall the whole CPU, including the loads that follow. Here those loads can already begin.
/// In a model and under Miri this is [`pause`].
#[inline]
#[cfg_attr(lapwing_plain, allow(dead_code))]
pub(crate) fn delay() {
    if cfg!(any(loom, miri)) {
        return pause(1);
    }
    for _ in 0..2 {
        black_box(black_box(0_u32).wrapping_add(1));
    }
}

/// Loads a word that only the calling thread stores, or that earlier owners have handed over.
#[cfg(not(loom))]
#[inline]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed) // O1, Relaxed: no other thread stores it
}

/// Does the same in a model, which fails if another thread's store is not ordered before it. This
/// is not an atomic load: loom remembers only the last access of each word. A writer's load of its
/// own word would hide a reader's load from the store that follows, and loom would not try the
/// opposite order.
#[cfg(loom)]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    // SAFETY: I1: the word is that of the only producer; loom checks that no store is concurrent.
    unsafe { word.unsync_load() }
}
