//! The source of a stage that is not a worker. A batch has all available events, and the stage's
//! sequence says how far it has read. Not here: the barrier and the polls (`lapwing_core`), a
//! worker (`worker`).

use std::ops::Range;
use std::sync::Arc as SharedArc;
use std::time::Instant;

use lapwing_core::{Control, Drained, Padded, Place, Spun, StageIndex, UNLIMITED};

use super::access::Access;
use super::failing::Failing;
use super::source::Source;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::chosen::{self, Reader};
use crate::deadline::has_passed;
use crate::description::TakenName;
use crate::error::PollError;
use crate::ring::{Ring, Shared};
use crate::sync::{Arc, IS_CHECKED};
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{AnyWaitStrategy, Waiting};

/// Rounds of polls before a strategy waits. Four rounds take 3 to 8 µs, in which most answers come.
/// A model needs one.
const ROUNDS_BEFORE_A_WAIT: u32 = if IS_CHECKED { 1 } else { 4 };

/// A reader, and the strategy with which it waits. It has the alignment of its reader.
#[repr(align(64))]
pub(crate) struct StageReader<E> {
    pub(super) reader: Reader<E>,
    shared: SharedArc<Shared>,
    /// What its consumer is doing, for monitors.
    activity: SharedArc<Padded<Activity>>,
    failing: Failing,
    /// The name of a consumer that joined, which is freed once it has left.
    name: Option<TakenName>,
    strategy: Box<dyn AnyWaitStrategy>,
    /// Whether it only polls and never waits, as its strategy says.
    spins: bool,
    /// Whether it may delay another stage while it keeps its CPU.
    may_delay_others: bool,
}

/// The parts of a [`StageReader`] that a worker needs.
pub(super) struct Parts<E> {
    pub(super) reader: Reader<E>,
    pub(super) shared: SharedArc<Shared>,
    pub(super) failing: Failing,
    pub(super) strategy: Box<dyn AnyWaitStrategy>,
}

impl<E> StageReader<E> {
    /// Creates the source of the stage or the worker of `place`, or of the consumer with this `name`
    /// that joined.
    ///
    /// # Safety
    ///
    /// Unless the stage is exclusive, threads may share events: `E: Sync` (I5).
    pub(crate) unsafe fn new(
        ring: Ring<E>,
        (place, name): (Place, Option<TakenName>),
        is_exclusive: bool,
        strategy: Box<dyn AnyWaitStrategy>,
        max_batch: u64,
    ) -> Self {
        let (stage, control) = (place.stage(), ring.control());
        let may_delay_others = control.may_delay_others(stage);
        let advice = chosen::reads_of(&ring, stage);
        let Ring { core, shared } = ring;
        // SAFETY: I5, by the caller.
        let reader = unsafe { Reader::new(core, place, is_exclusive, max_batch, advice) };
        let (spins, activity) = (strategy.spins(), SharedArc::clone(shared.activity(stage)));
        let failing = Failing::before(stage, &shared);
        Self { reader, shared, activity, failing, name, strategy, spins, may_delay_others }
    }

    /// Returns the parts that a worker needs.
    pub(super) fn into_parts(self) -> Parts<E> {
        let Self { reader, shared, failing, strategy, .. } = self;
        Parts { reader, shared, failing, strategy }
    }

    /// Returns what a batch of a poller needs.
    #[inline]
    pub(super) fn split(&mut self) -> (&mut Reader<E>, &Activity, &Failing) {
        (&mut self.reader, &self.activity, &self.failing)
    }

    /// Whether its strategy asks for polls before a wait.
    #[inline(never)]
    fn is_to_spin_first(&mut self) -> bool {
        // After a single event, the stage is known to be drained only once a poll has failed.
        self.pace();
        self.strategy.spins_first(CpuLoad::of(&self.shared))
    }

    /// Runs a few rounds of polls, before a wait with the strategy.
    #[inline]
    fn spin_first(&mut self) -> Spun {
        for _ in 0..ROUNDS_BEFORE_A_WAIT {
            match self.reader.spin() {
                Spun::Nothing => {}
                seen => return seen,
            }
        }
        Spun::Nothing
    }
}

impl<E> Source<E> for StageReader<E> {
    #[inline]
    fn shared(&self) -> &SharedArc<Shared> {
        &self.shared
    }

    #[inline]
    fn control(&self) -> &Arc<Control> {
        self.reader.ring().control()
    }

    #[inline]
    fn events<A: Access>(&mut self, batch: Range<Sequence>) -> (A::Slice<'_, E>, &Failing) {
        (A::slice(&mut self.reader, batch), &self.failing)
    }

    fn stage(&self) -> StageIndex {
        self.reader.stage()
    }

    fn turn(&self) -> u64 {
        self.reader.turn()
    }

    #[inline]
    fn is_stopping(&self) -> bool {
        self.reader.is_stopping()
    }

    fn is_guest(&self) -> bool {
        self.name.is_some()
    }

    fn next(&self) -> Sequence {
        self.reader.next()
    }

    fn processed(&self) -> u64 {
        self.reader.processed()
    }

    fn given_up(&self) -> u64 {
        self.reader.given_up()
    }

    fn available(&mut self) -> u64 {
        self.reader.available()
    }

    fn limit_batch(&mut self, events: u64) {
        self.reader.limit_batch(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        match self.reader.rest() {
            Some(rest) => Ok(rest),
            None => self.reader.poll(UNLIMITED).map_err(PollError::of),
        }
    }

    fn is_ready(&self) -> bool {
        self.reader.is_ready()
    }

    #[inline(always)]
    fn await_next(&mut self) -> Spun {
        if self.spins {
            self.reader.spin()
        } else if self.is_to_spin_first() {
            self.spin_first()
        } else {
            Spun::Nothing
        }
    }

    fn wait_once(&mut self, deadline: Option<Instant>) -> bool {
        if self.spins {
            return self.is_time_over(deadline);
        }
        self.activity.set(Doing::Waiting);
        let limit = self.shared.turns.limit_wait(self.control(), deadline);
        let waiting = Waiting::new(&self.shared, &self.reader, limit).recorded(&**self.activity);
        self.strategy.wait(&waiting);
        let is_over = has_passed(deadline) || self.reader.is_stopping();
        self.reader.tell();
        is_over
    }

    #[inline]
    fn drained(&mut self) -> Option<Drained> {
        self.reader.drained()
    }

    #[inline]
    fn strategy(&mut self) -> (&mut dyn AnyWaitStrategy, Option<CpuLoad<'_>>) {
        let load = self.may_delay_others.then(|| CpuLoad::of(&self.shared));
        (&mut *self.strategy, load)
    }

    #[inline]
    fn activity(&self) -> &Activity {
        &self.activity
    }

    #[inline]
    fn failing(&self) -> &Failing {
        &self.failing
    }

    #[inline]
    fn release(&mut self, sequence: Sequence) {
        self.reader.release(sequence);
    }

    #[inline]
    fn take_passed(&mut self) -> Option<Sequence> {
        self.reader.take_passed()
    }

    fn leave(&mut self) -> bool {
        if self.name.is_some() {
            // The next consumer of the seat uses its words. What this one still records about itself,
            // such as the last call of its handler, goes to words that no thread reads.
            self.activity = SharedArc::default();
        }
        self.reader.leave();
        // The seat is free by now.
        self.name = None;
        false
    }
}
