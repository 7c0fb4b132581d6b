//! Letting go of events when something else has happened: a stage's sequence held back until others
//! acknowledge.

use std::fmt;

use crate::Sequence;
use crate::error::{AcknowledgeError, HaltCause};
use crate::protocol::control::{Control, DETACHED, StageIndex};
use crate::sync::Arc;

/// Says how far the events of an [acknowledged](crate::Stage::acknowledged) stage are really done: on
/// disk, at the replica, at the client. Until then they hold back producers and the stages after it.
///
/// Clones acknowledge for the same stage, from any thread; the furthest counts. When the last one is
/// dropped before the ring is closed and every event acknowledged, nobody will ever do it: then the ring
/// halts.
///
/// ```
/// use std::{sync::mpsc, thread};
/// use lapwing::Disruptor;
///
/// let (to_disk, writes) = mpsc::channel();
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("journal").acknowledged().read(move |event, sequence, _| {
///         to_disk.send((sequence, *event)).unwrap();
///     })
///     .stage("reply").read(|_, _, _| {}) // only what is on disk
///     .build()?;
/// let journal = consumers.take_acknowledger("journal")?;
/// let disk = thread::spawn(move || {
///     for (sequence, _event) in writes {
///         journal.acknowledge(sequence + 1).unwrap(); // after its fsync
///     }
///     journal.acknowledged()
/// });
/// let running = consumers.start()?;
/// for price in 0..100 {
///     producer.publish(|event| *event = price)?;
/// }
/// running.shutdown()?;
/// assert_eq!(disk.join().unwrap(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Acknowledger {
    held: Arc<Held>,
}

/// What the clones share.
struct Held {
    control: Arc<Control>,
    /// The words of the acknowledgement.
    words: StageIndex,
}

impl Acknowledger {
    pub(crate) fn new(control: Arc<Control>, words: StageIndex) -> Self {
        Self { held: Arc::new(Held { control, words }) }
    }

    /// Acknowledges every event below `sequence`: with the sequence of an event, plus one, it and all
    /// before it. Lower than what was acknowledged before, it changes nothing. It may run ahead of
    /// the stage: an event is let go of when both are past it.
    ///
    /// ```
    /// # use lapwing::{Disruptor, error::{AcknowledgeError, TryPublishError}};
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
    /// [`AcknowledgeError`] if `sequence` is beyond what has been published, or with several
    /// producers claimed. Nothing is acknowledged then.
    pub fn acknowledge(&self, sequence: Sequence) -> Result<(), AcknowledgeError> {
        let Held { control, words } = &*self.held;
        let published = control.claimed();
        if sequence > published {
            return Err(AcknowledgeError { sequence, published });
        }
        control.acknowledge(*words, sequence);
        Ok(())
    }

    /// First sequence that is not acknowledged: the number of events that are, in a ring that begins
    /// at 0. Once the stage has left the graph, as far as was published.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (_producer, mut consumers) = Disruptor::single_producer(1, || 0_u64)
    /// #     .stage("journal").acknowledged().poller()
    /// #     .build()?;
    /// # let _poller = consumers.take_poller("journal")?;
    /// let disk = consumers.take_acknowledger("journal")?;
    /// assert_eq!(disk.acknowledged(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn acknowledged(&self) -> Sequence {
        let Held { control, words } = &*self.held;
        control.acknowledged(*words).min(control.claimed())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let acknowledged = self.control.acknowledged(self.words);
        let has_left = acknowledged == DETACHED;
        let is_all = self.control.life.end().is_some_and(|end| acknowledged >= end);
        if !has_left && !is_all {
            self.control.halt(HaltCause::StageDropped);
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
