//! Where stages that have ended leave their results, and where others wait for them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::consumer::Finished;

/// The results of a ring's stages, as they come in.
#[derive(Debug, Default)]
pub(super) struct Completion {
    finished: Mutex<Vec<Finished>>,
    delivered: Condvar,
}

impl Completion {
    fn lock(&self) -> MutexGuard<'_, Vec<Finished>> {
        // Nothing panics under this lock.
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result.
    pub(super) fn deliver(&self, finished: Finished) {
        self.lock().push(finished);
        self.delivered.notify_all();
    }

    /// Number of results so far.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Names of the stages that have ended.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().iter().map(|finished| finished.name().to_owned()).collect()
    }

    /// Waits until there are `count` results, or until `deadline`; whether there are.
    pub(super) fn wait(&self, count: usize, deadline: Instant) -> bool {
        let mut finished = self.lock();
        while finished.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let result = self.delivered.wait_timeout(finished, left);
            finished = result.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Takes the results.
    pub(super) fn take(&self) -> Vec<Finished> {
        std::mem::take(&mut *self.lock())
    }
}
