//! The writing end of a segment with several writers. Not here: how it is made (`segment`), what it may
//! write (`protocol::claiming`), and what becomes of its claims when it dies (`protocol::repair`).

use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing::wait::{Elsewhere, WaiterElsewhere};

use crate::attached::Attached;
use crate::deadline::{after, has_passed, look_for};
use crate::error::Full;
use crate::event::Event;
use crate::evidence::Held;
use crate::memory::Memory;
use crate::protocol::claiming::Claiming;
use crate::protocol::stamps::Fate;
use crate::protocol::{Shared, parking};
use crate::slots::Slots;
use crate::watch::Watch;
use crate::{Peer, Sequence};

/// One of several writing ends of a segment, in one process or in several.
///
/// [`Segment::create_or_join`](crate::Segment::create_or_join) makes it, and has an example.
///
/// All readers get the events of all writers in the same order. A writer claims the next sequence,
/// writes the event, and publishes it. Until it is published, readers get no later event. So compute
/// the event before the call, and only store it in the closure.
///
/// If the process of a writer is killed between the claim and the publication, the others skip its
/// sequence: readers go on with the next event, and see a gap in the sequences. They wait until the
/// kernel reports the death, and longer if another writer is stopped in the middle of a claim, for
/// example by a debugger.
///
/// The segment is closed when the last of its writers is dropped. If the last writer to end is killed
/// or [hands over](Self::hand_over), readers get
/// [`WriterGone`](crate::error::PollError::WriterGone) after the last event. A killed writer ends
/// when the kernel has freed its memory. If the last living writer is dropped before that, the
/// segment stays open.
///
/// Writers that come and go must hand over unless no other one will come: if all of them happen to
/// be dropped at one moment, the segment is closed, and the next writer makes a new one.
pub struct MultiWriter<T: Event> {
    claiming: Claiming,
    slots: Slots<T>,
    waits: WaiterElsewhere,
    attached: Attached,
    /// Ends before the others, so that there are descriptors for what is left to do.
    watch: Option<Watch>,
    /// Closed after all of that has ended.
    _held: Arc<Held>,
    /// Whether dropping the last writer closes the segment.
    closes: bool,
    has_joined: bool,
}

/// What a writer is made of.
pub(crate) struct Parts {
    pub(crate) claiming: Claiming,
    pub(crate) waits: WaiterElsewhere,
    pub(crate) watch: Watch,
    pub(crate) held: Arc<Held>,
    pub(crate) attached: Attached,
    pub(crate) has_joined: bool,
}

impl<T: Event> MultiWriter<T> {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { claiming, waits, watch, held, attached, has_joined } = parts;
        let slots = Slots::new(Arc::clone(&attached.memory));
        let (closes, watch, _held) = (true, Some(watch), held);
        Self { claiming, slots, waits, attached, watch, _held, closes, has_joined }
    }

    /// Publishes an event, which `write` writes into its slot. Returns its sequence.
    ///
    /// `write` gets the slot as it is: with zeros in the first lap, and later with the bytes of an
    /// earlier event, possibly one that its writer did not finish.
    ///
    /// If `write` panics, the sequence is skipped: no reader gets it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let mut writer = orders().create_or_join(8)?;
    /// assert_eq!(writer.publish(|order| *order = 7), 0);
    /// assert_eq!(writer.publish(|order| *order = 8), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// If no slot is free, the call waits with the [strategy](crate::Segment::wait_strategy) of
    /// this end until the slowest reader has released one, has left, or is dead. It also waits, even
    /// without readers, until the event one lap before is published or skipped.
    #[inline]
    pub fn publish(&mut self, write: impl FnOnce(&mut T)) -> Sequence {
        let claimed = self.wait_to_claim(1);
        self.write_claimed(claimed, write)
    }

    /// Publishes an event like [`publish`](Self::publish), unless no slot is free. Never waits.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// use lapwing_shared::error::Full;
    ///
    /// let mut writer = orders().create_or_join(1)?;
    /// let mut reader = orders().open()?;
    /// assert_eq!(writer.try_publish(|order| *order = 7), Ok(0));
    /// assert_eq!(writer.try_publish(|order| *order = 8), Err(Full));
    /// reader.poll()?.consume_all();
    /// assert_eq!(writer.try_publish(|order| *order = 8), Ok(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free, or the event one lap before is not published yet; `write` is not
    /// called.
    #[inline]
    pub fn try_publish(&mut self, write: impl FnOnce(&mut T)) -> Result<Sequence, Full> {
        let claimed = self.claim(1).ok_or(Full)?;
        Ok(self.write_claimed(claimed, write))
    }

    /// Publishes an event like [`publish`](Self::publish), and waits for a free slot for at most
    /// `timeout`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// use std::time::Duration;
    /// use lapwing_shared::error::Full;
    ///
    /// let mut writer = orders().create_or_join(1)?;
    /// let _reader = orders().open()?;
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(writer.publish_timeout(timeout, |order| *order = 7), Ok(0));
    /// assert_eq!(writer.publish_timeout(timeout, |order| *order = 8), Err(Full));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free when `timeout` is over; `write` is not called.
    ///
    /// # Blocking
    ///
    /// Waits for what [`publish`](Self::publish) waits for, for at most `timeout`.
    #[inline]
    pub fn publish_timeout(
        &mut self,
        timeout: Duration,
        write: impl FnOnce(&mut T),
    ) -> Result<Sequence, Full> {
        let claimed = match self.claim(1) {
            Some(claimed) => claimed,
            None => self.wait_and_claim(1, after(timeout)).ok_or(Full)?,
        };
        Ok(self.write_claimed(claimed, write))
    }

    /// Publishes copies of `events`, in their order.
    ///
    /// They are published in one or more runs of consecutive sequences, of at most a quarter of the
    /// ring each. Events of other writers may come between the runs, so this returns no sequence.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let mut writer = orders().create_or_join(4)?;
    /// let mut reader = orders().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let mut seen = Vec::new();
    /// while let Ok(mut batch) = reader.poll() {
    ///     seen.extend(batch.iter().map(|(_, order)| *order));
    /// }
    /// assert_eq!(seen, [7, 8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Waits for what [`publish`](Self::publish) waits for, whenever no slot is free.
    pub fn publish_all(&mut self, events: &[T]) {
        let mut left = events;
        while !left.is_empty() {
            let most = self.slots.shared().step().min(left.len() as u64);
            let claimed = self.wait_to_claim(most);
            let (now, later) = left.split_at((claimed.end - claimed.start) as usize);
            self.copy_claimed(claimed, now);
            left = later;
        }
    }

    /// Returns the readers, with their processes and how far each is: a snapshot.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let mut writer = orders().create_or_join(8)?;
    /// let _reader = orders().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let readers = writer.readers();
    /// assert_eq!((readers[0].pid, readers[0].lag), (std::process::id(), 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn readers(&self) -> Vec<Peer> {
        self.attached.readers()
    }

    /// Returns a snapshot of the process ids of the writers, this one included, as each is numbered
    /// in its own pid namespace. A killed writer is among them until its seat is free.
    ///
    /// A process among them that is stopped while it publishes holds up all readers.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let first = orders().create_or_join(8)?;
    /// let second = orders().create_or_join(8)?;
    /// assert_eq!(first.writers(), [std::process::id(); 2]);
    /// drop(second);
    /// assert_eq!(first.writers().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn writers(&self) -> Vec<u32> {
        self.attached.writers()
    }

    /// Waits until there are `count` readers. Returns false if there are fewer when `timeout` is over.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// use std::time::Duration;
    ///
    /// let writer = orders().create_or_join(8)?;
    /// assert!(!writer.wait_for_readers(1, Duration::from_millis(1)));
    /// let _reader = orders().open()?;
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

    /// Lets the system map the memory at once.
    pub(crate) fn populate(&self) {
        self.slots.populate();
    }

    /// Returns the number of slots.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// assert_eq!(orders().create_or_join(8)?.capacity(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns whether this writer joined an existing segment, with or without living writers.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let first = orders().create_or_join(8)?;
    /// assert!(!first.has_joined());
    /// assert!(orders().create_or_join(8)?.has_joined());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.has_joined
    }

    /// Ends this writer. Unlike a drop, this does not close the segment if it is the last writer, so
    /// that another process can [join](crate::Segment::create_or_join) it later. If other writers
    /// remain, the last one that is dropped still closes it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let mut first = orders().create_or_join(8)?;
    /// let mut reader = orders().open()?;
    /// first.publish(|order| *order = 7);
    /// first.hand_over();
    ///
    /// let mut second = orders().create_or_join(8)?; // in another process
    /// second.publish(|order| *order = 8);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hand_over(mut self) {
        self.closes = false;
    }

    #[inline]
    fn claim(&mut self, most: u64) -> Option<Range<Sequence>> {
        self.claiming.claim(self.slots.shared(), most)
    }

    /// Claims sequences like [`claim`](Self::claim), and waits until a slot is free.
    #[inline]
    fn wait_to_claim(&mut self, most: u64) -> Range<Sequence> {
        loop {
            let claimed = self.claim(most).or_else(|| self.wait_and_claim(most, None));
            if let Some(claimed) = claimed {
                return claimed;
            }
        }
    }

    /// Waits until a slot is free, and claims sequences. `None` if no slot is free at `deadline`.
    #[cold]
    #[inline(never)]
    fn wait_and_claim(&mut self, most: u64, deadline: Option<Instant>) -> Option<Range<Sequence>> {
        self.waits.begin();
        loop {
            self.waits.wait(&Room { shared: self.slots.shared() }, deadline);
            let claimed = self.claim(most);
            if claimed.is_some() || has_passed(deadline) {
                return claimed;
            }
        }
    }

    /// Writes and publishes an event whose sequence it has claimed.
    #[inline]
    fn write_claimed(&mut self, claimed: Range<Sequence>, write: impl FnOnce(&mut T)) -> Sequence {
        let Self { claiming, slots, attached, .. } = self;
        let sequence = claimed.start;
        let unfinished = Unfinished { claiming, memory: &attached.memory, sequence };
        // SAFETY: M1: the sequence is claimed and not published.
        let slot = unsafe { slots.write(claimed.clone()) };
        write(&mut slot[0]);
        mem::forget(unfinished);
        claiming.seal(slots.shared(), claimed, Fate::Published);
        sequence
    }

    /// Copies and publishes events whose sequences it has claimed.
    fn copy_claimed(&mut self, claimed: Range<Sequence>, events: &[T]) {
        let end = self.slots.contiguous(claimed.start, claimed.end);
        let (now, rest) = events.split_at((end - claimed.start) as usize);
        // SAFETY: M1: the sequences are claimed and not published.
        unsafe { self.slots.write(claimed.start..end) }.copy_from_slice(now);
        // SAFETY: M1: as above. The rest begins with the first slot.
        unsafe { self.slots.write(end..claimed.end) }.copy_from_slice(rest);
        self.claiming.seal(self.slots.shared(), claimed, Fate::Published);
    }
}

/// An event that is being written. Skips its sequence if that panics.
struct Unfinished<'a> {
    claiming: &'a Claiming,
    memory: &'a Memory,
    sequence: Sequence,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let claimed = self.sequence..self.sequence + 1;
        self.claiming.seal(self.memory.shared(), claimed, Fate::Skipped);
    }
}

impl<T: Event> Drop for MultiWriter<T> {
    fn drop(&mut self) {
        if self.attached.is_own_process() {
            self.watch = None;
            self.attached.leave(&self.claiming, self.closes);
        }
    }
}

impl<T: Event> fmt::Debug for MultiWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiWriter").field("claiming", &self.claiming).finish_non_exhaustive()
    }
}

/// The wait of a writer for a free slot.
struct Room<'a> {
    shared: Shared<'a>,
}

impl Elsewhere for Room<'_> {
    fn is_over(&self) -> bool {
        self.shared.has_room_to_claim()
    }

    fn sleep(&self, time: Duration) {
        parking::sleep(&self.shared.words.slots.0, time, || self.is_over());
    }

    fn park(&self, deadline: Option<Instant>) {
        let shared = self.shared;
        let relies = || shared.does_a_reader_rely() || shared.does_a_writer_rely();
        parking::park(&shared.words.slots.0, deadline, relies, || self.is_over());
    }

    fn progress(&self) -> u64 {
        self.shared.newest()
    }

    fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    fn threads(&self) -> u64 {
        self.shared.threads()
    }

    fn has_siblings(&self) -> bool {
        self.shared.writers() > 1
    }

    fn has_several_producers(&self) -> bool {
        true
    }
}
