//! The reading ends: a handler that a thread runs, or a poller that is asked.

mod access;
mod batch;
mod handler;
mod poller;
mod processor;
mod reader;

use std::any::Any;
use std::fmt;

pub use access::{Access, Exclusive, Shared};
pub use batch::{Batch, Iter, IterMut};
pub use handler::EventHandler;
pub use poller::Poller;

pub(crate) use handler::{BatchHandler, PerBatch, PerEvent, WholeLife};
pub(crate) use processor::{Processor, Run};
pub(crate) use reader::Reader;

use crate::Sequence;
use crate::error::TakeError;

/// A stage of a graph with its handler, not started.
///
/// A value like any other: move it to a thread of your own, scoped or not, and [`run`](Self::run)
/// it there. Dropped without having run, it halts its ring, since its events would never be done.
///
/// ```
/// use std::thread;
/// use lapwing::Disruptor;
///
/// let mut sum = 0;
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .then("sum", |event, _, _| sum += event)
///     .build()?;
/// thread::scope(|scope| {
///     for consumer in consumers {
///         assert_eq!(consumer.name(), "sum");
///         scope.spawn(move || consumer.run());
///     }
///     for value in 1..=10 {
///         producer.publish(|event| *event = value)?;
///     }
///     drop(producer); // closes the ring: the consumer ends when it has drained
///     Ok::<(), lapwing::Stopped>(())
/// })?;
/// assert_eq!(sum, 55);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a consumer that is dropped without having run halts its ring"]
pub struct Consumer<'env> {
    pub(crate) name: String,
    pub(crate) pin: Option<usize>,
    pub(crate) body: Box<dyn Run + 'env>,
}

impl Consumer<'_> {
    /// Name of the stage.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The CPU that the stage asked for with [`Stage::pin`](crate::Stage::pin). [`run`](Self::run)
    /// leaves it to you.
    #[must_use]
    pub fn pin(&self) -> Option<usize> {
        self.pin
    }

    /// Handles events on this thread until the ring is closed and drained, or halted. A panic of
    /// the handler is caught, halts the ring and stands in the result.
    ///
    /// # Blocking
    ///
    /// Returns only at the end, and waits by the stage's strategy in between.
    pub fn run(self) -> Finished {
        self.body.run(self.name)
    }
}

impl fmt::Debug for Consumer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The ring was closed and the stage has finished every event.
    Drained,
    /// The ring was halted; events may be left.
    Halted,
    /// The stage's code panicked, which halted the ring.
    Panicked {
        /// Text of the panic.
        message: String,
        /// The event that it was at; for a handler that gets batches, the first one of the batch;
        /// between batches, the next one.
        sequence: Sequence,
    },
}

/// A stage that has ended.
pub struct Finished {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) processed: Sequence,
    pub(crate) handler: Option<Box<dyn Any + Send>>,
}

impl Finished {
    /// A stage whose thread ended without a word.
    pub(crate) fn lost(name: &str) -> Self {
        let message = "the stage's thread ended outside its handler".to_owned();
        let outcome = Outcome::Panicked { message, sequence: 0 };
        Self { name: name.to_owned(), outcome, processed: 0, handler: None }
    }

    /// Name of the stage.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Number of events that it has finished: its sequence. Claims that were given up count as
    /// well.
    #[must_use]
    pub fn processed(&self) -> Sequence {
        self.processed
    }

    /// Takes the handler that was given to the stage.
    ///
    /// # Errors
    ///
    /// [`TakeError::WrongType`] if it is no `H`, was not given as a handler, or was taken before.
    pub fn take_handler<H: 'static>(&mut self) -> Result<H, TakeError> {
        match self.handler.take().map(|handler| handler.downcast::<H>()) {
            Some(Ok(handler)) => Ok(*handler),
            Some(Err(other)) => {
                self.handler = Some(other);
                Err(TakeError::WrongType)
            }
            None => Err(TakeError::WrongType),
        }
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished")
            .field("name", &self.name)
            .field("outcome", &self.outcome)
            .field("processed", &self.processed)
            .finish_non_exhaustive()
    }
}
