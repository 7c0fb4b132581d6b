//! One producer of a plan: publishes by every existing call, and records what was accepted.

use std::fmt::Debug;
use std::hint;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use lapwing::Sequence;
use lapwing::producer::{ClaimBatch, Sequencer, Slots, WhenFull};

use crate::common::{Kind, Lcg, Many, One, ProducerOf};
use crate::event::{Event, Seen};
use crate::plan::{Bits, Plan};

/// Longest timeout of a call.
const PATIENCE: Duration = Duration::from_micros(50);
/// So long that a waiting thread has parked or sleeps.
const SILENCE: Duration = Duration::from_micros(200);

/// The reason why nothing was published.
enum Refused {
    /// Nothing this time.
    Full,
    /// The ring has ended.
    Over,
}

/// The errors of all calls of a producer.
fn refused(error: impl Debug) -> Refused {
    match &*format!("{error:?}") {
        "Full" | "TimedOut" => Refused::Full,
        "Closed" => Refused::Over,
        halted if halted.starts_with("Halted(") => Refused::Over,
        text => panic!("unexpected error of a producer: {text}"),
    }
}

/// Another producer, if there may be several.
pub(crate) trait Cloned: Kind {
    /// `None` with a single producer.
    fn another(producer: &ProducerOf<Event, Self>) -> Option<ProducerOf<Event, Self>>
    where
        Self: Sized;
}

impl Cloned for One {
    fn another(_: &ProducerOf<Event, Self>) -> Option<ProducerOf<Event, Self>> {
        None
    }
}

impl Cloned for Many {
    fn another(producer: &ProducerOf<Event, Self>) -> Option<ProducerOf<Event, Self>> {
        Some(producer.clone())
    }
}

/// A producer, and what it has published.
pub(crate) struct Feed<'a, K: Kind> {
    plan: &'a Plan,
    producer: ProducerOf<Event, K>,
    number: u64,
    lasting: Bits,
    draw: Lcg,
    /// Number of its next event.
    next: u64,
    accepted: Vec<Seen>,
    /// Number of sequences that it gave up and that stages pass, with several producers only.
    given_up: u64,
}

impl<'a, K: Kind> Feed<'a, K> {
    pub(crate) fn new(plan: &'a Plan, producer: ProducerOf<Event, K>, number: u64) -> Self {
        let (lasting, draw) = (plan.lasting(), plan.lcg(number));
        Self { plan, producer, number, lasting, draw, next: 0, accepted: Vec::new(), given_up: 0 }
    }

    /// Publishes all events, or until the ring is closed. Returns what was accepted, and how much
    /// was given up. `deeds` is called before each call, with the number of the event.
    pub(crate) fn run(
        mut self,
        mut deeds: impl FnMut(u64, &ProducerOf<Event, K>),
    ) -> (Vec<Seen>, u64) {
        while self.next < self.plan.events {
            deeds(self.next, &self.producer);
            self.pause();
            if let Err(Refused::Over) = self.publish() {
                break;
            }
        }
        // Runs the actions that are due.
        deeds(u64::MAX, &self.producer);
        (self.accepted, if K::IS_MULTI { self.given_up } else { 0 })
    }

    fn pause(&mut self) {
        match self.draw.below(100) {
            0 => thread::sleep(SILENCE),
            1..5 => thread::yield_now(),
            5..10 => (0..self.draw.below(300)).for_each(|_| hint::spin_loop()),
            _ => {}
        }
    }

    /// Publishes one event or several by one of the calls, or gives up its claim.
    fn publish(&mut self) -> Result<(), Refused> {
        match self.draw.below(16) {
            0..9 => self.publish_one(),
            9 => self.claim_one(),
            10..12 => self.claim_some(),
            12 => self.offer(),
            _ => self.publish_some(),
        }
    }

    fn publish_one(&mut self) -> Result<(), Refused> {
        let (stamp, lasting) = (self.stamp(0), self.lasting);
        let fill = |event: &mut Event| event.fill(stamp, lasting);
        let sequence = match self.draw.below(8) {
            0 => self.producer.try_publish(fill).map_err(refused)?,
            1 => self.producer.publish_timeout(PATIENCE, fill).map_err(refused)?,
            _ => self.producer.publish(fill).map_err(refused)?,
        };
        self.accept(sequence..sequence + 1);
        Ok(())
    }

    fn claim_one(&mut self) -> Result<(), Refused> {
        let (stamp, lasting, way) = (self.stamp(0), self.lasting, self.draw.below(6));
        let mut claim = match way {
            0 => self.producer.try_claim().map_err(refused)?,
            1 => self.producer.claim_timeout(PATIENCE).map_err(refused)?,
            _ => self.producer.claim().map_err(refused)?,
        };
        claim.fill(stamp, lasting);
        if way == 2 {
            thread::yield_now(); // other threads meet a held claim
        }
        if way == 3 {
            claim.give_up();
            self.given_up += 1;
            return Ok(());
        }
        let sequence = claim.publish().map_err(refused)?;
        self.accept(sequence..sequence + 1);
        Ok(())
    }

    fn claim_some(&mut self) -> Result<(), Refused> {
        let (count, way) = (self.count(), self.draw.below(6));
        let (first, lasting) = (self.first_stamp(), self.lasting);
        let is_given_up = self.draw.below(4) == 0;
        let producer = &mut self.producer;
        let batch = match way {
            0 => producer.claim_batch(count).map_err(refused)?,
            1 => producer.try_claim_batch(count).map_err(refused)?,
            2 => producer.claim_batch_timeout(count, PATIENCE).map_err(refused)?,
            3 => producer.try_claim_up_to(count).map_err(refused)?,
            4 => producer.claim_up_to_timeout(count, PATIENCE).map_err(refused)?,
            _ => producer.claim_up_to(count).map_err(refused)?,
        };
        let claimed = batch.len() as u64;
        let sequences = settle(batch, first, lasting, is_given_up)?;
        match sequences {
            Some(sequences) => self.accept(sequences),
            None => self.given_up += claimed,
        }
        Ok(())
    }

    fn publish_some(&mut self) -> Result<(), Refused> {
        let count = self.count();
        let (first, lasting) = (self.first_stamp(), self.lasting);
        let fill = |slots: &mut Slots<'_, Event>| fill(slots, first, lasting);
        let sequences = match self.draw.below(6) {
            0 => self.producer.try_publish_batch(count, fill).map_err(refused)?,
            1 => self.producer.publish_batch_timeout(count, PATIENCE, fill).map_err(refused)?,
            _ => self.producer.publish_batch(count, fill).map_err(refused)?,
        };
        self.accept(sequences);
        Ok(())
    }

    fn offer(&mut self) -> Result<(), Refused> {
        let when_full = match self.draw.below(4) {
            0 => WhenFull::Wait,
            1 => WhenFull::Timeout(PATIENCE),
            2 => WhenFull::Refuse,
            _ => WhenFull::DropNew,
        };
        let (stamp, lasting) = (self.stamp(0), self.lasting);
        let offered = self.producer.offer(when_full, |event| event.fill(stamp, lasting));
        if let Some(sequence) = offered.map_err(refused)? {
            self.accept(sequence..sequence + 1);
        }
        Ok(())
    }

    /// Returns the number of events of a batch.
    fn count(&mut self) -> usize {
        let left = self.plan.events - self.next;
        let most = left.min(self.producer.capacity() as u64).min(40);
        1 + self.draw.below(most) as usize
    }

    /// The stamps of its events, from the first of them.
    fn first_stamp(&self) -> impl Fn(u64) -> u64 + use<K> {
        let (seed, number, next) = (self.plan.seed, self.number, self.next);
        move |place| mixed(mixed(seed ^ number << 56) ^ (next + place))
    }

    fn stamp(&self, place: u64) -> u64 {
        self.first_stamp()(place)
    }

    fn accept(&mut self, sequences: Range<Sequence>) {
        let stamp = self.first_stamp();
        let events = sequences.clone().zip(0..);
        self.accepted
            .extend(events.map(|(sequence, place)| Seen { sequence, stamp: stamp(place) }));
        self.next += sequences.end - sequences.start;
    }
}

fn fill(slots: &mut Slots<'_, Event>, stamp: impl Fn(u64) -> u64, lasting: Bits) {
    slots.iter_mut().zip(0..).for_each(|(event, place)| event.fill(stamp(place), lasting));
}

/// Publishes a claimed range, or gives it up.
fn settle<S: Sequencer>(
    mut batch: ClaimBatch<'_, Event, S>,
    stamp: impl Fn(u64) -> u64,
    lasting: Bits,
    is_given_up: bool,
) -> Result<Option<Range<Sequence>>, Refused> {
    fill(&mut batch.slots(), stamp, lasting);
    if is_given_up {
        batch.slots().iter_mut().for_each(Event::give_up);
        return Ok(None);
    }
    batch.publish().map(Some).map_err(refused)
}

/// Maps a number to a pseudo-random one.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
