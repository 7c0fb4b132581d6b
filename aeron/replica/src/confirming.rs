//! How far the journal of the follower is, and what its leader knows of that. Not here: when the follower asks for
//! commands (`follower`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use exchange::service::Opened;
use lapwing::{Action, Sequence};

use crate::messages::FromFollower;
use crate::outbox::Outbox;

/// Two ends of the commands of a follower. Its threads share them.
///
/// The orderings are Release and Acquire, though a reader uses the number only.
#[derive(Debug)]
pub(crate) struct Synced {
    /// Below it, the journal has synced all commands.
    end: AtomicU64,
    /// Below it, the leader was told so.
    told: AtomicU64,
}

impl Synced {
    pub(crate) fn new(next: Sequence) -> Self {
        Self { end: AtomicU64::new(next), told: AtomicU64::new(next) }
    }

    pub(crate) fn end(&self) -> Sequence {
        self.end.load(Ordering::Acquire)
    }

    /// Whether the leader lacks a confirmation.
    pub(crate) fn is_untold(&self) -> bool {
        self.told.load(Ordering::Acquire) < self.end()
    }

    /// The leader was told that all commands below `end` are synced.
    pub(crate) fn tell(&self, end: Sequence) {
        self.told.fetch_max(end, Ordering::AcqRel);
    }
}

/// The stage that reports to the leader what is synced.
///
/// It never keeps a batch. A leader that takes no confirmation may wait for this follower to take commands, and the
/// follower takes none while its ring is full. A later confirmation includes a refused one, and the thread that
/// applies commands repeats the last one.
pub(crate) struct Confirming {
    id: u64,
    outbox: Outbox<FromFollower>,
    synced: Arc<Synced>,
}

impl Confirming {
    pub(crate) fn new(id: u64, outbox: Outbox<FromFollower>, synced: Arc<Synced>) -> Self {
        Self { id, outbox, synced }
    }

    /// Adds the stage to an exchange.
    pub(crate) fn stage(mut self, opened: Opened) -> Opened {
        opened.after_synced(move |inputs, first| {
            self.confirm(first + inputs.len() as u64);
            Ok(Action::Continue)
        })
    }

    fn confirm(&mut self, end: Sequence) {
        self.synced.end.store(end, Ordering::Release);
        if self.outbox.offer(&[FromFollower::confirm(self.id, end)]) {
            self.synced.tell(end);
        }
    }
}
