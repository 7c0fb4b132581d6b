//! The handle that stops one consumer while its ring continues.

use std::fmt;

use lapwing_core::{Control, Placed, StageIndex};

/// A handle that stops one stage while the other stages of the ring continue.
///
/// [`Running::stop_handle`](crate::Running::stop_handle) and
/// [`Consumer::stop_handle`](crate::consumer::Consumer::stop_handle) return it. The stage finishes
/// its batch and leaves the graph, and its run ends with
/// [`Outcome::Stopped`](crate::consumer::Outcome::Stopped). A stage that
/// [pauses](crate::Action::Retry) leaves without another attempt. A handler can be
/// [taken](crate::consumer::StageReport::take_handler) from the result.
///
/// - Downstream stages then depend on the stages that this one depended on.
/// - Producers do not wait for the stage, nor for [acknowledgements](crate::Stage::acknowledged) of
///   events that it has handled.
/// - No other stage handles its events in its place. If it is a worker, the other workers of its
///   group do.
/// - If it was the last consumer of the ring, the ring halts, unless the ring is closed and a
///   consumer has drained it. If it was the last worker of a group, the ring halts too, and the run
///   of this worker ends with [`Outcome::Halted`](crate::consumer::Outcome::Halted).
///
/// ```
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("first").read(|_, _, _| {})
///     .stage("second").read(|_, _, _| {})
///     .build()?;
/// let running = consumers.start()?;
/// let first = running.stop_handle("first").unwrap();
/// first.stop();
/// producer.publish(|event| *event = 7)?;
/// let report = running.shutdown()?; // not an error
/// let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
/// assert_eq!(outcomes, [Outcome::Stopped, Outcome::Drained]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StopHandle {
    control: Placed<Control>,
    stage: StageIndex,
    generation: u64,
}

impl StopHandle {
    pub(crate) fn new(control: Placed<Control>, stage: StageIndex, generation: u64) -> Self {
        Self { control, stage, generation }
    }

    /// Asks the stage to leave after its current batch, and wakes its thread if it is parked.
    /// Returns at once.
    ///
    /// A stage that has not started ends without an event once it runs. The call does nothing if
    /// the stage has ended.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, consumer::Outcome, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("all").poller().build()?;
    /// let mut all = consumers.take_poller("all")?;
    /// let consumer = consumers.dynamic_stages().join("guest", StartAt::Now)?.read(|_, _, _| {});
    /// let stop = consumer.stop_handle();
    /// let thread = thread::spawn(move || consumer.run());
    /// stop.stop();
    /// assert_eq!(*thread.join().unwrap().outcome(), Outcome::Stopped);
    /// producer.publish(|event| *event = 7)?; // the ring continues
    /// assert_eq!(all.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(&self) {
        self.control.stop(self.stage, self.generation);
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopHandle").field("stage", &self.stage).finish_non_exhaustive()
    }
}
