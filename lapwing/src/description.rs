//! What people call a ring and its stages: names, made when the ring is built and never changed.
//! Not here: which stage comes after which (`control`).

// The standard library's in a model as well: what never changes needs no model.
use std::sync::Arc;

use crate::control::StageIndex;

/// Names of one ring and its stages; a clone is the same.
#[derive(Debug, Clone)]
pub(crate) struct Description(Arc<Names>);

#[derive(Debug)]
struct Names {
    ring: String,
    /// At the index that the stage has in the ring.
    stages: Box<[StageDescription]>,
}

/// What is known of a stage before it runs.
#[derive(Debug)]
pub(crate) struct StageDescription {
    pub(crate) name: String,
    /// Name of its thread, which it may share; `None` for a poller.
    pub(crate) thread: Option<String>,
}

impl Description {
    pub(crate) fn new(ring: String, stages: impl Iterator<Item = StageDescription>) -> Self {
        Self(Arc::new(Names { ring, stages: stages.collect() }))
    }

    /// Name of the ring.
    pub(crate) fn ring(&self) -> &str {
        &self.0.ring
    }

    /// What is known of the stage at `index`; `None` beyond the stages that the ring was built
    /// with.
    pub(crate) fn stage(&self, index: StageIndex) -> Option<&StageDescription> {
        self.0.stages.get(index)
    }
}
