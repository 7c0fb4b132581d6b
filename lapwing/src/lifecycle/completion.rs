//! Where stages that have ended leave their results, and where others wait for their threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::consumer::Finished;
use crate::sync::Arc;

/// The results of a ring's stages, as they come in, and how many of its threads have ended.
#[derive(Debug, Default)]
pub(super) struct Completion {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    finished: Vec<Finished>,
    /// Number of threads that run no stage any more.
    ended_threads: usize,
}

/// Counts a thread as ended when it is dropped, by a panic as well.
pub(super) struct ThreadEnd(pub(super) Arc<Completion>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        self.0.lock().ended_threads += 1;
        self.0.changed.notify_all();
    }
}

impl Completion {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result.
    pub(super) fn deliver(&self, finished: Finished) {
        self.lock().finished.push(finished);
    }

    /// Number of results so far.
    pub(super) fn count(&self) -> usize {
        self.lock().finished.len()
    }

    /// Names of the stages that have ended.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().finished.iter().map(|finished| finished.name().to_owned()).collect()
    }

    /// Waits until so many `threads` have ended, or until `deadline` if there is one; whether they have.
    pub(super) fn wait(&self, threads: usize, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while state.ended_threads < threads {
            let Some(deadline) = deadline else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let result = self.changed.wait_timeout(state, left);
            state = result.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Takes the results.
    pub(super) fn take(&self) -> Vec<Finished> {
        std::mem::take(&mut self.lock().finished)
    }
}
