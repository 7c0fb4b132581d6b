//! How far a move of keys is: which workers must give the state of their keys away, and which must
//! take it. Not here: when the team of workers changes (`routes`), and how a worker gives and takes
//! (`transfer`).
//!
//! ```text
//! the team has finished ──> target = new team, owing = old team
//!                              │ each worker of the old team takes what is pending, gives, and
//!                              v clears its bits
//!                           owing = 0 ──> the next router makes the target the team, and routes
//!                                            │
//!                                            v
//!                                         each worker of the new team takes what is pending
//!                                         before the first event that is routed to it
//! ```
//!
//! All of this is stored by word, not by worker. A worker that took over the word of a worker that
//! left gives and takes in its place. A move that has begun completes, even if the group is resized
//! meanwhile.

use crate::sync::{AtomicU64, Ordering};

/// The progress of a move of keys. Each field has a bit for each word.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The next team; 0 if no move is in progress. Written under the routing lock.
    target: AtomicU64,
    /// The words of the old team whose worker has not given its state yet. Set under the routing
    /// lock.
    owing: AtomicU64,
    /// The words that have state to take.
    pending: AtomicU64,
}

impl Moves {
    /// Returns the team to which the keys move; 0 if no move is in progress.
    pub(super) fn target(&self) -> u64 {
        // O36, Acquire: pairs with the Release in `end`; carries the team that the move led to.
        self.target.load(Ordering::Acquire)
    }

    /// Begins to move keys from the team `old` to `target`.
    pub(super) fn begin(&self, old: u64, target: u64) {
        // O36, Relaxed: released with `owing`.
        self.target.store(target, Ordering::Relaxed);
        // O36, Release: pairs with the Acquire in `owes`; carries the target.
        self.owing.store(old, Ordering::Release);
    }

    /// Whether all workers of the old team have given their state. Only called while there is a
    /// target.
    pub(super) fn have_all_given(&self) -> bool {
        // O36, Acquire: pairs with the Release in `has_given`; carries what was given, and that it
        // is pending.
        self.owing.load(Ordering::Acquire) == 0
    }

    /// Ends the move. The caller has stored the target as the team.
    pub(super) fn end(&self) {
        // O36, Release: pairs with the Acquire in `target`; carries the team.
        self.target.store(0, Ordering::Release);
    }

    /// Whether the worker with the words `own` still has to give state.
    pub(super) fn owes(&self, own: u64) -> bool {
        // O36, Acquire: pairs with the Release in `begin`; carries the target.
        self.owing.load(Ordering::Acquire) & own != 0
    }

    pub(super) fn has_given(&self, own: u64) {
        // O36, Release: pairs with the Acquire in `have_all_given`; carries what was given, also
        // through the other workers of the team, which use read-modify-writes.
        self.owing.fetch_and(!own, Ordering::Release);
    }

    pub(super) fn has_pending(&self, own: u64) -> bool {
        // O36, Relaxed: ordered by what the caller acquired before: an event, or a word that it
        // took over.
        self.pending.load(Ordering::Relaxed) & own != 0
    }

    pub(super) fn send(&self, words: u64) {
        // O36, Release: pairs with the Acquire in `fetch`; carries what was given.
        self.pending.fetch_or(words, Ordering::Release);
    }

    /// Clears the pending bits of `own`, and returns those that were set.
    pub(super) fn fetch(&self, own: u64) -> u64 {
        // O36, Acquire: pairs with the Release in `send`; carries what was given. The bit is
        // cleared before the state is taken, so state that is given later sets it again.
        self.pending.fetch_and(!own, Ordering::Acquire) & own
    }
}
