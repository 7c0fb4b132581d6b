//! Shared work: several producers and several consumers. Exactly one of the consumers handles each
//! event.
//!
//! ```text
//! P1 --+              +--> EP1
//! P2 --+--> events ---+--> EP2
//! ..   |              |    ..
//! Pp --+              +--> EPc
//! ```

use std::fmt;

use crate::load::queue::{Queue, Receiver, Sender};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, Disconnected, Finish, RunError};

/// The bits of an event that hold its number. The bits above hold its producer's number.
const NUMBER_BITS: u32 = 32;
/// A multiplier that spreads the bits of an event. It is odd, so different events stay different.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Threads at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// Threads that publish, at least 1.
    pub(crate) producers: u32,
    /// Threads that share the events, at least 1.
    pub(crate) consumers: u32,
}

/// The events, threads and slots of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// The numbers of producers and consumers.
    pub(crate) crowd: Crowd,
    /// Events of all producers together, at least 1.
    pub(crate) events: u32,
    /// Slots of the ring or of the queue; a power of two.
    pub(crate) ring: usize,
    /// The placement of the threads.
    pub(crate) placement: Placement,
}

/// A queue whose events several consumers can share.
pub(crate) trait SharedQueue: Queue {
    /// Shares events over one queue with a cloned receiving end, if it can be cloned.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    fn share(sharing: &Sharing) -> Result<Finish, RunError>;
}

/// The answer of consumers over their events. It does not depend on the consumer or the order. An
/// event that is lost, handled twice or damaged changes it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum {
    events: u64,
    sum: u64,
}

/// One of several consumers that all see every event. It handles every `consumers`th event, from
/// its own number on. The test `sequence % consumers == own` is a countdown instead of a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EveryNth {
    consumers: u32,
    /// Events of other consumers before its next own event.
    others_first: u32,
    sum: Checksum,
}

impl Crowd {
    /// Returns the number of all threads.
    pub(crate) const fn threads(self) -> usize {
        (self.producers + self.consumers) as usize
    }
}

impl fmt::Display for Crowd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}P-{}C", self.producers, self.consumers)
    }
}

impl Sharing {
    /// Returns the number of events that the producer numbered `origin` publishes: an equal share,
    /// with the remainder spread over the first producers.
    pub(crate) const fn share(&self, origin: u32) -> u32 {
        let producers = self.crowd.producers;
        let takes_one_more = origin < self.events % producers;
        self.events / producers + takes_one_more as u32
    }

    /// Returns the answers of a plain loop.
    pub(crate) fn expected(&self) -> Answers {
        let mut sum = Checksum::default();
        for origin in 0..self.crowd.producers {
            (0..self.share(origin)).for_each(|number| sum.add(event(origin, number)));
        }
        sum.answers()
    }
}

impl Checksum {
    /// Adds an event. This takes a few instructions, so the work hardly limits a contender.
    #[inline]
    pub(crate) fn add(&mut self, event: u64) {
        // A sum of the events alone would miss the loss of two events together with a duplicate of
        // a third that equals their sum.
        let product = event.wrapping_add(1).wrapping_mul(SPREAD);
        self.sum = self.sum.wrapping_add(product ^ (product >> 32));
        self.events += 1;
    }

    /// Returns the number of events and their sum.
    pub(crate) fn answers(self) -> Answers {
        vec![self.events, self.sum]
    }

    /// Returns the answers of all consumers together, from the [`answers`](Self::answers) of each.
    pub(crate) fn total(each: &[u64]) -> Answers {
        let answer = |index: usize| each.iter().skip(index).step_by(2);
        let sum = answer(1).fold(0, |sum: u64, one| sum.wrapping_add(*one));
        vec![answer(0).sum(), sum]
    }
}

impl EveryNth {
    /// Creates the consumer numbered `own` of `consumers`.
    pub(crate) fn new(own: u32, consumers: u32) -> Self {
        Self { consumers, others_first: own, sum: Checksum::default() }
    }

    /// Receives the next event, and handles it if it is one of its own.
    #[inline]
    pub(crate) fn see(&mut self, event: u64) {
        if self.others_first == 0 {
            self.others_first = self.consumers;
            self.sum.add(event);
        }
        self.others_first -= 1;
    }

    /// Returns its answers over its own events.
    pub(crate) fn answers(self) -> Answers {
        self.sum.answers()
    }
}

/// Returns the event with this `number` of the producer numbered `origin`.
#[inline]
pub(crate) const fn event(origin: u32, number: u32) -> u64 {
    (origin as u64) << NUMBER_BITS | number as u64
}

/// Runs over one queue of kind `Q` whose ends are cloned.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn over_one_queue<Q: Queue>(sharing: &Sharing) -> Result<Finish, RunError>
where
    Q::Receiver<u64>: Clone,
{
    let (sender, receiver) = Q::bounded::<u64>(sharing.ring);
    let mut crew = Crew::new(sharing.placement);
    for origin in 0..sharing.crowd.producers {
        enlist_producer(&mut crew, sharing, origin, sender.clone(), |sender, event| {
            sender.send(event)
        });
    }
    drop(sender); // only the producers keep the queue open
    for _ in 1..sharing.crowd.consumers {
        enlist_consumer(&mut crew, receiver.clone());
    }
    enlist_consumer(&mut crew, receiver);
    finish(crew)
}

/// Runs over one queue of kind `Q` per consumer, because its receiving end cannot be shared.
/// Producers send to the queues in turn. The queues together have as many slots as one queue would
/// have.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn over_dealt_queues<Q: Queue>(sharing: &Sharing) -> Result<Finish, RunError> {
    let consumers = sharing.crowd.consumers as usize;
    let slots = (sharing.ring / consumers).max(1);
    let queues = (0..consumers).map(|_| Q::bounded::<u64>(slots));
    let (senders, receivers): (Vec<_>, Vec<_>) = queues.unzip();

    let mut crew = Crew::new(sharing.placement);
    for origin in 0..sharing.crowd.producers {
        // Each producer starts with another consumer, so that they do not run in lockstep.
        let mut turn = origin as usize;
        enlist_producer(&mut crew, sharing, origin, senders.clone(), move |senders, event| {
            turn = if turn + 1 < senders.len() { turn + 1 } else { 0 };
            senders[turn].send(event)
        });
    }
    drop(senders);
    for receiver in receivers {
        enlist_consumer(&mut crew, receiver);
    }
    finish(crew)
}

/// Adds the producer numbered `origin`. Its `end` is dropped when it is done, which ends the
/// stream.
fn enlist_producer<'a, S: Send + 'a>(
    crew: &mut Crew<'a>,
    sharing: &Sharing,
    origin: u32,
    end: S,
    mut send: impl FnMut(&S, u64) -> Result<(), Disconnected> + Send + 'a,
) {
    let share = sharing.share(origin);
    let mut end = Some(end);
    crew.enlist(format!("producer-{origin}"), move || {
        let end = end.take().ok_or(Disconnected)?;
        (0..share).try_for_each(|number| send(&end, event(origin, number)))?;
        Ok(Answers::new())
    });
}

/// Adds a consumer that receives until all producers are gone. If a producer is lost, the answer
/// shows it.
fn enlist_consumer<'a>(crew: &mut Crew<'a>, end: impl Receiver<u64> + 'a) {
    crew.enlist("consumer", move || {
        let mut sum = Checksum::default();
        while let Ok(event) = end.receive() {
            sum.add(event);
        }
        Ok(sum.answers())
    });
}

/// Runs `crew`, and adds up the answers of its consumers.
fn finish(crew: Crew<'_>) -> Result<Finish, RunError> {
    let finish = crew.run()?;
    Ok(Finish { answers: Checksum::total(&finish.answers), ..finish })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a consumer's answers over `events`.
    fn sum(events: &[u64]) -> Answers {
        let mut sum = Checksum::default();
        events.iter().for_each(|event| sum.add(*event));
        sum.answers()
    }

    #[test]
    fn the_sum_changes_when_an_event_is_lost_or_doubled_and_not_with_their_order() {
        let all = sum(&[0, 1, 2, 3]);
        assert_eq!(all, sum(&[3, 1, 0, 2]));
        assert_ne!(all, sum(&[1, 2, 3]), "the first is lost");
        assert_ne!(all, sum(&[0, 1, 2, 3, 3]), "the last is doubled");
        assert_ne!(all[1], sum(&[0, 0, 3, 3])[1], "two are lost and two doubled");
    }

    #[test]
    fn consumers_that_see_all_events_handle_each_once() {
        for consumers in [1, 2, 3, 8] {
            let mut answers = Vec::new();
            for own in 0..consumers {
                let mut consumer = EveryNth::new(own, consumers);
                (0..100).for_each(|event| consumer.see(event));
                let answer = consumer.answers();
                assert!(answer[0].abs_diff(u64::from(100 / consumers)) <= 1, "{answer:?}");
                answers.extend(answer);
            }
            assert_eq!(Checksum::total(&answers), sum(&(0..100).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn shares_add_up_to_all_events() {
        for (events, producers) in [(1, 8), (7, 2), (u32::MAX, 3)] {
            let crowd = Crowd { producers, consumers: 1 };
            let sharing = Sharing { crowd, events, ring: 1, placement: Placement::Free };
            let sum = (0..producers).map(|origin| u64::from(sharing.share(origin))).sum::<u64>();
            assert_eq!(sum, u64::from(events));
        }
    }
}
