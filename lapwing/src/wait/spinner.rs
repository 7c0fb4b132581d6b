//! Which threads may spin: of all threads of the process that wait with `Adaptive`, one fewer at a
//! time than there are CPUs. This leaves one CPU for the thread that they wait for. Not here: for
//! how long they spin (`adaptive`).

use lapwing_core::Padded;

use crate::cpu::available_cpus;
use crate::sync::{Figure, Ordering};

/// Threads that spin at present.
static SPINNERS: Padded<Figure> = Padded(Figure::new(0));
/// CPUs that the process may use, less one; 0 until they are counted.
static SPARE_CPUS: Padded<Figure> = Padded(Figure::new(0));

#[cfg(all(test, not(loom)))]
std::thread_local! {
    /// Whether this thread assumes that the process has several CPUs.
    pub(super) static HAS_SPARE_CPU: std::cell::Cell<bool> = const { std::cell::Cell::new(true) };
}

/// The right to spin. Dropping it returns it.
#[derive(Debug)]
pub(super) struct Spinner(());

impl Spinner {
    /// Takes the right to spin, if a CPU is spare.
    pub(super) fn try_new() -> Option<Self> {
        let is_spared = |spinners: u64| (spinners < spare_cpus()).then_some(spinners + 1);
        // O13, Relaxed: a count that orders nothing.
        let taken = SPINNERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_spared);
        taken.ok().map(|_| Self(()))
    }

    /// Whether the process has more than one CPU. On a single CPU, a polling thread keeps the other
    /// side from running.
    #[cfg(not(all(test, not(loom))))]
    pub(super) fn is_ever_granted() -> bool {
        spare_cpus() > 0
    }

    /// The same in a test, independent of the machine.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_ever_granted() -> bool {
        HAS_SPARE_CPU.get()
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        // O13, Relaxed: a count.
        SPINNERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts the CPUs that the process may use, by its affinity mask and its cgroup quota, unless it
/// has already found a spare one. Called when a ring or a waiter is made, not by a waiting thread: a
/// pinned thread sees only its own CPU.
pub(crate) fn count_cpus() {
    if spare_cpus() == 0 {
        // O13, Relaxed: a figure.
        SPARE_CPUS.store(available_cpus().saturating_sub(1), Ordering::Relaxed);
    }
}

/// CPUs that the process may use.
pub(super) fn cpus() -> u64 {
    spare_cpus() + 1
}

/// CPUs that are available for spinning threads.
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
        // Other tests may hold the right for a moment.
        assert!(spinners.len() as u64 <= spare_cpus());
        drop(spinners);
        assert!(SPINNERS.load(Ordering::Relaxed) <= spare_cpus());
    }
}
