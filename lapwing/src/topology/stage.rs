//! What a stage is asked to be, apart from what it does: name, waiting, CPU, batches.

use std::fmt;
use std::time::Duration;

use super::graph::StageId;
use crate::wait::{AnyWaitStrategy, WaitStrategy};

/// Name and settings of a stage. A `&str` or a `String` is one with that name and no settings.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, Stage};
/// use lapwing::wait::Blocking;
///
/// let risk = Stage::new("risk").wait(Blocking::default()).max_batch(64);
/// let (producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .then_mut("enrich", |event, _, _| *event += 1)
///     .then(risk, |event, _, _| assert!(*event > 0))
///     .build()?;
/// assert_eq!(consumers.names().collect::<Vec<_>>(), ["enrich", "risk"]);
/// # drop(producer);
/// # Ok::<(), lapwing::BuildError>(())
/// ```
#[must_use = "a stage is given to a builder or a graph"]
pub struct Stage {
    pub(crate) name: String,
    pub(crate) wait: Option<Box<dyn AnyWaitStrategy>>,
    pub(crate) pin: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_batch: Option<usize>,
    pub(crate) after: Vec<StageId>,
}

impl Stage {
    /// A stage with this name, which is also its thread's. Names are unique in a graph, not empty,
    /// and have no NUL.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            wait: None,
            pin: None,
            timeout: None,
            max_batch: None,
            after: Vec::new(),
        }
    }

    /// How this stage waits, instead of the ring's [default](crate::Builder::wait).
    pub fn wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.wait = Some(Box::new(strategy));
        self
    }

    /// The CPU that [`start`](crate::Consumers::start) pins the stage's thread to, as the system
    /// numbers them.
    pub fn pin(mut self, cpu: usize) -> Self {
        self.pin = Some(cpu);
        self
    }

    /// Longest wait before [`on_timeout`](crate::EventHandler::on_timeout) is called, again after
    /// each further one.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Most events of a batch, at least 1. A stage lets go of its events by the batch, so a shorter
    /// one lets stages downstream and producers follow more closely, and costs a cache line each.
    /// The default is a quarter of the ring, and for a poller the whole.
    pub fn max_batch(mut self, events: usize) -> Self {
        self.max_batch = Some(events);
        self
    }

    /// A stage that this one comes after, in a [`Graph`](crate::Graph): it gets each event when
    /// that stage has finished it. A builder adds what its own order asks for.
    pub fn after(mut self, stage: StageId) -> Self {
        self.after.push(stage);
        self
    }
}

impl From<&str> for Stage {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Stage {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("name", &self.name)
            .field("pin", &self.pin)
            .field("timeout", &self.timeout)
            .field("max_batch", &self.max_batch)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
