//! What a producer does on a full ring.

use std::time::Instant;

use super::Producer;
use crate::Sequence;
use crate::control::Control;
use crate::error::{PublishTimeoutError, Stopped, TryPublishError};
use crate::sequencer::Sequencer;
use crate::wait::event_count::EventCount;
use crate::wait::{Awaited, WaitStrategy};

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
    /// How this producer waits on a full ring from now on, instead of by the ring's
    /// [`producer_wait`](crate::Builder::producer_wait). Of several producers each has its own;
    /// one that is cloned afterwards begins with this one's.
    ///
    /// Whether others look for sleepers is settled when the ring is built: where none of the
    /// strategies given there [parks](WaitStrategy::PARKS), one that parks sleeps in short pieces
    /// here, as [`Waiting::park`](crate::wait::Waiting::park) says.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, wait::{Blocking, BusySpin}};
    ///
    /// let (mut urgent, consumers) = Disruptor::multi_producer(1, || 0_u64)
    ///     .then("check", |event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// let mut patient = urgent.clone();
    /// urgent.set_wait(BusySpin);
    /// patient.set_wait(Blocking::default());
    ///
    /// let running = consumers.start()?;
    /// thread::scope(|scope| {
    ///     for producer in [&mut urgent, &mut patient] {
    ///         scope.spawn(|| (0..5).try_for_each(|_| producer.publish(|event| *event = 7).map(drop)));
    ///     }
    /// });
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_wait(&mut self, strategy: impl WaitStrategy) {
        self.strategy = Box::new(strategy);
    }

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
