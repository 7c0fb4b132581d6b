//! How a worker of a group by key gets its events, and how it routes the events of others. Not
//! here: the owners of events (`group`), what the worker waits for (`wait`).
//!
//! A worker that finds events without an owner computes their keys, before any worker handles them,
//! and routes them. Each worker then goes through the routed events, and skips those of others.

use std::ops::Range;

use lapwing_core::Span;

use super::Worker;
use crate::Sequence;
use crate::catch::catch;
use crate::consumer::finished::Outcome;
use crate::consumer::keys::is_in_the_team;
use crate::consumer::source::Source;
use crate::error::{HaltCause, PollError};
use crate::group::{Router, WorkerClaim};

/// Routes at most this fraction of the ring at a time, so that the owners can begin meanwhile.
const ROUTES_PER_RING: u64 = 4;

impl<E> Worker<E> {
    /// The next events that it owns. It may route them first.
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if it has no event, or has state to [hand
    ///   over](crate::consumer::source::Source::hand_over) first.
    /// - [`PollError::Closed`] once the ring is closed and the group has finished every event.
    /// - [`PollError::Halted`] if the ring is halted.
    pub(super) fn poll_by_key(&mut self) -> Result<Range<Sequence>, PollError> {
        loop {
            let is_wanted = self.group.is_wanted(self.worker);
            let left_behind = if is_wanted { self.take_over() } else { None };
            let by_key = self.by_key.as_mut().expect("only a worker by key polls by key");
            by_key.words.extend(left_behind.map(|claim| claim.word));
            let longest = self.reader.max_batch();
            let mut words = by_key.words.iter();
            let next = words.find_map(|&word| {
                let events = self.group.next_routed(word, longest)?;
                // It skipped events of others, and no other event is routed.
                self.has_passed |= events.is_empty();
                if events.is_empty() {
                    return None;
                }
                let end = events.end.min(self.reader.ring().wrap_after(events.start));
                Some(WorkerClaim { word, events: events.start..end })
            });
            // After the load of the group's word, which carries the state that came before it.
            if self.has_transfer() {
                return Err(PollError::Empty);
            }
            if let Some(claim) = next {
                // The release of this claim notifies the handler as well.
                self.has_passed = false;
                return Ok(self.claim.insert(claim).events.clone());
            }
            match self.route() {
                Err(PollError::Closed) if self.group.has_left_something() => {
                    // The last worker takes over what is left, active or not, since there is no
                    // event left to handle. Another worker may just have done so.
                    let claim = self.take_over().ok_or(PollError::Closed)?;
                    let by_key = self.by_key.as_mut().expect("only a worker by key polls by key");
                    by_key.words.push(claim.word);
                }
                routed => routed?,
            }
        }
    }

    /// Routes events without an owner, or finds that others have routed them.
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if there is nothing to route, or another worker is routing.
    /// - [`PollError::Closed`] once the ring is closed and the group has finished every event.
    /// - [`PollError::Halted`] if the ring is halted, also by a panic of the key function.
    fn route(&mut self) -> Result<(), PollError> {
        let (Some(by_key), Some(routes)) = (&mut self.by_key, &self.group.routes) else {
            return Err(PollError::Empty);
        };
        let reader = &mut self.reader;
        let next = self.group.claimed();
        reader.seek(next);
        let is_in_the_team = is_in_the_team(&self.group.control, &by_key.words);
        if !is_in_the_team && !self.group.is_wanted(self.worker) {
            return Err(self.nothing_more());
        }
        let longest = (reader.ring().control().capacity() / ROUTES_PER_RING).max(1);
        let limit = reader.ring().wrap_after(next).min(next + longest);
        let span = match reader.look(next, limit) {
            Ok(Span::Empty) => return Err(PollError::Empty),
            Ok(span) => span,
            Err(_) => return Err(self.nothing_more()),
        };
        let Some(router) = Router::new(&self.group, routes, self.worker) else {
            return Err(PollError::Empty);
        };
        let first = router.next();
        if first != next {
            // Another worker has routed them in the meantime.
            return Ok(());
        }
        match span {
            Span::Empty => {}
            Span::Tombstones(end) => {
                router.pass(end);
                self.finished += end - first;
                self.given_up += end - first;
            }
            Span::Events(end) => {
                // SAFETY: I2 and I12: the group may read these events, up to the wrap at most. None
                // of its workers has them before `finish`, when the slice is gone.
                let events = unsafe { reader.events_of_worker(first..end) };
                if let Err(message) = catch(|| by_key.keys.route(events, &router)) {
                    by_key.failure = Some(Outcome::Panicked { message, sequence: router.next() });
                    // Before another worker computes the same key.
                    self.group.control.halt(HaltCause::StageFailed.core());
                    return Err(self.nothing_more());
                }
                reader.watch_read(first..end);
            }
        }
        router.finish();
        Ok(())
    }
}
