//! How far another process has the commands. Not here: how it says so.

use std::error::Error;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lapwing::Sequence;

/// The sequence below which another process has all commands. Answers can wait for it:
/// [`Opened::confirmed_by`](super::Opened::confirmed_by).
///
/// ```
/// use exchange::service::Confirmed;
///
/// let confirmed = Confirmed::new(5);
/// confirmed.note(9);
/// confirmed.note(7); // an older message
/// assert_eq!(confirmed.end(), 9);
/// ```
#[derive(Debug)]
pub struct Confirmed {
    position: Mutex<Position>,
    changed: Condvar,
}

#[derive(Debug)]
struct Position {
    end: Sequence,
    is_given_up: bool,
}

/// Commands are not confirmed, and no confirmation is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotConfirmed {
    /// The sequence of the first one.
    pub first: Sequence,
}

impl Confirmed {
    /// Creates a position. The commands below `end` need no confirmation.
    #[must_use]
    pub fn new(end: Sequence) -> Self {
        let position = Mutex::new(Position { end, is_given_up: false });
        Self { position, changed: Condvar::new() }
    }

    /// Notes that the commands below `end` are confirmed. An older position changes nothing.
    pub fn note(&self, end: Sequence) {
        let mut position = self.lock();
        if end > position.end {
            position.end = end;
            self.changed.notify_all();
        }
    }

    /// Returns the sequence below which all commands are confirmed.
    #[must_use]
    pub fn end(&self) -> Sequence {
        self.lock().end
    }

    /// Awaits no further confirmation: an exchange whose answers need one fails.
    ///
    /// Call it to end an exchange whose other process is gone. The answers are not sent.
    pub fn give_up(&self) {
        self.lock().is_given_up = true;
        self.changed.notify_all();
    }

    /// Waits until the commands below `end` are confirmed, at most for `timeout`. Returns whether
    /// they are.
    pub(super) fn wait(&self, end: Sequence, timeout: Duration) -> Result<bool, NotConfirmed> {
        let is_open = |position: &mut Position| position.end < end && !position.is_given_up;
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, is_open);
        let (position, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match position.end >= end {
            false if position.is_given_up => Err(NotConfirmed { first: position.end }),
            is_confirmed => Ok(is_confirmed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for NotConfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "commands are not confirmed by the other process: first={}", self.first)
    }
}

impl Error for NotConfirmed {}
