//! Why a slice was not copied into a batch.

use std::error::Error;
use std::fmt;

/// Error of [`Slots::copy_from_slice`](crate::producer::Slots::copy_from_slice) and
/// [`clone_from_slice`](crate::producer::Slots::clone_from_slice). No slot was written.
///
/// ```
/// use lapwing::{Disruptor, error::LengthError};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
///
/// let mut batch = producer.claim_batch(3)?;
/// let error = batch.slots().copy_from_slice(&[7, 8]).unwrap_err();
/// assert_eq!(error, LengthError { events: 2, slots: 3 });
/// assert_eq!(error.to_string(), "a slice must have one event for each slot: events=2, slots=3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthError {
    /// Number of events in the slice.
    pub events: usize,
    /// Number of slots in the batch.
    pub slots: usize,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, slots } = self;
        write!(f, "a slice must have one event for each slot: events={events}, slots={slots}")
    }
}

impl Error for LengthError {}
