//! Selects the source of atomics, locks, threads and the clock: the standard library, loom in a
//! model, or shuttle under a controlled scheduler (`--cfg lapwing_shuttle`). The layers above the
//! core use the same source.
//!
//! No other file mentions loom or shuttle, except tests and the access tracker of the storage. Not
//! here: how time passes under shuttle (`virtual_time`).

#[cfg(lapwing_shuttle)]
mod virtual_time;

use std::hint::black_box;

#[cfg(all(lapwing_shuttle, not(lapwing_portable)))]
compile_error!("shuttle cannot block a thread on a futex: add `--cfg lapwing_portable`");

#[cfg(not(any(loom, lapwing_shuttle)))]
pub use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};

#[cfg(lapwing_shuttle)]
pub use shuttle::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread_local,
};
#[cfg(lapwing_shuttle)]
pub(crate) use virtual_time::wait_timeout;
#[cfg(lapwing_shuttle)]
pub use virtual_time::{now, sleep, spin_loop, yield_now};

#[cfg(loom)]
pub use loom::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(lapwing_shuttle)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(all(
    not(any(loom, lapwing_shuttle)),
    any(miri, lapwing_portable, not(target_os = "linux"))
))]
pub(crate) use std::sync::Condvar;
#[cfg(not(any(loom, lapwing_shuttle)))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Waits for a notification, or until `timeout` has passed. Releases the lock.
#[cfg(all(not(lapwing_shuttle), any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
pub(crate) fn wait_timeout(
    condition: &Condvar,
    guard: MutexGuard<'_, ()>,
    timeout: std::time::Duration,
) {
    drop(condition.wait_timeout(guard, timeout).expect("no code panics under this lock"));
}

#[cfg(loom)]
std::thread_local! {
    /// Whether the light fence of rings made on this thread does nothing, for models.
    pub static IS_LIGHT_NOTHING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether a checker chooses the schedule. Loops that only save time then have one round, since
/// each round would multiply the schedules.
pub const IS_CHECKED: bool = cfg!(any(loom, lapwing_shuttle));

/// Reads the clock.
#[cfg(not(lapwing_shuttle))]
#[inline]
#[must_use]
pub fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Issues `times` pause hints of the CPU, 10 to 20 ns each on x86-64, to stay off the bus. Under a
/// checker and under Miri a hint is a thread switch, so a single one suffices.
pub fn pause(times: u32) {
    for _ in 0..if IS_CHECKED || cfg!(miri) { 1 } else { times } {
        spin_loop();
    }
}

/// Delays by about ten CPU cycles on any CPU, by storing a word and loading it again. A pause hint
/// would stall the whole CPU, including the loads that follow. Here those loads can already begin.
/// Under a checker and under Miri this is [`pause`].
#[inline]
pub fn delay() {
    if IS_CHECKED || cfg!(miri) {
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

/// Tells loom that a store puts back what it has just loaded from `word`, as the acquisition of a
/// cache line does. A store of another thread that is not ordered with this call would be undone,
/// and fails the model.
#[cfg(loom)]
pub(crate) fn watch_store_unchanged(word: &AtomicU32) {
    // SAFETY: I15: loom checks that no store is concurrent.
    let _ = unsafe { word.unsync_load() };
}
