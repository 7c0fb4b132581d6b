//! Which worker of a group by key owns which event, and which worker *routes*, that is, assigns
//! events to owners. Not here: how a worker finds the events that it owns (`consumer::worker`).
//!
//! ```text
//! sequence    8   9  10  11  12 | 13  14        the group's word is 13: events below it are routed
//! owner       0   2   0   0   2 |               worker 2 handles 9 and 12, and skips the others
//! ```
//!
//! One worker at a time holds the routing lock, and only that worker may read events without an
//! owner. Once an event is routed, only its owner accesses it. The *team* is the set of workers to
//! which events are routed. The word of a member says how far it has gone through the routed
//! events; the other workers are idle.
//!
//! The team changes only when the words of all its members have reached the group's word. All
//! earlier work on a key therefore happens before the work of the key's next owner. If handlers
//! hand over state of keys, they do so at that point (`moves`).

use std::cell::Cell;
use std::ops::Range;

use lapwing_core::memory::{PerSlot, Reserved};
use lapwing_core::{IDLE, StageIndex};

use super::Group;
use super::moves::Moves;
use super::teams::{members_of, owner_among};
use crate::Sequence;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The owner of an abandoned claim: no worker.
const NO_OWNER: u8 = u8::MAX;

/// Returns the value of the lock while `worker` routes.
fn holder_of(worker: usize) -> u32 {
    worker as u32 + 1
}

/// Which worker owns which event.
#[derive(Debug)]
pub(crate) struct Routes {
    /// For each slot, the owner of its event. Written under the lock, read by workers below the
    /// group's word.
    owners: PerSlot<AtomicU8>,
    /// 1 plus the index of the worker that routes; 0 if none does.
    lock: AtomicU32,
    /// A bit for each worker to which events are routed. Written under the lock.
    team: AtomicU64,
    /// The progress of a move of keys, if workers hand over their state of keys.
    pub(super) moves: Option<Moves>,
}

impl Routes {
    /// Creates routes with an empty team, where nothing is routed yet. `reserved` is its memory.
    pub(super) fn new(reserved: Reserved<AtomicU8>) -> Self {
        let owners = reserved.fill(|_| AtomicU8::new(NO_OWNER));
        Self { owners, lock: AtomicU32::new(0), team: AtomicU64::new(0), moves: None }
    }

    pub(super) fn hand_over(&mut self) {
        self.moves = Some(Moves::default());
    }

    fn owner_of(&self, sequence: Sequence) -> &AtomicU8 {
        &self.owners[(sequence as usize) & (self.owners.len() - 1)]
    }

    /// Returns the first consecutive events in `routed` that `worker` owns, at most `longest`. The
    /// caller has seen that all of `routed` have owners.
    fn first_of(
        &self,
        worker: usize,
        routed: Range<Sequence>,
        longest: u64,
    ) -> Option<Range<Sequence>> {
        // O28, Relaxed: acquired with the group's word.
        let is_own =
            |at: Sequence| usize::from(self.owner_of(at).load(Ordering::Relaxed)) == worker;
        let first = routed.clone().find(|&at| is_own(at))?;
        let limit = routed.end.min(first.saturating_add(longest));
        let end = (first + 1..limit).find(|&at| !is_own(at)).unwrap_or(limit);
        Some(first..end)
    }

    /// Returns a bit for each worker to which events are routed.
    pub(super) fn team(&self) -> u64 {
        // O28, Relaxed: a snapshot, or the caller holds the lock.
        self.team.load(Ordering::Relaxed)
    }

    /// Whether keys are moving to another team.
    fn is_moving(&self) -> bool {
        self.moves.as_ref().is_some_and(|moves| moves.target() != 0)
    }

    /// Whether keys are moving and some worker has not yet given its state of them.
    pub(crate) fn is_owing(&self) -> bool {
        self.is_moving() && self.moves.as_ref().is_some_and(|moves| !moves.have_all_given())
    }

    /// Whether a worker is routing.
    pub(crate) fn is_locked(&self) -> bool {
        // O28, Relaxed: a snapshot; for parked threads, ordered by the fences of O6.
        self.lock.load(Ordering::Relaxed) != 0
    }
}

impl Group {
    /// Returns the next consecutive events that are routed to the worker with `word`, at most
    /// `longest`. Skips the events of others; the range is empty if none is its own. Returns `None`
    /// if the worker has handled or skipped all routed events.
    pub(crate) fn next_routed(&self, word: StageIndex, longest: u64) -> Option<Range<Sequence>> {
        let routes = self.routes.as_ref()?;
        // Loaded first: a router sets the word of an idle worker before it routes to it (O25).
        let routed = self.claimed();
        let next = self.control.sequence_of(word);
        if next >= routed {
            // The worker has handled all routed events, or is idle.
            return None;
        }
        let events = routes.first_of(self.slot_of(word), next..routed, longest);
        let events = events.unwrap_or(routed..routed);
        if events.start > next {
            self.sharing.move_word(word, events.start);
        }
        Some(events)
    }

    /// Whether the calling thread, which runs the worker with `word`, is routing.
    pub(crate) fn is_routing(&self, word: StageIndex) -> bool {
        let holder = holder_of(self.slot_of(word));
        // O28, Relaxed: only this thread stores and clears this value.
        self.routes.as_ref().is_some_and(|routes| routes.lock.load(Ordering::Relaxed) == holder)
    }

    /// Whether events may be routed to the active workers: they are the team, or the team has
    /// finished its events and given its state.
    pub(crate) fn is_settled(&self, routes: &Routes) -> bool {
        if routes.is_moving() {
            return !routes.is_owing();
        }
        routes.team() == self.wanted() || self.has_finished(self.claimed())
    }
}

/// The right to route events from the group's word on. Dropping it releases the lock.
pub(crate) struct Router<'a> {
    group: &'a Group,
    routes: &'a Routes,
    /// The workers to which events are routed.
    members: Box<[u8]>,
    /// First sequence without an owner.
    next: Cell<Sequence>,
}

impl<'a> Router<'a> {
    /// Acquires the lock for `worker`. Returns `None` if another worker holds it, or if the team
    /// must change and has not finished yet.
    pub(crate) fn new(group: &'a Group, routes: &'a Routes, worker: usize) -> Option<Self> {
        let holder = holder_of(worker);
        // O28, Acquire: pairs with the Release in `drop`; carries the group's word, the team and
        // its words. Relaxed on failure: another worker holds the lock.
        let swap = routes.lock.compare_exchange(0, holder, Ordering::Acquire, Ordering::Relaxed);
        swap.ok()?;
        // From now on, dropping the router releases the lock.
        let next = Cell::new(group.claimed());
        let mut router = Self { group, routes, members: Box::default(), next };
        let team = router.settle_team()?;
        router.members = members_of(team);
        Some(router)
    }

    /// Makes the active workers the team and returns it. Returns `None` until the old team has
    /// finished its events.
    fn settle_team(&self) -> Option<u64> {
        let (group, routes, next) = (self.group, self.routes, self.next.get());
        let (old, new) = (routes.team(), self.next_team()?);
        if old == new {
            return Some(old);
        }
        // The word of each member is at the group's word, and does not change before more is
        // routed.
        for (worker, &word) in group.words_of_workers().iter().enumerate() {
            let is_member = |team: u64| team >> worker & 1 == 1;
            match (is_member(old), is_member(new)) {
                // O25: the word is set before any event is routed to the worker.
                (false, true) => {
                    group.sharing.move_word(word, next);
                    // It may have seen that it is inactive, and then parks whatever its wait
                    // strategy is.
                    group.control.wake_all_behind(word);
                }
                (true, false) => group.sharing.move_word(word, IDLE),
                _ => {}
            }
        }
        // O28, Relaxed: released with the lock.
        routes.team.store(new, Ordering::Relaxed);
        if let Some(moves) = &routes.moves {
            moves.end();
        }
        Some(new)
    }

    /// Returns the next team: the active workers. Returns `None` until the old team has finished
    /// its events and given its state.
    fn next_team(&self) -> Option<u64> {
        let (group, routes) = (self.group, self.routes);
        let (old, new) = (routes.team(), group.wanted());
        if routes.is_moving() {
            let moves = routes.moves.as_ref()?;
            return moves.have_all_given().then(|| moves.target());
        }
        if old == new {
            return Some(old);
        }
        if new == 0 || !group.has_finished(self.next.get()) {
            return None;
        }
        // The first team has nothing to give.
        if let Some(moves) = routes.moves.as_ref().filter(|_| old != 0) {
            moves.begin(old, new);
            // Members may be parked until they get events, and none will be routed to them.
            group.control.wake_all();
            return None;
        }
        Some(new)
    }

    /// Returns the first sequence without an owner.
    pub(crate) fn next(&self) -> Sequence {
        self.next.get()
    }

    /// Assigns the next event to the worker that owns `key`.
    #[inline]
    pub(crate) fn assign(&self, key: u64) {
        self.give(owner_among(&self.members, key).unwrap_or(NO_OWNER));
    }

    /// Skips abandoned claims up to `end`.
    pub(crate) fn pass(&self, end: Sequence) {
        while self.next.get() < end {
            self.give(NO_OWNER);
        }
    }

    #[inline]
    fn give(&self, owner: u8) {
        let sequence = self.next.get();
        // O28, Relaxed: released with the group's word.
        self.routes.owner_of(sequence).store(owner, Ordering::Relaxed);
        self.next.set(sequence + 1);
    }

    /// Publishes the owners that were assigned.
    pub(crate) fn finish(self) {
        // O25 and O28, Release in `move_word`: carries the owners, and the end of the reads of the
        // keys.
        self.group.sharing.move_word(self.group.words[0], self.next.get());
    }
}

impl Drop for Router<'_> {
    fn drop(&mut self) {
        // O28, Release: pairs with the Acquire in `new`.
        self.routes.lock.store(0, Ordering::Release);
        // Wakes the workers that are parked until they may route.
        self.group.control.notify_released(self.group.words[0]);
    }
}
