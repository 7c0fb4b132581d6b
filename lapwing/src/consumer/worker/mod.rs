//! The source of a worker of a group. Not here: the words that workers share (`group`),
//! what a worker waits for (`wait`), what differs by key (`routing`).

mod routing;
mod wait;

use std::mem;
use std::ops::Range;
use std::sync::Arc as SharedArc;
use std::time::Instant;

use lapwing_core::{Awaited, Drained, ONLY_GENERATION, Span, StageIndex};

use self::wait::WorkerWait;
use super::access::Access;
use super::finished::Outcome;
use super::keys::{ByKey, SharedKeys};
use super::source::{Seen, Source};
use super::stage_reader::{Parts, StageReader};
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::chosen::Reader;
use crate::consumer::failing::Failing;
use crate::deadline::has_passed;
use crate::error::{HaltCause, PollError};
use crate::group::{Group, KeyTransfer, WorkerClaim};
use crate::on_this_thread;
use crate::ring::Shared;
use crate::sync::Arc;
use crate::tuning::share::Share;
use crate::wait::Waiter;
use crate::wait::cpu_load::CpuLoad;

/// A consumer that claims a share of the events of its group, or gets those whose keys it owns.
pub(crate) struct Worker<E> {
    /// Reads what the group may read, from `reader.next` on.
    pub(super) reader: Reader<E>,
    shared: SharedArc<Shared>,
    failing: Failing,
    waiter: Waiter,
    pub(super) group: Arc<Group>,
    pub(super) worker: usize,
    /// The part of its claim that is not finished. Without a claim its word is idle, except by key.
    pub(super) claim: Option<WorkerClaim>,
    /// Number of sequences that it has finished.
    pub(super) finished: u64,
    /// Number of abandoned claims among these.
    pub(super) given_up: u64,
    /// The value of `finished` when it last reported what it drained.
    drained: u64,
    /// Decides how many events it claims.
    pub(super) share: Share,
    /// Whether a poll that found nothing has moved its words, and the handler is not yet notified.
    pub(super) has_passed: bool,
    has_left: bool,
    pub(super) by_key: Option<ByKey<E>>,
}

impl<E> Worker<E> {
    /// `source` reads as the stage of the group.
    pub(crate) fn new(
        source: StageReader<E>,
        group: Arc<Group>,
        worker: usize,
        keys: Option<SharedKeys<E>>,
    ) -> Self {
        let by_key = keys.map(|keys| ByKey::new(keys, group.word_of(worker)));
        let Parts { reader, shared, failing, waiter } = source.into_parts();
        Self {
            reader,
            shared,
            failing,
            waiter,
            group,
            worker,
            claim: None,
            finished: 0,
            given_up: 0,
            drained: 0,
            share: Share::new(),
            has_passed: false,
            has_left: false,
            by_key,
        }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// Claims the next unclaimed events, or takes over a claim that was left behind.
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if there is nothing to claim.
    /// - [`PollError::Closed`] once the ring is closed and the group has finished every event.
    /// - [`PollError::Halted`] if the ring is halted.
    fn claim(&mut self) -> Result<Range<Sequence>, PollError> {
        if !self.group.is_wanted(self.worker) {
            return Err(self.nothing_more());
        }
        if let Some(claim) = self.take_over() {
            return Ok(self.claim.insert(claim).events.clone());
        }
        let word = self.group.word_of(self.worker);
        let mut has_tried = false;
        let error = loop {
            let next = self.group.claimed();
            self.reader.seek(next);
            let (events, is_tombstone) = match self.next_share() {
                Ok(Span::Events(end)) => (next..end, false),
                Ok(Span::Tombstones(end)) => (next..end, true),
                Ok(Span::Empty) => break PollError::Empty,
                Err(_) => break self.nothing_more(),
            };
            has_tried = true;
            if self.group.try_claim(word, events.clone()) {
                self.claim = Some(WorkerClaim { word, events: events.clone() });
                if !is_tombstone {
                    self.share.begin(events.end - events.start);
                    return Ok(events);
                }
                self.given_up += events.end - events.start;
                self.release(events.end);
            }
        };
        if has_tried {
            self.group.rest(word);
            self.has_passed = true;
        }
        Err(error)
    }

    /// The events to claim from `reader.next` on. They are a share of the available events, so that
    /// the other workers get events too.
    fn next_share(&mut self) -> Result<Span, PollError> {
        let reader = &mut self.reader;
        let (next, max_batch) = (reader.next(), reader.max_batch());
        let (sharers, capacity) = (self.group.size() as u64, reader.ring().control().capacity());
        let horizon = next + max_batch.saturating_mul(sharers).min(capacity);
        let found = reader.find(horizon).map_err(PollError::of)?;
        let Span::Events(end) = found else { return Ok(found) };
        let share = self.share.of(end - next, sharers).min(max_batch);
        Ok(Span::Events(reader.ring().wrap_after(next).min(next + share)))
    }

    /// Takes over a claim that another worker left behind, if there is one.
    pub(super) fn take_over(&self) -> Option<WorkerClaim> {
        if !self.group.has_orphans() {
            return None;
        }
        let claim = self.group.take_over()?;
        on_this_thread::take_over(self.control(), self.stage(), claim.word);
        Some(claim)
    }

    /// What it waits for without a claim; `None` if it is not active.
    fn what_it_waits_for(&self) -> Option<WorkerWait<'_, E>> {
        let words = self.by_key.as_ref().map(ByKey::words);
        WorkerWait::of(&self.reader, &self.group, self.worker, words)
    }

    /// The reason why there is nothing to claim. At the end of the ring, a worker stays while
    /// others still handle events, since they may leave events behind.
    #[cold]
    pub(super) fn nothing_more(&self) -> PollError {
        let control = &self.group.control;
        if let Some(cause) = control.halt_cause() {
            return PollError::Halted(HaltCause::of(cause));
        }
        match control.end() {
            Some(end) if self.group.has_finished(end) => PollError::Closed,
            _ => PollError::Empty,
        }
    }
}

impl<E> Source<E> for Worker<E> {
    #[inline]
    fn shared(&self) -> &SharedArc<Shared> {
        &self.shared
    }

    fn events<A: Access>(&mut self, batch: Range<Sequence>) -> A::Slice<'_, E> {
        let is_own = |claim: &WorkerClaim| {
            claim.events.start <= batch.start && batch.end <= claim.events.end
        };
        assert!(self.claim.as_ref().is_some_and(is_own), "a worker reads what it has claimed");
        // SAFETY: I12: the worker has claimed these events, or owns them by key, up to the wrap at
        // most. It releases them by `&mut self`.
        unsafe { A::slice_of_worker(&mut self.reader, batch) }
    }

    fn stage(&self) -> StageIndex {
        self.group.word_of(self.worker)
    }

    fn group(&self) -> Option<&Arc<Group>> {
        Some(&self.group)
    }

    fn is_resting(&self) -> bool {
        self.claim.is_none() && self.what_it_waits_for().is_none()
    }

    fn next(&self) -> Sequence {
        self.claim.as_ref().map_or_else(|| self.group.claimed(), |claim| claim.events.start)
    }

    fn processed(&self) -> u64 {
        self.finished
    }

    fn given_up(&self) -> u64 {
        self.given_up
    }

    fn available(&mut self) -> u64 {
        let Some(WorkerClaim { events, .. }) = &self.claim else {
            return 0;
        };
        let own = events.end - events.start;
        // Of the events of the group, it has only checked its own.
        self.reader.published_from(events.start).max(own)
    }

    fn limit_batch(&mut self, events: u64) {
        self.reader.limit_batch(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        if let Some(cause) = self.control().halt_cause() {
            return Err(PollError::Halted(HaltCause::of(cause)));
        }
        match &self.claim {
            Some(claim) => Ok(claim.events.clone()),
            None if self.by_key.is_some() => self.poll_by_key(),
            None => self.claim(),
        }
    }

    fn is_ready(&self) -> bool {
        let is_over = || self.what_it_waits_for().is_some_and(|wait| wait.is_over());
        self.is_stopping() || self.claim.is_some() || is_over()
    }

    fn wait_once(&mut self, deadline: Option<Instant>) -> Seen {
        self.activity().set(Doing::Waiting);
        let Self { reader, shared, waiter, group, worker, by_key, .. } = self;
        let (control, own) = (&shared.control, group.word_of(*worker));
        let words = by_key.as_ref().map(ByKey::words);
        let is_expired = match WorkerWait::of(reader, group, *worker, words) {
            Some(wait) => {
                let limit = shared.turns.limit_wait(control, deadline);
                let activity: &Activity = shared.activity(own);
                waiter.wait(&mut &wait, shared, limit, Some(activity));
                has_passed(deadline)
            }
            None => {
                group.sleep_until_wanted(*worker);
                // It has rested, and not waited by its strategy.
                waiter.begin();
                false
            }
        };
        let is_over = is_expired || control.is_stopping(own, ONLY_GENERATION);
        if is_over { Seen::Expired } else { Seen::Something }
    }

    #[inline]
    fn drained(&mut self) -> Option<Drained> {
        let events = self.finished - self.drained;
        let is_idle = events > 0 && self.claim.is_none() && self.by_key.is_none();
        // It does not back off while events are known to be available.
        if !is_idle || self.reader.knows_of(self.group.claimed()) {
            return None;
        }
        self.drained = self.finished;
        self.reader.drained_of(events)
    }

    /// No CPU load: other workers of the group take the events that it leaves.
    #[inline]
    fn waiter(&mut self) -> (&mut Waiter, Option<CpuLoad<'_>>) {
        (&mut self.waiter, None)
    }

    #[inline]
    fn failing(&self) -> &Failing {
        &self.failing
    }

    #[inline]
    fn release(&mut self, sequence: Sequence) {
        // Between batches there is nothing to release.
        let Some(WorkerClaim { word, events }) = &mut self.claim else {
            return;
        };
        debug_assert!(sequence >= events.start, "a worker never goes back: sequence={sequence}");
        self.finished += sequence - events.start;
        self.reader.watch(events.start..sequence);
        events.start = sequence;
        let (word, is_done) = (*word, events.is_empty());
        if is_done {
            self.claim = None;
            self.share.end();
        }
        if is_done && self.by_key.is_none() {
            self.group.rest(word);
        } else {
            self.group.finish(word, sequence);
        }
    }

    fn take_passed(&mut self) -> Option<Sequence> {
        mem::take(&mut self.has_passed).then(|| self.next())
    }

    #[inline]
    fn has_transfer(&self) -> bool {
        let has_any = |by_key: &ByKey<E>| self.group.has_transfer(by_key.words());
        self.claim.is_none() && self.by_key.as_ref().is_some_and(has_any)
    }

    fn hand_over(&mut self, transfer: &mut dyn KeyTransfer, leaves: bool) {
        match &self.by_key {
            Some(by_key) if leaves => self.group.hand_all_over(by_key.words(), transfer),
            Some(by_key) => self.group.hand_over(by_key.words(), transfer),
            None => {}
        }
    }

    fn take_back(&mut self, transfer: &mut dyn KeyTransfer) {
        if let Some(by_key) = &self.by_key {
            self.group.take_back(by_key.words(), transfer);
        }
    }

    fn leave(&mut self) -> bool {
        if mem::replace(&mut self.has_left, true) {
            return false;
        }
        let claim = self.claim.take();
        match &self.by_key {
            None => self.group.leave(self.worker, claim),
            Some(by_key) => self.group.leave(self.worker, by_key.left_behind(&self.group)),
        }
    }

    fn halted(&mut self) -> Outcome {
        let failure = self.by_key.as_mut().and_then(ByKey::take_failure);
        failure.unwrap_or(Outcome::Halted)
    }
}
