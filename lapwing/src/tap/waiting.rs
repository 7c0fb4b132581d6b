//! How a reader of a tap waits without anybody's help: by looking again.

use std::iter::FusedIterator;
use std::thread;
use std::time::{Duration, Instant};

use super::reader::{Reading, TapReader};
use crate::error::{TapError, TapTimeoutError};
use crate::sync::yield_now;
use crate::wait::Sleeping;

impl<E: Copy> TapReader<E> {
    /// As [`try_next`](Self::try_next), but waits for an event, for `timeout` at most. One that is
    /// too long for the clock is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::error::TapTimeoutError;
    ///
    /// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(reader.next_timeout(patience), Err(TapTimeoutError::TimedOut));
    /// writer.write(0, &7);
    /// assert_eq!(reader.next_timeout(patience)?.event, 7);
    /// drop(writer);
    /// assert_eq!(reader.next_timeout(patience), Err(TapTimeoutError::Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TapTimeoutError::TimedOut`] if nothing came, [`TapTimeoutError::Closed`] if there will
    /// never be anything.
    ///
    /// # Blocking
    ///
    /// Looks again and again, as the iterator does, for `timeout` and the time that the system
    /// takes to wake the thread.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Reading<E>, TapTimeoutError> {
        self.wait(Instant::now().checked_add(timeout))
    }

    /// Waits as [`Sleeping`] does by default, but without its spins: who looks as fast as it can
    /// takes the line that the writer stores to.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Reading<E>, TapTimeoutError> {
        let Sleeping { yields, sleep, .. } = Sleeping::default();
        let mut looks = 0_u32;
        loop {
            match self.try_next() {
                Ok(reading) => return Ok(reading),
                Err(TapError::Closed) => return Err(TapTimeoutError::Closed),
                Err(TapError::Empty) => {}
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(TapTimeoutError::TimedOut);
            }
            if looks < yields {
                looks += 1;
                yield_now();
            } else {
                thread::sleep(left.map_or(sleep, |left| left.min(sleep)));
            }
        }
    }
}

/// Waits for each event; ends when the tap is closed and everything that is left has been read.
///
/// ```
/// # let (mut writer, mut reader) = lapwing::tap::tap::<u64>(8)?;
/// writer.write(0, &7);
/// drop(writer);
/// assert_eq!(reader.next().map(|reading| reading.event), Some(7));
/// assert_eq!(reader.next(), None);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// # Blocking
///
/// Until the writer has written something or closes. [`try_next`](TapReader::try_next) does not.
impl<E: Copy> Iterator for TapReader<E> {
    type Item = Reading<E>;

    fn next(&mut self) -> Option<Reading<E>> {
        self.wait(None).ok()
    }
}

impl<E: Copy> FusedIterator for TapReader<E> {}
