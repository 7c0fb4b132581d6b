//! How a reader of a tap waits: it polls, because the writer wakes no reader.

use std::iter::FusedIterator;
use std::time::{Duration, Instant};

use super::reader::{Reading, TapReader};
use crate::error::TapError;
use crate::sync::threads::sleep;
use crate::sync::{now, yield_now};
use crate::wait::Sleeping;

impl<E: Copy> TapReader<E> {
    /// Returns the next event, and waits for it for `timeout` at most.
    ///
    /// If the writer has overtaken the reader, this returns the oldest available event, or a newer
    /// one as [`try_next`](Self::try_next) describes. If `timeout` is too long for the clock, there
    /// is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{error::TapError, tap::tap};
    ///
    /// let (mut writer, mut reader) = tap::<u64>(8)?;
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(reader.next_timeout(limit), Err(TapError::Empty));
    /// writer.write(0, &7);
    /// assert_eq!(reader.next_timeout(limit)?.event, 7);
    /// drop(writer);
    /// assert_eq!(reader.next_timeout(limit), Err(TapError::Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TapError::Empty`] if no event came in time.
    /// - [`TapError::Closed`] if the tap is closed and no event is left.
    ///
    /// # Blocking
    ///
    /// Waits until the writer writes an event or closes the tap, or until `timeout` has passed. It
    /// polls as the iterator does, so it may return later than `timeout` by the time that the
    /// system takes to wake the thread. [`try_next`](Self::try_next) does not wait.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Reading<E>, TapError> {
        self.wait(now().checked_add(timeout))
    }

    /// Waits as [`Sleeping`] does by default, but without its spins: a reader that polls without
    /// pause would keep taking the cache line that the writer stores to.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Reading<E>, TapError> {
        let Sleeping { yields, sleep: length, .. } = Sleeping::default();
        let mut looks = 0_u32;
        loop {
            match self.try_next() {
                Err(TapError::Empty) => {}
                found => return found,
            }
            let left = deadline.map(|at| at.saturating_duration_since(now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(TapError::Empty);
            }
            if looks < yields {
                looks += 1;
                yield_now();
            } else {
                sleep(left.map_or(length, |left| left.min(length)));
            }
        }
    }
}

/// Waits for each event, and ends when the tap is closed and no event is left.
///
/// ```
/// use lapwing::tap::tap;
///
/// let (mut writer, mut reader) = tap::<u64>(8)?;
/// writer.write(0, &7);
/// drop(writer);
/// assert_eq!(reader.next().map(|reading| reading.event), Some(7));
/// assert_eq!(reader.next(), None);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// # Blocking
///
/// `next` waits until the writer writes an event or closes the tap.
/// [`try_next`](TapReader::try_next) does not wait.
impl<E: Copy> Iterator for TapReader<E> {
    type Item = Reading<E>;

    fn next(&mut self) -> Option<Reading<E>> {
        self.wait(None).ok()
    }
}

impl<E: Copy> FusedIterator for TapReader<E> {}
