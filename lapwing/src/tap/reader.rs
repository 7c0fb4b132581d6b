//! The reading end of a tap: what comes next, and what was missed. Not here: how to wait (`waiting`).
//!
//! ```text
//! position   4   5   6   7   8   9          capacity 4: 6 to 9 are there; 10 lies on 6
//!            ^next   ^oldest         ^end   a reader at 4 has missed two when it reads 6
//! ```
//!
//! Position: how many events were written before. It is the tap's own count; what is missed is a
//! difference of positions, so no event need be counted that is not seen.

use std::fmt;
use std::iter::FusedIterator;

use super::TapRing;
use super::head::Written;
use super::slot::{Absent, Entry};
use crate::Sequence;
use crate::error::TapError;
use crate::sync::Arc;

/// How often [`TapReader::latest`] looks where the newest event is. That it was overwritten before
/// it could be copied means that the writer made a lap meanwhile; so often in a row only if there
/// are hardly any slots.
const LOOKS_FOR_LATEST: u32 = 8;

/// An event that was read from a tap.
///
/// ```
/// use lapwing::tap::{Reading, tap};
///
/// # let (mut writer, mut reader) = tap::<u64>(8)?;
/// writer.write(3, &7);
/// assert_eq!(reader.try_next(), Ok(Reading { event: 7, sequence: 3, missed: 0 }));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<E> {
    /// The event.
    pub event: E,
    /// What its writer gave as its sequence.
    pub sequence: Sequence,
    /// Events missed since the last reading, or since the reader began.
    pub missed: u64,
}

/// A reading end of a tap. Holds nobody back, and may be dropped at any time.
///
/// As an iterator it waits for each event and ends when the tap is closed. A clone begins where
/// this one is, with its counts; each goes its own way from there.
///
/// ```
/// use std::thread;
/// use lapwing::tap::tap;
///
/// let (mut writer, reader) = tap::<u64>(64)?;
/// let screen = thread::spawn(move || {
///     let (mut shown, mut missed) = (0, 0);
///     for reading in reader {
///         shown += 1;
///         missed += reading.missed;
///     }
///     (shown, missed)
/// });
/// for sequence in 0..64 {
///     writer.write(sequence, &(sequence * 100));
/// }
/// drop(writer);
/// assert_eq!(screen.join().unwrap(), (64, 0)); // there is room for all
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// # Blocking
///
/// The iterator, [`Iterator::next`] and [`next_timeout`](Self::next_timeout) wait until the writer
/// has written something or closes. Nobody wakes them, since that would cost the writer: they look,
/// with yields in between at first and sleeps of 50 µs after a while.
/// [`try_next`](Self::try_next), [`try_iter`](Self::try_iter) and [`latest`](Self::latest) do not
/// wait.
pub struct TapReader<E> {
    ring: Arc<TapRing<E>>,
    /// Position of the event that comes next.
    next: u64,
    /// How far the writer was at the last look; not below `next`.
    written: Written,
    received: u64,
    missed: u64,
    /// The part of `missed` that readings have told of.
    told: u64,
}

impl<E> TapReader<E> {
    /// A reader that begins where the writer is.
    pub(super) fn new(ring: Arc<TapRing<E>>, written: Written) -> Self {
        Self { ring, next: written.end, written, received: 0, missed: 0, told: 0 }
    }

    /// Events that this reader got.
    ///
    /// ```
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(2)?;
    /// for sequence in 0..5 {
    ///     writer.write(sequence, &7);
    /// }
    /// assert_eq!(reader.try_iter().count(), 2);
    /// assert_eq!((reader.received(), reader.missed()), (2, 3));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Events that were written since this reader began, and that it did not and will not get:
    /// overwritten, passed over, or skipped by [`latest`](Self::latest).
    ///
    /// Each event before the one that comes next was received or missed. When the reader has caught
    /// up, that is each event that was written.
    ///
    /// ```
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
    /// for sequence in 0..5 {
    ///     writer.write(sequence, &7);
    /// }
    /// assert_eq!(reader.missed(), 0); // all of them are still there
    /// assert_eq!(reader.latest()?.missed, 4);
    /// assert_eq!(reader.received() + reader.missed(), writer.written());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    fn look(&mut self) {
        self.written = self.ring.head.look();
    }

    /// Goes on to `position`; what lies before it is missed. Back is not a direction.
    fn skip_to(&mut self, position: u64) {
        self.missed += position.saturating_sub(self.next);
        self.next = self.next.max(position);
    }

    /// Hands out the event that comes next.
    fn hand_out(&mut self, entry: Entry<E>) -> Reading<E> {
        let missed = self.missed - self.told;
        self.told = self.missed;
        self.received += 1;
        self.next += 1;
        Reading { event: entry.event, sequence: entry.sequence, missed }
    }

    /// Why there is no event, at this place.
    fn nothing(&self) -> TapError {
        let is_at_end = self.next == self.written.end;
        if is_at_end && self.written.is_closed { TapError::Closed } else { TapError::Empty }
    }
}

impl<E: Copy> TapReader<E> {
    /// The event that comes next, or the oldest that is still there. Never waits.
    ///
    /// A reader that was overtaken jumps, however far that is. If the writer overtakes it again
    /// meanwhile, it leaves twice the distance each time, up to the newest event; and if even that
    /// one is gone before it is copied, it says that nothing could be read now.
    ///
    /// ```
    /// use lapwing::error::TapError;
    ///
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(4)?;
    /// assert_eq!(reader.try_next(), Err(TapError::Empty));
    /// for sequence in 0..10 {
    ///     writer.write(sequence, &(sequence * 100));
    /// }
    /// let reading = reader.try_next()?;
    /// assert_eq!((reading.event, reading.missed), (600, 6)); // four slots: the last four
    /// assert_eq!(reader.try_next()?.missed, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TapError::Empty`] if nothing could be read now, [`TapError::Closed`] if there will never
    /// be anything.
    pub fn try_next(&mut self) -> Result<Reading<E>, TapError> {
        if self.next == self.written.end {
            self.look();
        }
        let mut distance = 0;
        while self.next < self.written.end {
            match self.ring.slots.read(self.next) {
                Ok(entry) => return Ok(self.hand_out(entry)),
                Err(Absent::PassedOver) => self.skip_to(self.next + 1),
                Err(Absent::Overwritten) => {
                    self.jump(distance);
                    if distance >= self.ring.slots.capacity() {
                        break;
                    }
                    distance = 2 * distance + 1;
                }
            }
        }
        Err(self.nothing())
    }

    /// Goes on to the event that is `distance` after the oldest, but not past the newest; by one at
    /// least, since the event that came next is gone.
    #[cold]
    fn jump(&mut self, distance: u64) {
        self.look();
        let oldest = self.written.end.saturating_sub(self.ring.slots.capacity());
        let newest = self.written.end - 1;
        let target = (oldest + distance).min(newest);
        self.skip_to(target.max(self.next + 1));
    }

    /// The events that were there when this was called, as far as they still are. Never waits.
    ///
    /// ```
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
    /// writer.write(0, &7);
    /// writer.write(1, &8);
    /// assert_eq!(reader.try_iter().map(|reading| reading.event).sum::<u64>(), 15);
    /// assert_eq!(reader.try_iter().next(), None);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn try_iter(&mut self) -> TryIter<'_, E> {
        self.look();
        TryIter { end: self.written.end, reader: self }
    }

    /// The newest event that has not been received; those before it are missed. Never waits.
    ///
    /// If the newest was passed over, it is the one before.
    ///
    /// ```
    /// use lapwing::error::TapError;
    ///
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
    /// for sequence in 0..3 {
    ///     writer.write(sequence, &(sequence * 100));
    /// }
    /// let newest = reader.latest()?;
    /// assert_eq!((newest.event, newest.missed), (200, 2));
    /// assert_eq!(reader.latest(), Err(TapError::Empty)); // nothing newer
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_next`](Self::try_next).
    pub fn latest(&mut self) -> Result<Reading<E>, TapError> {
        for _ in 0..LOOKS_FOR_LATEST {
            self.look();
            match self.newest() {
                Ok((position, entry)) => {
                    self.skip_to(position);
                    let reading = self.hand_out(entry);
                    self.skip_to(self.written.end);
                    return Ok(reading);
                }
                Err(Absent::PassedOver) => {
                    self.skip_to(self.written.end);
                    break;
                }
                Err(Absent::Overwritten) => {}
            }
        }
        Err(self.nothing())
    }

    /// The newest entry that is there, from `next` on, and its position. Looks at slots one by one
    /// only where readers made the writer pass over them.
    ///
    /// # Errors
    ///
    /// [`Absent::Overwritten`] if there are newer ones by now, [`Absent::PassedOver`] if there are
    /// none.
    fn newest(&self) -> Result<(u64, Entry<E>), Absent> {
        let oldest = self.written.end.saturating_sub(self.ring.slots.capacity());
        for position in (self.next.max(oldest)..self.written.end).rev() {
            match self.ring.slots.read(position) {
                Ok(entry) => return Ok((position, entry)),
                Err(Absent::PassedOver) => {}
                Err(Absent::Overwritten) => return Err(Absent::Overwritten),
            }
        }
        Err(Absent::PassedOver)
    }
}

impl<E> Clone for TapReader<E> {
    fn clone(&self) -> Self {
        Self { ring: Arc::clone(&self.ring), ..*self }
    }
}

impl<E> fmt::Debug for TapReader<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapReader")
            .field("received", &self.received)
            .field("missed", &self.missed)
            .finish_non_exhaustive()
    }
}

/// The events that were there: see [`TapReader::try_iter`].
///
/// ```
/// use lapwing::tap::{TryIter, tap};
///
/// # let (mut writer, mut reader) = tap::<u64>(8)?;
/// writer.write(0, &7);
/// let mut readings: TryIter<'_, u64> = reader.try_iter();
/// assert_eq!(readings.next().map(|reading| reading.event), Some(7));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "an iterator reads only as far as it is asked"]
pub struct TryIter<'a, E> {
    reader: &'a mut TapReader<E>,
    /// How far the writer was when this began.
    end: u64,
}

impl<E: Copy> Iterator for TryIter<'_, E> {
    type Item = Reading<E>;

    fn next(&mut self) -> Option<Reading<E>> {
        if self.reader.next < self.end { self.reader.try_next().ok() } else { None }
    }
}

impl<E: Copy> FusedIterator for TryIter<'_, E> {}
