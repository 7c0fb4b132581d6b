//! A value that is reached by `&mut` or by value only, so that its owner can be `Sync` though it is not.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Code of the user's that an endpoint keeps and never calls through a shared reference.
///
/// A lock that is never taken: it is what makes a value `Sync` without unsafe code.
pub(crate) struct Unshared<T>(Mutex<T>);

impl<T> Unshared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        // It was never locked, so never poisoned.
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Unshared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unshared").finish_non_exhaustive()
    }
}
