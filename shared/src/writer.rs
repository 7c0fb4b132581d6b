//! The writing end of a segment. Not here: how it is made (`segment`), and what it may write
//! (`protocol::writing`).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing::wait::{Elsewhere, WaiterElsewhere};

use crate::attached::Attached;
use crate::deadline::{after, has_passed, look_for};
use crate::error::Full;
use crate::event::Event;
use crate::evidence::Held;
use crate::protocol::Shared;
use crate::protocol::parking;
use crate::protocol::writing::Writing;
use crate::slots::Slots;
use crate::watch::Watch;
use crate::{Peer, Sequence};

/// The writing end of a segment. One process has it at a time.
///
/// [`Segment::create`](crate::Segment::create) makes it, and has an example.
///
/// A writer that is dropped [closes](Self::close) the segment. If its process is killed, readers
/// drain what it published and then get [`WriterGone`](crate::error::PollError::WriterGone), until
/// another process creates a segment of the same name, capacity and events: that one takes the
/// segment over, and the sequences go on.
pub struct Writer<T: Event> {
    writing: Writing,
    slots: Slots<T>,
    waits: WaiterElsewhere,
    attached: Attached,
    _watch: Watch,
    /// Closed after all of that has ended.
    _held: Arc<Held>,
    /// Whether dropping it closes the segment.
    closes: bool,
    has_taken_over: bool,
}

/// What a writer is made of.
pub(crate) struct Parts {
    pub(crate) writing: Writing,
    pub(crate) waits: WaiterElsewhere,
    pub(crate) watch: Watch,
    pub(crate) held: Arc<Held>,
    pub(crate) attached: Attached,
    pub(crate) has_taken_over: bool,
}

impl<T: Event> Writer<T> {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { writing, waits, watch, held, attached, has_taken_over } = parts;
        let slots = Slots::new(Arc::clone(&attached.memory));
        let (closes, _watch, _held) = (true, watch, held);
        Self { writing, slots, waits, attached, _watch, _held, closes, has_taken_over }
    }

    /// Publishes an event, which `write` writes into its slot. Returns its sequence.
    ///
    /// `write` gets the slot as it is: with the event that was published there one lap before, or
    /// with zeros in the first lap.
    ///
    /// If `write` panics, nothing is published.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// assert_eq!(writer.publish(|tick| *tick = 7), 0);
    /// assert_eq!(writer.publish(|tick| *tick = 8), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// If no slot is free, the call waits with the [strategy](crate::Segment::wait_strategy) of
    /// this end until the slowest reader has released one, has left, or is dead. Without readers,
    /// it never waits.
    #[inline]
    pub fn publish(&mut self, write: impl FnOnce(&mut T)) -> Sequence {
        if self.writing.is_at_limit() {
            self.wait_for_room(None);
        }
        self.write_next(write)
    }

    /// Publishes an event like [`publish`](Self::publish), unless no slot is free. Never waits.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::error::Full;
    ///
    /// let mut writer = ticks().create(1)?;
    /// let mut reader = ticks().open()?;
    /// assert_eq!(writer.try_publish(|tick| *tick = 7), Ok(0));
    /// assert_eq!(writer.try_publish(|tick| *tick = 8), Err(Full));
    /// reader.poll()?.consume_all();
    /// assert_eq!(writer.try_publish(|tick| *tick = 8), Ok(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free; `write` is not called.
    #[inline]
    pub fn try_publish(&mut self, write: impl FnOnce(&mut T)) -> Result<Sequence, Full> {
        if self.writing.is_at_limit() && self.writing.look(self.slots.shared()) == 0 {
            return Err(Full);
        }
        Ok(self.write_next(write))
    }

    /// Publishes an event like [`publish`](Self::publish), and waits for a free slot for at most
    /// `timeout`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::time::Duration;
    /// use lapwing_shared::error::Full;
    ///
    /// let mut writer = ticks().create(1)?;
    /// let _reader = ticks().open()?;
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(writer.publish_timeout(timeout, |tick| *tick = 7), Ok(0));
    /// assert_eq!(writer.publish_timeout(timeout, |tick| *tick = 8), Err(Full));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free when `timeout` is over; `write` is not called.
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), for at most `timeout`.
    #[inline]
    pub fn publish_timeout(
        &mut self,
        timeout: Duration,
        write: impl FnOnce(&mut T),
    ) -> Result<Sequence, Full> {
        if self.writing.is_at_limit() && !self.wait_for_room(after(timeout)) {
            return Err(Full);
        }
        Ok(self.write_next(write))
    }

    /// Publishes copies of `events`. Returns the sequence of the first one.
    ///
    /// Readers see them in one or more parts, in order.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// assert_eq!(writer.publish_all(&[7, 8, 9]), 0);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), whenever no slot is free. If there are more events than
    /// slots, the call returns once the readers have released the others.
    pub fn publish_all(&mut self, events: &[T]) -> Sequence {
        let first = self.writing.next();
        let mut left = events;
        while !left.is_empty() {
            if self.writing.is_at_limit() {
                self.wait_for_room(None);
            }
            let next = self.writing.next();
            let most = self.writing.known_room().min(left.len() as u64);
            let end = self.slots.contiguous(next, next + most);
            let (now, later) = left.split_at((end - next) as usize);
            // SAFETY: M1: the sequences are granted and not published.
            unsafe { self.slots.write(next..end) }.copy_from_slice(now);
            self.writing.publish(self.slots.shared(), end - next);
            left = later;
        }
        first
    }

    /// Returns the sequence of the next event.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// writer.publish_all(&[7, 8, 9]);
    /// assert_eq!(writer.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.writing.next()
    }

    /// Lets the system map the memory at once.
    pub(crate) fn populate(&self) {
        self.slots.populate();
    }

    /// Returns the number of slots.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// assert_eq!(ticks().create(8)?.capacity(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns whether the segment is that of a writer that ended without closing it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let first = ticks().create(8)?;
    /// assert!(!first.has_taken_over());
    /// first.hand_over();
    /// assert!(ticks().create(8)?.has_taken_over());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_taken_over(&self) -> bool {
        self.has_taken_over
    }

    /// Returns the readers, with their processes and how far each is: a snapshot.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let _reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let readers = writer.readers();
    /// assert_eq!((readers[0].pid, readers[0].lag), (std::process::id(), 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn readers(&self) -> Vec<Peer> {
        self.attached.readers()
    }

    /// Waits until there are `count` readers. Returns false if there are fewer when `timeout` is over.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::time::Duration;
    ///
    /// let writer = ticks().create(8)?;
    /// assert!(!writer.wait_for_readers(1, Duration::from_millis(1)));
    /// let _reader = ticks().open()?;
    /// assert!(writer.wait_for_readers(1, Duration::from_secs(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Looks every millisecond, for at most `timeout`.
    pub fn wait_for_readers(&self, count: usize, timeout: Duration) -> bool {
        look_for(timeout, || self.slots.shared().readers() >= count)
    }

    /// Closes the segment. Readers get the events that are left, and then
    /// [`Closed`](crate::error::PollError::Closed). The last of them removes the segment.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::error::PollError;
    ///
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish(|tick| *tick = 7);
    /// writer.close();
    /// reader.poll()?.consume_all();
    /// assert_eq!(reader.poll().err(), Some(PollError::Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(self) {
        drop(self);
    }

    /// Ends this writer without closing the segment, so that another process can
    /// [take it over](crate::Segment::create). Readers wait for that one as if this process had died.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut first = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// first.publish(|tick| *tick = 7);
    /// first.hand_over();
    ///
    /// let mut second = ticks().create(8)?; // in another process
    /// second.publish(|tick| *tick = 8);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hand_over(mut self) {
        self.closes = false;
    }

    #[inline]
    fn write_next(&mut self, write: impl FnOnce(&mut T)) -> Sequence {
        let next = self.writing.next();
        // SAFETY: M1: the sequence is granted and not published.
        let slot = unsafe { self.slots.write(next..next + 1) };
        write(&mut slot[0]);
        self.writing.publish(self.slots.shared(), 1);
        next
    }

    /// Waits until a slot is free. Returns false if none is at `deadline`.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self, deadline: Option<Instant>) -> bool {
        let Self { writing, slots, waits, .. } = self;
        if writing.look(slots.shared()) > 0 {
            return true;
        }
        waits.begin();
        loop {
            let room = Room { shared: slots.shared(), next: writing.next() };
            waits.wait(&room, deadline);
            if writing.look(slots.shared()) > 0 {
                return true;
            }
            if has_passed(deadline) {
                return false;
            }
        }
    }
}

impl<T: Event> Drop for Writer<T> {
    fn drop(&mut self) {
        if self.closes && self.attached.is_own_process() {
            self.slots.shared().close();
            self.attached.remove_unless_in_use();
        }
    }
}

impl<T: Event> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("writing", &self.writing).finish_non_exhaustive()
    }
}

/// The wait of the writer for a free slot.
struct Room<'a> {
    shared: Shared<'a>,
    next: Sequence,
}

impl Elsewhere for Room<'_> {
    fn is_over(&self) -> bool {
        self.shared.has_room(self.next)
    }

    fn sleep(&self, time: Duration) {
        parking::sleep(&self.shared.words.slots.0, time, || self.is_over());
    }

    fn park(&self, deadline: Option<Instant>) {
        let shared = self.shared;
        let place = &shared.words.slots.0;
        parking::park(place, deadline, || shared.does_a_reader_rely(), || self.is_over());
    }

    fn progress(&self) -> u64 {
        self.next
    }

    fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    fn threads(&self) -> u64 {
        self.shared.threads()
    }

    fn has_siblings(&self) -> bool {
        false
    }
}
