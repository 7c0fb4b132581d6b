//! The reading end of a segment. Not here: how it is made (`segment`), what it may read
//! (`protocol::reading`), and the events of one call (`batch`).

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lapwing::wait::{Elsewhere, WaiterElsewhere};

use crate::Sequence;
use crate::attached::Attached;
use crate::batch::Batch;
use crate::deadline::{after, has_passed, look_for};
use crate::error::{PollError, WaitError};
use crate::event::Event;
use crate::evidence::Held;
use crate::protocol::reading::Reading;
use crate::protocol::{Silence, parking};
use crate::slots::Slots;
use crate::source::Source;
use crate::watch::Watch;

/// The reading end of a segment. It has a seat there, and the writer waits for it.
///
/// [`Segment::open`](crate::Segment::open) makes it, and has an example.
///
/// Each reader gets each event. A reader that is dropped gives up its seat. So does one whose
/// process ends, however it ends: the writer goes on within milliseconds. A process that is
/// stopped, by SIGSTOP or a debugger, keeps its seat, and the writer waits for it once the ring is
/// full.
pub struct Reader<T: Event> {
    source: Source<T>,
    waits: WaiterElsewhere,
    is_writer_gone: Arc<AtomicBool>,
    attached: Attached,
    _watch: Watch,
    /// Closed after the seat is given up.
    _held: Arc<Held>,
}

/// What a reader is made of.
pub(crate) struct Parts {
    pub(crate) reading: Reading,
    pub(crate) waits: WaiterElsewhere,
    pub(crate) watch: (Watch, Arc<AtomicBool>),
    pub(crate) held: Arc<Held>,
    pub(crate) attached: Attached,
}

impl<T: Event> Reader<T> {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { reading, waits, watch: (_watch, is_writer_gone), held: _held, attached } =
            parts;
        let source = Source::new(reading, Slots::new(Arc::clone(&attached.memory)));
        Self { source, waits, is_writer_gone, attached, _watch, _held }
    }

    /// Returns the available events. Never waits.
    ///
    /// The batch ends at the last slot of the ring, even if more events are available. With several
    /// writers, it also ends after a quarter of the ring, and before a sequence that is skipped.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::error::PollError;
    ///
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// assert_eq!(reader.poll().err(), Some(PollError::Empty));
    /// writer.publish(|tick| *tick = 7);
    /// assert_eq!(reader.poll()?.iter().next(), Some((0, &7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if no event is available yet.
    /// - [`PollError::Closed`] if the segment is closed and this reader has consumed every event.
    /// - [`PollError::WriterGone`] if the writer's process has ended without closing the segment,
    ///   and this reader has consumed every event.
    #[inline]
    pub fn poll(&mut self) -> Result<Batch<'_, T>, PollError> {
        if let Err(silence) = self.source.poll() {
            self.find(silence)?;
        }
        Ok(Batch::new(&mut self.source))
    }

    /// Returns the available events, and waits for the first one if there are none.
    ///
    /// The batch ends where a batch of [`poll`](Self::poll) ends.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// let thread = std::thread::spawn(move || writer.publish(|tick| *tick = 7));
    /// assert_eq!(reader.wait()?.as_slice(), [7]);
    /// thread.join().unwrap();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`WaitError::Closed`] if the segment is closed and this reader has consumed every event.
    /// - [`WaitError::WriterGone`] if the writer's process has ended without closing the segment,
    ///   and this reader has consumed every event. To wait for another process that takes over,
    ///   call [`wait_for_writer`](Self::wait_for_writer).
    ///
    /// # Blocking
    ///
    /// Waits with the [strategy](crate::Segment::wait_strategy) of this end until an event is
    /// published, the segment is closed, or the writer's process ends. [`poll`](Self::poll) does
    /// not wait.
    pub fn wait(&mut self) -> Result<Batch<'_, T>, WaitError> {
        match self.wait_until(None) {
            Ok(()) => {}
            Err(PollError::WriterGone) => return Err(WaitError::WriterGone),
            Err(_) => return Err(WaitError::Closed), // without a limit, it is never empty
        }
        Ok(Batch::new(&mut self.source))
    }

    /// Returns the available events, and waits at most `timeout` for the first one if there are none.
    ///
    /// The batch ends where a batch of [`poll`](Self::poll) ends.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::time::Duration;
    /// use lapwing_shared::error::PollError;
    ///
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(reader.wait_timeout(timeout).err(), Some(PollError::Empty));
    /// writer.publish(|tick| *tick = 7);
    /// assert_eq!(reader.wait_timeout(timeout)?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`poll`](Self::poll); [`PollError::Empty`] if no event is available when `timeout`
    /// is over.
    ///
    /// # Blocking
    ///
    /// As [`wait`](Self::wait), for at most `timeout`.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Batch<'_, T>, PollError> {
        self.wait_until(after(timeout))?;
        Ok(Batch::new(&mut self.source))
    }

    /// Calls `handle` with each event, its sequence, and whether it is the last that is available
    /// now, until `handle` breaks. Returns the value of that [`ControlFlow::Break`].
    ///
    /// The events of a batch are released together, after the last of them. With several writers, the
    /// last event of each batch counts as the last one that is available.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::ops::ControlFlow;
    ///
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let mut sum = 0;
    /// let last = reader.run(|tick, sequence, is_last| {
    ///     sum += tick;
    ///     if is_last { ControlFlow::Break(sequence) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!((sum, last), (24, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait).
    ///
    /// # Blocking
    ///
    /// As [`wait`](Self::wait), whenever no event is available.
    pub fn run<B>(
        &mut self,
        mut handle: impl FnMut(&T, Sequence, bool) -> ControlFlow<B>,
    ) -> Result<B, WaitError> {
        loop {
            let mut batch = self.wait()?;
            let mut events = batch.iter();
            while let Some((sequence, event)) = events.next() {
                let is_last = events.len() == 0;
                if let ControlFlow::Break(result) = handle(event, sequence, is_last) {
                    return Ok(result);
                }
            }
        }
    }

    /// Waits while the [writer is gone](Self::is_writer_gone). Returns false if it still is when
    /// `timeout` is over.
    ///
    /// If the call returns true, another process has taken the segment over, or the segment was
    /// closed or replaced. [`wait`](Self::wait) says which.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::time::Duration;
    ///
    /// let first = ticks().create(8)?;
    /// let reader = ticks().open()?;
    /// first.hand_over();
    /// while !reader.is_writer_gone() {
    ///     std::thread::yield_now();
    /// }
    /// let _second = ticks().create(8)?;
    /// assert!(reader.wait_for_writer(Duration::from_secs(10)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Looks every millisecond, for at most `timeout`.
    pub fn wait_for_writer(&self, timeout: Duration) -> bool {
        look_for(timeout, || !self.is_writer_gone())
    }

    /// Returns the sequence of the first event that is not consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// reader.poll()?.consume(2);
    /// assert_eq!(reader.sequence(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.source.next()
    }

    /// Lets the system map the memory at once.
    pub(crate) fn populate(&self) {
        self.source.populate();
    }

    /// Returns the number of slots.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let _writer = ticks().create(8)?;
    /// assert_eq!(ticks().open()?.capacity(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.source.capacity()
    }

    /// Returns whether the writer has ended without closing the segment, and no other process has
    /// taken it over.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let _writer = ticks().create(8)?;
    /// assert!(!ticks().open()?.is_writer_gone());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_writer_gone(&self) -> bool {
        // P9, Acquire: pairs with the Release in `find`. What a dead process published is visible.
        self.is_writer_gone.load(Ordering::Acquire) && !self.source.shared().is_closed()
    }

    /// Finds an event after a poll that found none, if the writer has died in between.
    #[cold]
    fn find(&mut self, silence: Silence) -> Result<(), PollError> {
        if silence == Silence::Closed {
            return Err(PollError::Closed);
        }
        if !self.is_writer_gone() {
            return Err(PollError::Empty);
        }
        // It may have published before its death, and after the poll.
        match self.source.poll() {
            Ok(()) => Ok(()),
            Err(Silence::Closed) => Err(PollError::Closed),
            Err(Silence::Empty) => Err(PollError::WriterGone),
        }
    }

    /// Waits until an event is known.
    fn wait_until(&mut self, deadline: Option<Instant>) -> Result<(), PollError> {
        if self.source.reading().has_known() {
            return Ok(());
        }
        // Before the poll, which takes the cache line from the writer.
        self.pace();
        let (mut has_begun, mut is_expired) = (false, false);
        loop {
            match self.source.poll() {
                Ok(()) => return Ok(()),
                Err(silence) => match self.find(silence) {
                    Err(PollError::Empty) if !is_expired => {}
                    found => return found,
                },
            }
            if !std::mem::replace(&mut has_begun, true) {
                self.waits.begin();
            }
            let Self { source, waits, is_writer_gone, .. } = self;
            waits.wait(&News { source, is_writer_gone }, deadline);
            is_expired = has_passed(deadline);
        }
    }

    /// Lets the strategy back off, after the events that it has consumed.
    fn pace(&mut self) {
        let Self { source, waits, is_writer_gone, .. } = self;
        let events = source.take_released();
        if events > 0 {
            // The writer may be waiting for slots.
            let is_late = events >= source.shared().capacity / 4;
            waits.pace(&News { source, is_writer_gone }, events, is_late);
        }
    }
}

impl<T: Event> Drop for Reader<T> {
    fn drop(&mut self) {
        if self.attached.is_own_process() {
            let shared = self.source.shared();
            self.source.reading().leave(shared);
            if shared.is_closed() {
                self.attached.remove_unless_in_use();
            }
        }
    }
}

impl<T: Event> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("reading", self.source.reading()).finish_non_exhaustive()
    }
}

/// The wait of a reader for an event.
struct News<'a, T> {
    source: &'a Source<T>,
    is_writer_gone: &'a AtomicBool,
}

impl<T: Event> Elsewhere for News<'_, T> {
    #[inline]
    fn is_over(&self) -> bool {
        let Self { source, is_writer_gone } = self;
        // P9, Acquire: as in `is_writer_gone`.
        let is_gone = || is_writer_gone.load(Ordering::Acquire) && !source.shared().is_closed();
        source.reading().is_ready(source.shared()) || is_gone()
    }

    fn sleep(&self, time: Duration) {
        parking::sleep(&self.source.shared().words.events.0, time, || self.is_over());
    }

    fn park(&self, deadline: Option<Instant>) {
        let shared = self.source.shared();
        let place = &shared.words.events.0;
        parking::park(place, deadline, || shared.does_a_writer_rely(), || self.is_over());
    }

    fn progress(&self) -> u64 {
        self.source.shared().newest()
    }

    fn capacity(&self) -> u64 {
        self.source.shared().capacity
    }

    fn threads(&self) -> u64 {
        self.source.shared().threads()
    }

    fn has_siblings(&self) -> bool {
        self.source.shared().readers() > 1
    }

    fn has_several_producers(&self) -> bool {
        !self.source.shared().has_one_writer()
    }
}
