//! How a producer waits on a full ring. Not here: calls that do not wait (`when_full`).

use std::borrow::Borrow;
use std::time::Instant;

use lapwing_core::error::ClaimError;
use lapwing_core::{Awaited, Control, EventCount, Granted, Trying};

use super::Sequencer;
use crate::Sequence;
use crate::deadline::{TimeLimit, has_passed};
use crate::error::{PublishError, TryPublishError, WhenFullError};
use crate::on_this_thread;
use crate::ring::Shared;
use crate::sync::{IS_CHECKED, Ordering};
use crate::turns::ProducerTurn;
use crate::wait::{AnyWaitStrategy, Waiter};

/// A producer's wait for `count` free slots.
#[derive(Debug)]
pub(super) struct FreeSlots<'a> {
    control: &'a Control,
    count: u64,
    /// Whether a handler of the same ring called the producer.
    runs_a_stage: bool,
    own_claims: OwnClaims<'a>,
    /// Whether the producer sleeps until a quarter of the ring is free, for a short time at most.
    is_patient: bool,
}

/// The claims that the waiting thread holds in a ring with several producers.
#[derive(Debug)]
enum OwnClaims<'a> {
    /// The first sequence of the oldest one. A thread makes no claim while it waits.
    Oldest(Option<Sequence>),
    /// Those of the thread that polls a task. Each check looks for them, because most checks find
    /// without a search that there is none in the way.
    Of(&'a Shared),
}

impl OwnClaims<'_> {
    /// Whether there is one below `wrap_point`.
    fn are_below(&self, wrap_point: Sequence) -> bool {
        match self {
            Self::Oldest(held) => held.is_some_and(|held| held < wrap_point),
            Self::Of(shared) => shared.holds_claim_below(wrap_point),
        }
    }
}

impl<'a> FreeSlots<'a> {
    /// The wait of a task that the calling thread polls. The thread may be another one each time.
    pub(super) fn of_task(shared: &'a Shared, count: u64) -> Self {
        let control = &*shared.control;
        let runs_a_stage = on_this_thread::runs_a_stage_of(control);
        let own_claims = OwnClaims::Of(shared);
        Self { control, count, runs_a_stage, own_claims, is_patient: false }
    }

    /// The sequence that every stage must finish before `count` slots are free.
    fn wrap_point(&self) -> Sequence {
        self.control.wrap_point(self.count)
    }

    /// Whether only this thread can free a slot, by publishing a claim that it holds or by
    /// advancing a stage that it runs.
    ///
    /// No consumer passes an unpublished claim. The position of the stage in the graph does not
    /// matter, since the gate is never ahead of any stage. Once the answer is true it stays true,
    /// since the wrap point never decreases.
    pub(super) fn would_deadlock(&self) -> bool {
        let wrap_point = self.wrap_point();
        self.own_claims.are_below(wrap_point)
            || self.runs_a_stage && on_this_thread::is_behind(self.control, wrap_point)
    }
}

impl Awaited for FreeSlots<'_> {
    fn is_over(&self) -> bool {
        // The check is repeated during the wait: a claim of another producer raises the wrap point
        // above this thread's claim or stage.
        self.control.is_claimable(self.count) || self.would_deadlock()
    }

    fn event_count(&self) -> Option<&EventCount> {
        // The slowest consumer must finish the last sequence before the wrap point.
        self.control.behind_gate(self.wrap_point().saturating_sub(1), self.is_patient)
    }
}

/// Counts a producer as waiting until this is dropped. Monitors show the count, which does not
/// depend on the wait strategy.
#[derive(Debug)]
pub(super) struct CountedWait<S: Borrow<Shared>>(S);

impl<S: Borrow<Shared>> CountedWait<S> {
    pub(super) fn new(shared: S) -> Self {
        // O13, Relaxed: a figure for monitors.
        shared.borrow().watched.words.waiting_producers.fetch_add(1, Ordering::Relaxed);
        Self(shared)
    }
}

impl<S: Borrow<Shared>> Drop for CountedWait<S> {
    fn drop(&mut self) {
        // O13, Relaxed: a figure for monitors.
        self.0.borrow().watched.words.waiting_producers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How one producer waits on a full ring.
pub(super) struct Waits {
    waiter: Waiter,
    /// Whether a wait sleeps until a quarter of the ring is free. After each wait it is set to
    /// whether that much was free.
    is_patient: bool,
    /// The last ticket of this producer among those that take turns.
    ticket: u64,
}

impl Waits {
    pub(super) fn new(strategy: Box<dyn AnyWaitStrategy>) -> Self {
        Self { waiter: Waiter::new(strategy), is_patient: true, ticket: 0 }
    }

    /// Changes the strategy.
    pub(super) fn set(&mut self, strategy: Box<dyn AnyWaitStrategy>) {
        self.waiter.set(strategy);
    }

    /// Returns a copy of the strategy.
    pub(super) fn strategy(&self) -> Box<dyn AnyWaitStrategy> {
        self.waiter.copy_strategy()
    }
}

/// A claim that the ring refused once, and what the producer needs to wait for it.
pub(super) struct Refused<'w, 'p, 'a, S: Sequencer> {
    pub(super) trying: &'w mut Trying<'p, 'a, S::Claims>,
    pub(super) why: ClaimError,
    /// Number of slots that it needs.
    pub(super) count: u64,
    pub(super) shared: &'w Shared,
    pub(super) waits: &'w mut Waits,
    /// Number of events that the producer has dropped.
    pub(super) dropped: &'w mut u64,
}

impl<'p, S: Sequencer> Refused<'_, 'p, '_, S> {
    /// Returns why the ring refused it.
    pub(super) fn why(&self) -> TryPublishError {
        TryPublishError::of(self.why)
    }

    /// Does not wait.
    #[inline]
    pub(super) fn give_up(self) -> Result<Granted<'p>, TryPublishError> {
        Err(self.why())
    }

    /// Waits for free slots.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(mut self) -> Result<Granted<'p>, PublishError> {
        loop {
            match self.wait_until(None) {
                Ok(granted) => return Ok(granted),
                Err(Some(error)) => return Err(error),
                Err(None) => {}
            }
        }
    }

    /// Waits for free slots, for as long as `limit` allows.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_within(mut self, limit: TimeLimit) -> Result<Granted<'p>, WhenFullError> {
        let granted = self.wait_until(limit.deadline());
        granted.map_err(|error| error.map_or(WhenFullError::TimedOut, WhenFullError::from))
    }

    /// Drops this number of events.
    pub(super) fn count_dropped(&mut self, events: u64) {
        *self.dropped += events;
        // O13, Relaxed: a total that nothing else depends on.
        self.shared.watched.words.dropped.fetch_add(events, Ordering::Relaxed);
    }

    /// Waits for free slots until `deadline`, if there is one. `Err(None)` if that has passed.
    fn wait_until(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<Granted<'p>, Option<PublishError>> {
        let Self { trying, count, shared, waits, .. } = self;
        let (control, count) = (&*shared.control, *count);
        let runs_a_stage = on_this_thread::runs_a_stage_of(control);
        let held = shared.oldest_own_claim();
        let has_rivals = control.is_multi() && waits.waiter.parks() && !IS_CHECKED;
        // Consumers wait for this thread, so it does not wait for other producers.
        let is_needed = runs_a_stage || held.is_some();
        let Waits { waiter, is_patient, ticket } = &mut **waits;
        let mut turn =
            (has_rivals && !is_needed).then(|| ProducerTurn::new(&shared.turns, control, ticket));
        let mut is_expired = false;
        let mut counted = None;
        loop {
            match trying.again().map_err(TryPublishError::of) {
                Ok(granted) => return Ok(granted),
                Err(why) => match why.end_of_ring() {
                    Some(end) => return Err(Some(end.into())),
                    None if is_expired => return Err(None),
                    None => {}
                },
            }
            let patient = *is_patient && count <= control.room();
            let own_claims = OwnClaims::Oldest(held);
            let awaited =
                FreeSlots { control, count, runs_a_stage, own_claims, is_patient: patient };
            if awaited.would_deadlock() {
                return Err(Some(PublishError::WouldDeadlock));
            }
            if counted.is_none() {
                counted = Some(CountedWait::new(*shared));
                waiter.begin();
            }
            let limit = match &mut turn {
                Some(turn) if turn.is_due() => {
                    turn.take(deadline);
                    // It has waited in the queue, and not by its strategy.
                    waiter.begin();
                    is_expired = has_passed(deadline);
                    continue;
                }
                Some(turn) => turn.limit_wait(deadline),
                None => deadline,
            };
            waiter.wait(&mut &awaited, shared, limit, None);
            is_expired = has_passed(deadline);
            // Patience does not pay while consumers release events slowly. So the next wait is
            // patient only if a quarter of the ring is free after this one.
            *is_patient = control.has_room();
        }
    }
}
