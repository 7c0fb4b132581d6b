//! The reading end of a tap: the next event, and the count of missed events. Not here: waiting
//! (`waiting`).
//!
//! ```text
//! position   4   5   6   7   8   9          capacity 4: 6 to 9 are readable; 10 overwrites 6
//!            ^next   ^oldest         ^end   a reader at 4 has missed two events when it reads 6
//! ```
//!
//! A position is the number of events that were written before, counted by the tap itself. The
//! count of missed events is a difference of positions.

use std::fmt;
use std::iter::FusedIterator;

use super::TapRing;
use super::head::Written;
use super::slot::{Absent, Entry};
use crate::Sequence;
use crate::error::TapError;
use crate::sync::Arc;

/// How many times [`TapReader::latest`] tries to read the newest event. A try fails if the writer
/// makes a whole lap before the copy begins. So many failures in a row occur only with very few
/// slots.
const LOOKS_FOR_LATEST: u32 = 8;

/// An event that was read from a tap.
///
/// ```
/// use lapwing::tap::{Reading, tap};
///
/// let (mut writer, mut reader) = tap::<u64>(8)?;
/// writer.write(3, &7);
/// assert_eq!(reader.try_next(), Ok(Reading { event: 7, sequence: 3, missed: 0 }));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<E> {
    /// The event.
    pub event: E,
    /// The sequence that the writer passed to [`write`](super::TapWriter::write).
    pub sequence: Sequence,
    /// Number of events missed since the last reading, or since the reader began.
    pub missed: u64,
}

/// A reading end of a tap. It does not hold back the writer, and may be dropped at any time.
///
/// [`tap`](super::tap) makes the first reader. A clone begins at the position of the original, with
/// its counts, and then reads independently.
///
/// As an iterator, a reader waits for each event. It ends when the tap is closed and no event is
/// left.
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
/// assert_eq!(screen.join().unwrap(), (64, 0)); // all 64 events fit
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// # Blocking
///
/// [`Iterator::next`] and [`next_timeout`](Self::next_timeout) wait until the writer writes an
/// event or closes the tap. `next_timeout` also returns when its time has passed. The writer wakes
/// no reader, because that would slow it down. Instead, a waiting reader polls: it yields after
/// each of the first 100 polls, and then sleeps for 50 µs after each poll.
/// [`try_next`](Self::try_next), [`try_iter`](Self::try_iter) and [`latest`](Self::latest) do not
/// wait.
pub struct TapReader<E> {
    ring: Arc<TapRing<E>>,
    /// Position of the next event.
    next: u64,
    /// The writer's progress at the last poll; not below `next`.
    written: Written,
    received: u64,
    missed: u64,
    /// The part of `missed` that readings have reported.
    told: u64,
}

impl<E> TapReader<E> {
    /// Creates a reader that begins at the writer's position.
    pub(super) fn new(ring: Arc<TapRing<E>>, written: Written) -> Self {
        Self { ring, next: written.end, written, received: 0, missed: 0, told: 0 }
    }

    /// Returns the number of events that this reader has received.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, mut reader) = tap::<u64>(2)?;
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

    /// Returns the number of events that this reader has missed since it began.
    ///
    /// An event is missed if it was overwritten, passed over, or skipped by
    /// [`latest`](Self::latest) or a [jump](Self::try_next). Once the reader has caught up, it has
    /// received or missed each event that was written since it began. An event that it has not
    /// reached yet counts as neither, even if it is overwritten.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
    /// for sequence in 0..5 {
    ///     writer.write(sequence, &7);
    /// }
    /// assert_eq!(reader.missed(), 0); // all of them are still available
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

    /// Moves forward to `position` and counts the events before it as missed. Never moves back.
    fn skip_to(&mut self, position: u64) {
        self.missed += position.saturating_sub(self.next);
        self.next = self.next.max(position);
    }

    /// Returns `entry` as the next event.
    fn hand_out(&mut self, entry: Entry<E>) -> Reading<E> {
        let missed = self.missed - self.told;
        self.told = self.missed;
        self.received += 1;
        self.next += 1;
        Reading { event: entry.event, sequence: entry.sequence, missed }
    }

    /// The reason why there is no event at this position.
    fn nothing(&self) -> TapError {
        let is_at_end = self.next == self.written.end;
        if is_at_end && self.written.is_closed { TapError::Closed } else { TapError::Empty }
    }
}

impl<E: Copy> TapReader<E> {
    /// Returns the next event, or the oldest one that is still available. Never waits.
    ///
    /// If the writer has overtaken the reader, the reader jumps to the oldest event in one step. If
    /// the writer overwrites that event meanwhile, the reader jumps to a newer event. It doubles
    /// the distance to the oldest event each time, up to the newest event. If even that one is
    /// overwritten before it is copied, the call returns an error. Each event that a jump passes
    /// counts as missed.
    ///
    /// ```
    /// use lapwing::{error::TapError, tap::tap};
    ///
    /// let (mut writer, mut reader) = tap::<u64>(4)?;
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
    /// - [`TapError::Empty`] if no event is available, or the writer overwrote each event that the
    ///   call tried before it was copied.
    /// - [`TapError::Closed`] if the tap is closed and no event is left.
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

    /// Moves to the event that is `distance` after the oldest, but not past the newest. Moves by at
    /// least one, because the next event is overwritten.
    #[cold]
    fn jump(&mut self, distance: u64) {
        self.look();
        let oldest = self.written.end.saturating_sub(self.ring.slots.capacity());
        let newest = self.written.end - 1;
        let target = (oldest + distance).min(newest);
        self.skip_to(target.max(self.next + 1));
    }

    /// Returns an iterator over the events that are available at the time of this call. Never
    /// waits.
    ///
    /// Events that are overwritten during the iteration are missed. If the writer overtakes the
    /// reader, the last event that the iterator yields can be newer than this call.
    ///
    /// ```
    /// use lapwing::tap::tap;
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
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

    /// Returns the newest event that has not been received, and counts those before it as missed.
    /// Never waits.
    ///
    /// If the newest event was passed over, this returns the newest one that was not. Events that
    /// were passed over after that one also count as missed.
    ///
    /// ```
    /// use lapwing::{error::TapError, tap::tap};
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
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
    /// - [`TapError::Empty`] if no newer event is available, or eight times in a row the writer
    ///   overwrote the newest event before it was copied.
    /// - [`TapError::Closed`] if the tap is closed and no event is left.
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

    /// Returns the newest readable entry from `next` on, and its position. Checks one slot after
    /// another only where the writer passed slots over.
    ///
    /// # Errors
    ///
    /// [`Absent::Overwritten`] if the writer has written newer events meanwhile,
    /// [`Absent::PassedOver`] if no entry is readable.
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

/// An iterator over the events that were available when [`TapReader::try_iter`] was called.
///
/// ```
/// use lapwing::tap::{TryIter, tap};
///
/// let (mut writer, mut reader) = tap::<u64>(8)?;
/// writer.write(0, &7);
/// let mut readings: TryIter<'_, u64> = reader.try_iter();
/// assert_eq!(readings.next().map(|reading| reading.event), Some(7));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "an iterator reads only as far as it is asked"]
pub struct TryIter<'a, E> {
    reader: &'a mut TapReader<E>,
    /// The writer's progress when the iteration began.
    end: u64,
}

impl<E: Copy> Iterator for TryIter<'_, E> {
    type Item = Reading<E>;

    fn next(&mut self) -> Option<Reading<E>> {
        if self.reader.next < self.end { self.reader.try_next().ok() } else { None }
    }
}

impl<E: Copy> FusedIterator for TryIter<'_, E> {}
