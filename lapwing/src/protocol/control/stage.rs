//! The shared words of one stage. Not here: the operations on them (`control`).

use std::collections::BTreeSet;

#[cfg(doc)]
use super::IDLE;
use super::{DETACHED, StageIndex};
use crate::Sequence;
use crate::activity::Activity;
use crate::padded::Padded;
use crate::protocol::failures::Failures;
use crate::protocol::parking::released::Released;
use crate::protocol::parking::watch::Watch;
use crate::sync::{AtomicU64, Ordering};

/// The shared words of one stage.
#[derive(Debug)]
pub(crate) struct StageControl {
    /// End of what the stage has finished, or [`DETACHED`]. For a group, how far it has claimed.
    /// For a worker, a bound at or below every event that it holds, or [`IDLE`].
    pub(crate) sequence: Padded<AtomicU64>,
    /// The event counts of threads that wait for `sequence`.
    pub(crate) released: Padded<Released>,
    /// What its consumer is doing, for monitors.
    pub(crate) activity: Padded<Activity>,
    /// The last turn that is asked to end, since a seat has one consumer after another. Written
    /// only to stop a consumer.
    pub(super) stop: AtomicU64,
    /// The stages directly upstream; empty for a first stage.
    pub(crate) upstream: Box<[StageIndex]>,
    /// All stages upstream, directly or not. Used once this stage has left.
    pub(crate) ancestors: Box<[StageIndex]>,
    /// The words of the acknowledgement, if another party acknowledges the events.
    pub(crate) acknowledgement: Option<StageIndex>,
    /// The words of its workers, if it is a group.
    pub(crate) workers: Box<[StageIndex]>,
    /// Which idle worker of a group an event wakes.
    pub(crate) watch: Watch,
    /// Which events it skipped as failed; `None` for a stage that never skips any.
    pub(crate) failures: Option<Failures>,
}

impl StageControl {
    /// Whether the consumer that holds turn `turn` is asked to leave.
    #[inline]
    pub(crate) fn is_stopping(&self, turn: u64) -> bool {
        // O10, Relaxed: the flag publishes no other data.
        self.stop.load(Ordering::Relaxed) >= turn
    }

    /// Makes the stage a group of workers with these words. No other thread shares it yet.
    pub(crate) fn set_workers(&mut self, workers: &[StageIndex]) {
        self.workers = workers.into();
        self.watch = Watch::new(workers.len());
    }

    /// Creates the words of a consumer that has left its seat.
    pub(crate) fn unshared() -> Self {
        Self::new(DETACHED, Box::default(), Box::default(), None)
    }

    pub(super) fn new(
        sequence: Sequence,
        upstream: Box<[StageIndex]>,
        ancestors: Box<[StageIndex]>,
        failures: Option<Failures>,
    ) -> Self {
        Self {
            sequence: Padded(AtomicU64::new(sequence)),
            released: Padded::default(),
            activity: Padded::default(),
            stop: AtomicU64::new(0),
            upstream,
            ancestors,
            acknowledgement: None,
            workers: Box::default(),
            watch: Watch::default(),
            failures,
        }
    }
}

/// Returns, for each stage, all stages upstream of it, directly or not. The words of
/// acknowledgements and of workers follow all stages and have no ancestors.
pub(crate) fn ancestors(upstream: &[Box<[StageIndex]>]) -> Vec<Box<[StageIndex]>> {
    let mut all: Vec<Box<[StageIndex]>> = Vec::with_capacity(upstream.len());
    for near in upstream {
        let further = near.iter().filter_map(|&stage| all.get(stage)).flatten().copied();
        let ancestors: BTreeSet<StageIndex> = near.iter().copied().chain(further).collect();
        all.push(ancestors.into_iter().collect());
    }
    all
}
