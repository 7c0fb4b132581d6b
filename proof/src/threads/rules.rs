//! What a consumer may see: which event comes next, and what its upstream stages have done to it.

use std::collections::BTreeSet;

use lapwing::Sequence;

use super::event::{CLEARED, NO_EVENT};
use super::history::History;
use super::notes::Seen;
use super::program::{Policy, Stages};

/// What the model knows before the first note.
pub(super) struct Rules<'a> {
    pub(super) history: &'a History,
    pub(super) capacity: u64,
    /// Its first sequence.
    pub(super) start: Sequence,
    pub(super) max_batch: u64,
    /// Whether it is a handler, which also notes the calls between events.
    pub(super) is_handler: bool,
    /// Whether it gets events that have failed like any other.
    pub(super) takes_failed: bool,
    /// Whether it shares its events with other workers.
    pub(super) is_worker: bool,
    pub(super) on_error: Policy,
    pub(super) on_panic: Policy,
    /// The stages upstream, and those of them that write.
    pub(super) upstream: Vec<(usize, &'a BTreeSet<Sequence>)>,
    pub(super) writers: Stages,
    /// The stages downstream.
    pub(super) downstream: Stages,
    /// The events that upstream stages have skipped as failed.
    pub(super) failed: BTreeSet<Sequence>,
    /// Whether it sees events after they were cleared.
    pub(super) sees_cleared: bool,
}

/// An error unless `is_right`.
pub(super) fn must(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(wrong()) }
}

impl Rules<'_> {
    /// Checks that `seen` is the event `sequence`, as the upstream stages have left it.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    pub(super) fn check(&self, seen: &Seen, sequence: Sequence) -> Result<(), String> {
        must(seen.sequence == sequence, || {
            format!("the event {} instead of {sequence}", seen.sequence)
        })?;
        let id = self.history.id(sequence);
        must(id != NO_EVENT && seen.id == id, || {
            format!("{sequence} has the id {:#x}, not {id:#x}", seen.id)
        })?;
        must(seen.is_whole, || format!("{sequence} is a mixture of two events"))?;
        let is_failed = !self.takes_failed && self.failed.contains(&sequence);
        must(seen.is_failed == is_failed, || {
            format!("{sequence} was announced as failed: {}", seen.is_failed)
        })?;
        self.check_order(seen, sequence)
    }

    /// Checks that the consumer saw the event after all stages upstream and before all downstream.
    fn check_order(&self, seen: &Seen, sequence: Sequence) -> Result<(), String> {
        for (stage, _) in self.upstream.iter().filter(|(_, done)| done.contains(&sequence)) {
            let mark = 1 << stage;
            must(seen.marks & mark == mark, || {
                format!("{sequence} came before the stage {stage} had done it")
            })?;
            let written = mark & self.writers;
            must(seen.written & written == written, || {
                format!("{sequence} lacks what {stage} wrote")
            })?;
        }
        let later = (seen.marks | seen.written) & self.downstream;
        must(later == 0, || format!("the stages {later:#b} got {sequence} earlier"))?;
        let is_cleared = seen.marks & CLEARED != 0;
        must(is_cleared == self.sees_cleared, || format!("{sequence} is cleared: {is_cleared}"))
    }
}
