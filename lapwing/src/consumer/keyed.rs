//! What is different for a worker of a group by key: which events are its own, who says so, and what it
//! waits for. Not here: the words that workers share (`group`), who has which event (`group::routes`).
//!
//! Whichever worker finds events that have no owner yet looks at their keys, before anybody may touch
//! them, and routes them. Then each goes through what is routed, past the events of others.

use std::ops::Range;
use std::sync::Arc;

use super::catch::catch;
use super::finished::Outcome;
use super::source::Source;
use super::worker::{Wait, Worker};
use crate::Sequence;
use crate::control::{Control, IDLE, StageIndex};
use crate::error::{HaltCause, PollError};
use crate::group::{Claim, Group, Router, Routes};
use crate::stamps::Span;
use crate::wait::event_count::EventCount;

/// Routes this part of the ring at a time, so that the owners can begin meanwhile.
const ROUTES_PER_RING: u64 = 4;

/// Keys of events, asked of many at a time.
pub(crate) trait Keys<E>: Send + Sync {
    /// Gives each of `events` to its owner.
    fn route(&self, events: &[E], router: &Router<'_>);
}

impl<E, F: Fn(&E) -> u64 + Send + Sync> Keys<E> for F {
    fn route(&self, events: &[E], router: &Router<'_>) {
        events.iter().for_each(|event| router.assign(self(event)));
    }
}

/// The keys of a group, which all of its workers ask. The standard library's in a model as well: loom's
/// takes no trait object.
pub(crate) type SharedKeys<E> = Arc<dyn Keys<E>>;

/// What a worker by key has that others have not.
pub(super) struct ByKey<E> {
    keys: SharedKeys<E>,
    /// Its own word, then those of workers that have left, whose events it handles as well.
    words: Vec<StageIndex>,
    /// The panic of a key.
    failure: Option<Outcome>,
}

impl<E> ByKey<E> {
    pub(super) fn new(keys: SharedKeys<E>, own: StageIndex) -> Self {
        Self { keys, words: vec![own], failure: None }
    }

    /// The words that it looks after, its own first.
    pub(super) fn words(&self) -> &[StageIndex] {
        &self.words
    }

    pub(super) fn take_failure(&mut self) -> Option<Outcome> {
        self.failure.take()
    }

    /// All that it has or will be given, to be left behind: events may be routed to it for as long as
    /// somebody has not heard that it has left, and the team has not changed.
    pub(super) fn left_behind(&self, group: &Group) -> impl Iterator<Item = Claim> {
        let rest_of = |&word: &StageIndex| group.control.sequence_of(word)..IDLE;
        self.words.iter().map(move |word| Claim { word: *word, events: rest_of(word) })
    }
}

impl<E> Worker<E> {
    /// The next events that are its own, which it may have to route itself.
    ///
    /// # Errors
    ///
    /// As [`poll`](super::source::Source::poll); [`PollError::Empty`] also if it has something to
    /// [hand over](super::source::Source::hand_over) first.
    pub(super) fn poll_by_key(&mut self) -> Result<Range<Sequence>, PollError> {
        loop {
            let is_wanted = self.group.is_wanted(self.worker);
            let left_behind = if is_wanted { self.take_over() } else { None };
            let by_key = self.by_key.as_mut().expect("the caller has seen it");
            by_key.words.extend(left_behind.map(|claim| claim.word));
            let longest = self.reader.max_batch;
            let mut words = by_key.words.iter();
            let next = words.find_map(|&word| {
                let events = self.group.next_routed(word, longest)?;
                // It went past those of others, and nothing else is routed.
                self.has_passed |= events.is_empty();
                if events.is_empty() {
                    return None;
                }
                let end = events.end.min(self.reader.ring.buffer.wrap_after(events.start));
                Some(Claim { word, events: events.start..end })
            });
            // After the look at what is routed, which brings what came before it.
            if self.has_transfer() {
                return Err(PollError::Empty);
            }
            if let Some(claim) = next {
                // Its end says so as well.
                self.has_passed = false;
                return Ok(self.claim.insert(claim).events.clone());
            }
            match self.route() {
                Err(PollError::Closed) if self.has_transfer() => return Err(PollError::Empty),
                Err(PollError::Closed) if self.group.has_left_something() => {
                    // Whoever comes last, wanted or not: of what is left there are no events to handle.
                    // Unless another one has just done so.
                    let claim = self.take_over().ok_or(PollError::Closed)?;
                    let by_key = self.by_key.as_mut().expect("the caller has seen it");
                    by_key.words.push(claim.word);
                }
                routed => routed?,
            }
        }
    }

    /// Routes events that have no owner yet, or sees that others have.
    ///
    /// # Errors
    ///
    /// As [`poll`](super::source::Source::poll).
    fn route(&mut self) -> Result<(), PollError> {
        let (Some(by_key), Some(routes)) = (&mut self.by_key, &self.group.routes) else {
            return Err(PollError::Empty);
        };
        let reader = &mut self.reader;
        reader.next = self.group.claimed();
        let is_in_the_team = is_in_the_team(&self.group.control, &by_key.words);
        if !is_in_the_team && !self.group.is_wanted(self.worker) {
            return Err(self.nothing_more());
        }
        let longest = (reader.ring.control.capacity / ROUTES_PER_RING).max(1);
        let limit = reader.ring.buffer.wrap_after(reader.next).min(reader.next + longest);
        let span = match reader.look(reader.next, limit) {
            Ok(Span::Empty) => return Err(PollError::Empty),
            Ok(span) => span,
            Err(_) => return Err(self.nothing_more()),
        };
        let Some(router) = Router::new(&self.group, routes, self.worker) else {
            return Err(PollError::Empty);
        };
        let first = router.next();
        if first != reader.next {
            // Somebody else has routed them meanwhile.
            return Ok(());
        }
        match span {
            Span::Empty => {}
            Span::Tombstones(end) => {
                router.pass(end);
                self.finished += end - first;
                reader.given_up += end - first;
            }
            Span::Events(end) => {
                let buffer = &reader.ring.buffer;
                // SAFETY: I2 and I12: the group may read these, up to the wrap at most, and none of its
                // workers has them before `finish`, when the slice is gone.
                let events = unsafe { buffer.slice(first..end) };
                if let Err(message) = catch(|| by_key.keys.route(events, &router)) {
                    by_key.failure = Some(Outcome::Panicked { message, sequence: router.next() });
                    // Before somebody else asks the same key.
                    reader.ring.control.halt(HaltCause::StageFailed);
                    return Err(self.nothing_more());
                }
                buffer.watch_read(first..end);
            }
        }
        router.finish();
        Ok(())
    }
}

/// Whether events are, or may be, routed to the worker that looks after `words`.
fn is_in_the_team(control: &Control, words: &[StageIndex]) -> bool {
    let is_busy = |&word: &StageIndex| control.sequence_of(word) != IDLE;
    // Somebody may not yet have heard that the others have left.
    words.len() > 1 || words.iter().any(is_busy)
}

/// What a look at a group shows its worker.
#[derive(Debug)]
pub(super) enum Look<'a> {
    /// There is something to do.
    Over,
    /// Sleep here, if anywhere.
    Behind(Option<&'a EventCount>),
}

impl<'a> Wait<'a> {
    /// Whether events are, or may be, routed to this worker.
    pub(super) fn is_in_the_team(&self) -> bool {
        self.words.is_some_and(|words| is_in_the_team(self.control, words))
    }

    /// Whether something is routed that this worker has to go through.
    pub(super) fn has_routed(&self) -> bool {
        let Some(words) = self.words else { return false };
        let routed = self.group.claimed();
        words.iter().any(|&word| self.control.is_behind(word, routed))
    }

    /// Whether this worker has something to hand over.
    pub(super) fn has_transfer(&self) -> bool {
        self.words.is_some_and(|words| self.group.has_transfer(words))
    }

    /// What there is for this worker, in a ring that has not been routed to its end.
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
                // A close is under way, and wakes everybody when it is done.
                None => return routers,
                Some(end) if end <= routed => return Look::Over,
                Some(_) => {}
            }
        }
        if !is_wanted && !self.is_in_the_team() {
            // This wait is for nothing.
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
        // Of the team, which has to finish before anything is routed to another one.
        Look::Behind(control.behind(group.words_of_workers(), routed.saturating_sub(1)))
    }
}
