//! What a worker without a claim waits for. Not here: how it gets its events (`worker`).

use lapwing_core::{Awaited, Control, EventCount, ONLY_GENERATION, StageIndex, Turn};

use crate::Sequence;
use crate::chosen::Reader;
use crate::consumer::keys::is_in_the_team;
use crate::group::{Group, Routes};

/// The wait of a worker without a claim: for events to claim, or, once there will be none, for the
/// end of the group's work.
///
/// These are two waits, and the worker chooses one before it parks. It loads the group's word to
/// choose where to park, and again to decide whether to park. Between the two loads, another worker
/// may claim the last event.
#[derive(Debug)]
pub(in crate::consumer) struct WorkerWait<'a, E> {
    pub(in crate::consumer) control: &'a Control,
    pub(in crate::consumer) reader: &'a Reader<E>,
    pub(in crate::consumer) group: &'a Group,
    pub(in crate::consumer) worker: usize,
    /// The words that it owns, for a worker by key.
    pub(in crate::consumer) words: Option<&'a [StageIndex]>,
    /// The end of the ring, for a worker that will have nothing to claim.
    end: Option<Sequence>,
}

impl<'a, E> WorkerWait<'a, E> {
    /// The wait of `worker`; `None` if it is not active in an open ring.
    pub(super) fn of(
        reader: &'a Reader<E>,
        group: &'a Group,
        worker: usize,
        words: Option<&'a [StageIndex]>,
    ) -> Option<Self> {
        let control: &Control = &group.control;
        let mut wait = Self { control, reader, group, worker, words, end: None };
        let is_needed = group.is_wanted(worker) || wait.is_in_the_team();
        if !is_needed && control.is_open() {
            return None;
        }
        wait.end = control.end().filter(|end| !is_needed || group.claimed() >= *end);
        Some(wait)
    }

    /// Whether there are events to claim, or the reason for this wait is gone.
    fn is_share_over(&self) -> bool {
        let Self { control, reader, group, .. } = self;
        // Loaded each time: another worker may have claimed what this one waited for.
        let next = group.claimed();
        let is_over = || !group.is_wanted(self.worker) || group.has_orphans() || reader.shows(next);
        if control.is_open() {
            reader.wait_for(next);
            return is_over();
        }
        match control.end() {
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

/// What a worker finds when it checks its group.
#[derive(Debug)]
enum Found<'a> {
    /// There is something to do.
    Over,
    /// There is nothing to do. The worker parks at this event count, if there is one.
    Behind(Option<&'a EventCount>),
}

/// The wait of a worker by key.
impl<'a, E> WorkerWait<'a, E> {
    /// Whether events are, or may be, routed to this worker.
    fn is_in_the_team(&self) -> bool {
        self.words.is_some_and(|words| is_in_the_team(self.control, words))
    }

    /// Whether there are routed events that this worker has not passed.
    fn has_routed(&self) -> bool {
        let Some(words) = self.words else { return false };
        let routed = self.group.claimed();
        words.iter().any(|&word| self.control.is_behind(word, routed))
    }

    /// Whether this worker has state to hand over.
    fn has_transfer(&self) -> bool {
        self.words.is_some_and(|words| self.group.has_transfer(words))
    }

    /// Finds what this worker has to do, in a ring that is not routed to its end.
    fn find(&self, routes: &Routes) -> Found<'a> {
        let Self { control, reader, group, worker, .. } = *self;
        let routers = Found::Behind(Some(control.released(group.words()[0])));
        let routed = group.claimed();
        let is_wanted = group.is_wanted(worker);
        if self.has_routed() || self.has_transfer() || is_wanted && group.has_orphans() {
            return Found::Over;
        }
        if !control.is_open() {
            match control.end() {
                // A close is in progress. It wakes all parked threads when it is done.
                None => return routers,
                Some(end) if end <= routed => return Found::Over,
                Some(_) => {}
            }
        }
        if !is_wanted && !self.is_in_the_team() {
            // The reason for this wait is gone.
            return Found::Over;
        }
        if !reader.shows(routed) {
            return Found::Behind(reader.behind(routed));
        }
        if routes.is_locked() || routes.is_owing() {
            return routers;
        }
        if group.is_settled(routes) {
            return Found::Over;
        }
        // Behind a member of the team, which must finish before events are routed to another team.
        Found::Behind(control.behind(group.words_of_workers(), routed.saturating_sub(1)))
    }
}

impl<E> Awaited for WorkerWait<'_, E> {
    fn is_over(&self) -> bool {
        let own = self.group.word_of(self.worker);
        if self.control.is_halted() || self.control.is_stopping(own, ONLY_GENERATION) {
            return true;
        }
        match (self.end, &self.group.routes) {
            (Some(end), _) => self.is_work_over(end),
            (None, None) => self.is_share_over(),
            (None, Some(routes)) => matches!(self.find(routes), Found::Over),
        }
    }

    fn event_count(&self) -> Option<&EventCount> {
        match (self.end, &self.group.routes) {
            (Some(end), _) => self.control.behind(self.group.words(), end.saturating_sub(1)),
            (None, None) => self.reader.behind(self.group.claimed()),
            (None, Some(routes)) => match self.find(routes) {
                Found::Over => None,
                Found::Behind(place) => place,
            },
        }
    }

    /// Only if any worker may get the next event. By key, the owner is known only once the key is
    /// computed. At the end of the ring, no worker gets another event.
    fn turn(&self) -> Option<Turn<'_>> {
        let is_for_anyone = self.end.is_none() && self.group.routes.is_none();
        is_for_anyone.then(|| self.control.turn_of(self.group.words()[0], self.worker))
    }
}
