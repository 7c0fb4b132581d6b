//! The settings of a stage, as the graph keeps them.

use std::fmt;
use std::time::Duration;

use super::stage_id::StageId;
use crate::consumer::KeptPolicy;
use crate::wait::AnyWaitStrategy;

/// Name and settings of a stage.
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) wait: Option<Box<dyn AnyWaitStrategy>>,
    pub(crate) pin: Option<usize>,
    pub(crate) thread: Option<String>,
    pub(crate) is_blocking: bool,
    /// The stage whose thread it shares, whichever thread that is.
    pub(crate) beside: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_batch: Option<usize>,
    pub(crate) is_acknowledged: bool,
    /// Whether it handles events that upstream stages have skipped like any other.
    pub(crate) takes_failed: bool,
    pub(crate) on_error: Option<KeptPolicy>,
    pub(crate) on_panic: Option<KeptPolicy>,
    pub(crate) after: Vec<StageId>,
    /// Names of stages of its graph that it depends on. Once the graph is added to a ring, only those
    /// that no stage has.
    pub(crate) after_names: Vec<String>,
}

impl Settings {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            wait: None,
            pin: None,
            thread: None,
            is_blocking: false,
            beside: None,
            timeout: None,
            max_batch: None,
            is_acknowledged: false,
            takes_failed: false,
            on_error: None,
            on_panic: None,
            after: Vec::new(),
            after_names: Vec::new(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("name", &self.name)
            .field("pin", &self.pin)
            .field("thread", &self.thread)
            .field("is_blocking", &self.is_blocking)
            .field("timeout", &self.timeout)
            .field("max_batch", &self.max_batch)
            .field("after", &self.after)
            .field("after_names", &self.after_names)
            .finish_non_exhaustive()
    }
}
