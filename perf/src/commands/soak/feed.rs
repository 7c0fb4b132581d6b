//! A producer: publishes by every call that the library has, loses claims when a fault tells it to,
//! and counts what it was told is accepted.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use lapwing::error::{BatchError, PublishError, RingError, WhenFullError};
use lapwing::producer::{Slots, WhenFull};

use super::board::Count;
use super::event::{Event, Laps};
use super::faults::{Kind as Fault, Losing};
use super::kind::{Kind, ProducerOf};
use super::orders::{Order, Orders};
use super::pace::Pace;
use super::plan::{Call, Ending, Phase};
use super::violation::{Checked, Violation};
use super::world::World;

/// The timeout of a call that has one.
const PATIENCE: Duration = Duration::from_micros(50);

/// Why nothing was published.
enum Refused {
    /// Not this time.
    Full,
    /// The ring has ended.
    Over,
    /// The library broke a promise.
    Wrong(Violation),
}

impl From<BatchError> for Refused {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Full | BatchError::TimedOut => Self::Full,
            BatchError::Closed | BatchError::Halted(_) => Self::Over,
            error => Self::Wrong(Violation::Refused(format!("publish_batch: {error}"))),
        }
    }
}

impl From<PublishError> for Refused {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Closed | PublishError::Halted(_) => Self::Over,
            error => Self::Wrong(Violation::Refused(format!("publish: {error}"))),
        }
    }
}

impl From<WhenFullError> for Refused {
    fn from(error: WhenFullError) -> Self {
        match error {
            WhenFullError::Full | WhenFullError::TimedOut => Self::Full,
            WhenFullError::Closed | WhenFullError::Halted(_) => Self::Over,
            error => Self::Wrong(Violation::Refused(format!("publish_or: {error}"))),
        }
    }
}

impl From<RingError> for Refused {
    fn from(_: RingError) -> Self {
        Self::Over
    }
}

/// What a producer writes into its slots, and what it must find there.
#[derive(Clone)]
struct Pen {
    seed: u64,
    lane: u32,
    /// The number of its next event.
    next: u64,
    laps: Laps,
    /// The stages that must have finished the slot.
    finals: Vec<usize>,
}

impl Pen {
    /// Checks and fills claimed slots.
    fn fill(&self, slots: &mut Slots<'_, Event>) -> Checked {
        let first = slots.first_sequence();
        let (start, end) = slots.as_mut_slices();
        self.fill_slice(start, first, self.next)?;
        let passed = start.len() as u64;
        self.fill_slice(end, first + passed, self.next + passed)
    }

    fn fill_slice(&self, slots: &mut [Event], first: u64, number: u64) -> Checked {
        let lap_before = self.laps.of_sequence(first).wrapping_sub(1); // a slice never wraps
        for &stage in &self.finals {
            let differs = |slot: &Event| slot.mark(stage) ^ lap_before;
            if slots.iter().fold(0, |wrong, slot| wrong | differs(slot)) != 0 {
                let place = slots.iter().position(|slot| differs(slot) != 0).unwrap_or(0);
                return Err(Violation::Overwritten { sequence: first + place as u64, stage });
            }
        }
        for (slot, number) in slots.iter_mut().zip(number..) {
            slot.fill(self.seed, self.lane, number);
        }
        Ok(())
    }

    fn fill_one(&self, slot: &mut Event) {
        slot.fill(self.seed, self.lane, self.next);
    }

    /// Marks claimed slots as finished: no stage gets them.
    fn give_up(&self, slots: &mut Slots<'_, Event>) {
        let first = slots.first_sequence();
        for (slot, sequence) in slots.iter_mut().zip(first..) {
            slot.set_all_marks(self.laps.of_sequence(sequence));
        }
    }
}

/// A producer under way.
pub(super) struct Feed<K: Kind> {
    world: Arc<World>,
    producer: ProducerOf<K>,
    orders: Arc<Orders>,
    pace: Pace,
    pen: Pen,
    published: Arc<Count>,
}

impl<K: Kind> Feed<K> {
    /// A producer that numbers its events on its own.
    pub(super) fn new(
        world: &Arc<World>,
        producer: ProducerOf<K>,
        lane: usize,
        orders: Arc<Orders>,
    ) -> Self {
        let laps = Laps::of(world.plan.capacity);
        let pen =
            Pen { seed: world.seed, lane: lane as u32, next: 0, laps, finals: world.finals() };
        Self {
            pace: Pace::new(&world.plan.phases),
            published: world.entry.publisher(),
            world: Arc::clone(world),
            producer,
            orders,
            pen,
        }
    }

    /// Publishes until the end of the ring.
    pub(super) fn run(mut self) {
        while !self.world.is_over() {
            let result = match self.orders.take() {
                Some(Order::Lose(losing)) => self.lose(losing),
                _ => self.publish(),
            };
            match result {
                Ok(()) => {}
                Err(Refused::Full) => std::hint::spin_loop(),
                Err(Refused::Over) => {
                    if !self.world.is_end_expected() {
                        let early = Violation::Refused("the ring has ended on its own".to_owned());
                        self.world.refuse(early, "a producer");
                    }
                    break;
                }
                Err(Refused::Wrong(violation)) => self.world.refuse(violation, "a producer"),
            }
        }
        self.world.accept(self.pen.lane as usize, self.pen.next);
        if self.world.plan.ending == Ending::Die {
            self.world.board.injected(Fault::ProducerDied);
            die::<K>(self.producer, &self.pen, 3, self.world.plan.is_multi);
        }
    }

    fn publish(&mut self) -> Result<(), Refused> {
        let Some(phase) = self.pace.next(&self.world.board) else { return Ok(()) };
        let events = self.call(&phase)?;
        self.pen.next += events;
        self.published.add(events);
        Ok(())
    }

    /// Makes one call. Returns how many events it published.
    fn call(&mut self, phase: &Phase) -> Result<u64, Refused> {
        let Self { producer, pen, .. } = self;
        let batch = phase.batch.min(producer.capacity());
        let mut filled = Ok(());
        let fill = |slots: &mut Slots<'_, Event>| filled = pen.fill(slots);
        let sequences = match phase.call {
            Call::Batch => producer.publish_batch(batch, fill)?,
            Call::TryBatch => producer.try_publish_batch(batch, fill)?,
            Call::TimeoutBatch => {
                let patience = WhenFull::Timeout(PATIENCE);
                producer.publish_batch_or(batch, patience, fill)?.unwrap_or(0..0)
            }
            Call::ClaimBatch => {
                let mut claim = producer.claim_batch(batch)?;
                pen.fill(&mut claim.slots()).map_err(Refused::Wrong)?;
                claim.publish()?
            }
            Call::UpTo => {
                let mut claim = producer.claim_up_to(batch)?;
                pen.fill(&mut claim.slots()).map_err(Refused::Wrong)?;
                claim.publish()?
            }
            Call::One => {
                let sequence = producer.publish(|slot| pen.fill_one(slot))?;
                sequence..sequence + 1
            }
            Call::Claim => {
                let mut claim = producer.claim()?;
                pen.fill_one(&mut claim);
                let sequence = claim.publish()?;
                sequence..sequence + 1
            }
            Call::Offer => {
                let sequence = producer.publish_or(WhenFull::Refuse, |slot| pen.fill_one(slot))?;
                sequence.map_or(0..0, |sequence| sequence..sequence + 1)
            }
        };
        filled.map_err(Refused::Wrong)?;
        Ok(sequences.end - sequences.start)
    }

    /// Loses a claim.
    fn lose(&mut self, losing: Losing) -> Result<(), Refused> {
        let is_multi = self.world.plan.is_multi;
        let count = 3.min(self.producer.capacity());
        match losing {
            Losing::Drop => {
                self.world.board.injected(Fault::ClaimDropped);
                let mut claim = self.producer.claim_batch(count)?;
                if is_multi {
                    self.pen.give_up(&mut claim.slots());
                }
            }
            Losing::FillPanic => {
                self.world.board.injected(Fault::FillPanic);
                let Self { producer, pen, .. } = self;
                let call = || {
                    producer.publish_batch(count, |slots| {
                        if is_multi {
                            pen.give_up(slots);
                        }
                        panic::resume_unwind(Box::new("on purpose"))
                    })
                };
                if let Ok(result) = panic::catch_unwind(AssertUnwindSafe(call)) {
                    result?; // the ring has ended before the closure was called
                }
            }
            Losing::Die => {
                // The single producer closes the ring, which is an end of its own.
                let Some(other) = K::another(&self.producer) else { return Ok(()) };
                self.world.board.injected(Fault::ProducerDied);
                let producer = std::mem::replace(&mut self.producer, other);
                die::<K>(producer, &self.pen, count, is_multi);
            }
        }
        Ok(())
    }
}

/// Drops `producer` by a panic while it has a claim that is half filled.
fn die<K: Kind>(producer: ProducerOf<K>, pen: &Pen, count: usize, is_multi: bool) {
    let dies = move || {
        let mut producer = producer;
        let count = count.min(producer.capacity());
        if let Ok(mut claim) = producer.claim_batch(count) {
            if is_multi {
                pen.give_up(&mut claim.slots());
            }
            panic::resume_unwind(Box::new("on purpose"));
        }
    };
    let _panic = panic::catch_unwind(AssertUnwindSafe(dies));
}
