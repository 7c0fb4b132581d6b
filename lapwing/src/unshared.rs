//! A value that is only accessed by `&mut` or by value, so that its owner can be `Sync` although
//! the value is not.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// User code that an endpoint keeps and never calls through a shared reference.
///
/// The lock is never taken. It makes the value `Sync` without unsafe code.
pub(crate) struct Unshared<T>(Mutex<T>);

impl<T> Unshared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        // The lock is never taken, so it cannot be poisoned.
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Unshared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unshared").finish_non_exhaustive()
    }
}
