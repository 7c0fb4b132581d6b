//! Who may spin: of all threads of the process that wait adaptively, one fewer at a time than there are
//! CPUs. One is left for whoever is waited for. Not here: for how long (`adaptive`).

use crate::padded::Padded;
use crate::sync::{Figure, Ordering, available_cpus};

/// Threads that spin just now.
static SPINNERS: Padded<Figure> = Padded(Figure::new(0));
/// CPUs that the process may use beside one, as far as it is known.
static SPARE_CPUS: Padded<Figure> = Padded(Figure::new(0));

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

/// Counts the CPUs that the process may use, by its affinity mask and its cgroup's quota, until some can
/// be spared. Called when a ring is built, and not by whoever waits: a thread that is pinned sees
/// no other CPU than its own.
pub(crate) fn count_cpus() {
    if spare_cpus() == 0 {
        // O13, Relaxed: a figure.
        SPARE_CPUS.store(available_cpus().saturating_sub(1), Ordering::Relaxed);
    }
}

/// CPUs that can be spared for those who spin.
fn spare_cpus() -> u64 {
    // O13, Relaxed: a figure.
    SPARE_CPUS.load(Ordering::Relaxed)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_cpus_but_one_are_spare_and_stay_so() {
        count_cpus();
        assert_eq!(spare_cpus() + 1, available_cpus());
        count_cpus();
        assert_eq!(spare_cpus() + 1, available_cpus());
    }

    #[test]
    fn there_are_never_more_spinners_than_spare_cpus() {
        count_cpus();
        let spinners: Vec<Spinner> = (0..).map_while(|_| Spinner::try_new()).collect();
        // Other tests may have had the right for a moment.
        assert!(spinners.len() as u64 <= spare_cpus());
        drop(spinners);
        assert!(SPINNERS.load(Ordering::Relaxed) <= spare_cpus());
    }
}
