//! How far the leader has shipped. Not here: what its follower has confirmed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lapwing::Sequence;

/// How far the leader has shipped. Its threads share it.
///
/// The orderings are Release and Acquire: a reader of `shipped` finds these commands in the journal.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The end of the batch that is being shipped.
    offered: AtomicU64,
    /// Below it, all commands were given to Aeron or dropped.
    shipped: AtomicU64,
    /// The leader ends, and waits for no follower.
    is_over: AtomicBool,
}

impl Progress {
    pub(crate) fn new(next: Sequence) -> Self {
        let (offered, shipped) = (AtomicU64::new(next), AtomicU64::new(next));
        Self { offered, shipped, is_over: AtomicBool::new(false) }
    }

    /// Notes that a batch is being shipped. Returns whether it is another one than at the last call.
    pub(crate) fn offer(&self, end: Sequence) -> bool {
        self.offered.swap(end, Ordering::AcqRel) != end
    }

    pub(crate) fn offered(&self) -> Sequence {
        self.offered.load(Ordering::Acquire)
    }

    /// Notes that all commands below `end` were given to Aeron or dropped.
    pub(crate) fn set_shipped(&self, end: Sequence) {
        self.shipped.store(end, Ordering::Release);
    }

    pub(crate) fn shipped(&self) -> Sequence {
        self.shipped.load(Ordering::Acquire)
    }

    /// Notes that the leader ends.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}
