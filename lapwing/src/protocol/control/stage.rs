//! The words of one stage. Not here: what is done with them (`control`).

use std::collections::BTreeSet;

use super::StageIndex;
#[cfg(doc)]
use super::{DETACHED, IDLE};
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
    /// Number of events that the stage has finished, or [`DETACHED`]. Of a group, how far it has
    /// claimed; of a worker, a bound that is not above anything that it has in hand, or [`IDLE`].
    pub(crate) sequence: Padded<AtomicU64>,
    /// Where those sleep who wait for `sequence`.
    pub(crate) released: Padded<Released>,
    /// What its consumer is doing.
    pub(crate) activity: Padded<Activity>,
    /// The last turn that is to end: a seat has one consumer after another. On a line that is
    /// written to stop a consumer, and for nothing else.
    pub(super) stop: AtomicU64,
    /// The stages that it comes after directly; empty for a first stage.
    pub(crate) upstream: Box<[StageIndex]>,
    /// All stages that it comes after. Used once it has left.
    pub(crate) ancestors: Box<[StageIndex]>,
    /// The words of who acknowledges its events, if that is somebody else.
    pub(crate) acknowledgement: Option<StageIndex>,
    /// The words of its workers, if it is a group.
    pub(crate) workers: Box<[StageIndex]>,
    /// Who of its idle workers an event wakes, if it is a group.
    pub(crate) watch: Watch,
    /// Which events it has skipped as failed; `None` for a stage that never does.
    pub(crate) failures: Option<Failures>,
}

impl StageControl {
    /// Whether the consumer that has it for its turn `turn` is asked to leave.
    #[inline(always)]
    pub(crate) fn is_stopping(&self, turn: u64) -> bool {
        // O10, Relaxed: nothing is read on the strength of it.
        self.stop.load(Ordering::Relaxed) >= turn
    }

    /// Makes it a group of workers with these words. Nobody shares it yet.
    pub(crate) fn set_workers(&mut self, workers: &[StageIndex]) {
        self.workers = workers.into();
        self.watch = Watch::new(workers.len());
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

/// For each stage, all that come before it, directly or not. Words of acknowledgements and of workers,
/// which stand behind all stages, come after nothing.
pub(crate) fn ancestors(upstream: &[Box<[StageIndex]>]) -> Vec<Box<[StageIndex]>> {
    let mut all: Vec<Box<[StageIndex]>> = Vec::with_capacity(upstream.len());
    for near in upstream {
        let further = near.iter().filter_map(|&stage| all.get(stage)).flatten().copied();
        let ancestors: BTreeSet<StageIndex> = near.iter().copied().chain(further).collect();
        all.push(ancestors.into_iter().collect());
    }
    all
}
