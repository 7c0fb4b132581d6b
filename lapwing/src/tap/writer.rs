//! The writing end of a tap, and its use as a stage.

use std::fmt;

use super::TapRing;
use super::head::Written;
use super::reader::TapReader;
use crate::Sequence;
use crate::consumer::{EventHandler, Exclusive, Shared};
use crate::sync::Arc;

/// The only writing end of a tap.
///
/// It is an [`EventHandler`] for shared and for exclusive access, so it can be a stage by itself.
/// Otherwise, call [`write`](Self::write) in a handler or after
/// [`publish`](crate::Producer::publish).
///
/// Dropping it [closes](Self::close) the tap. As a stage, or in a closure, it closes the tap when
/// the stage ends. A handler that contains a writer should call `close` in its
/// [`on_shutdown`](EventHandler::on_shutdown), which is not called after a panic that ends the
/// stage. Without the call, the tap stays open until the report is dropped, because the report
/// keeps the handlers.
///
/// ```
/// use lapwing::{Disruptor, tap};
///
/// let (mut writer, mut large) = tap::tap::<u64>(64)?;
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
///     .stage("filter").read(move |event, sequence, _| {
///         if *event >= 100 {
///             writer.write(sequence, event);
///         }
///     })
///     .build()?;
/// let running = consumers.start()?;
/// for value in [7, 200, 8, 300] {
///     producer.publish(|event| *event = value)?;
/// }
/// running.shutdown()?;
/// let read: Vec<_> = large.try_iter().map(|reading| (reading.sequence, reading.event)).collect();
/// assert_eq!(read, [(1, 200), (3, 300)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TapWriter<E> {
    pub(super) ring: Arc<TapRing<E>>,
    /// The progress that readers see.
    written: Written,
    passed_over: u64,
}

impl<E> TapWriter<E> {
    /// Creates the writer of a new ring.
    pub(super) fn new(ring: Arc<TapRing<E>>) -> Self {
        Self { ring, written: Written::default(), passed_over: 0 }
    }

    /// Returns a reader that begins with the next event.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, _first) = tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// let mut late = writer.reader();
    /// writer.write(1, &8);
    /// assert_eq!(late.try_next()?.event, 8);
    /// assert_eq!((late.received(), late.missed()), (1, 0)); // earlier events do not count
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reader(&self) -> TapReader<E> {
        TapReader::new(Arc::clone(&self.ring), self.written)
    }

    /// Returns the number of events written, including those that were passed over.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, _reader) = tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// writer.write(1, &8);
    /// assert_eq!(writer.written(), 2);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.end
    }

    /// Returns the number of events that were passed over.
    ///
    /// No reader can receive such an event, because a reader was in its slot when the writer
    /// reached it.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, _reader) = tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// assert_eq!(writer.passed_over(), 0); // no reader was in the slot
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Closes the tap. Readers receive the events that are left, and then
    /// [`TapError::Closed`](crate::error::TapError::Closed).
    ///
    /// A closed tap accepts no events: [`write`](Self::write) returns `false`. A second call has no
    /// effect.
    ///
    /// ```
    /// use lapwing::{error::TapError, tap::tap};
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// writer.close();
    /// assert!(!writer.write(1, &8));
    /// assert_eq!(reader.try_next()?.event, 7);
    /// assert_eq!(reader.try_next(), Err(TapError::Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&mut self) {
        self.written.is_closed = true;
        self.ring.head.advance(self.written);
    }
}

impl<E: Copy> TapWriter<E> {
    /// Copies `event` for the readers. Never waits.
    ///
    /// Readers receive `sequence` with the event. It can be any number; usually it is the sequence
    /// of the event in its ring.
    ///
    /// Returns whether readers can receive the event. It returns `false` in two cases:
    ///
    /// - The event was passed over, because a reader was in its slot. If readers must see it, write
    ///   it again until the call returns `true`. Each try counts as another event.
    /// - The tap is [closed](Self::close). Then the event is not counted as written either.
    ///
    /// ```
    /// use lapwing::{Disruptor, tap::tap};
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").read(|_, _, _| {}).build()?;
    /// let price = 7;
    /// let sequence = producer.publish(|event| *event = price)?;
    /// assert!(writer.write(sequence, &price));
    /// assert_eq!(reader.try_next()?.sequence, sequence);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn write(&mut self, sequence: Sequence, event: &E) -> bool {
        if self.written.is_closed {
            return false;
        }
        let is_there = self.ring.slots.write(self.written.end, sequence, event);
        self.passed_over += u64::from(!is_there);
        self.written.end += 1;
        self.ring.head.advance(self.written);
        is_there
    }
}

/// Leaves out events that an upstream stage has [skipped](crate::Action::Skip), unless its stage is set
/// to get them [like any other](crate::Stage::with_failed_events).
impl<E: Copy> EventHandler<E, Shared> for TapWriter<E> {
    #[inline]
    fn on_event(&mut self, event: &E, sequence: Sequence, _end_of_batch: bool) {
        self.write(sequence, event);
    }

    /// Closes the tap: the writer stays alive in the report, and readers must not wait until that
    /// is dropped.
    fn on_shutdown(&mut self) {
        self.close();
    }
}

impl<E: Copy> EventHandler<E, Exclusive> for TapWriter<E> {
    #[inline]
    fn on_event(&mut self, event: &mut E, sequence: Sequence, _end_of_batch: bool) {
        self.write(sequence, event);
    }

    /// Closes the tap: the writer stays alive in the report, and readers must not wait until that
    /// is dropped.
    fn on_shutdown(&mut self) {
        self.close();
    }
}

impl<E> Drop for TapWriter<E> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<E> fmt::Debug for TapWriter<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapWriter")
            .field("written", &self.written.end)
            .field("passed_over", &self.passed_over)
            .field("is_closed", &self.written.is_closed)
            .finish_non_exhaustive()
    }
}
