//! The wait of a worker by key without a claim. Not here: the other waits of a worker (`wait`).

use super::wait::Wait;
use crate::consumer::keys::is_in_the_team;
use crate::protocol::group::Routes;
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::stamps::Span;

/// What a worker finds when it checks its group.
#[derive(Debug)]
pub(super) enum Look<'a> {
    /// There is something to do.
    Over,
    /// There is nothing to do. The worker parks at this event count, if there is one.
    Behind(Option<&'a EventCount>),
}

impl<'a> Wait<'a> {
    /// Whether events are, or may be, routed to this worker.
    pub(super) fn is_in_the_team(&self) -> bool {
        self.words.is_some_and(|words| is_in_the_team(self.control, words))
    }

    /// Whether there are routed events that this worker has not passed.
    pub(super) fn has_routed(&self) -> bool {
        let Some(words) = self.words else { return false };
        let routed = self.group.claimed();
        words.iter().any(|&word| self.control.is_behind(word, routed))
    }

    /// Whether this worker has state to hand over.
    pub(super) fn has_transfer(&self) -> bool {
        self.words.is_some_and(|words| self.group.has_transfer(words))
    }

    /// Finds what this worker has to do, in a ring that is not routed to its end.
    pub(super) fn look(&self, routes: &Routes) -> Look<'a> {
        let Self { control, barrier, group, worker, .. } = *self;
        let routers = Look::Behind(Some(&control.stages[group.words()[0]].released.anything));
        let routed = group.claimed();
        let is_wanted = group.is_wanted(worker);
        if self.has_routed() || self.has_transfer() || is_wanted && group.has_orphans() {
            return Look::Over;
        }
        if !control.life.is_open() {
            match control.life.end() {
                // A close is in progress. It wakes all parked threads when it is done.
                None => return routers,
                Some(end) if end <= routed => return Look::Over,
                Some(_) => {}
            }
        }
        if !is_wanted && !self.is_in_the_team() {
            // The reason for this wait is gone.
            return Look::Over;
        }
        if barrier.span(control, routed, routed + 1) == Span::Empty {
            return Look::Behind(barrier.behind(control, routed));
        }
        if routes.is_locked() || routes.is_owing() {
            return routers;
        }
        if group.is_settled(routes) {
            return Look::Over;
        }
        // Behind a member of the team, which must finish before events are routed to another team.
        Look::Behind(control.behind(group.words_of_workers(), routed.saturating_sub(1)))
    }
}
