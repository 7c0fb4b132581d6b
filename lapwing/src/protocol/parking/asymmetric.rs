//! The store-load fence between those who publish often and those who park or close seldom.
//!
//! Both sides of a Dekker pair need a full fence between their store and their load. On Linux the
//! frequent side pays a compiler fence only: the rare side calls `membarrier`, which runs a full
//! fence on every CPU that runs a thread of this process (`man 2 membarrier`, PRIVATE_EXPEDITED).
//! Elsewhere, and in models, both sides run `fence(SeqCst)`.

#[cfg(loom)]
mod platform {
    use std::cell::Cell;

    thread_local! {
        /// Whether rings made on this thread have a light fence that does nothing.
        pub(crate) static IS_LIGHT_NOTHING: Cell<bool> = const { Cell::new(false) };
    }

    /// Some models run without any light fence, as the frequent side does on Linux: loom takes a
    /// fence for more than it is, and would not see that an ordering beside it is missing.
    pub(super) fn register() -> bool {
        IS_LIGHT_NOTHING.get()
    }

    pub(super) fn on_every_cpu() -> bool {
        true
    }
}

#[cfg(all(not(loom), any(miri, lapwing_portable, not(target_os = "linux"))))]
mod platform {
    /// No asymmetric fence here.
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

    /// Registers the process, once; false where the kernel has no private expedited `membarrier`.
    pub(super) fn register() -> bool {
        let needed =
            MembarrierQuery::PRIVATE_EXPEDITED | MembarrierQuery::REGISTER_PRIVATE_EXPEDITED;
        membarrier_query().contains(needed)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    pub(super) fn on_every_cpu() -> bool {
        // A forked child has to register anew.
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
            || (register() && membarrier(MembarrierCommand::PrivateExpedited).is_ok())
    }
}

#[cfg(all(test, loom))]
pub(crate) use platform::IS_LIGHT_NOTHING;

use crate::sync::{Ordering, fence};

/// Which of the two forms the rings of this process use. Decided when a ring is built, then only
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AsymmetricFence {
    /// `membarrier` on the rare side, nothing but the compiler's order on the frequent one.
    Membarrier,
    /// `fence(SeqCst)` on both.
    Full,
}

impl AsymmetricFence {
    /// The best form that this machine has.
    pub(crate) fn detect() -> Self {
        if platform::register() { Self::Membarrier } else { Self::Full }
    }

    /// The frequent side's half: between its store and its load.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            // O6, compiler order only: the fence of the CPU is run here by `heavy` on the other
            // side.
            Self::Membarrier => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            // O6: pairs with the fence in `heavy`. In line: a call in its place, never made, cost a
            // hop of 70 ns another 10.
            Self::Full => fence(Ordering::SeqCst),
        }
    }

    /// The rare side's half: between its store and its load. False if the system refuses what it
    /// granted when the ring was built (a filter of system calls, say): the caller must then do
    /// without the pair.
    #[cold]
    #[must_use]
    pub(crate) fn heavy(self) -> bool {
        // O6: pairs with `light`. With `membarrier` this fence orders the caller itself.
        fence(Ordering::SeqCst);
        self == Self::Full || platform::on_every_cpu()
    }
}
