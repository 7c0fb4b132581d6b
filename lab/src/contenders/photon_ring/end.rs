//! The mark after the last event. A reader that waits in the crate does not learn that its sender
//! is gone or that an event was lost. The mark ends its wait.

use std::thread;
use std::time::{Duration, Instant};

use crate::measure::crew::Disconnected;

/// The first word of the mark. No event begins with it.
const MARK: u64 = u64::MAX;
/// The time for which a sender tries to write the mark into a full ring.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a sender has written its mark.
#[derive(Default)]
pub(super) struct End {
    is_marked: bool,
}

impl End {
    /// Writes the mark once, by `try_send`, which returns whether a slot was free.
    pub(super) fn mark<const N: usize>(&mut self, mut try_send: impl FnMut([u64; N]) -> bool) {
        if self.is_marked {
            return;
        }
        self.is_marked = true;
        let since = Instant::now();
        while !try_send([MARK; N]) && since.elapsed() < PATIENCE {
            thread::yield_now();
        }
    }
}

/// Refuses the mark, because its reader still waits for an event.
///
/// # Errors
///
/// [`Disconnected`] if `event` is the mark.
#[inline]
pub(super) fn check<const N: usize>(event: &[u64; N]) -> Result<(), Disconnected> {
    if event[0] == MARK { Err(Disconnected) } else { Ok(()) }
}
