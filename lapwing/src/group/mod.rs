//! The words of a worker group: several consumers that share one place of the graph, where each
//! event is for one of them. Decides which worker claims what, which workers are active, and what
//! happens to the events of a worker that leaves. Not here: which worker owns a key (`routes`), and
//! how a worker finds events and waits for them (`consumer::worker`).
//!
//! ```text
//! sequences   ... 8   9  10  11  12  13 | 14 ...        worker 0 has 8 and 9, worker 2 has 12 and
//! worker 0        8                     |               13, worker 1 has finished 10 and 11; other
//! worker 1      idle                    |               threads see the group at 8, the least of
//! worker 2                       12     |               the four words
//! the group                             14
//! ```
//!
//! A worker first stores the start of its next claim, its *bound*, in its own word. It then moves
//! the group's word past the claim. A thread that loads the group's word first and the workers'
//! words afterwards sees that bound, or what the worker has stored since (O25). The least of the
//! words is therefore at or below every event that is claimed and not finished.
//!
//! The least word may fall for a moment, when a worker stores a bound for events that another
//! worker has just claimed. Events that were finished before stay finished.

mod moves;
mod teams;

mod routes;

mod transfer;

use std::ops::Range;

use lapwing_core::error::Cause;
use lapwing_core::memory::Reserved;
use lapwing_core::{Control, IDLE, ONLY_GENERATION, Padded, Placed, Sharing, StageIndex};

use crate::Sequence;
use crate::sync::{AtomicU8, AtomicU64, Ordering, yield_now};

pub(crate) use routes::{Router, Routes};
pub(crate) use transfer::KeyTransfer;
pub use transfer::MovedKeys;

/// Most workers of a group: the number of bits in a word.
pub(crate) const MAX_WORKERS: usize = 64;

/// Returns a bit for each of `workers`; there is at least one.
fn bits(workers: usize) -> u64 {
    u64::MAX >> (MAX_WORKERS - workers)
}

/// The words of one group, and which of its workers are active.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) control: Placed<Control>,
    /// Moves the words, in this module and its children only.
    sharing: Sharing,
    /// The group's word, then one for each worker. Other threads must load them in this order.
    words: Box<[StageIndex]>,
    roster: Padded<Roster>,
    /// For each worker's word, the end of the claim that its worker left behind; 0 for none. The
    /// word holds the start of that claim.
    left_behind: Box<[AtomicU64]>,
    /// Which worker owns which event, in a group that routes events by key.
    pub(crate) routes: Option<Routes>,
}

/// Which workers are active. Written when the group is resized or a worker leaves, loaded before
/// each claim.
#[derive(Debug)]
#[repr(C)]
struct Roster {
    /// Number of active workers, `1..=max`.
    size: AtomicU64,
    /// A bit for each worker that has left.
    left: AtomicU64,
    /// Number of claims that were left behind and are not taken over yet.
    orphans: AtomicU64,
}

/// Events that a worker has claimed and not finished.
#[derive(Debug)]
pub(crate) struct WorkerClaim {
    /// The word that holds the start of the claim.
    pub(crate) word: StageIndex,
    pub(crate) events: Range<Sequence>,
}

impl Group {
    /// Creates a group with `words`, the group's own first, and `size` active workers. With
    /// `owners`, the group routes events by key.
    pub(crate) fn new(
        control: Placed<Control>,
        words: Box<[StageIndex]>,
        size: usize,
        owners: Option<Reserved<AtomicU8>>,
    ) -> Self {
        let left_behind = words[1..].iter().map(|_| AtomicU64::new(0)).collect();
        let size = AtomicU64::new(size as u64);
        let roster = Roster { size, left: AtomicU64::new(0), orphans: AtomicU64::new(0) };
        let routes = owners.map(Routes::new);
        // SAFETY: I12: a worker moves the words as O25 says, and by key the thread that routes
        // does.
        let sharing = unsafe { Sharing::of(control.clone(), words[0]) };
        Self { control, sharing, words, roster: Padded(roster), left_behind, routes }
    }

    /// Returns the group in a form whose workers hand over their state of keys that change owner.
    pub(crate) fn handing_over(mut self) -> Self {
        if let Some(routes) = &mut self.routes {
            routes.hand_over();
        }
        self
    }

    /// Returns the most workers that the group may have.
    pub(crate) fn max(&self) -> usize {
        self.words.len() - 1
    }

    /// Returns the group's word and those of its workers, in the order in which they must be
    /// loaded.
    pub(crate) fn words(&self) -> &[StageIndex] {
        &self.words
    }

    /// Returns the words of the workers.
    pub(crate) fn words_of_workers(&self) -> &[StageIndex] {
        &self.words[1..]
    }

    pub(crate) fn word_of(&self, worker: usize) -> StageIndex {
        self.words[1 + worker]
    }

    /// Returns how far the group has claimed.
    pub(crate) fn claimed(&self) -> Sequence {
        self.control.sequence_of(self.words[0])
    }

    /// Whether everything below `end` is claimed and finished.
    pub(crate) fn has_finished(&self, end: Sequence) -> bool {
        self.control.finished_by_all(&self.words) >= end
    }

    /// Claims the published `events` for the worker with `word`. Returns false if another worker
    /// has claimed the first of them. The worker's word then stays at these events until it tries
    /// again or [rests](Self::rest).
    #[inline]
    pub(crate) fn try_claim(&self, word: StageIndex, events: Range<Sequence>) -> bool {
        debug_assert!(!events.is_empty(), "a claim has events");
        // O25: the bound is stored before the claim.
        self.sharing.move_word(word, events.start);
        self.sharing.try_move_word(self.words[0], events.start, events.end)
    }

    /// Records that the worker with `word` has finished everything below `sequence`, which is in
    /// its claim.
    #[inline]
    pub(crate) fn finish(&self, word: StageIndex, sequence: Sequence) {
        self.sharing.move_word(word, sequence);
    }

    /// Marks the worker with `word` as idle. It has finished all that it claimed.
    #[inline]
    pub(crate) fn rest(&self, word: StageIndex) {
        self.sharing.move_word(word, IDLE);
    }

    /// Returns the number of active workers: at least 1, at most the number that have not left.
    pub(crate) fn size(&self) -> usize {
        // O26, Relaxed: a snapshot.
        let left = self.roster.left.load(Ordering::Relaxed).count_ones() as usize;
        // O26, Relaxed: a snapshot.
        let size = self.roster.size.load(Ordering::Relaxed) as usize;
        size.min(self.max() - left).max(1)
    }

    /// Sets the number of active workers, `1..=max`.
    pub(crate) fn resize(&self, size: usize) {
        // O26, Relaxed: parked threads see it with the epoch, which advances next (O7).
        self.roster.size.store(size as u64, Ordering::Relaxed);
        self.control.wake_all();
    }

    /// Whether `worker` is active: one of the first `size` workers that have not left.
    #[inline]
    pub(crate) fn is_wanted(&self, worker: usize) -> bool {
        // O26, Relaxed: a worker that learns of it late makes one claim more or less.
        let left = self.roster.left.load(Ordering::Relaxed);
        let before = !left & ((1_u64 << worker) - 1);
        (before.count_ones() as usize) < self.size()
    }

    /// Returns a bit for each active worker.
    pub(crate) fn wanted(&self) -> u64 {
        // O26, Relaxed: a snapshot.
        let left = self.roster.left.load(Ordering::Relaxed);
        let (mut there, mut wanted) = (!left & bits(self.max()), 0);
        for _ in 0..self.size() {
            let rest = there & there.wrapping_sub(1);
            wanted |= there ^ rest;
            there = rest;
        }
        wanted
    }

    /// Parks until `worker` is active or has events, until the ring is closed or halted or the
    /// worker is stopped, or spuriously. Ignores the wait strategy of the stage, so that an
    /// inactive worker uses no CPU time.
    #[cold]
    pub(crate) fn sleep_until_wanted(&self, worker: usize) {
        let word = self.word_of(worker);
        let is_over = || {
            self.is_wanted(worker)
                // By key, a router that has not seen the resize yet may add it to the team.
                || self.control.sequence_of(word) != IDLE
                || !self.control.is_open()
                || self.control.is_stopping(word, ONLY_GENERATION)
        };
        self.control.park_idle(word, is_over);
    }

    /// Removes `worker`, and leaves `claims` behind for the others. If it is the last worker, halts
    /// the ring, since no worker is left to handle the group's events. Returns whether it is the
    /// last.
    pub(crate) fn leave(
        &self,
        worker: usize,
        claims: impl IntoIterator<Item = WorkerClaim>,
    ) -> bool {
        for WorkerClaim { word, events } in claims {
            let slot = self.slot_of(word);
            // O27, Release: pairs with the Acquire in `take_over`; carries what this worker did to
            // these events and to earlier ones.
            self.left_behind[slot].store(events.end, Ordering::Release);
            // O26, Relaxed: parked threads see it by O7, pollers with a later load.
            self.roster.orphans.fetch_add(1, Ordering::Relaxed);
        }
        // O26, Relaxed: one modification order decides which worker is the last.
        let left = self.roster.left.fetch_or(1 << worker, Ordering::Relaxed) | 1 << worker;
        let is_last = left.count_ones() as usize == self.max();
        if is_last {
            self.control.halt(Cause::NO_CONSUMERS);
        } else {
            self.control.wake_all();
        }
        is_last
    }

    /// Returns the index of the worker to which `word` was assigned at first.
    fn slot_of(&self, word: StageIndex) -> usize {
        word - self.words[1]
    }

    /// Whether a claim that was left behind is not taken over yet.
    #[inline]
    pub(crate) fn has_orphans(&self) -> bool {
        // O26, Relaxed: a snapshot; the claim itself is taken by O27.
        self.roster.orphans.load(Ordering::Relaxed) != 0
    }

    /// Takes over a claim that was left behind, if there is one. The word that holds its start then
    /// belongs to the caller.
    #[cold]
    pub(crate) fn take_over(&self) -> Option<WorkerClaim> {
        let claim = (0..self.max()).find_map(|slot| self.take_over_from(slot));
        if claim.is_none() && self.has_orphans() {
            // Another worker has taken it and not counted that yet. Until then this one does not
            // park.
            yield_now();
        }
        claim
    }

    /// Takes over the claim in the word with the index `slot`, if there is one.
    fn take_over_from(&self, slot: usize) -> Option<WorkerClaim> {
        // O27, Acquire: pairs with the Release in `leave`; carries the word and what its worker
        // did.
        let end = self.left_behind[slot].swap(0, Ordering::Acquire);
        if end == 0 {
            return None;
        }
        // O26, Relaxed: parked threads see it by O7, pollers with a later load.
        self.roster.orphans.fetch_sub(1, Ordering::Relaxed);
        let word = self.word_of(slot);
        Some(WorkerClaim { word, events: self.control.sequence_of(word)..end })
    }
}
