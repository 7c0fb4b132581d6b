//! `event_channel`: events are written and read in their slots, without a stamp and without a copy.

use std::slice;

use crossbeam_utils::Backoff;
use photon_ring::{EventPublisher, EventSubscriber, event_channel};

use super::end::{self, End};
use super::{FEWEST_SLOTS, NAME, Wait};
use crate::contenders::over_rings::{Receiver, Rings, Sender};
use crate::measure::crew::Disconnected;

/// Event channels whose ends wait in this way. Their readers have no wait of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPlace(pub(super) Wait);

impl Rings for InPlace {
    const NAME: &'static str = NAME;
    const FEWEST_SLOTS: usize = FEWEST_SLOTS;

    type Sender<const N: usize, const READERS: usize> = SendEnd<N>;
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        match self.0 {
            Wait::Own(_) => "in-place-spin",
            Wait::Yield => "in-place-yield",
        }
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> (SendEnd<N>, [ReceiveEnd<N>; READERS]) {
        let (publisher, subscribers) = event_channel(slots, || [0; N]);
        let receivers = [(); READERS].map(|()| {
            let subscriber = subscribers.subscribe();
            ReceiveEnd { subscriber, wait: self.0 }
        });
        (SendEnd { publisher, wait: self.0, end: End::default() }, receivers)
    }

    #[inline]
    fn idle(self, backoff: &Backoff) {
        self.0.turn(backoff);
    }
}

/// The sending end.
pub(super) struct SendEnd<const N: usize> {
    publisher: EventPublisher<[u64; N]>,
    wait: Wait,
    end: End,
}

impl<const N: usize> Sender<N> for SendEnd<N> {
    /// Sends an event. Dropped readers do not hold the sender back, so it never fails.
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        match self.wait {
            Wait::Own(_) => self.publisher.publish(|slot| *slot = event),
            Wait::Yield => {
                let backoff = Backoff::new();
                while !self.publisher.try_publish(|slot| *slot = event) {
                    backoff.snooze();
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        let publisher = &mut self.publisher;
        self.end.mark(|mark| publisher.try_publish(|slot| *slot = mark));
    }
}

impl<const N: usize> Drop for SendEnd<N> {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The end of one reader.
pub(super) struct ReceiveEnd<const N: usize> {
    subscriber: EventSubscriber<[u64; N]>,
    wait: Wait,
}

impl<const N: usize> ReceiveEnd<N> {
    /// Passes the next event in its slot to `each`, as soon as it is available.
    #[inline]
    fn wait_for(
        &mut self,
        mut each: impl FnMut(&[u64; N]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let backoff = Backoff::new();
        loop {
            match self.subscriber.process(|event| end::check(event).and_then(|()| each(event))) {
                Some(outcome) => return outcome.map(|()| 1),
                None => self.wait.turn(&backoff),
            }
        }
    }
}

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    #[inline]
    fn try_receive(
        &mut self,
        _limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let received = self
            .subscriber
            .process(|event| end::check(event).and_then(|()| each(slice::from_ref(event))));
        received.map_or(Ok(0), |outcome| outcome.map(|()| 1))
    }

    #[inline]
    fn receive(
        &mut self,
        _limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        self.wait_for(|event| each(slice::from_ref(event)))
    }

    #[inline]
    fn receive_both(
        &mut self,
        other: &mut Self,
        _limit: usize,
        mut each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected> {
        self.wait_for(|own| {
            other.wait_for(|others| {
                each(own, others);
                Ok(())
            })?;
            Ok(())
        })
    }
}
