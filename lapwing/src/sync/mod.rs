//! Selects the source of atomics, locks, threads and the clock: the standard library, loom in a
//! model, or shuttle under a controlled scheduler (`--cfg lapwing_shuttle`).
//!
//! No other file mentions loom or shuttle, except tests and the access tracker of the storage. Not
//! here: how time passes under shuttle (`virtual_time`).

#[cfg(lapwing_shuttle)]
mod virtual_time;

#[cfg(all(lapwing_shuttle, not(lapwing_portable)))]
compile_error!("shuttle cannot block a thread on a futex: add `--cfg lapwing_portable`");

#[cfg(not(any(loom, lapwing_shuttle)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};

#[cfg(lapwing_shuttle)]
pub(crate) use shuttle::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread_local,
};
#[cfg(lapwing_shuttle)]
pub(crate) use virtual_time::{now, spin_loop, wait_timeout, yield_now};

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

#[cfg(all(not(loom), any(miri, lapwing_portable, not(target_os = "linux"))))]
pub(crate) use threads::{Condvar, Mutex};

#[cfg(loom)]
type Guard<'a> = loom::sync::MutexGuard<'a, ()>;
#[cfg(all(not(any(loom, lapwing_shuttle)), any(miri, lapwing_portable, not(target_os = "linux"))))]
type Guard<'a> = std::sync::MutexGuard<'a, ()>;

/// Waits for a notification, or until `timeout` has passed. Releases the lock.
#[cfg(all(not(lapwing_shuttle), any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
pub(crate) fn wait_timeout(condition: &Condvar, guard: Guard<'_>, timeout: std::time::Duration) {
    drop(condition.wait_timeout(guard, timeout).expect("no code panics under this lock"));
}

/// A number that only monitors load. It is the standard library's atomic in models and under
/// shuttle too: nothing depends on it, so it would only multiply the schedules.
pub(crate) use std::sync::atomic::AtomicU64 as Figure;

/// Whether a checker chooses the schedule. Loops that only save time then have one round, since
/// each round would multiply the schedules.
pub(crate) const IS_CHECKED: bool = cfg!(any(loom, lapwing_shuttle));

/// The threads that the library starts, and the locks of code that no model runs. The standard
/// library's in a model too.
pub(crate) mod threads {
    use std::io;
    #[cfg(not(lapwing_shuttle))]
    pub(crate) use std::{
        sync::{Condvar, Mutex, MutexGuard, mpsc},
        thread::{Builder, JoinHandle, Scope, ScopedJoinHandle, current, sleep},
    };

    #[cfg(lapwing_shuttle)]
    pub(crate) use shuttle::{
        sync::{Condvar, Mutex, MutexGuard, mpsc},
        thread::{Builder, JoinHandle, Scope, ScopedJoinHandle, current},
    };

    #[cfg(lapwing_shuttle)]
    pub(crate) use super::virtual_time::sleep;

    #[cfg(not(lapwing_shuttle))]
    pub(crate) fn spawn_scoped<'scope>(
        scope: &'scope Scope<'scope, '_>,
        name: String,
        body: impl FnOnce() + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, ()>> {
        Builder::new().name(name).spawn_scoped(scope, body)
    }

    /// Threads that shuttle spawns in a scope have no name.
    #[cfg(lapwing_shuttle)]
    pub(crate) fn spawn_scoped<'scope>(
        scope: &'scope Scope<'scope, '_>,
        _name: String,
        body: impl FnOnce() + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, ()>> {
        Ok(scope.spawn(body))
    }
}

/// Reads the clock.
#[cfg(not(lapwing_shuttle))]
#[inline]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Declares a thread-local constant, whose use needs no check for initialisation. Loom and shuttle
/// initialise it at the first use.
macro_rules! constant_thread_local {
    ($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(any(loom, lapwing_shuttle)))]
        std::thread_local! { $(#[$doc])* static $name: $type = const { $value }; }
        #[cfg(any(loom, lapwing_shuttle))]
        $crate::sync::thread_local! { $(#[$doc])* static $name: $type = $value; }
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
/// of its cgroup. Returns one under a checker: in a model, which calls this often, and under
/// shuttle, whose schedules must not depend on the machine.
pub(crate) fn available_cpus() -> u64 {
    let asked = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    if IS_CHECKED { 1 } else { asked() }
}

/// Issues `times` pause hints of the CPU, 10 to 20 ns each on x86-64, to stay off the bus. Under a
/// checker and under Miri a hint is a thread switch, so a single one suffices.
pub(crate) fn pause(times: u32) {
    for _ in 0..if IS_CHECKED || cfg!(miri) { 1 } else { times } {
        spin_loop();
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
