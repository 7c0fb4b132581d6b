//! How this crate locks: a panic of another thread is no reason to stop.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value that no panic leaves half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
