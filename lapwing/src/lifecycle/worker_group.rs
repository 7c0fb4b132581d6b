//! A worker group while the ring runs: how many of its workers work, and how to change that.

use std::fmt;

use crate::error::ResizeError;
use crate::group::Group;
use crate::sync::Arc;

/// A handle to a group of [workers](crate::graph::WorkerStage), which resizes the group.
///
/// [`Running::workers`](crate::Running::workers) and
/// [`Consumers::workers`](crate::Consumers::workers) return it. A clone refers to the same group.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("work").workers(1).up_to(4).read(|_| |_, _, _| {})
///     .build()?;
/// let running = consumers.start()?;
/// let work = running.workers("work").unwrap();
/// for number in 0..100 {
///     producer.publish(|event| *event = number)?;
///     work.resize(if number % 10 < 5 { 1 } else { 4 })?; // each event is still handled once
/// }
/// let report = running.shutdown()?;
/// assert_eq!(report.stages().map(|worker| worker.processed()).sum::<u64>(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct WorkerGroup {
    name: String,
    group: Arc<Group>,
}

impl WorkerGroup {
    pub(super) fn new(name: &str, group: Arc<Group>) -> Self {
        Self { name: name.to_owned(), group }
    }

    /// Returns the name of the stage.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(2).read(|_| |_, _, _| {})
    ///     .build()?;
    /// assert_eq!(consumers.workers("work").unwrap().name(), "work");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of active workers, which share the events.
    ///
    /// This is the last requested size, or the number of workers that have not left the group, if
    /// that is smaller. It is at least 1.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(2).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let work = consumers.workers("work").unwrap();
    /// assert_eq!(work.size(), 2);
    /// work.resize(3)?;
    /// assert_eq!(work.size(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Returns the greatest number of workers that the group may have, set by
    /// [`up_to`](crate::graph::WorkerStage::up_to).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(2).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// assert_eq!(consumers.workers("work").unwrap().max(), 3);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn max(&self) -> usize {
        self.group.max()
    }

    /// Sets the number of active workers, from 1 to [`max`](Self::max). Returns at once.
    ///
    /// A surplus worker finishes its claimed events. Its thread then parks until it is needed
    /// again, unless other stages share the thread. If an active worker leaves the group, an
    /// inactive one replaces it. [By key](crate::graph::WorkerStage::by_key), the new size applies to
    /// events that are not yet assigned, once all assigned events are finished.
    ///
    /// **State per key.** By key, a resize moves many keys to other workers. By default, the state
    /// that a handler keeps for a key, such as an average or a last value, stays in that handler,
    /// and the new worker begins without it. Handlers that implement
    /// [`HandOver`](crate::consumer::HandOver) hand the state over, if
    /// [`read_keyed_handlers`](crate::graph::WorkerStage::read_keyed_handlers) or
    /// [`write_keyed_handlers`](crate::graph::WorkerStage::write_keyed_handlers) added them. The same
    /// holds when a worker leaves the group.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::ResizeError};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let work = consumers.workers("work").unwrap();
    /// work.resize(3)?;
    /// assert_eq!(work.size(), 3);
    /// assert_eq!(work.resize(4), Err(ResizeError { requested: 4, max: 3 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ResizeError`] unless `workers` is in `1..=max`.
    pub fn resize(&self, workers: usize) -> Result<(), ResizeError> {
        let max = self.max();
        if !(1..=max).contains(&workers) {
            return Err(ResizeError { requested: workers, max });
        }
        self.group.resize(workers);
        Ok(())
    }
}

impl fmt::Debug for WorkerGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerGroup")
            .field("name", &self.name)
            .field("size", &self.size())
            .field("max", &self.max())
            .finish()
    }
}
