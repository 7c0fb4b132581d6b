//! The store-load fence between a frequent side (publish, release) and a rare side (park, close).
//! Not here: the mark that it orders (`word`).
//!
//! In Dekker's pattern, each side stores its own word and then loads the other's. Both sides need a
//! full fence between their store and their load. On Linux the frequent side runs only a compiler
//! fence. The rare side calls `membarrier`, which runs a full fence on every CPU that runs a thread
//! of this process (`man 2 membarrier`, PRIVATE_EXPEDITED). On other systems, and in models, both
//! sides run `fence(SeqCst)`.
//!
//! A sandbox may refuse `membarrier`. If it does so when a ring is built, both sides of the ring
//! run `fence(SeqCst)`. If it does so later, the frequent side already relies on the call and cannot
//! be told in time. A thread that parks then sleeps for a short time only, and a thread that closes
//! waits until the frequent side needs no fence.

#[cfg(loom)]
mod platform {
    use crate::sync::IS_LIGHT_NOTHING;

    /// Some models run without a light fence, like the frequent side on Linux. A `SeqCst` fence in
    /// loom is stronger than in the memory model, and can hide a missing ordering beside it.
    pub(super) fn register() -> bool {
        IS_LIGHT_NOTHING.get()
    }

    pub(super) fn on_every_cpu() -> bool {
        true
    }
}

#[cfg(all(not(loom), any(miri, lapwing_portable, not(target_os = "linux"))))]
mod platform {
    /// Always false: this platform has no asymmetric fence.
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn on_every_cpu() -> bool {
        false
    }
}

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod platform {
    use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

    /// Registers the process. Returns false if the kernel has no private expedited `membarrier`.
    pub(super) fn register() -> bool {
        let needed =
            MembarrierQuery::PRIVATE_EXPEDITED | MembarrierQuery::REGISTER_PRIVATE_EXPEDITED;
        membarrier_query().contains(needed)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    pub(super) fn on_every_cpu() -> bool {
        // No manual says that a forked child is registered, although it is.
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
            || (register() && membarrier(MembarrierCommand::PrivateExpedited).is_ok())
    }
}

use std::time::Duration;

use crate::sync::{Ordering, fence};

/// Time after which each store is visible to all CPUs, and no CPU acts on a value that it loaded
/// before.
///
/// A CPU empties its store buffer within microseconds, and at once when it is interrupted. The
/// system clock interrupts each CPU that is in use every 10 ms or more often, except those of
/// `nohz_full`, where only the first sentence holds. Decision 6 compares this with other ways, and
/// `docs::preemption` tells users to refuse `membarrier` before they build a ring, if at all.
const LONGEST_BUFFERING: Duration = Duration::from_millis(20);

/// The kind of fence. A ring detects it when it is built; it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AsymmetricFence {
    /// `membarrier` on the rare side, a compiler fence on the frequent side.
    Membarrier,
    /// `fence(SeqCst)` on both sides.
    Full,
}

impl AsymmetricFence {
    /// Returns the cheapest kind that this machine supports.
    pub(crate) fn detect() -> Self {
        if platform::register() { Self::Membarrier } else { Self::Full }
    }

    /// Runs the frequent side's fence, between its store and its load.
    #[inline]
    pub(crate) fn light(self) {
        match self {
            // O6, compiler order only: `heavy` on the other side runs the CPU fence on this thread.
            Self::Membarrier => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            // O6: pairs with the fence in `heavy`. Inlined: a call here, even one that never ran,
            // added 10 ns to a hop of 70 ns.
            Self::Full => fence(Ordering::SeqCst),
        }
    }

    /// Runs the rare side's fence, between its store and its load. Returns false if the system
    /// refuses the `membarrier` that it granted when the ring was built, as a system-call filter
    /// may do. The caller must then do without the fence, or [wait](Self::heavy_or_wait).
    #[cold]
    #[must_use]
    pub(crate) fn heavy(self) -> bool {
        // O6: pairs with `light`. With `membarrier`, this fence orders the calling thread itself.
        fence(Ordering::SeqCst);
        self == Self::Full || platform::on_every_cpu()
    }

    /// The same, for a caller that cannot do without the fence. If the system refuses it, waits for
    /// 20 ms, after which the frequent side needs no fence.
    #[cold]
    pub(crate) fn heavy_or_wait(self) {
        if !self.heavy() {
            std::thread::sleep(LONGEST_BUFFERING);
        }
    }
}
