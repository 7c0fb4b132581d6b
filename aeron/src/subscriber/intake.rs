//! How one message becomes events of the ring: which of them are new, how many slots are free, and
//! what is told to the user. Not here: where messages come from (`mod`).

use std::time::Duration;

use lapwing::error::{BatchError, RingError};
use lapwing::producer::{ClaimBatch, Producer, Sequencer, WhenFull};

use super::known::{Fit, Known};
use super::unpack::{Undecodable, Unpack};
use crate::frame::Frame;
use crate::notice::Notice;

/// What the intake does between two polls.
pub(super) struct Kept<E> {
    unpack: Box<dyn Unpack<E>>,
    known: Known,
    schema: u32,
}

impl<E> Kept<E> {
    pub(super) fn new(unpack: Box<dyn Unpack<E>>) -> Self {
        Self { unpack, known: Known::default(), schema: 0 }
    }

    pub(super) fn set_schema(&mut self, schema: u32) {
        self.schema = schema;
    }

    /// Notes that an image has gone.
    pub(super) fn lose(&mut self, session: i32) {
        self.known.lose(session);
    }

    /// Notes that all images have gone.
    pub(super) fn lose_all(&mut self) {
        self.known.lose_all();
    }
}

/// The way of messages into a ring, for one poll.
pub(super) struct Intake<'a, E, S: Sequencer> {
    kept: &'a mut Kept<E>,
    producer: &'a mut Producer<E, S>,
    on_notice: &'a mut dyn FnMut(Notice),
    /// How long to wait for a free slot.
    patience: Duration,
    /// Events that the ring has accepted.
    accepted: usize,
}

/// Why a message is not finished. It comes again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The ring is full.
    Full,
    /// The ring accepts no event.
    Stopped(RingError),
    /// Messages of an older image come first.
    Early,
}

impl<'a, E, S: Sequencer> Intake<'a, E, S> {
    /// Waits up to `patience` for a free slot.
    pub(super) fn new(
        kept: &'a mut Kept<E>,
        producer: &'a mut Producer<E, S>,
        on_notice: &'a mut dyn FnMut(Notice),
        patience: Duration,
    ) -> Self {
        Self { kept, producer, on_notice, patience, accepted: 0 }
    }

    /// Returns how many events the ring has accepted.
    pub(super) fn accepted(&self) -> usize {
        self.accepted
    }

    /// Publishes the events of a message that were not published before.
    pub(super) fn take(&mut self, session: i32, message: &[u8]) -> Result<(), Unfinished> {
        let event_bytes = self.kept.unpack.event_bytes();
        match Frame::read(message, self.kept.schema, event_bytes) {
            Ok((frame, body)) => self.take_events(&frame, body, session),
            Err(reason) => {
                (self.on_notice)(Notice::Rejected { session, reason });
                Ok(())
            }
        }
    }

    fn take_events(&mut self, frame: &Frame, body: &[u8], session: i32) -> Result<(), Unfinished> {
        let mut done = self.delivered(frame, session)?;
        let count = frame.count as usize;
        while done < count {
            match self.publish(body, done, count - done)? {
                Ok(published) => done += published,
                Err(undecodable) => done += self.skip(frame, done, undecodable, body)?,
            }
        }
        Ok(())
    }

    /// Returns how many of the first events were delivered before. Tells what is missing or new.
    fn delivered(&mut self, frame: &Frame, session: i32) -> Result<usize, Unfinished> {
        let publisher = frame.publisher;
        match self.kept.known.fit(frame, session) {
            Fit::Delivered(events) => return Ok(events),
            Fit::Early => return Err(Unfinished::Early),
            Fit::Follows => {}
            Fit::New => (self.on_notice)(Notice::PublisherSeen { publisher, first: frame.first }),
            Fit::Gap(missing) => (self.on_notice)(Notice::Gap { publisher, missing }),
        }
        Ok(0)
    }

    /// Publishes at most `most` events after the first `done`, as many as there are free slots. If
    /// one cannot be decoded, publishes none.
    fn publish(
        &mut self,
        body: &[u8],
        done: usize,
        most: usize,
    ) -> Result<Result<usize, Undecodable>, Unfinished> {
        let mut claim = claim(self.producer, most, self.patience)?;
        let events = claim.len();
        if let Err(undecodable) = self.kept.unpack.unpack(body, done, claim.slots()) {
            return Ok(Err(undecodable));
        }
        claim.publish().map_err(Unfinished::Stopped)?;
        self.kept.known.advance(events);
        self.accepted += events;
        Ok(Ok(events))
    }

    /// Publishes the events before one that cannot be decoded, or skips that one if it is the
    /// first.
    fn skip(
        &mut self,
        frame: &Frame,
        done: usize,
        mut undecodable: Undecodable,
        body: &[u8],
    ) -> Result<usize, Unfinished> {
        while undecodable.index > 0 {
            match self.publish(body, done, undecodable.index)? {
                Ok(published) => return Ok(published),
                // The decoder refuses what it took before. It is an earlier event in each round.
                Err(earlier) => undecodable = earlier,
            }
        }
        let Undecodable { reason, .. } = undecodable;
        let sequence = frame.first + done as u64;
        (self.on_notice)(Notice::Undecodable { publisher: frame.publisher, sequence, reason });
        self.kept.known.advance(1);
        Ok(1)
    }
}

/// Claims the free slots, at least one and at most `most`.
fn claim<E, S: Sequencer>(
    producer: &mut Producer<E, S>,
    most: usize,
    patience: Duration,
) -> Result<ClaimBatch<'_, E, S>, Unfinished> {
    let when_full = if patience.is_zero() { WhenFull::Refuse } else { WhenFull::Timeout(patience) };
    match producer.claim_up_to_or(most, when_full) {
        Ok(Some(claim)) => Ok(claim),
        Err(BatchError::Closed) => Err(Unfinished::Stopped(RingError::Closed)),
        Err(BatchError::Halted(cause)) => Err(Unfinished::Stopped(RingError::Halted(cause))),
        // `WouldDeadlock`: the caller handles an event of this ring, and the next poll may find a
        // slot.
        Ok(None) | Err(_) => Err(Unfinished::Full),
    }
}
