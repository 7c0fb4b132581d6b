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

use crate::load::queue::Queue;
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

/// Runs over one `queue` if its receiving end can be shared, and else over one for each consumer, to which the producers
/// send in turn. All queues together have as many slots as one would have.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn over_queues<Q: Queue>(queue: Q, sharing: &Sharing) -> Result<Finish, RunError> {
    let Crowd { producers, consumers } = sharing.crowd;
    let (producers, consumers) = (producers as usize, consumers as usize);
    let (senders, receiver) = queue.bounded::<u64>(sharing.ring, producers);
    let shared = (1..consumers).map(|_| Q::share(&receiver)).collect::<Option<Vec<_>>>();
    if let Some(mut receivers) = shared {
        receivers.push(receiver);
        let senders = senders.into_iter().map(|sender| vec![sender]).collect();
        return run::<Q>(sharing, senders, receivers);
    }
    drop((senders, receiver));
    let slots = (sharing.ring / consumers).max(1);
    let mut of_producers = (0..producers).map(|_| Vec::new()).collect::<Vec<_>>();
    let mut receivers = Vec::new();
    for _ in 0..consumers {
        let (senders, receiver) = queue.bounded::<u64>(slots, producers);
        of_producers.iter_mut().zip(senders).for_each(|(own, sender)| own.push(sender));
        receivers.push(receiver);
    }
    run::<Q>(sharing, of_producers, receivers)
}

/// Runs producers, each of which sends to its own `senders` in turn, and a consumer for each of `receivers`. A producer
/// drops its senders when it is done, which ends the stream; a consumer receives until all producers are gone. If a
/// producer is lost, the answer shows it.
fn run<Q: Queue>(
    sharing: &Sharing,
    senders: Vec<Vec<Q::Sender<u64>>>,
    receivers: Vec<Q::Receiver<u64>>,
) -> Result<Finish, RunError> {
    let mut crew = Crew::new(sharing.placement);
    for (origin, own) in (0..).zip(senders) {
        let share = sharing.share(origin);
        // Each producer starts with another consumer, so that they do not run in lockstep.
        let mut turn = origin as usize % own.len();
        let mut own = Some(own);
        crew.enlist(format!("producer-{origin}"), move || {
            let mut own = own.take().ok_or(Disconnected)?;
            if let [only] = &mut own[..] {
                (0..share).try_for_each(|number| Q::send(only, event(origin, number)))?;
                return Ok(Answers::new());
            }
            for number in 0..share {
                turn = if turn + 1 < own.len() { turn + 1 } else { 0 };
                Q::send(&mut own[turn], event(origin, number))?;
            }
            Ok(Answers::new())
        });
    }
    for mut receiver in receivers {
        crew.enlist("consumer", move || {
            let mut sum = Checksum::default();
            while let Ok(event) = Q::receive(&mut receiver) {
                sum.add(event);
            }
            Ok(sum.answers())
        });
    }
    finish(crew)
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
