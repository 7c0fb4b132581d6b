//! `channel_bounded`: a stamp and a copy of the event in each slot.

use std::slice;

use crossbeam_utils::Backoff;
use photon_ring::{
    PublishError, Publisher, Subscriber, TryRecvError, WaitStrategy, channel_bounded,
};

use super::end::{self, End};
use super::{FEWEST_SLOTS, NAME, Wait};
use crate::contenders::over_rings::{Receiver, Rings, Sender};
use crate::measure::crew::Disconnected;

/// Bounded channels whose ends wait in this way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded(pub(super) Wait);

impl Rings for Bounded {
    const NAME: &'static str = NAME;
    const FEWEST_SLOTS: usize = FEWEST_SLOTS;

    type Sender<const N: usize, const READERS: usize> = SendEnd<N>;
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        match self.0 {
            Wait::Own(WaitStrategy::BusySpin) => "busy-spin",
            Wait::Own(WaitStrategy::YieldSpin) => "yield-spin",
            Wait::Own(WaitStrategy::BackoffSpin) => "backoff-spin",
            Wait::Own(WaitStrategy::Adaptive { .. }) => "adaptive",
            Wait::Own(WaitStrategy::MonitorWaitFallback) => "monitor-wait",
            Wait::Yield => "yield",
        }
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> (SendEnd<N>, [ReceiveEnd<N>; READERS]) {
        let (publisher, subscribers) = channel_bounded(slots, 0);
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
    publisher: Publisher<[u64; N]>,
    wait: Wait,
    end: End,
}

impl<const N: usize> Sender<N> for SendEnd<N> {
    /// Sends an event. Dropped readers do not hold the sender back, so it never fails.
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        match self.wait {
            Wait::Own(_) => self.publisher.publish(event),
            Wait::Yield => {
                let backoff = Backoff::new();
                let mut unsent = event;
                while let Err(PublishError::Full(returned)) = self.publisher.try_publish(unsent) {
                    unsent = returned;
                    backoff.snooze();
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        let publisher = &mut self.publisher;
        self.end.mark(|mark| publisher.try_publish(mark).is_ok());
    }
}

impl<const N: usize> Drop for SendEnd<N> {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The end of one reader.
pub(super) struct ReceiveEnd<const N: usize> {
    subscriber: Subscriber<[u64; N]>,
    wait: Wait,
}

impl<const N: usize> ReceiveEnd<N> {
    /// Returns the next event, if it is available.
    #[inline]
    fn try_next(&mut self) -> Result<Option<[u64; N]>, Disconnected> {
        match self.subscriber.try_recv() {
            Ok(event) => end::check(&event).map(|()| Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Lagged { .. }) => Err(Disconnected),
        }
    }

    /// Returns the next event. The crate's own waits skip lost events. The end mark then comes
    /// early.
    #[inline]
    fn next(&mut self) -> Result<[u64; N], Disconnected> {
        match self.wait {
            Wait::Own(strategy) => {
                let event = self.subscriber.recv_with(strategy);
                end::check(&event).map(|()| event)
            }
            Wait::Yield => {
                let backoff = Backoff::new();
                loop {
                    match self.try_next()? {
                        Some(event) => return Ok(event),
                        None => backoff.snooze(),
                    }
                }
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
        match self.try_next()? {
            Some(event) => each(slice::from_ref(&event)).map(|()| 1),
            None => Ok(0),
        }
    }

    #[inline]
    fn receive(
        &mut self,
        _limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let event = self.next()?;
        each(slice::from_ref(&event)).map(|()| 1)
    }

    #[inline]
    fn receive_both(
        &mut self,
        other: &mut Self,
        _limit: usize,
        mut each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected> {
        let (own, others) = (self.next()?, other.next()?);
        each(&own, &others);
        Ok(1)
    }
}
