//! What one consumer learns of the events that upstream stages skipped, and where it records its
//! own. Not here: the marks (`failures`).

use std::ops::Range;
use std::sync::Arc;

use lapwing_core::StageIndex;

use super::failure::{Cause, Failure};
use crate::Sequence;
use crate::failures::{Failures, Reason, Trouble};
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

    /// The first events of `batch` that have failed in the same call, and how; or `None` and the
    /// first events that have not failed.
    #[cold]
    pub(crate) fn first_run(&self, batch: Range<Sequence>) -> (Range<Sequence>, Option<Skipped>) {
        let Range { start, end } = batch;
        let skipped = self.skipped(start);
        let other = (start + 1..end).find(|&sequence| self.skipped(sequence) != skipped);
        (start..other.unwrap_or(end), skipped)
    }

    /// How an upstream stage has skipped `sequence`, if one has. Of several, the first in the order
    /// of the graph.
    pub(crate) fn skipped(&self, sequence: Sequence) -> Option<Skipped> {
        let has_failed = |&stage: &StageIndex| {
            self.shared.failures(stage).is_some_and(|failures| failures.is_marked(sequence))
        };
        let stage = self.upstream.iter().copied().find(has_failed)?;
        let reason = self.shared.failures(stage).and_then(|failures| failures.reason(sequence));
        Some(Skipped { shared: Arc::clone(&self.shared), stage, reason })
    }

    /// Whether an upstream stage has skipped `sequence`.
    pub(crate) fn has_failed(&self, sequence: Sequence) -> bool {
        self.of_upstream().any(|failures| failures.is_marked(sequence))
    }

    /// Whether a downstream stage may ask why events of the consumer have failed.
    pub(crate) fn keeps_reasons(&self) -> bool {
        self.shared.failures(self.stage).is_some_and(Failures::keeps_reasons)
    }

    /// Marks `events`, which the consumer has not released, as skipped for this reason, if there
    /// was an error or a panic. A dynamic stage has no marks.
    #[cold]
    pub(crate) fn mark(&self, events: Range<Sequence>, reason: Option<Reason>) {
        if let Some(failures) = self.shared.failures(self.stage) {
            if let Some(reason) = reason {
                failures.explain(events.clone(), reason);
            }
            events.for_each(|sequence| failures.mark(sequence));
        }
    }
}

/// How an upstream stage has skipped an event.
pub(crate) struct Skipped {
    shared: Arc<Shared>,
    stage: StageIndex,
    /// `None`: without an error or a panic.
    reason: Option<Arc<Reason>>,
}

impl Skipped {
    /// The failure as a downstream stage gets it, for the event `sequence`.
    pub(crate) fn failure(&self, sequence: Sequence) -> Failure<'_> {
        let trouble = self.reason.as_ref().and_then(|reason| Some((reason, reason.trouble()?)));
        let Some((reason, trouble)) = trouble else {
            let stage = self.shared.watched.description.stage(self.stage);
            let stage = stage.map_or("", |stage| &stage.name);
            return Failure { stage, sequence, attempt: 0, cause: Cause::Action };
        };
        let cause = match trouble {
            Trouble::Error(error) => Cause::Error(&**error),
            Trouble::Panic(message) => Cause::Panic(message),
        };
        Failure { stage: &reason.stage, sequence, attempt: reason.attempt, cause }
    }
}

/// Whether two events were skipped in the same call, or both without an error.
impl PartialEq for Skipped {
    fn eq(&self, other: &Self) -> bool {
        self.stage == other.stage
            && match (&self.reason, &other.reason) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}
