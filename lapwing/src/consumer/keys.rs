//! The keys of a group, and which words a worker by key looks after. Not here: how it gets its events (`worker::routing`).

use std::sync::Arc;

use super::finished::Outcome;
use crate::protocol::control::{Control, IDLE, StageIndex};
use crate::protocol::group::{Claim, Group, Router};

/// Keys of events, asked of many at a time.
pub(crate) trait Keys<E>: Send + Sync {
    /// Gives each of `events` to its owner.
    fn route(&self, events: &[E], router: &Router<'_>);
}

impl<E, F: Fn(&E) -> u64 + Send + Sync> Keys<E> for F {
    fn route(&self, events: &[E], router: &Router<'_>) {
        events.iter().for_each(|event| router.assign(self(event)));
    }
}

/// The keys of a group, which all of its workers ask. The standard library's in a model as well: loom's
/// takes no trait object.
pub(crate) type SharedKeys<E> = Arc<dyn Keys<E>>;

/// What a worker by key has that others have not.
pub(super) struct ByKey<E> {
    pub(super) keys: SharedKeys<E>,
    /// Its own word, then those of workers that have left, whose events it handles as well.
    pub(super) words: Vec<StageIndex>,
    /// The panic of a key.
    pub(super) failure: Option<Outcome>,
}

impl<E> ByKey<E> {
    pub(super) fn new(keys: SharedKeys<E>, own: StageIndex) -> Self {
        Self { keys, words: vec![own], failure: None }
    }

    /// The words that it looks after, its own first.
    pub(super) fn words(&self) -> &[StageIndex] {
        &self.words
    }

    pub(super) fn take_failure(&mut self) -> Option<Outcome> {
        self.failure.take()
    }

    /// All that it has or will be given, to be left behind: events may be routed to it for as long as
    /// somebody has not heard that it has left, and the team has not changed.
    pub(super) fn left_behind(&self, group: &Group) -> impl Iterator<Item = Claim> {
        let rest_of = |&word: &StageIndex| group.control.sequence_of(word)..IDLE;
        self.words.iter().map(move |word| Claim { word: *word, events: rest_of(word) })
    }
}

/// Whether events are, or may be, routed to the worker that looks after `words`.
pub(super) fn is_in_the_team(control: &Control, words: &[StageIndex]) -> bool {
    let is_busy = |&word: &StageIndex| control.sequence_of(word) != IDLE;
    // Somebody may not yet have heard that the others have left.
    words.len() > 1 || words.iter().any(is_busy)
}
