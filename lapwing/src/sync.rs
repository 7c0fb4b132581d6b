//! The source of atomics, locks, threads and the clock, which is that of the core, and what only this
//! crate needs.

pub(crate) use lapwing_core::sync::{
    Arc, AtomicU8, AtomicU32, AtomicU64, IS_CHECKED, Ordering, fence, now, pause, spin_loop,
    thread_local, yield_now,
};

/// A number that only monitors load. It is the standard library's atomic in models and under
/// shuttle too: nothing depends on it, so it would only multiply the schedules.
pub(crate) use std::sync::atomic::AtomicU64 as Figure;

/// The atomics of words that change while a lock of the standard library is held. Shuttle must not run
/// another thread there, which may wait for that lock.
pub(crate) mod under_lock {
    #[cfg(loom)]
    pub(crate) use super::{AtomicU64, fence};
    #[cfg(not(loom))]
    pub(crate) use std::sync::atomic::{AtomicU64, fence};
}

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
    pub(crate) use lapwing_core::sync::sleep;

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
