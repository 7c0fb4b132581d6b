//! The key function of a group, and the words that a worker by key owns. Not here: how a worker
//! gets its events (`worker::routing`).

use std::sync::Arc;

use lapwing_core::{Control, IDLE, StageIndex};

use super::finished::Outcome;
use crate::group::{Group, Router, WorkerClaim};

/// The key function of a group, called for many events at a time.
pub(crate) trait Keys<E>: Send + Sync {
    /// Assigns each of `events` to its owner.
    fn route(&self, events: &[E], router: &Router<'_>);
}

impl<E, F: Fn(&E) -> u64 + Send + Sync> Keys<E> for F {
    fn route(&self, events: &[E], router: &Router<'_>) {
        events.iter().for_each(|event| router.assign(self(event)));
    }
}

/// The key function, which all workers of the group share. A model uses `std::sync::Arc` too, since
/// loom's `Arc` does not support trait objects.
pub(crate) type SharedKeys<E> = Arc<dyn Keys<E>>;

/// The additional state of a worker by key.
pub(super) struct ByKey<E> {
    pub(super) keys: SharedKeys<E>,
    /// Its own word, then the words that it took over from workers that have left.
    pub(super) words: Vec<StageIndex>,
    /// The panic of a key function.
    pub(super) failure: Option<Outcome>,
}

impl<E> ByKey<E> {
    pub(super) fn new(keys: SharedKeys<E>, own: StageIndex) -> Self {
        Self { keys, words: vec![own], failure: None }
    }

    /// The words that it owns, its own first.
    pub(super) fn words(&self) -> &[StageIndex] {
        &self.words
    }

    pub(super) fn take_failure(&mut self) -> Option<Outcome> {
        self.failure.take()
    }

    /// Everything that it has or may still get, as claims to leave behind. Other workers may route
    /// events to it until they have seen that it has left and the team has changed.
    pub(super) fn left_behind(&self, group: &Group) -> impl Iterator<Item = WorkerClaim> {
        let rest_of = |&word: &StageIndex| group.control.sequence_of(word)..IDLE;
        self.words.iter().map(move |word| WorkerClaim { word: *word, events: rest_of(word) })
    }
}

/// Whether events are, or may be, routed to the worker with `words`.
pub(super) fn is_in_the_team(control: &Control, words: &[StageIndex]) -> bool {
    let is_busy = |&word: &StageIndex| control.sequence_of(word) != IDLE;
    // A router may not yet have seen that the other owners of `words` left.
    words.len() > 1 || words.iter().any(is_busy)
}
