//! Which CPU a thread runs on: wherever the system puts it, on one of its own, or on one whose turn it is. Two threads that
//! share a CPU take turns, which makes huge batches and flatters throughput; so pinned and free runs are never
//! compared with each other.

use core_affinity::CoreId;

/// Where the threads of a run are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Wherever the system puts them.
    #[default]
    Free,
    /// Each on a CPU of its own, if there are enough; else wherever the system puts them.
    Pinned,
    /// On the CPUs in turn, also if there are more threads: who shares one is no choice of the system's, which changes from
    /// run to run and makes more difference than contenders do.
    InTurn,
}

impl Placement {
    /// Whether each of `threads` keeps to one CPU.
    pub(crate) fn pins(self, threads: usize) -> bool {
        !self.cpus(threads).is_empty()
    }

    /// A CPU for each of `threads`, of those that this process may use; empty if they are free.
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

/// The CPUs that this process may use; none if the system does not tell.
pub(crate) fn allowed() -> Option<Vec<CoreId>> {
    core_affinity::get_core_ids()
}

/// Binds the calling thread to `cpu`; a system that refuses leaves it free.
pub(crate) fn pin(cpu: CoreId) {
    core_affinity::set_for_current(cpu);
}

/// Confines the calling thread, and all that it starts from now on, to the last CPU that it may use: the first ones have
/// most of the interrupts. False if the system refuses.
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
