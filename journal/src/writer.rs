//! The stage that writes: each batch becomes a frame. Not here: where frames go (`core`).

use std::marker::PhantomData;
use std::sync::Arc;

use lapwing::Sequence;
use lapwing::consumer::{BatchHandler, Done, Shared};

use crate::core::{Core, Writing};
use crate::encoding::Encoding;
use crate::error::WriteError;

/// Writes batches of events. When the stage releases them, the system has them, and they survive a
/// crash of the program.
///
/// It is the handler of a stage: see [`read_batch_handler`](lapwing::Stage::read_batch_handler). An
/// error halts the ring, unless the stage has a policy such as [`WaitForSpace`](crate::WaitForSpace).
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
        core.give_up_unwritten();
        core.syncing.set_writer_ended(false);
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
        let recorded = recorded(&writing, first, events.len() as u64, self.core.replayed())?;
        writing.unwritten = Some(first);
        let (mut events, mut first) = (&events[recorded..], first + recorded as u64);
        while !events.is_empty() {
            let limit = self.core.body_limit as usize;
            let (count, body) = next_frame::<E, T>(events, limit, &mut self.body);
            if count == 0 {
                return Err(WriteError::TooLarge { sequence: first, limit });
            }
            // A frame has at most `MAX_BODY_BYTES`, and an event has at least one byte there.
            self.core.write_frame(&mut writing, first, count as u32, body)?;
            events = &events[count..];
            first += count as u64;
        }
        writing.unwritten = None;
        Ok(())
    }
}

impl<E, T: Encoding<E>> BatchHandler<E, Shared, Result<(), WriteError>> for Writer<E, T> {
    fn on_start(&mut self) {
        self.core.syncing.set_writer_ended(false);
    }

    fn on_batch(&mut self, events: &[E], first: Sequence, _: Done<'_>) -> Result<(), WriteError> {
        self.write(events, first)
    }

    fn on_shutdown(&mut self) {
        self.core.syncing.set_writer_ended(true);
    }
}

/// Returns how many events of a batch are recorded already: by an earlier attempt to write it, or
/// because a replay has published them.
fn recorded(
    writing: &Writing,
    first: Sequence,
    length: u64,
    replayed: Sequence,
) -> Result<usize, WriteError> {
    let expected = writing.next;
    let is_retry = writing.unwritten == Some(first);
    if let Some(missing) = writing.unwritten
        && !is_retry
    {
        return Err(WriteError::Skipped { first, missing });
    }
    let known = if is_retry { expected } else { replayed };
    let below = expected.min(first + length);
    if first < below && known < below {
        return Err(WriteError::AlreadyRecorded { first, expected });
    }
    Ok(below.saturating_sub(first) as usize)
}

/// Returns the number of events of the next frame, and their bytes. 0 events if not even one fits.
fn next_frame<'a, E, T: Encoding<E>>(
    events: &'a [E],
    limit: usize,
    body: &'a mut Vec<u8>,
) -> (usize, &'a [u8]) {
    match T::as_bytes(events) {
        Some(bytes) if T::EVENT_BYTES > 0 => {
            let count = events.len().min(limit / T::EVENT_BYTES);
            (count, &bytes[..count * T::EVENT_BYTES])
        }
        _ => encode::<E, T>(events, limit, body),
    }
}

/// Encodes as many events as fit. Events of different lengths have their length before them.
fn encode<'a, E, T: Encoding<E>>(
    events: &[E],
    limit: usize,
    body: &'a mut Vec<u8>,
) -> (usize, &'a [u8]) {
    body.clear();
    for (index, event) in events.iter().enumerate() {
        let begin = body.len();
        if T::EVENT_BYTES == 0 {
            body.extend_from_slice(&[0; 4]);
        }
        T::encode(event, body);
        if body.len() > limit {
            body.truncate(begin);
            return (index, body);
        }
        if T::EVENT_BYTES == 0 {
            let length = (body.len() - begin - 4) as u32; // at most `limit`
            body[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
    (events.len(), body)
}
