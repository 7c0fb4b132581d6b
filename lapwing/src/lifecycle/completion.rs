//! Where stages leave their results when they end, and where other threads wait for the threads of
//! the stages.

use std::sync::PoisonError;
use std::time::Instant;

use crate::consumer::StageReport;
use crate::sync::threads::{Condvar, Mutex, MutexGuard};
use crate::sync::{Arc, now};

/// The results of the stages that have ended, and how many threads of the ring have ended.
#[derive(Debug, Default)]
pub(super) struct Completion {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    finished: Vec<StageReport>,
    /// Number of threads that have ended.
    ended_threads: usize,
}

/// Counts a thread as ended when it is dropped, also by a panic.
pub(super) struct ThreadEnd(pub(super) Arc<Completion>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        self.0.lock().ended_threads += 1;
        self.0.changed.notify_all();
    }
}

impl Completion {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result.
    pub(super) fn deliver(&self, finished: StageReport) {
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

    /// Waits until this many `threads` have ended, or until `deadline` if there is one. Returns
    /// whether they have ended.
    pub(super) fn wait(&self, threads: usize, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while state.ended_threads < threads {
            let Some(deadline) = deadline else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return false;
            }
            let result = self.changed.wait_timeout(state, left);
            state = result.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Takes the results.
    pub(super) fn take(&self) -> Vec<StageReport> {
        std::mem::take(&mut self.lock().finished)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_all_threads() {
        let completion = Arc::new(Completion::default());
        drop(ThreadEnd(Arc::clone(&completion)));
        assert!(!completion.wait(2, Some(now())));
        drop(ThreadEnd(Arc::clone(&completion)));
        assert!(completion.wait(2, None));
    }
}
