//! Stopping one consumer of a ring that goes on.

use std::fmt;

use crate::protocol::control::{Control, StageIndex};
use crate::sync::Arc;

/// Stops one stage and leaves the others running: it finishes its batch, leaves the graph, and its
/// run ends with [`Outcome::Stopped`](crate::consumer::Outcome::Stopped). Its handler can be taken back.
///
/// Stages that come after it go on with what it came after, and producers no longer wait for it; nor
/// for [acknowledgements](crate::Stage::acknowledged) of what it has handled. Its events are not
/// handed to anybody else, unless it is a worker: then its group has them. If it was the last
/// consumer, or the last worker of a group, the ring halts.
///
/// ```
/// use std::thread;
/// use lapwing::{Disruptor, consumer::Outcome, graph::StartAt};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
/// let mut all = consumers.take_poller("all")?;
/// let seat = consumers.seats().take("sum", StartAt::Now)?;
/// let consumer = seat.read(|event, _, _| assert_eq!(*event, 7));
/// let stop = consumer.stop_handle();
/// let thread = thread::spawn(move || consumer.run());
/// producer.publish(|event| *event = 7)?;
/// stop.stop();
/// assert_eq!(*thread.join().unwrap().outcome(), Outcome::Stopped);
/// producer.publish(|event| *event = 8)?; // the ring goes on
/// assert_eq!(all.poll()?.as_slice(), [7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StopHandle {
    control: Arc<Control>,
    stage: StageIndex,
    turn: u64,
}

impl StopHandle {
    pub(crate) fn new(control: Arc<Control>, stage: StageIndex, turn: u64) -> Self {
        Self { control, stage, turn }
    }

    /// Asks the stage to leave after the batch that it is at, and wakes it if it sleeps. Returns at
    /// once. Does nothing to a stage that has ended; one that has not begun ends without an event.
    ///
    /// ```
    /// # use lapwing::{Disruptor, consumer::Outcome};
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("first").read(|_, _, _| {})
    ///     .stage("second").read(|_, _, _| {})
    /// #     .build()?;
    /// let running = consumers.start()?;
    /// let first = running.stop_handle("first").unwrap();
    /// first.stop();
    /// producer.publish(|event| *event = 7)?;
    /// let report = running.shutdown()?; // a stage that was stopped has not failed
    /// let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
    /// assert_eq!(outcomes, [Outcome::Stopped, Outcome::Drained]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(&self) {
        self.control.stop(self.stage, self.turn);
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopHandle").field("stage", &self.stage).finish_non_exhaustive()
    }
}
