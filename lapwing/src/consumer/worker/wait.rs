//! What a worker without a claim waits for. Not here: how it gets its events (`worker`), what
//! differs by key (`wait_by_key`).

use super::wait_by_key::Look;
use crate::Sequence;
use crate::chosen::Reads;
use crate::protocol::advice::ReadAdvice;
use crate::protocol::control::{Control, ONLY_TURN, StageIndex};
use crate::protocol::group::Group;
use crate::protocol::parking::Awaited;
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::parking::watch::Turn;
use crate::protocol::reading::Barrier;
use crate::protocol::stamps::Span;

/// The wait of a worker without a claim: for events to claim, or, once there will be none, for the
/// end of the group's work.
///
/// These are two waits, and the worker chooses one before it parks. It loads the group's word to
/// choose where to park, and again to decide whether to park. Between the two loads, another worker
/// may claim the last event.
#[derive(Debug)]
pub(in crate::consumer) struct Wait<'a> {
    pub(in crate::consumer) control: &'a Control,
    pub(in crate::consumer) barrier: &'a Barrier,
    advice: &'a Reads,
    pub(in crate::consumer) group: &'a Group,
    pub(in crate::consumer) worker: usize,
    /// The words that it owns, for a worker by key.
    pub(in crate::consumer) words: Option<&'a [StageIndex]>,
    /// The end of the ring, for a worker that will have nothing to claim.
    end: Option<Sequence>,
}

impl<'a> Wait<'a> {
    /// The wait of `worker`; `None` if it is not active in an open ring.
    pub(super) fn of(
        control: &'a Control,
        barrier: &'a Barrier,
        advice: &'a Reads,
        group: &'a Group,
        worker: usize,
        words: Option<&'a [StageIndex]>,
    ) -> Option<Self> {
        let mut wait = Self { control, barrier, advice, group, worker, words, end: None };
        let is_needed = group.is_wanted(worker) || wait.is_in_the_team();
        if !is_needed && control.life.is_open() {
            return None;
        }
        wait.end = control.life.end().filter(|end| !is_needed || group.claimed() >= *end);
        Some(wait)
    }

    /// Whether there are events to claim, or the reason for this wait is gone.
    fn is_share_over(&self) -> bool {
        let Self { control, barrier, group, .. } = self;
        // Loaded each time: another worker may have claimed what this one waited for.
        let next = group.claimed();
        let is_there = || barrier.span(control, next, next + 1) != Span::Empty;
        let is_over = || !group.is_wanted(self.worker) || group.has_orphans() || is_there();
        if control.life.is_open() {
            self.advice.waits_for(next);
            return is_over();
        }
        match control.life.end() {
            // A close is in progress. It wakes all parked threads when it is done.
            None => false,
            Some(end) => end <= next || is_over(),
        }
    }

    /// Whether the group has finished everything, or this worker has something left to do.
    fn is_work_over(&self, end: Sequence) -> bool {
        let is_anything_left = || self.group.has_orphans() || self.group.claimed() < end;
        self.group.has_finished(end)
            || self.has_routed()
            || self.has_transfer()
            || self.group.is_wanted(self.worker) && is_anything_left()
    }
}

impl Awaited for Wait<'_> {
    fn is_over(&self) -> bool {
        let own = self.group.word_of(self.worker);
        if self.control.life.is_halted() || self.control.is_stopping(own, ONLY_TURN) {
            return true;
        }
        match (self.end, &self.group.routes) {
            (Some(end), _) => self.is_work_over(end),
            (None, None) => self.is_share_over(),
            (None, Some(routes)) => matches!(self.look(routes), Look::Over),
        }
    }

    fn event_count(&self) -> Option<&EventCount> {
        match (self.end, &self.group.routes) {
            (Some(end), _) => self.control.behind(self.group.words(), end.saturating_sub(1)),
            (None, None) => self.barrier.behind(self.control, self.group.claimed()),
            (None, Some(routes)) => match self.look(routes) {
                Look::Over => None,
                Look::Behind(place) => place,
            },
        }
    }

    /// Only if any worker may get the next event. By key, the owner is known only once the key is
    /// computed. At the end of the ring, no worker gets another event.
    fn turn(&self) -> Option<Turn<'_>> {
        let is_for_anyone = self.end.is_none() && self.group.routes.is_none();
        let group = self.group.words()[0];
        is_for_anyone.then(|| self.control.stages[group].watch.turn(self.worker))
    }
}
