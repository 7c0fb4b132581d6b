//! Models: loom runs each one, the code of this crate in a few threads, through every interleaving.
//! A model is small enough to end. Each proves rows of `lapwing::docs::memory_ordering`, or an
//! invariant of `lapwing::docs::unsafe_code`; its comment begins with the id. CONTRIBUTING says how
//! to break a row and see its model fail.
//!
//! The storage reports every borrow of an event to loom, so a write to a slot that is being read
//! fails the model even if no wrong value is seen. A lost wake-up fails it as a deadlock.
//!
//! ```text
//! publication   an event's way: published, read, passed on, and its slot written again
//! closing       a close or a halt while other threads publish
//! parking       threads that park, and those that wake them
//! joining       consumers that join while producers publish
//! leaving       consumers that leave while other threads wait for them
//! published marks       a published mark next to an event in place of the cursor
//! sharing       a thread that runs several stages; idle workers of which an event wakes one
//! tasks         tasks that wait where threads park
//! words         flags, the watch and counts, without a ring
//! ```
//!
//! Not here: how groups share events, keys, channels, taps, monitors and wait strategies
//! (`lapwing::models`).

mod closing;
mod joining;
mod leaving;
mod parking;
mod publication;
mod published_marks;
mod rings;
mod sharing;
mod tasks;
mod words;

use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use rings::{
    Advice, BESIDE, ONE, TWO, acknowledged, counting, expecting, graph, in_parts, multi,
    multi_ring, parallel, ring_of, ring_with, single, single_ring,
};

use crate::error::{Cause, ClaimError, Ended, JoinError, PollError};
use crate::sync::IS_LIGHT_NOTHING;
use crate::words::Placed;
use crate::{
    Awaited, Claim, ClaimBatch, Claims, Control, EventCount, Granted, Joined, MultiClaims, Place,
    Producer, Reader, Ring, Sequence, SingleClaims, Spun, StageIndex, StartAt, Trying, UNLIMITED,
    Wait,
};

/// Number of preemptions if `LOOM_MAX_PREEMPTIONS` is not set, so that `cargo test` takes minutes.
/// Two find most faults.
const PREEMPTIONS: usize = 2;

/// Runs a model with as many preemptions as `LOOM_MAX_PREEMPTIONS` says.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS);
    run(&builder, model);
}

/// The same for a model in which no thread parks or closes the ring, without the fences that only
/// these need. `membarrier` does nothing there.
fn check_without_fences(model: impl Fn() + Sync + Send + 'static) {
    IS_LIGHT_NOTHING.set(true);
    check(model);
    IS_LIGHT_NOTHING.set(false);
}

/// Runs a model with at most two preemptions: for models of three threads, or of many steps.
fn check_less(model: impl Fn() + Sync + Send + 'static) {
    check_up_to(2, model);
}

/// Runs a model with at most this many preemptions.
fn check_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    run(&builder, model);
}

/// Runs a model and prints the number of its executions, which `ci/models.sh` adds up.
fn run(builder: &loom::model::Builder, model: impl Fn() + Sync + Send + 'static) {
    let executions = std::sync::Arc::new(Mutex::new(0_u64));
    let counted = std::sync::Arc::clone(&executions);
    builder.check(move || {
        *counted.lock().unwrap() += 1;
        model();
    });
    println!("executions: {}", executions.lock().unwrap());
}

/// Why a model halts a ring.
const REQUESTED: Cause = Cause::new(1);

/// The events that a consumer has seen, with their sequences, in order.
type Taken = Vec<(Sequence, u64)>;

type Single = SingleClaims<Advice>;
type Multi = MultiClaims<Advice>;

/// What an end does after a failed poll.
#[derive(Clone, Copy)]
struct Rest {
    run: fn(&Control, &Wait<'_>),
    /// Whether a producer waits until a quarter of the ring is free.
    is_patient: bool,
}

impl Rest {
    const fn of(run: fn(&Control, &Wait<'_>)) -> Self {
        Self { run, is_patient: true }
    }
}

/// Parks.
const PARK: Rest = Rest::of(|control, wait| control.park(wait));

/// Sleeps without a mark. Loom has no time, so such a sleep ends by a wake-up or never.
const SLEEP: Rest = Rest::of(|control, wait| control.sleep(wait, Duration::from_secs(10)));

/// A producer that publishes numbers. On a full ring it parks, or what `rest` says.
struct Publisher<C: Claims> {
    producer: Producer<u64, C>,
    rest: Rest,
    /// Whether its next wait lasts until a quarter of the ring is free.
    is_patient: bool,
}

impl Publisher<Single> {
    fn only(ring: &Ring<u64>, advice: Advice) -> Self {
        Self { producer: Producer::only(ring.clone(), advice), rest: PARK, is_patient: true }
    }
}

impl Publisher<Multi> {
    fn one_more(ring: &Ring<u64>) -> Self {
        Self::advised(ring, Advice::default())
    }

    fn advised(ring: &Ring<u64>, advice: Advice) -> Self {
        let producer = Producer::one_more(ring.clone(), advice);
        Self { producer, rest: PARK, is_patient: true }
    }
}

impl Clone for Publisher<Multi> {
    fn clone(&self) -> Self {
        Self::one_more(self.producer.ring())
    }
}

impl<C: Claims> Publisher<C> {
    /// Returns the same producer that does `rest` on a full ring.
    fn resting(self, rest: Rest) -> Self {
        Self { rest, is_patient: rest.is_patient, ..self }
    }

    /// Returns the words of the ring, for another thread.
    fn control(&self) -> Placed<Control> {
        self.producer.ring().control().clone()
    }

    fn try_claim(&mut self) -> Result<Claim<'_, u64, C>, ClaimError> {
        self.producer.claim(|_, why| Err(why))
    }

    fn try_claim_batch(&mut self, count: u64) -> Result<ClaimBatch<'_, u64, C>, ClaimError> {
        self.producer.claim_batch(count, |_, why| Err(why))
    }

    fn try_claim_up_to(&mut self, most: u64) -> Result<ClaimBatch<'_, u64, C>, ClaimError> {
        self.producer.claim_up_to(most, |_, why| Err(why))
    }

    fn try_publish(&mut self, value: u64) -> Result<Sequence, ClaimError> {
        publish(self.try_claim()?, value)
    }

    /// Publishes `value`. Parks until there is a free slot.
    fn publish(&mut self, value: u64) -> Result<Sequence, ClaimError> {
        let control = self.control();
        let Self { producer, rest, is_patient } = self;
        publish(producer.claim(|trying, _| wait(&control, trying, *rest, is_patient))?, value)
    }

    /// Publishes `count` events of `value`, for which there are free slots.
    fn publish_batch(&mut self, count: u64, value: u64) -> Result<Range<Sequence>, ClaimError> {
        let mut batch = self.try_claim_batch(count)?;
        fill(&mut batch, value);
        batch.publish().map_err(|(_, why)| why.into())
    }
}

/// Writes `value` into each slot.
fn fill<C: Claims>(batch: &mut ClaimBatch<'_, u64, C>, value: u64) {
    let (before_wrap, after_wrap) = batch.slots();
    before_wrap.fill(value);
    after_wrap.fill(value);
}

/// Publishes `value`. A refused claim is given up.
fn publish<C: Claims>(mut claim: Claim<'_, u64, C>, value: u64) -> Result<Sequence, ClaimError> {
    *claim = value;
    claim.publish().map_err(|(_, why): (_, Ended)| why.into())
}

/// Waits until a claim of one slot is granted.
fn wait<'p, C: Claims>(
    control: &Control,
    trying: &mut Trying<'p, '_, C>,
    rest: Rest,
    is_patient: &mut bool,
) -> Result<Granted<'p>, ClaimError> {
    loop {
        match trying.again() {
            Err(ClaimError::Full) => {}
            result => return result,
        }
        let awaited = FreeSlot { control, is_patient: *is_patient };
        (rest.run)(control, &Wait { awaited: &awaited, deadline: None, sleeper: None });
        *is_patient = rest.is_patient && control.has_room();
    }
}

/// A producer's wait for a free slot.
struct FreeSlot<'a> {
    control: &'a Control,
    is_patient: bool,
}

impl Awaited for FreeSlot<'_> {
    fn is_over(&self) -> bool {
        self.control.is_claimable(1)
    }

    fn event_count(&self) -> Option<&EventCount> {
        let last = self.control.wrap_point(1).saturating_sub(1);
        self.control.behind_gate(last, self.is_patient)
    }
}

/// The reader of a stage or a dynamic stage. It leaves when it is dropped.
struct Taker {
    reader: Reader<u64, Advice>,
    rest: Rest,
    is_exclusive: bool,
}

impl Taker {
    fn new(ring: &Ring<u64>, place: Place, is_exclusive: bool, max_batch: u64) -> Self {
        // SAFETY: I5: the events are `Sync`.
        let reader =
            unsafe { Reader::new(ring.clone(), place, is_exclusive, max_batch, Advice::default()) };
        Self { reader, rest: PARK, is_exclusive }
    }

    fn of_stage(ring: &Ring<u64>, stage: StageIndex) -> Self {
        Self::new(ring, Place::Stage(stage), false, UNLIMITED)
    }

    /// The reader of a stage that changes its events.
    fn exclusive(ring: &Ring<u64>, stage: StageIndex) -> Self {
        Self::new(ring, Place::Stage(stage), true, UNLIMITED)
    }

    /// The reader of a stage that gets one event at a time.
    fn in_parts(ring: &Ring<u64>, stage: StageIndex) -> Self {
        Self::new(ring, Place::Stage(stage), false, 1)
    }

    /// Takes a dynamic stage and returns its reader.
    fn join(ring: &Ring<u64>, start: StartAt) -> Result<Self, JoinError> {
        let joined = Joined::new(ring.control(), start)?;
        Ok(Self::new(ring, Place::DynamicStage(joined), false, UNLIMITED))
    }

    /// Returns the same reader that does `rest` while there are no events.
    fn resting(mut self, rest: Rest) -> Self {
        self.rest = rest;
        self
    }

    /// Returns the next events, which it holds until it [finishes](Self::finish) them.
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        match self.reader.rest() {
            Some(rest) => Ok(rest),
            None => self.reader.poll(UNLIMITED),
        }
    }

    /// Reads and releases `events`; returns them. An exclusive stage adds 10 to each.
    fn finish(&mut self, events: Range<Sequence>) -> Taken {
        if self.is_exclusive {
            self.reader.events_mut(events.clone()).iter_mut().for_each(|event| *event += 10);
        }
        let taken = events.clone().zip(self.reader.events(events.clone()).iter().copied());
        let taken = taken.collect();
        self.reader.release(events.end);
        taken
    }

    /// Returns what one poll finds, after finishing it.
    fn take(&mut self) -> Result<Taken, PollError> {
        self.poll().map(|events| self.finish(events))
    }

    /// Returns what one poll finds, and nothing if that is an error.
    fn take_any(&mut self) -> Taken {
        self.take().unwrap_or_default()
    }

    /// Returns what one round of polls of a spinning consumer finds, after finishing it.
    fn take_by_spinning(&mut self) -> Taken {
        let Spun::Batch(events) = self.reader.spin(1) else { return Taken::new() };
        self.finish(events)
    }

    /// Parks until there are events, and finishes them.
    fn wait(&mut self) -> Result<Taken, PollError> {
        loop {
            match self.poll() {
                Ok(events) => return Ok(self.finish(events)),
                Err(PollError::Empty) => self.park(),
                Err(why) => return Err(why),
            }
        }
    }

    /// Finishes all events, and parks between them, until the ring has ended or this consumer is
    /// asked to leave. Returns why the ring has ended.
    fn run(&mut self) -> Option<PollError> {
        while !self.reader.is_stopping() {
            match self.take() {
                Ok(_) => {}
                Err(PollError::Empty) => self.park(),
                Err(why) => return Some(why),
            }
        }
        None
    }

    /// Spins until there are events, and finishes them.
    fn wait_by_spinning(&mut self) -> Result<Taken, PollError> {
        loop {
            match self.poll() {
                Ok(events) => return Ok(self.finish(events)),
                Err(PollError::Empty) => {}
                Err(why) => return Err(why),
            }
            if let Spun::Batch(events) = self.reader.spin(1) {
                return Ok(self.finish(events));
            }
        }
    }

    /// Parks until a poll may find something.
    fn park(&mut self) {
        let control = self.reader.ring().control().clone();
        (self.rest.run)(&control, &Wait { awaited: &self.reader, deadline: None, sleeper: None });
        self.reader.tell();
    }

    /// Reads the event of 0 that a poll finds, releases nothing, and leaves.
    fn peek_and_leave(&mut self) {
        let events = self.poll().unwrap();
        assert_eq!(self.reader.events(events.clone()), [0]);
        self.reader.watch_read(events);
        self.reader.leave();
    }

    /// Polls until the ring is closed and drained, or halted.
    fn drain(&mut self) -> Taken {
        let mut all = Vec::new();
        loop {
            match self.take() {
                Ok(events) => all.extend(events),
                Err(PollError::Empty) => loom::thread::yield_now(),
                Err(PollError::Closed | PollError::Halted(_)) => return all,
            }
        }
    }

    /// Waits for all events up to `end`. Each must carry its own sequence.
    fn wait_up_to(&mut self, end: Sequence) {
        while self.reader.next() < end {
            let first = self.reader.next();
            for (expected, taken) in (first..).zip(self.wait().unwrap()) {
                assert_eq!(taken, (expected, expected));
            }
        }
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.reader.leave();
    }
}

impl fmt::Debug for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reader.fmt(f)
    }
}
