//! The CPU of each thread: chosen by the system, one per thread, or assigned in turn. Two threads
//! that share a CPU take turns, which makes huge batches and inflates throughput. Never compare
//! pinned and free runs.

use core_affinity::CoreId;

/// The placement of the threads of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The system places the threads.
    #[default]
    Free,
    /// Each thread has its own CPU if there are enough CPUs. Otherwise the system places the
    /// threads.
    Pinned,
    /// CPUs are assigned in turn, even if there are more threads. Otherwise the system chooses
    /// which threads share a CPU. That choice changes between runs and affects results more than
    /// the contender does.
    InTurn,
}

impl Placement {
    /// Returns whether each of `threads` is bound to one CPU.
    pub(crate) fn pins(self, threads: usize) -> bool {
        !self.cpus(threads).is_empty()
    }

    /// Returns a CPU for each of `threads`, from those that this process may use. Returns an empty
    /// list if the system places the threads.
    pub(crate) fn cpus(self, threads: usize) -> Vec<CoreId> {
        match self {
            Self::Free => Vec::new(),
            Self::Pinned => {
                allowed().filter(|cpus| cpus.len() >= threads).map_or_else(Vec::new, |mut cpus| {
                    cpus.truncate(threads);
                    cpus
                })
            }
            Self::InTurn => allowed()
                .map_or_else(Vec::new, |cpus| cpus.into_iter().cycle().take(threads).collect()),
        }
    }
}

/// Returns the CPUs that this process may use, or `None` if the system does not report them.
pub(crate) fn allowed() -> Option<Vec<CoreId>> {
    core_affinity::get_core_ids()
}

/// Binds the calling thread to `cpu`. If the system refuses, the thread stays unbound.
pub(crate) fn pin(cpu: CoreId) {
    core_affinity::set_for_current(cpu);
}

/// Binds the calling thread, and all threads that it starts from now on, to the last CPU that it
/// may use. The first CPUs handle most interrupts. Returns false if the system refuses.
pub(crate) fn confine_to_one_cpu() -> bool {
    let last = allowed().and_then(|cpus| cpus.last().copied());
    last.is_some_and(core_affinity::set_for_current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_threads_have_no_cpu() {
        assert!(Placement::Free.cpus(1).is_empty());
        assert!(!Placement::Free.pins(1));
    }

    #[test]
    fn pinned_threads_have_a_cpu_each_or_none() {
        let Some(allowed) = allowed() else { return };
        assert_eq!(Placement::Pinned.cpus(allowed.len()), allowed);
        assert!(Placement::Pinned.cpus(allowed.len() + 1).is_empty());
    }

    #[test]
    fn threads_in_turn_share_cpus_when_there_are_too_few() {
        let Some(allowed) = allowed() else { return };
        let cpus = Placement::InTurn.cpus(2 * allowed.len());
        assert_eq!(cpus, [&allowed[..], &allowed[..]].concat());
        assert_eq!(Placement::InTurn.cpus(1), allowed[..1]);
    }
}
