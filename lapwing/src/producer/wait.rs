//! What a producer does on a full ring.

use std::time::Instant;

use super::Producer;
use crate::Sequence;
use crate::control::Control;
use crate::error::{PublishTimeoutError, Stopped, TryPublishError};
use crate::sequencer::Sequencer;
use crate::wait::Awaited;
use crate::wait::event_count::EventCount;

/// The wait of a producer for `count` free slots.
#[derive(Debug)]
struct FreeSlots<'a, S> {
    control: &'a Control,
    sequencer: &'a S,
    count: u64,
}

impl<S: Sequencer> Awaited for FreeSlots<'_, S> {
    fn is_over(&self) -> bool {
        self.sequencer.is_claimable(self.control, self.count)
    }

    fn event_count(&self) -> &EventCount {
        // The slowest consumer must get past the last sequence before the wrap point.
        let wrap_point = self.sequencer.wrap_point(self.control, self.count);
        self.control.behind(&self.control.gating, wrap_point.saturating_sub(1))
    }
}

impl<E, S: Sequencer> Producer<E, S> {
    /// Claims `count` sequences, waiting for free slots.
    #[cold]
    pub(super) fn wait_to_claim(&mut self, count: u64) -> Result<Sequence, Stopped> {
        loop {
            match self.wait_to_claim_until(count, None) {
                Ok(first) => return Ok(first),
                Err(PublishTimeoutError::Closed) => return Err(Stopped::Closed),
                Err(PublishTimeoutError::Halted) => return Err(Stopped::Halted),
                Err(PublishTimeoutError::TimedOut) => {}
            }
        }
    }

    /// As [`wait_to_claim`](Self::wait_to_claim), until `deadline` if there is one.
    #[cold]
    pub(super) fn wait_to_claim_until(
        &mut self,
        count: u64,
        deadline: Option<Instant>,
    ) -> Result<Sequence, PublishTimeoutError> {
        let mut is_expired = false;
        loop {
            match self.sequencer.try_claim(&self.ring.control, count) {
                Ok(first) => return Ok(first),
                Err(TryPublishError::Closed) => return Err(PublishTimeoutError::Closed),
                Err(TryPublishError::Halted) => return Err(PublishTimeoutError::Halted),
                Err(TryPublishError::Full) if is_expired => {
                    return Err(PublishTimeoutError::TimedOut);
                }
                Err(TryPublishError::Full) => {}
            }
            let control = &self.ring.control;
            let awaited = FreeSlots { control, sequencer: &self.sequencer, count };
            let waiting = control.waiting(&awaited, deadline);
            self.strategy.wait(&waiting);
            is_expired = waiting.is_expired();
        }
    }
}
