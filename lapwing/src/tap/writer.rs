//! The writing end of a tap, and how it becomes a stage.

use std::fmt;

use super::TapRing;
use super::head::Written;
use super::reader::TapReader;
use crate::Sequence;
use crate::consumer::{EventHandler, Exclusive, Shared};
use crate::sync::Arc;

/// The writing end of a tap. There is one.
///
/// It is an [`EventHandler`] for either access, so it can be a stage by itself; or call
/// [`write`](Self::write) in a handler, or after [`publish`](crate::Producer::publish). Dropped, it
/// [closes](Self::close) the tap; as a stage, it does so at the stage's end. A handler that holds
/// one calls `close` in its [`on_shutdown`](EventHandler::on_shutdown): the report keeps handlers,
/// also those that panicked, and a reader that waits for the end would wait for the report to go.
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
    /// As the readers see it.
    written: Written,
    passed_over: u64,
}

impl<E> TapWriter<E> {
    /// The writer of a new ring.
    pub(super) fn new(ring: Arc<TapRing<E>>) -> Self {
        Self { ring, written: Written::default(), passed_over: 0 }
    }

    /// A reader that begins with the next event.
    ///
    /// ```
    /// # let (mut writer, _first) = lapwing::tap::tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// let mut late = writer.reader();
    /// writer.write(1, &8);
    /// assert_eq!(late.try_next()?.event, 8);
    /// assert_eq!((late.received(), late.missed()), (1, 0)); // what came before does not count
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reader(&self) -> TapReader<E> {
        TapReader::new(Arc::clone(&self.ring), self.written)
    }

    /// Events written, those that were passed over included.
    ///
    /// ```
    /// # let (mut writer, _reader) = lapwing::tap::tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// writer.write(1, &8);
    /// assert_eq!(writer.written(), 2);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.end
    }

    /// Events that no reader can get, since a reader was in the slot of each just then.
    ///
    /// ```
    /// # let (mut writer, _reader) = lapwing::tap::tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// assert_eq!(writer.passed_over(), 0); // nobody reads
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Says that nothing more will be written: readers get what is left, then `Closed`. Final; the
    /// second time does nothing.
    ///
    /// ```
    /// use lapwing::error::TapError;
    ///
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
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
    /// Copies `event` for the readers. `sequence` is handed on to them; it can be any number, and is
    /// meant to be that of the event in its ring.
    ///
    /// Returns whether the event can be read: false if it was passed over, since a reader was in its
    /// slot, or if the tap is [closed](Self::close), where it is not even counted. Who needs that
    /// very event to be seen may write it again; that is another event.
    ///
    /// Never waits, whatever readers do.
    ///
    /// ```
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").read(|_, _, _| {}).build()?;
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

impl<E: Copy> EventHandler<E, Shared> for TapWriter<E> {
    #[inline]
    fn on_event(&mut self, event: &E, sequence: Sequence, _end_of_batch: bool) {
        self.write(sequence, event);
    }

    /// Closes the tap: the writer lives on in the report, and readers must not wait for that.
    fn on_shutdown(&mut self) {
        self.close();
    }
}

impl<E: Copy> EventHandler<E, Exclusive> for TapWriter<E> {
    #[inline]
    fn on_event(&mut self, event: &mut E, sequence: Sequence, _end_of_batch: bool) {
        self.write(sequence, event);
    }

    /// Closes the tap: the writer lives on in the report, and readers must not wait for that.
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
