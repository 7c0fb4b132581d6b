//! Who may spin: of all threads of the process that wait adaptively, one fewer at a time than there are
//! CPUs. One is left for whoever is waited for. Not here: for how long (`adaptive`).

use std::sync::OnceLock;
use std::thread;

use crate::sync::{Figure, Ordering};

/// Threads that spin just now.
static SPINNERS: Figure = Figure::new(0);

/// The right to spin, until it is dropped.
#[derive(Debug)]
pub(super) struct Spinner(());

impl Spinner {
    /// The right to spin, if a CPU can be spared for it.
    pub(super) fn try_new() -> Option<Self> {
        let is_spared = |spinners: u64| (spinners < spare_cpus()).then_some(spinners + 1);
        // O13, Relaxed: a count. Nothing is read on the strength of it.
        let taken = SPINNERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_spared);
        taken.ok().map(|_| Self(()))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        // O13, Relaxed: a count.
        SPINNERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// CPUs that the process may use beside one, by its affinity mask and its cgroup's quota. Asked once:
/// a thread that is pinned later has a mask of its own.
pub(crate) fn spare_cpus() -> u64 {
    static SPARE: OnceLock<u64> = OnceLock::new();
    *SPARE.get_or_init(|| thread::available_parallelism().map_or(0, |cpus| cpus.get() as u64 - 1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_spinners_than_spare_cpus() {
        let spinners: Vec<Spinner> = (0..).map_while(|_| Spinner::try_new()).collect();
        // Other tests may have had the right for a moment.
        assert!(spinners.len() as u64 <= spare_cpus());
        drop(spinners);
        assert!(SPINNERS.load(Ordering::Relaxed) <= spare_cpus());
    }
}
