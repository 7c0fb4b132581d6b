//! The policy of a stage that waits for space on a full disk, and for file descriptors.

use std::time::Duration;

use lapwing::Action;
use lapwing::consumer::{Cause, Failure, FailurePolicy};

use crate::error::WriteError;

/// A policy for the stage of the [`Writer`](crate::Writer): it waits for space on a full disk, and
/// then writes the batch. It waits also if a segment cannot be made because the process or the system
/// has no free file descriptor. Each other error halts the ring.
///
/// While the stage waits, the ring fills, and then its producers wait. Nothing is lost.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing_journal::{Journal, WaitForSpace};
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::<u64>::open(folder.path())?;
/// let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .first_sequence(journal.next_sequence())
///     .stage("journal").may_block().on_error(WaitForSpace::default())
///     .read_batch_handler(journal.writer())
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 7)?;
/// running.shutdown()?;
/// assert_eq!(journal.next_sequence(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitForSpace {
    pause: Duration,
}

impl WaitForSpace {
    /// Pause of the default. An attempt fails within microseconds on a full disk.
    const PAUSE: Duration = Duration::from_millis(100);

    /// Creates a policy that tries to write again after each `pause`.
    #[must_use]
    pub const fn every(pause: Duration) -> Self {
        Self { pause }
    }
}

impl Default for WaitForSpace {
    /// Creates a policy that tries 10 times a second.
    fn default() -> Self {
        Self::every(Self::PAUSE)
    }
}

impl FailurePolicy for WaitForSpace {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        match failure.cause() {
            Cause::Error(error) if error.downcast_ref().is_some_and(WriteError::is_shortage) => {
                Action::Rewind(self.pause)
            }
            _ => Action::Halt,
        }
    }
}
