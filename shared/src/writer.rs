//! The writing end of a segment. Not here: how it is made (`segment`), and what it may write
//! (`protocol::writing`).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing::wait::{Elsewhere, WaiterElsewhere};

use crate::attached::{Attached, after};
use crate::error::Full;
use crate::event::Event;
use crate::protocol::Shared;
use crate::protocol::parking;
use crate::protocol::writing::Writing;
use crate::slots::Slots;
use crate::watch::{Attended, Watch};
use crate::{Peer, Sequence};

/// The writing end of a segment. One process has it at a time.
///
/// [`Segment::create`](crate::Segment::create) makes it, and has an example.
///
/// A writer that is dropped [closes](Self::close) the segment. If its process is killed, readers drain what
/// it published and then get [`WriterGone`](crate::error::PollError::WriterGone), until another process
/// creates a segment of the same name, capacity and events: that one takes the segment over, and the
/// sequences go on.
pub struct Writer<T: Event> {
    writing: Writing,
    slots: Slots<T>,
    waits: WaiterElsewhere,
    attended: Attended,
    /// Ends before the pipe is closed, which it has.
    watch: Watch,
    attached: Attached,
    /// Whether dropping it closes the segment.
    closes: bool,
    has_taken_over: bool,
}

/// What a writer is made of.
pub(crate) struct Parts {
    pub(crate) writing: Writing,
    pub(crate) waits: WaiterElsewhere,
    pub(crate) watch: (Watch, Attended),
    pub(crate) attached: Attached,
    pub(crate) has_taken_over: bool,
}

impl<T: Event> Writer<T> {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { writing, waits, watch: (watch, attended), attached, has_taken_over } = parts;
        let slots = Slots::new(Arc::clone(&attached.memory));
        Self { writing, slots, waits, attended, watch, attached, closes: true, has_taken_over }
    }

    /// Publishes an event, which `write` writes into its slot. Returns its sequence.
    ///
    /// The slot has the event that was there one lap before, or zeros in the first lap.
    ///
    /// If `write` panics, nothing is published.
    ///
    /// # Blocking
    ///
    /// If no slot is free, the call waits with the [strategy](crate::Segment::wait_strategy) of this end
    /// until the slowest reader has released one, has left, or is dead. Without readers, it never waits.
    #[inline]
    pub fn publish(&mut self, write: impl FnOnce(&mut T)) -> Sequence {
        if self.writing.is_at_limit() {
            self.wait_for_room(None);
        }
        self.write_next(write)
    }

    /// Publishes an event like [`publish`](Self::publish), unless no slot is free. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free; `write` is not called.
    #[inline]
    pub fn try_publish(&mut self, write: impl FnOnce(&mut T)) -> Result<Sequence, Full> {
        if self.writing.known_room() == 0 && self.writing.look(self.slots.shared()) == 0 {
            return Err(Full);
        }
        Ok(self.write_next(write))
    }

    /// Publishes an event like [`publish`](Self::publish), and waits for a free slot for at most `timeout`.
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
        if self.writing.known_room() == 0 && !self.wait_for_room(after(timeout)) {
            return Err(Full);
        }
        Ok(self.write_next(write))
    }

    /// Publishes copies of `events`. Returns the sequence of the first one.
    ///
    /// Readers see them in one or more parts, in order.
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), whenever no slot is free. If there are more events than slots, the
    /// call returns once the readers have released the others.
    pub fn publish_all(&mut self, events: &[T]) -> Sequence {
        let first = self.writing.next();
        let mut left = events;
        while !left.is_empty() {
            if self.writing.known_room() == 0 {
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
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.writing.next()
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns whether the segment is that of a writer that ended without closing it.
    #[must_use]
    pub fn has_taken_over(&self) -> bool {
        self.has_taken_over
    }

    /// Returns the readers, with their processes and how far each is: a snapshot.
    #[must_use]
    pub fn readers(&self) -> Vec<Peer> {
        self.attached.readers()
    }

    /// Waits until there are `count` readers. Returns false if there are fewer when `timeout` is over.
    ///
    /// # Blocking
    ///
    /// Looks every millisecond, for at most `timeout`.
    pub fn wait_for_readers(&self, count: usize, timeout: Duration) -> bool {
        let deadline = after(timeout);
        loop {
            if self.readers().len() >= count {
                return true;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Closes the segment. Readers get the events that are left, and then
    /// [`Closed`](crate::error::PollError::Closed). The last of them removes the segment.
    pub fn close(self) {
        drop(self);
    }

    /// Ends this writer without closing the segment, so that another process can
    /// [take it over](crate::Segment::create). Readers wait for that one as if this process had died.
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
        let Self { writing, slots, waits, attended, watch, .. } = self;
        if writing.look(slots.shared()) > 0 {
            return true;
        }
        waits.begin();
        loop {
            let room = Room { shared: slots.shared(), next: writing.next(), attended, watch };
            waits.wait(&room, deadline);
            if writing.look(slots.shared()) > 0 {
                return true;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
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
    attended: &'a Attended,
    watch: &'a Watch,
}

/// Longest park while a reader is not watched: it may be dead.
const UNWATCHED: Duration = Duration::from_millis(10);

impl Elsewhere for Room<'_> {
    fn is_over(&self) -> bool {
        let Shared { capacity, .. } = self.shared;
        self.shared.slowest().is_none_or(|slowest| slowest + capacity > self.next)
    }

    fn sleep(&self, time: Duration) {
        parking::sleep(&self.shared.words.slots.0, time, || self.is_over());
    }

    fn park(&self, deadline: Option<Instant>) {
        let mut time = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        if !self.attended.is_complete(self.shared) {
            self.watch.alert();
            time = Some(time.map_or(UNWATCHED, |time| time.min(UNWATCHED)));
        }
        let shared = self.shared;
        let place = &shared.words.slots.0;
        parking::park(place, time, || shared.does_a_reader_rely(), || self.is_over());
    }

    fn progress(&self) -> u64 {
        self.next
    }

    fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    fn threads(&self) -> u64 {
        1 + self.shared.held().count() as u64
    }

    fn has_siblings(&self) -> bool {
        false
    }
}
