//! The store-load fence between a thread that advances a word often, and a thread of any process
//! that is about to park. Not here: the mark that it orders (`event_count`).
//!
//! Both sides store their own word and then load that of the other, and both need a full fence in
//! between. Where the kernel has `membarrier`, the frequent side runs only a compiler fence. The
//! rare side calls `MEMBARRIER_CMD_GLOBAL_EXPEDITED`, which runs a full fence on each CPU that runs
//! a thread of a *registered* process (`man 2 membarrier`). The call skips other processes and does
//! not say so. So each process registers before it takes part, and writes into the segment whether
//! it could. One that could not runs a full fence each time.

#[cfg(not(any(loom, miri)))]
use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

use crate::sync::{Ordering, fence};

/// The fence of the frequent side, in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fences {
    /// A full fence.
    Full,
    /// A compiler fence: the process is registered, and the rare side calls `membarrier`.
    Registered,
}

impl Fences {
    /// Registers the process. Returns what its threads have to do.
    #[cfg(not(any(loom, miri)))]
    pub(crate) fn register() -> Self {
        let needed = MembarrierQuery::GLOBAL_EXPEDITED | MembarrierQuery::REGISTER_GLOBAL_EXPEDITED;
        let is_registered = membarrier_query().contains(needed)
            && membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok();
        if is_registered { Self::Registered } else { Self::Full }
    }

    /// Returns the fence of a model.
    #[cfg(any(loom, miri))]
    pub(crate) fn register() -> Self {
        Self::Full
    }

    /// Returns the number by which the segment says which fence a process runs.
    pub(crate) fn code(self) -> u32 {
        u32::from(self == Self::Registered)
    }

    /// Whether the process that wrote this number relies on `membarrier`.
    pub(crate) fn is_registered(code: u32) -> bool {
        code == Self::Registered.code()
    }

    /// Runs the fence of the frequent side, between its store and its load.
    #[inline]
    pub(crate) fn light(self) {
        match self {
            // P5, compiler order only: `heavy` runs the fence of the CPU on this thread.
            Self::Registered => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            // P5: pairs with the fence in `heavy`.
            Self::Full => fence(Ordering::SeqCst),
        }
    }
}

/// Runs the fence of the rare side. `relies` says whether any process on the frequent side relies on
/// `membarrier`. Returns false if this process may not call it: the other side may then miss the mark.
#[cold]
pub(crate) fn heavy(relies: impl FnOnce() -> bool) -> bool {
    // P5: pairs with `light`, and with the fence of a process that takes part from now on: either
    // it sees the mark, or `relies` sees its number.
    fence(Ordering::SeqCst);
    !relies() || on_every_cpu()
}

#[cfg(not(any(loom, miri)))]
fn on_every_cpu() -> bool {
    membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

#[cfg(any(loom, miri))]
fn on_every_cpu() -> bool {
    false
}
