//! Acknowledgements: the events of a stage are released only when a part of the program has
//! acknowledged them.

use std::fmt;

use lapwing_core::{Control, DETACHED, Placed, StageIndex};

use crate::Sequence;
use crate::error::{AcknowledgeError, HaltCause};
use crate::sync::Arc;

/// A handle that acknowledges the events of an [acknowledged](crate::Stage::acknowledged) stage.
///
/// An event is acknowledged when work on it has ended outside the ring: it is on disk, at the
/// replica, or at the client. Until then it holds back producers and downstream stages.
///
/// Clones acknowledge for the same stage, from any thread. The highest acknowledged sequence
/// counts. The ring halts if the last clone is dropped too early: before the ring is closed, or
/// before every event is acknowledged. Otherwise the ring would wait forever. The ring does not
/// halt if the stage has left the graph.
///
/// ```
/// use std::{sync::mpsc, thread};
/// use lapwing::Disruptor;
///
/// let (to_disk, writes) = mpsc::channel();
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("journal").acknowledged()
///     .read(move |event, sequence, _| to_disk.send((sequence, *event)).unwrap())
///     .stage("reply").read(|_, _, _| {}) // gets only events that are on disk
///     .build()?;
/// let journal = consumers.take_acknowledger("journal")?;
/// let disk = thread::spawn(move || {
///     writes.iter().for_each(|(sequence, _)| journal.acknowledge(sequence + 1).unwrap());
///     journal.acknowledged()
/// });
/// let running = consumers.start()?;
/// producer.publish_batch(3, |_| {})?;
/// running.shutdown()?;
/// assert_eq!(disk.join().unwrap(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Acknowledger {
    held: Arc<Held>,
}

/// The state that the clones share.
struct Held {
    control: Placed<Control>,
    /// The words that hold the acknowledged sequence.
    words: StageIndex,
}

impl Acknowledger {
    pub(crate) fn new(control: Placed<Control>, words: StageIndex) -> Self {
        Self { held: Arc::new(Held { control, words }) }
    }

    /// Acknowledges every event below `sequence`.
    ///
    /// To acknowledge an event and all events before it, pass its sequence plus one. A `sequence`
    /// that is not higher than all earlier ones changes nothing.
    ///
    /// The acknowledgement may be ahead of the stage. An event is released when both are past it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::{AcknowledgeError, TryPublishError}};
    /// let (mut producer, mut consumers) = Disruptor::single_producer(1, || 0_u64)
    ///     .stage("journal").acknowledged().poller()
    ///     .build()?;
    /// let mut journal = consumers.take_poller("journal")?;
    /// let disk = consumers.take_acknowledger("journal")?;
    /// let sequence = producer.publish(|event| *event = 7)?;
    /// journal.poll()?.consume_all();
    /// assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full)); // still held
    /// disk.acknowledge(sequence + 1)?;
    /// assert_eq!(producer.try_publish(|_| {}), Ok(1));
    /// assert_eq!(disk.acknowledge(3), Err(AcknowledgeError { sequence: 3, published: 2 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AcknowledgeError`] if `sequence` is beyond what has been published. With several
    /// producers, the limit is what has been claimed. The call has then acknowledged nothing.
    pub fn acknowledge(&self, sequence: Sequence) -> Result<(), AcknowledgeError> {
        let Held { control, words } = &*self.held;
        let published = control.accepted();
        if sequence > published {
            return Err(AcknowledgeError { sequence, published });
        }
        control.acknowledge(*words, sequence);
        Ok(())
    }

    /// Returns the first sequence that is not acknowledged.
    ///
    /// In a ring that begins at 0, this is the number of acknowledged events, including claims that
    /// were given up. Once the stage has left the graph, all published events count as
    /// acknowledged. With several producers, all claimed events do.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("journal").acknowledged().poller()
    ///     .build()?;
    /// let disk = consumers.take_acknowledger("journal")?;
    /// producer.publish_batch(3, |_| {})?;
    /// disk.acknowledge(2)?;
    /// assert_eq!(disk.acknowledged(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn acknowledged(&self) -> Sequence {
        let Held { control, words } = &*self.held;
        control.acknowledged(*words).min(control.accepted())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let acknowledged = self.control.acknowledged(self.words);
        let has_left = acknowledged == DETACHED;
        let is_all = self.control.end().is_some_and(|end| acknowledged >= end);
        if !has_left && !is_all {
            self.control.halt(HaltCause::StageDropped.core());
        }
    }
}

impl fmt::Debug for Acknowledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acknowledger")
            .field("acknowledged", &self.acknowledged())
            .finish_non_exhaustive()
    }
}
