//! The source of a stage that is not a worker. A batch has all available events, and the stage's
//! sequence says how far it has read. Not here: the barrier and the polls (`lapwing_core`), a
//! worker (`worker`).

use std::ops::Range;
use std::sync::Arc as SharedArc;
use std::task::{Context, Poll};
use std::time::Instant;

use lapwing_core::{
    Awaited, Control, Drained, Place, Placed, Spun, StageIndex, TaskPlace, UNLIMITED,
};

use super::access::Access;
use super::failing::Failing;
use super::source::{Seen, Source};
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::chosen::{self, Reader};
use crate::deadline::has_passed;
use crate::description::TakenName;
use crate::error::PollError;
use crate::ring::{Ring, Shared};
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{AnyWaitStrategy, Goal, Waiter};

/// A reader, and how it waits. It has the alignment of its reader.
#[repr(align(64))]
pub(crate) struct StageReader<E> {
    pub(super) reader: Reader<E>,
    shared: SharedArc<Shared>,
    /// What its consumer is doing, for monitors.
    activity: Activity,
    failing: Failing,
    /// The name of a consumer that joined, which is freed once it has left.
    name: Option<TakenName>,
    waiter: Waiter,
    /// Whether it may delay another stage while it keeps its CPU.
    may_delay_others: bool,
}

/// The parts of a [`StageReader`] that a worker needs.
pub(super) struct Parts<E> {
    pub(super) reader: Reader<E>,
    pub(super) shared: SharedArc<Shared>,
    pub(super) failing: Failing,
    pub(super) waiter: Waiter,
}

impl<E> StageReader<E> {
    /// Creates the source of the stage or the worker of `place`, or of the consumer with this
    /// `name` that joined.
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
        let activity = shared.activity(stage).clone();
        let (failing, waiter) = (Failing::before(stage, &shared), Waiter::new(strategy));
        Self { reader, shared, activity, failing, name, waiter, may_delay_others }
    }

    /// Returns the parts that a worker needs.
    pub(super) fn into_parts(self) -> Parts<E> {
        let Self { reader, shared, failing, waiter, .. } = self;
        Parts { reader, shared, failing, waiter }
    }

    /// Polls the wait of a task for its next event.
    pub(super) fn poll_wait(
        &mut self,
        place: &mut Option<TaskPlace>,
        context: &Context<'_>,
    ) -> Poll<()> {
        self.shared.turns.pass_on(&self.shared.control);
        self.activity.set(Doing::Waiting);
        let polled = self.shared.control.poll_wait(&self.reader, place, context.waker());
        if polled.is_ready() {
            self.reader.tell();
        }
        polled
    }

    /// Returns what a batch of a poller needs.
    #[inline]
    pub(super) fn split(&mut self) -> (&mut Reader<E>, &Activity, &Failing) {
        (&mut self.reader, &self.activity, &self.failing)
    }
}

/// The wait of a reader for its next event. A poll that finds events takes them.
struct NextEvent<'a, E> {
    reader: &'a mut Reader<E>,
    batch: Option<Range<Sequence>>,
}

impl<E> Goal for NextEvent<'_, E> {
    const TAKES: bool = true;

    fn awaited(&self) -> &dyn Awaited {
        &*self.reader
    }

    #[inline(always)]
    fn poll(&mut self, times: u32) -> bool {
        match self.reader.spin(times) {
            Spun::Batch(batch) => self.batch = Some(batch),
            Spun::Something => {}
            Spun::Nothing => return false,
        }
        true
    }
}

impl<E> Source<E> for StageReader<E> {
    #[inline]
    fn shared(&self) -> &SharedArc<Shared> {
        &self.shared
    }

    #[inline]
    fn control(&self) -> &Placed<Control> {
        self.reader.ring().control()
    }

    #[inline]
    fn events<A: Access>(&mut self, batch: Range<Sequence>) -> A::Slice<'_, E> {
        A::slice(&mut self.reader, batch)
    }

    fn stage(&self) -> StageIndex {
        self.reader.stage()
    }

    fn generation(&self) -> u64 {
        self.reader.generation()
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
    fn wait_once(&mut self, deadline: Option<Instant>) -> Seen {
        self.activity.set(Doing::Waiting);
        let limit = self.shared.turns.limit_wait(&self.shared.control, deadline);
        let mut next = NextEvent { reader: &mut self.reader, batch: None };
        self.waiter.wait(&mut next, &self.shared, limit, Some(&self.activity));
        if let Some(batch) = next.batch {
            return Seen::Batch(batch);
        }
        let is_over = has_passed(deadline) || self.reader.is_stopping();
        self.reader.tell();
        if is_over { Seen::Expired } else { Seen::Something }
    }

    #[inline]
    fn drained(&mut self) -> Option<Drained> {
        self.reader.drained()
    }

    #[inline]
    fn waiter(&mut self) -> (&mut Waiter, Option<CpuLoad<'_>>) {
        let load = self.may_delay_others.then(|| CpuLoad::of(&self.shared));
        (&mut self.waiter, load)
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
            // The next consumer of the dynamic stage uses its words. What this one still records
            // about itself, such as the last call of its handler, goes to words that no thread
            // reads.
            self.activity = Activity::unseen();
        }
        self.reader.leave();
        // The dynamic stage is free by now.
        self.name = None;
        false
    }
}
