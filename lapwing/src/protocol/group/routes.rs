//! Which worker of a group by key has which event, and who says so. Not here: how a worker goes through
//! its events (`consumer::keyed`).
//!
//! ```text
//! sequence    8   9  10  11  12 | 13  14        the group's word is at 13: what is below is routed
//! owner       0   2   0   0   2 |               worker 2 goes through 9 and 12, and past the others'
//! ```
//!
//! One worker at a time holds the lock, and with it the right to look at events that have no owner yet.
//! Once an event is routed, nobody but its owner touches it. The word of each of the team, to which
//! events are routed, is how far it has gone through what is routed; the others are idle.
//!
//! The team changes only where all of the old one stand at the group's word: then whoever has a key
//! next comes after all that was done with it before. Where handlers hand over what they know of their keys,
//! that comes in between (`moves`).

use std::cell::Cell;
use std::ops::Range;

use super::moves::Moves;
use super::{Group, MAX_WORKERS};
use crate::Sequence;
use crate::protocol::control::{IDLE, StageIndex};
use crate::protocol::memory::{PerSlot, Reserved};
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Owner of a claim that was given up.
const NOBODY: u8 = u8::MAX;

/// Odd, and near the golden ratio of 2^64: the high half of a product with it is spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The workers of `team`, in their order.
pub(super) fn members_of(team: u64) -> Box<[u8]> {
    (0..MAX_WORKERS as u8).filter(|worker| team >> worker & 1 == 1).collect()
}

/// Which of `members` has the events with this key; `None` if there are none.
#[inline]
pub(super) fn owner_among(members: &[u8], key: u64) -> Option<u8> {
    let spread = key.wrapping_mul(SPREAD) >> 32;
    let member = (spread * members.len() as u64) >> 32;
    members.get(member as usize).copied()
}

/// What the lock holds while `worker` routes.
fn holder_of(worker: usize) -> u32 {
    worker as u32 + 1
}

/// Who has which event.
#[derive(Debug)]
pub(crate) struct Routes {
    /// For each slot, the worker that has its event. Written by whoever holds the lock, read by workers
    /// up to the group's word.
    owners: PerSlot<AtomicU8>,
    /// Number of the worker that routes, counted from 1; 0 while none does.
    lock: AtomicU32,
    /// A bit for each worker that events are routed to. Written by whoever holds the lock.
    team: AtomicU64,
    /// Where workers hand over what they know of their keys.
    pub(super) moves: Option<Moves>,
}

impl Routes {
    /// Nothing is routed yet, and there is no team.
    pub(super) fn new(room: Reserved<AtomicU8>) -> Self {
        let owners = room.fill(|_| AtomicU8::new(NOBODY));
        Self { owners, lock: AtomicU32::new(0), team: AtomicU64::new(0), moves: None }
    }

    pub(super) fn hand_over(&mut self) {
        self.moves = Some(Moves::default());
    }

    fn owner_of(&self, sequence: Sequence) -> &AtomicU8 {
        &self.owners[(sequence as usize) & (self.owners.len() - 1)]
    }

    /// The first events of `worker` in `routed`, at most `longest`. The caller has seen that all of
    /// `routed` is.
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

    /// A bit for each worker that events are routed to.
    pub(super) fn team(&self) -> u64 {
        // O28, Relaxed: a look, or the caller has the lock.
        self.team.load(Ordering::Relaxed)
    }

    /// Whether keys are on their way to another team.
    fn is_moving(&self) -> bool {
        self.moves.as_ref().is_some_and(|moves| moves.target() != 0)
    }

    /// Whether keys are on their way, and somebody has not yet given what it knows of them.
    pub(crate) fn is_owing(&self) -> bool {
        self.is_moving() && self.moves.as_ref().is_some_and(|moves| !moves.have_all_given())
    }

    /// Whether somebody routes just now.
    pub(crate) fn is_locked(&self) -> bool {
        // O28, Relaxed: a look; ordered by the fences of O6 for those who sleep.
        self.lock.load(Ordering::Relaxed) != 0
    }
}

impl Group {
    /// The next events that are routed to the worker with `word`, at most `longest`. Goes past those of
    /// others: an empty range if these were all.
    pub(crate) fn next_routed(&self, word: StageIndex, longest: u64) -> Option<Range<Sequence>> {
        let routes = self.routes.as_ref()?;
        // This first: whoever routes to a worker that was idle has set its word before (O25).
        let routed = self.claimed();
        let next = self.control.sequence_of(word);
        if next >= routed {
            // It is through, or idle.
            return None;
        }
        let events = routes.first_of(self.slot_of(word), next..routed, longest);
        let events = events.unwrap_or(routed..routed);
        if events.start > next {
            self.control.advance(word, events.start);
        }
        Some(events)
    }

    /// Whether the calling thread, on which the worker with `word` runs, is routing just now.
    pub(crate) fn is_routing(&self, word: StageIndex) -> bool {
        let holder = holder_of(self.slot_of(word));
        // O28, Relaxed: only this thread stores this number, or takes it away.
        self.routes.as_ref().is_some_and(|routes| routes.lock.load(Ordering::Relaxed) == holder)
    }

    /// Whether events may be routed to those who are to work now: they are the team, or the team has
    /// finished what it had, and given what it knew.
    pub(crate) fn is_settled(&self, routes: &Routes) -> bool {
        if routes.is_moving() {
            return !routes.is_owing();
        }
        routes.team() == self.wanted() || self.has_finished(self.claimed())
    }
}

/// The right to route events from the group's word on, until it is dropped.
pub(crate) struct Router<'a> {
    group: &'a Group,
    routes: &'a Routes,
    /// The workers that events are routed to.
    members: Box<[u8]>,
    /// First sequence that has no owner yet.
    next: Cell<Sequence>,
}

impl<'a> Router<'a> {
    /// The right of `worker`, unless somebody has it, or the team is to be another one and has not finished yet.
    pub(crate) fn new(group: &'a Group, routes: &'a Routes, worker: usize) -> Option<Self> {
        let holder = holder_of(worker);
        // O28, Acquire: pairs with the Release in `drop`; brings the group's word, the team and its
        // words. Relaxed: somebody else has it.
        let swap = routes.lock.compare_exchange(0, holder, Ordering::Acquire, Ordering::Relaxed);
        swap.ok()?;
        // From here on, dropping it unlocks.
        let next = Cell::new(group.claimed());
        let mut router = Self { group, routes, members: Box::default(), next };
        let team = router.settle_team()?;
        router.members = members_of(team);
        Some(router)
    }

    /// The team that is routed to from now on: those who are to work. `None` as long as the old one has
    /// not finished what it has.
    fn settle_team(&self) -> Option<u64> {
        let (group, routes, next) = (self.group, self.routes, self.next.get());
        let (old, new) = (routes.team(), self.next_team()?);
        if old == new {
            return Some(old);
        }
        // Each of the team stands where the group does, and stores nothing before more is routed.
        for (worker, &word) in group.words_of_workers().iter().enumerate() {
            let is_member = |team: u64| team >> worker & 1 == 1;
            match (is_member(old), is_member(new)) {
                // O25: before anything is routed to it.
                (false, true) => {
                    group.control.advance(word, next);
                    // It may have heard that it is not to work, and sleep whatever its strategy is.
                    group.control.stages[word].released.wake_all();
                }
                (true, false) => group.control.advance(word, IDLE),
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

    /// The team that is to be: those who are to work. `None` as long as the old one has not finished what it
    /// has, and given what it knows.
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
            // They may sleep wherever they wait for events, of which there are none for them.
            group.control.wake_everybody();
            return None;
        }
        Some(new)
    }

    /// First sequence that has no owner yet.
    pub(crate) fn next(&self) -> Sequence {
        self.next.get()
    }

    /// Gives the next event to the worker that all events with this key go to.
    #[inline]
    pub(crate) fn assign(&self, key: u64) {
        self.give(owner_among(&self.members, key).unwrap_or(NOBODY));
    }

    /// Passes over claims that were given up, up to `end`.
    pub(crate) fn pass(&self, end: Sequence) {
        while self.next.get() < end {
            self.give(NOBODY);
        }
    }

    #[inline]
    fn give(&self, owner: u8) {
        let sequence = self.next.get();
        // O28, Relaxed: released with the group's word.
        self.routes.owner_of(sequence).store(owner, Ordering::Relaxed);
        self.next.set(sequence + 1);
    }

    /// Hands over what was assigned.
    pub(crate) fn finish(self) {
        // O25 and O28, Release in `advance`: carries the owners, and the end of the looks at the keys.
        self.group.control.advance(self.group.words[0], self.next.get());
    }
}

impl Drop for Router<'_> {
    fn drop(&mut self) {
        // O28, Release: pairs with the Acquire in `new`.
        self.routes.lock.store(0, Ordering::Release);
        // For those who sleep until they may route.
        self.group.control.notify_released(self.group.words[0]);
    }
}
