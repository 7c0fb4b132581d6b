//! The stage that writes: each batch becomes a frame. Not here: where frames go (`writing`).

use std::marker::PhantomData;
use std::sync::Arc;

use lapwing::Sequence;
use lapwing::consumer::{BatchHandler, Done, Failure, Shared};

use crate::body;
use crate::core::Core;
use crate::encoding::Encoding;
use crate::error::WriteError;

/// Writes batches of events. When the stage releases them, the system has them, and they survive a
/// crash of the program.
///
/// It is the handler of a stage: see [`read_batch_handler`](lapwing::Stage::read_batch_handler). An
/// error halts the ring, unless the stage has a policy such as [`WaitForSpace`](crate::WaitForSpace).
/// It also writes the events that a stage upstream of it has [skipped](lapwing::Action::Skip).
#[derive(Debug)]
pub struct Writer<E, T> {
    core: Arc<Core>,
    /// Encoded events.
    body: Vec<u8>,
    events: PhantomData<fn(T) -> E>,
}

impl<E, T: Encoding<E>> Writer<E, T> {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        // A new ring does not publish again what the last one could not write.
        if let Ok(mut writing) = core.writing() {
            writing.give_up_batch();
        }
        core.syncing().set_writer_ended(false);
        Self { core, body: Vec::new(), events: PhantomData }
    }

    /// Writes `events`, the first of which has the sequence `first`. Skips what a
    /// [replay](crate::Replay) has published and the journal has.
    ///
    /// A `first` above the end of the journal leaves a gap. This is right for claims that were
    /// given up, and such gaps are recorded.
    ///
    /// # Errors
    ///
    /// - [`WriteError::File`] if the system refused a call. The same batch may be written again,
    ///   also with further events at its end.
    /// - [`WriteError::SyncFailed`] after a failed sync, [`WriteError::Closed`] after a close.
    /// - [`WriteError::AlreadyRecorded`], [`WriteError::Skipped`] if the batch does not continue
    ///   the journal.
    /// - [`WriteError::TooLarge`] if an event does not fit into a frame.
    pub fn write(&mut self, events: &[E], first: Sequence) -> Result<(), WriteError> {
        let mut writing = self.core.writing()?;
        let replayed = self.core.replayed();
        let recorded = writing.begin_batch(first, events.len() as u64, replayed)?;
        let (mut events, mut first) = (&events[recorded..], first + recorded as u64);
        while !events.is_empty() {
            let limit = self.core.body_limit() as usize;
            let (count, body) = body::encode::<E, T>(events, limit, &mut self.body);
            if count == 0 {
                return Err(WriteError::TooLarge { sequence: first, limit });
            }
            // A frame has at most 16 MiB, and an event has at least one byte there.
            writing.write_frame(first, count as u32, body)?;
            events = &events[count..];
            first += count as u64;
        }
        writing.end_batch();
        Ok(())
    }
}

impl<E, T: Encoding<E>> BatchHandler<E, Shared, Result<(), WriteError>> for Writer<E, T> {
    fn on_start(&mut self) {
        self.core.syncing().set_writer_ended(false);
    }

    fn on_batch(&mut self, events: &[E], first: Sequence, _: Done<'_>) -> Result<(), WriteError> {
        self.write(events, first)
    }

    /// The journal has each event, also one that an upstream stage has skipped.
    fn on_failed_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        _: Done<'_>,
        _: &Failure<'_>,
    ) -> Result<(), WriteError> {
        self.write(events, first)
    }

    fn on_shutdown(&mut self) {
        self.core.syncing().set_writer_ended(true);
    }
}
