//! A worker of a group: where its batches come from, and how it waits for them. Not here: the words that
//! workers share (`group`), what is different by key (`routing`).

mod routing;
mod wait;
mod wait_by_key;

use std::mem;
use std::ops::Range;
use std::time::Instant;

use self::wait::Wait;
use super::finished::Outcome;
use super::keys::{ByKey, SharedKeys};
use super::source::Source;
use super::stage_reader::StageReader;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::chosen::Reader;
use crate::error::PollError;
use crate::on_this_thread;
use crate::protocol::control::{Control, ONLY_TURN, StageIndex};
use crate::protocol::group::{Claim, Group, KeyTransfer};
use crate::protocol::parking::Awaited;
use crate::protocol::reading::{Drained, LastLook};
use crate::protocol::ring::Ring;
use crate::protocol::stamps::Span;
use crate::sync::Arc;
use crate::tuning::share::Share;
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{AnyWaitStrategy, Waiting};

/// A consumer that claims its events from those that its group may have, or gets those whose keys are
/// its own.
pub(crate) struct Worker<E> {
    /// What the group may read, seen from `reader.next`, and how to wait for it.
    pub(super) reader: Reader<E>,
    strategy: Box<dyn AnyWaitStrategy>,
    pub(super) group: Arc<Group>,
    pub(super) worker: usize,
    /// What it has and has not finished. Without it, its word is idle, except by key.
    pub(super) claim: Option<Claim>,
    /// Number of sequences that it has finished.
    pub(super) finished: u64,
    /// What that was when nothing was left to claim of what it knew the last time.
    drained: u64,
    /// How much it claims.
    pub(super) share: Share,
    /// Whether a poll that found nothing has moved its words, and its stage was not told.
    pub(super) has_passed: bool,
    has_left: bool,
    pub(super) by_key: Option<ByKey<E>>,
}

impl<E> Worker<E> {
    /// `source` is that of the group's stage.
    pub(crate) fn new(
        source: StageReader<E>,
        group: Arc<Group>,
        worker: usize,
        keys: Option<SharedKeys<E>>,
    ) -> Self {
        let by_key = keys.map(|keys| ByKey::new(keys, group.word_of(worker)));
        let (reader, strategy) = source.into_parts();
        Self {
            reader,
            strategy,
            group,
            worker,
            claim: None,
            finished: 0,
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

    /// Claims the next events that nobody has claimed, or takes over what somebody left behind.
    ///
    /// # Errors
    ///
    /// As [`poll`](Source::poll).
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
            self.reader.next = self.group.claimed();
            let (events, is_tombstone) = match self.next_share() {
                Ok(Span::Events(end)) => (self.reader.next..end, false),
                Ok(Span::Tombstones(end)) => (self.reader.next..end, true),
                Ok(Span::Empty) => break PollError::Empty,
                Err(_) => break self.nothing_more(),
            };
            has_tried = true;
            if self.group.try_claim(word, events.clone()) {
                self.claim = Some(Claim { word, events: events.clone() });
                if !is_tombstone {
                    self.share.begin(events.end - events.start);
                    return Ok(events);
                }
                self.reader.given_up += events.end - events.start;
                self.release(events.end);
            }
        };
        if has_tried {
            self.group.rest(word);
            self.has_passed = true;
        }
        Err(error)
    }

    /// What this worker should claim from `reader.next` on: its share of what is there, so that the
    /// others have something to do as well.
    fn next_share(&mut self) -> Result<Span, PollError> {
        let reader = &mut self.reader;
        let sharers = self.group.size() as u64;
        let next = reader.next;
        let horizon =
            next + reader.max_batch.saturating_mul(sharers).min(reader.ring.control.capacity);
        let from = reader.known.max(next);
        match reader.look(from, horizon)? {
            Span::Events(end) => {
                reader.known = end;
                reader.last = if end < horizon { LastLook::All } else { LastLook::Part };
            }
            Span::Tombstones(end) if from == next => return Ok(Span::Tombstones(end)),
            Span::Empty | Span::Tombstones(_) => {}
        }
        let there = reader.known.saturating_sub(next);
        if there == 0 {
            return Ok(Span::Empty);
        }
        let share = self.share.of(there, sharers).min(reader.max_batch);
        Ok(Span::Events(reader.ring.buffer.wrap_after(next).min(next + share)))
    }

    /// Takes over what another worker left behind, if there is something.
    pub(super) fn take_over(&self) -> Option<Claim> {
        if !self.group.has_orphans() {
            return None;
        }
        let claim = self.group.take_over()?;
        on_this_thread::take_over(self.control(), self.stage(), claim.word);
        Some(claim)
    }

    /// What it waits for with nothing in hand; `None` if it is not to work.
    fn what_it_waits_for(&self) -> Option<Wait<'_>> {
        let Reader { ring, barrier, advice, .. } = &self.reader;
        let words = self.by_key.as_ref().map(ByKey::words);
        Wait::of(&ring.control, barrier, advice, &self.group, self.worker, words)
    }

    /// Why a worker that finds nothing to claim has nothing: at the end of the ring it stays for as
    /// long as others are at work, since they may leave events behind.
    #[cold]
    pub(super) fn nothing_more(&self) -> PollError {
        let life = &self.reader.ring.control.life;
        if let Some(cause) = life.halt_cause() {
            return PollError::Halted(cause);
        }
        match life.end() {
            Some(end) if self.group.has_finished(end) => PollError::Closed,
            _ => PollError::Empty,
        }
    }
}

impl<E> Source<E> for Worker<E> {
    fn ring(&self) -> &Ring<E> {
        &self.reader.ring
    }

    fn control(&self) -> &Arc<Control> {
        &self.reader.ring.control
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
        self.reader.given_up
    }

    fn available(&mut self) -> u64 {
        let Some(Claim { events, .. }) = &self.claim else {
            return 0;
        };
        let own = events.end - events.start;
        self.reader.next = events.start;
        // Of the group's events it has only looked at its own.
        self.reader.available_now().max(own)
    }

    fn limit_batch(&mut self, events: u64) {
        self.reader.max_batch = self.reader.max_batch.min(events);
    }

    #[inline]
    fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        if let Some(cause) = self.reader.ring.control.life.halt_cause() {
            return Err(PollError::Halted(cause));
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

    fn wait_once(&mut self, deadline: Option<Instant>) -> bool {
        self.activity().set(Doing::Waiting);
        let Self { reader, strategy, group, worker, by_key, .. } = self;
        let control = &*reader.ring.control;
        let own = group.word_of(*worker);
        let words = by_key.as_ref().map(ByKey::words);
        let Some(wait) = Wait::of(control, &reader.barrier, &reader.advice, group, *worker, words)
        else {
            group.sleep_until_wanted(*worker);
            return control.is_stopping(own, ONLY_TURN);
        };
        let activity: &Activity = &control.stages[own].activity;
        let waiting = Waiting { sleeper: Some(activity), ..Waiting::new(control, &wait, deadline) };
        strategy.wait(&waiting);
        waiting.is_expired() || control.is_stopping(own, ONLY_TURN)
    }

    #[inline]
    fn drained(&mut self) -> Option<Drained> {
        let events = self.finished - self.drained;
        let is_idle = events > 0 && self.claim.is_none() && self.by_key.is_none();
        // Nobody keeps away from what is known to be there.
        if !is_idle || self.reader.known > self.group.claimed() {
            return None;
        }
        self.drained = self.finished;
        self.reader.drained_of(events)
    }

    /// What it leaves, others of its group take.
    #[inline]
    fn strategy(&mut self) -> (&mut dyn AnyWaitStrategy, Option<CpuLoad<'_>>) {
        (&mut *self.strategy, None)
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
        // Between batches there is nothing to let go of.
        let Some(Claim { word, events }) = &mut self.claim else {
            return;
        };
        debug_assert!(sequence >= events.start, "a worker never goes back: sequence={sequence}");
        self.finished += sequence - events.start;
        events.start = sequence;
        let (word, is_done) = (*word, events.is_empty());
        if is_done {
            self.claim = None;
            self.share.end();
        }
        if is_done && self.by_key.is_none() {
            self.group.rest(word);
        } else {
            self.group.control.advance(word, sequence);
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
