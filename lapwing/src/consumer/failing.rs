//! What one consumer learns of the events that upstream stages skipped, and where it records its own.
//! Not here: the marks (`failures`).

use std::ops::Range;
use std::sync::Arc;

use lapwing_core::StageIndex;

use crate::Sequence;
use crate::failures::Failures;
use crate::ring::Shared;

/// The view of one consumer of the events that were skipped as failed.
#[derive(Debug)]
pub(crate) struct Failing {
    shared: Arc<Shared>,
    /// The upstream stages that may skip events.
    upstream: Box<[StageIndex]>,
    stage: StageIndex,
}

impl Failing {
    /// Creates the view of the consumer of `stage`, or of a worker of that group.
    pub(crate) fn before(stage: StageIndex, shared: &Arc<Shared>) -> Self {
        let upstream = shared.control.ancestors_of(stage).iter().copied();
        let upstream = upstream.filter(|&stage| shared.failures(stage).is_some()).collect();
        Self { shared: Arc::clone(shared), upstream, stage }
    }

    fn of_upstream(&self) -> impl Iterator<Item = &Failures> {
        self.upstream.iter().filter_map(|&stage| self.shared.failures(stage))
    }

    /// Whether an upstream stage has skipped an event from `first` on.
    #[inline]
    pub(crate) fn is_any_from(&self, first: Sequence) -> bool {
        self.of_upstream().any(|failures| failures.is_any_from(first))
    }

    /// The first events of `batch` of which either all have failed, or none, and whether they have.
    #[cold]
    pub(crate) fn first_run(&self, batch: Range<Sequence>) -> (Range<Sequence>, bool) {
        let Range { start, end } = batch;
        let is_failed = self.has_failed(start);
        let other = (start + 1..end).find(|&sequence| self.has_failed(sequence) != is_failed);
        (start..other.unwrap_or(end), is_failed)
    }

    /// Whether an upstream stage has skipped `sequence`.
    pub(crate) fn has_failed(&self, sequence: Sequence) -> bool {
        self.of_upstream().any(|failures| failures.is_marked(sequence))
    }

    /// Marks `events`, which the consumer has not released, as skipped. A seat has no marks.
    #[cold]
    pub(crate) fn mark(&self, events: Range<Sequence>) {
        if let Some(failures) = self.shared.failures(self.stage) {
            events.for_each(|sequence| failures.mark(sequence));
        }
    }
}
