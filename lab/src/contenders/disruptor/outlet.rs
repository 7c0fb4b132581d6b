//! A producer that does not wait forever. If a handler panics or an event is lost, the crate's own
//! `publish` and its drop, which joins the handlers, would block forever.

use std::mem;
use std::time::{Duration, Instant};

use disruptor::Producer;

use super::wait::Wait;
use crate::load::workload::Publish;
use crate::measure::crew::{Answers, Disconnected};

/// The time for which a producer waits for one slot, and for the end of all handlers.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Iterations between two clock reads; a power of two.
const TURNS_BETWEEN_LOOKS: u32 = 1 << 16;

/// A producer and how it waits.
pub(super) struct Outlet<P> {
    /// The producer, or `None` after it was abandoned.
    producer: Option<P>,
    wait: Wait,
    patience: Duration,
}

impl<P> Outlet<P> {
    /// Creates an outlet that waits for slots by `wait`.
    pub(super) fn new(producer: P, wait: Wait) -> Self {
        Self { producer: Some(producer), wait, patience: PATIENCE }
    }

    /// Runs `work`, which publishes. If that fails, the producer is leaked together with the ring
    /// and its handlers, because its drop would wait for handlers that may never end.
    ///
    /// # Errors
    ///
    /// The error of `work`.
    pub(super) fn run(
        &mut self,
        work: impl FnOnce(&mut Tap<'_, P>) -> Result<(), Disconnected>,
    ) -> Result<Answers, Disconnected> {
        let (wait, patience) = (self.wait, self.patience);
        let producer = self.producer.as_mut().ok_or(Disconnected)?;
        let outcome = work(&mut Tap { producer, wait, patience });
        if outcome.is_err()
            && let Some(producer) = self.producer.take()
        {
            mem::forget(producer);
        }
        outcome.map(|()| Answers::new())
    }
}

/// A producer at work.
pub(super) struct Tap<'a, P> {
    producer: &'a mut P,
    wait: Wait,
    patience: Duration,
}

impl<P> Tap<'_, P> {
    /// Publishes the events numbered `0..events`, each written by `write`.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if no slot became free within [`PATIENCE`].
    #[inline]
    pub(super) fn publish_all<E>(
        &mut self,
        events: u32,
        publish: Publish,
        write: impl Fn(&mut E, u32),
    ) -> Result<(), Disconnected>
    where
        P: Producer<E>,
    {
        match publish {
            Publish::One => {
                (0..events).try_for_each(|value| self.publish(|event| write(event, value)))
            }
            Publish::Batch(size) => self.publish_batches(events, size.get(), write),
        }
    }

    /// Publishes one event.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if no slot became free within [`PATIENCE`].
    #[inline]
    pub(super) fn publish<E>(&mut self, write: impl Fn(&mut E)) -> Result<(), Disconnected>
    where
        P: Producer<E>,
    {
        let mut turns = Turns::new(self.wait, self.patience);
        while self.producer.try_publish(&write).is_err() {
            turns.wait()?;
        }
        Ok(())
    }

    /// Publishes `size` events at a time, fewer at the end.
    #[inline]
    fn publish_batches<E>(
        &mut self,
        events: u32,
        size: usize,
        write: impl Fn(&mut E, u32),
    ) -> Result<(), Disconnected>
    where
        P: Producer<E>,
    {
        let mut next = 0;
        while next < events {
            let count = size.min((events - next) as usize);
            let mut turns = Turns::new(self.wait, self.patience);
            while self
                .producer
                .try_batch_publish(count, |slots| {
                    slots.zip(next..).for_each(|(event, value)| write(event, value));
                })
                .is_err()
            {
                turns.wait()?;
            }
            next += count as u32;
        }
        Ok(())
    }
}

/// The iterations of a producer that waits for a slot.
struct Turns {
    wait: Wait,
    patience: Duration,
    turns: u32,
    /// The first clock read.
    since: Option<Instant>,
}

impl Turns {
    #[inline]
    fn new(wait: Wait, patience: Duration) -> Self {
        Self { wait, patience, turns: 0, since: None }
    }

    /// Waits for a turn.
    #[inline]
    fn wait(&mut self) -> Result<(), Disconnected> {
        self.wait.wait_for_slot();
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(TURNS_BETWEEN_LOOKS) {
            self.look_at_the_clock()
        } else {
            Ok(())
        }
    }

    /// Fails if it has waited too long.
    #[cold]
    fn look_at_the_clock(&mut self) -> Result<(), Disconnected> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() < self.patience { Ok(()) } else { Err(Disconnected) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use disruptor::build_single_producer;

    use super::*;

    #[test]
    fn producer_gives_up_when_a_handler_never_comes_to_its_end() {
        let (release, released) = mpsc::channel::<()>();
        let (ended, end) = mpsc::channel();
        let producer = build_single_producer(2, || 0, Wait::Yield)
            .handle_events_with(move |_, _, _| {
                let _ = released.recv(); // until the test releases it
                let _ = ended.send(());
            })
            .build();
        let mut outlet = Outlet::new(producer, Wait::Yield);
        outlet.patience = Duration::from_millis(1);

        let write = |event: &mut u32, value| *event = value;
        let outcome = outlet.run(|tap| tap.publish_all(1_000, Publish::One, write));
        assert_eq!(outcome, Err(Disconnected));
        drop(release);
        assert!(end.recv().is_ok());
        assert_eq!(outlet.run(|_| Ok(())), Err(Disconnected));
    }
}
