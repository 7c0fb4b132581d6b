//! How a producer waits on a full ring. Not here: calls that do not wait (`offer`).

use std::time::{Duration, Instant};

use super::Producer;
use super::Sequencer;
use crate::Sequence;
use crate::deadline::has_passed;
use crate::error::{PublishError, PublishTimeoutError, TryPublishError};
use crate::on_this_thread;
use crate::protocol::claims::{self, Claims, oldest_own_claim};
use crate::protocol::control::Control;
use crate::protocol::parking::Awaited;
use crate::protocol::parking::event_count::EventCount;
use crate::sync::{IS_CHECKED, Ordering};
use crate::turns::Turn;
use crate::wait::{WaitStrategy, Waiting};

/// Longest sleep of a patient producer, which waits until a quarter of the ring is free. Afterwards
/// it waits only for the slots that it needs.
///
/// The time is several times the cost of a sleep and a wake-up. A consumer that takes longer than
/// this may itself wait for the producer. A consumer that is so slow is not held up by a wake-up
/// for each event.
const PATIENCE: Duration = Duration::from_micros(100);

/// A producer's wait for `count` free slots.
#[derive(Debug)]
struct FreeSlots<'a> {
    control: &'a Control,
    count: u64,
    /// Whether a handler of the same ring called the producer.
    runs_a_stage: bool,
    /// The oldest sequence that this thread has claimed and not published, in a ring with several
    /// producers.
    held: Option<Sequence>,
    /// Whether the producer sleeps until a quarter of the ring is free.
    is_patient: bool,
}

impl FreeSlots<'_> {
    /// The sequence that every stage must finish before `count` slots are free.
    fn wrap_point(&self) -> Sequence {
        claims::wrap_point(self.control, self.count)
    }

    /// Whether only this thread can free a slot, by publishing a claim that it holds or by
    /// advancing a stage that it runs.
    ///
    /// No consumer passes an unpublished claim. The position of the stage in the graph does not
    /// matter, since the gate is never ahead of any stage. Once the answer is true it stays true,
    /// since the wrap point never decreases.
    fn would_deadlock(&self) -> bool {
        let wrap_point = self.wrap_point();
        self.held.is_some_and(|held| held < wrap_point)
            || self.runs_a_stage && on_this_thread::is_behind(self.control, wrap_point)
    }
}

impl Awaited for FreeSlots<'_> {
    fn is_over(&self) -> bool {
        // The check is repeated during the wait: a claim of another producer raises the wrap point
        // above this thread's claim or stage.
        claims::is_claimable(self.control, self.count) || self.would_deadlock()
    }

    fn event_count(&self) -> Option<&EventCount> {
        // The slowest consumer must finish the last sequence before the wrap point.
        self.control.behind_gate(self.wrap_point().saturating_sub(1), self.is_patient)
    }

    fn longest_sleep(&self) -> Option<Duration> {
        self.is_patient.then_some(PATIENCE)
    }
}

/// Counts a producer as waiting until this is dropped. Monitors show the count, which does not
/// depend on the wait strategy.
struct CountedWait<'a>(&'a Control);

impl<'a> CountedWait<'a> {
    fn new(control: &'a Control) -> Self {
        // O13, Relaxed: a figure for monitors.
        control.waiting_producers.fetch_add(1, Ordering::Relaxed);
        Self(control)
    }
}

impl Drop for CountedWait<'_> {
    fn drop(&mut self) {
        // O13, Relaxed: a figure for monitors.
        self.0.waiting_producers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<E, S: Sequencer> Producer<E, S> {
    /// Sets how this producer waits on a full ring, instead of by the ring's
    /// [`producer_wait`](crate::Builder::producer_wait).
    ///
    /// Each of several producers has its own strategy. A clone starts with the strategy of the
    /// producer that it is cloned from.
    ///
    /// To save wake-ups, a parked producer may be woken only when a quarter of the ring is free,
    /// but after 100 µs at most. [Several producers](crate::wait#several-producers-on-a-full-ring)
    /// with parking strategies take turns.
    ///
    /// The ring decides at [`build`](crate::Builder::build) whether its threads check for parked
    /// threads. If it has no seats, and no strategy given to the builder
    /// [parks](WaitStrategy::PARKS), a parking strategy that is set here wakes at short intervals
    /// instead, as [`Waiting::park`](crate::wait::Waiting::park) describes.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, wait::{Blocking, BusySpin}};
    ///
    /// let (mut urgent, consumers) = Disruptor::multi_producer(1, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// let mut patient = urgent.clone();
    /// urgent.set_wait(BusySpin);
    /// patient.set_wait(Blocking::default());
    ///
    /// let running = consumers.start()?;
    /// thread::scope(|scope| {
    ///     for producer in [&mut urgent, &mut patient] {
    ///         scope.spawn(|| (0..5).for_each(|_| _ = producer.publish(|event| *event = 7)));
    ///     }
    /// });
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_wait(&mut self, strategy: impl WaitStrategy) {
        self.strategy = Box::new(strategy);
    }

    /// Claims `count` sequences, waiting for free slots.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_to_claim(&mut self, count: u64) -> Result<Sequence, PublishError> {
        self.wait_for(count, |claims, control| claims.try_claim(control, count))
    }

    /// Claims `count` sequences, waiting for free slots until `deadline`, if there is one.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_to_claim_until(
        &mut self,
        count: u64,
        deadline: Option<Instant>,
    ) -> Result<Sequence, PublishTimeoutError> {
        self.wait_until(count, deadline, |claims, control| claims.try_claim(control, count))
    }

    /// Claims with `try_claim`, waiting for `count` free slots while it finds the ring full.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_for<T>(
        &mut self,
        count: u64,
        try_claim: impl Fn(&mut S::Claims, &Control) -> Result<T, TryPublishError>,
    ) -> Result<T, PublishError> {
        loop {
            match self.wait_until(count, None, &try_claim) {
                Ok(claimed) => return Ok(claimed),
                Err(PublishTimeoutError::Closed) => return Err(PublishError::Closed),
                Err(PublishTimeoutError::Halted(cause)) => return Err(PublishError::Halted(cause)),
                Err(PublishTimeoutError::WouldDeadlock) => return Err(PublishError::WouldDeadlock),
                Err(PublishTimeoutError::TimedOut) => {}
            }
        }
    }

    /// Claims with `try_claim`, waiting for `count` free slots while it finds the ring full, until
    /// `deadline`, if there is one.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_until<T>(
        &mut self,
        count: u64,
        deadline: Option<Instant>,
        try_claim: impl Fn(&mut S::Claims, &Control) -> Result<T, TryPublishError>,
    ) -> Result<T, PublishTimeoutError> {
        let control = &self.ring.control;
        let runs_a_stage = on_this_thread::runs_a_stage_of(control);
        let held = oldest_own_claim(control);
        let has_rivals = control.stamps.is_some() && self.strategy.parks() && !IS_CHECKED;
        // Consumers wait for this thread, so it does not wait for other producers.
        let is_needed = runs_a_stage || held.is_some();
        let mut turn = (has_rivals && !is_needed)
            .then(|| Turn::new(&control.turns, control, &mut self.ticket));
        let mut is_expired = false;
        let mut counted = None;
        loop {
            match try_claim(&mut self.claims, control) {
                Ok(claimed) => return Ok(claimed),
                Err(TryPublishError::Closed) => return Err(PublishTimeoutError::Closed),
                Err(TryPublishError::Halted(cause)) => {
                    return Err(PublishTimeoutError::Halted(cause));
                }
                Err(TryPublishError::Full) if is_expired => {
                    return Err(PublishTimeoutError::TimedOut);
                }
                Err(TryPublishError::Full) => {}
            }
            let is_patient = self.is_patient && count <= control.room();
            let awaited = FreeSlots { control, count, runs_a_stage, held, is_patient };
            if awaited.would_deadlock() {
                return Err(PublishTimeoutError::WouldDeadlock);
            }
            counted.get_or_insert_with(|| CountedWait::new(control));
            let limit = match &mut turn {
                Some(turn) if turn.is_due() => {
                    turn.take(deadline);
                    is_expired = has_passed(deadline);
                    continue;
                }
                Some(turn) => turn.limit_wait(deadline),
                None => deadline,
            };
            self.strategy.wait(&Waiting::new(control, &awaited, limit));
            is_expired = has_passed(deadline);
            // Patience does not pay while consumers release events slowly. So the next wait is
            // patient only if a quarter of the ring is free after this one.
            self.is_patient = control.has_room();
        }
    }
}
