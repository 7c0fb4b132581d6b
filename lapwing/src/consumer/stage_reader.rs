//! The source of a stage that is not a worker. A batch has all available events, and the stage's
//! sequence says how far it has read. Not here: the barrier and the polls (`protocol::reading`), a
//! worker (`worker`).

use std::ops::Range;
use std::time::Instant;

use super::source::Source;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::chosen::{self, Reader};
use crate::deadline::has_passed;
use crate::error::PollError;
use crate::protocol::control::{Control, StageIndex};
use crate::protocol::reading::{Drained, Spun, UNLIMITED};
use crate::protocol::ring::Ring;
use crate::protocol::seats::Place;
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
    strategy: Box<dyn AnyWaitStrategy>,
    /// Whether it only polls and never waits, as its strategy says.
    spins: bool,
    /// Whether it may delay another stage while it keeps its CPU.
    may_delay_others: bool,
}

impl<E> StageReader<E> {
    pub(crate) fn new(
        ring: Ring<E>,
        place: Place,
        strategy: Box<dyn AnyWaitStrategy>,
        max_batch: u64,
    ) -> Self {
        let may_delay_others = ring.control.may_delay_others(place.stage());
        let advice = chosen::reads_of(&ring, place.stage());
        let reader = Reader::new(ring, place, max_batch, advice);
        Self { reader, spins: strategy.spins(), strategy, may_delay_others }
    }

    /// Returns the reader and the wait strategy, for a worker.
    pub(crate) fn into_parts(self) -> (Reader<E>, Box<dyn AnyWaitStrategy>) {
        (self.reader, self.strategy)
    }

    /// Whether its strategy asks for polls before a wait.
    #[inline(never)]
    fn is_to_spin_first(&mut self) -> bool {
        // After a single event, the stage is known to be drained only once a poll has failed.
        self.pace();
        self.strategy.spins_first(CpuLoad::of(&self.reader.ring.control))
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
    fn ring(&self) -> &Ring<E> {
        &self.reader.ring
    }

    fn control(&self) -> &Arc<Control> {
        &self.reader.ring.control
    }

    fn stage(&self) -> StageIndex {
        self.reader.stage
    }

    fn turn(&self) -> u64 {
        self.reader.turn
    }

    #[inline]
    fn is_stopping(&self) -> bool {
        self.reader.is_stopping()
    }

    fn is_guest(&self) -> bool {
        self.reader.is_guest()
    }

    fn next(&self) -> Sequence {
        self.reader.next
    }

    fn processed(&self) -> u64 {
        self.reader.processed()
    }

    fn given_up(&self) -> u64 {
        self.reader.given_up
    }

    fn available(&mut self) -> u64 {
        self.reader.available()
    }

    fn limit_batch(&mut self, events: u64) {
        self.reader.max_batch = self.reader.max_batch.min(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        match self.reader.rest() {
            Some(rest) => Ok(rest),
            None => self.reader.poll(UNLIMITED),
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
        let activity: &Activity = self.reader.activity();
        activity.set(Doing::Waiting);
        let (control, awaited) = (&self.reader.ring.control, self.reader.next_event());
        let limit = control.turns.limit_wait(control, deadline);
        let waiting = Waiting { sleeper: Some(activity), ..Waiting::new(control, &awaited, limit) };
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
        let load = self.may_delay_others.then(|| CpuLoad::of(&self.reader.ring.control));
        (&mut *self.strategy, load)
    }

    #[inline]
    fn activity(&self) -> &Activity {
        self.reader.activity()
    }

    #[inline]
    fn may_have_failed(&self, first: Sequence) -> bool {
        self.reader.may_have_failed(first)
    }

    fn has_failed(&self, sequence: Sequence) -> bool {
        self.reader.has_failed(sequence)
    }

    fn mark_failed(&self, events: Range<Sequence>) {
        self.reader.mark_failed(events);
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
        self.reader.leave();
        false
    }
}
