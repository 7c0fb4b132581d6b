//! The words of a worker group: several consumers at one place of the graph, each event for one of
//! them. Who claims what, who is to work, and what becomes of the events of a worker that leaves. Not
//! here: who has which key (`routes`), how a worker finds events and waits for them (`consumer::worker`).
//!
//! ```text
//! sequences   ... 8   9  10  11  12  13 | 14 ...        worker 0 has 8 and 9, worker 2 has 12 and
//! worker 0        8                     |               13, worker 1 has finished 10 and 11; the
//! worker 1      idle                    |               others see the group at 8, the least of all
//! worker 2                       12     |               four words
//! the group                             14
//! ```
//!
//! A worker stores the bound of what it is about to claim, then moves the group's word past it.
//! Whoever reads the group's word first and the workers' words afterwards sees that bound, or what
//! the worker has stored since (O25). So the least of them is below every event that is claimed and
//! not finished. It may fall for a moment, when a worker was about to claim what another has just
//! claimed: what was finished before stays finished.

mod moves;
mod routes;

use std::ops::Range;

use crate::Sequence;
use crate::error::HaltCause;
use crate::padded::Padded;
use crate::protocol::control::{Control, IDLE, ONLY_TURN, StageIndex};
use crate::protocol::memory::Reserved;
use crate::sync::{Arc, AtomicU8, AtomicU64, Ordering};

pub(crate) use moves::KeyTransfer;
pub use moves::MovedKeys;
pub(crate) use routes::{Router, Routes};

/// Most workers of a group: as many as a word has bits.
pub(crate) const MAX_WORKERS: usize = 64;

/// A bit for each of so many workers, at least one.
fn bits(workers: usize) -> u64 {
    u64::MAX >> (MAX_WORKERS - workers)
}

/// The words of one group, and who works.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) control: Arc<Control>,
    /// The group's word, then one for each worker: the order in which others read them.
    words: Box<[StageIndex]>,
    roster: Padded<Roster>,
    /// Where the claim ends that a worker has left behind; 0 for none. It begins with its word.
    left_behind: Box<[AtomicU64]>,
    /// Who has which event, in a group by key.
    pub(crate) routes: Option<Routes>,
}

/// Who works. Written when the group is resized or a worker leaves, read before each claim.
#[derive(Debug)]
#[repr(C)]
struct Roster {
    /// Number of workers that are to work, `1..=max`.
    size: AtomicU64,
    /// A bit for each worker that has left.
    left: AtomicU64,
    /// Number of claims that were left behind and nobody has taken over.
    orphans: AtomicU64,
}

/// Events that a worker has and has not finished.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The word that shows it.
    pub(crate) word: StageIndex,
    pub(crate) events: Range<Sequence>,
}

impl Group {
    /// A group with `words`, its own first, of which `size` workers are to work; by key, if there is
    /// room for the owners of events.
    pub(crate) fn new(
        control: Arc<Control>,
        words: Box<[StageIndex]>,
        size: usize,
        owners: Option<Reserved<AtomicU8>>,
    ) -> Self {
        for &word in &words[1..] {
            control.advance(word, IDLE);
        }
        let left_behind = words[1..].iter().map(|_| AtomicU64::new(0)).collect();
        let size = AtomicU64::new(size as u64);
        let roster = Roster { size, left: AtomicU64::new(0), orphans: AtomicU64::new(0) };
        let routes = owners.map(Routes::new);
        Self { control, words, roster: Padded(roster), left_behind, routes }
    }

    /// Has its workers hand over what they know of keys that change hands.
    pub(crate) fn handing_over(mut self) -> Self {
        if let Some(routes) = &mut self.routes {
            routes.hand_over();
        }
        self
    }

    /// Most workers that it may have.
    pub(crate) fn max(&self) -> usize {
        self.words.len() - 1
    }

    /// The group's word and those of its workers, in the order in which they are to be read.
    pub(crate) fn words(&self) -> &[StageIndex] {
        &self.words
    }

    /// The words of its workers.
    pub(crate) fn words_of_workers(&self) -> &[StageIndex] {
        &self.words[1..]
    }

    pub(crate) fn word_of(&self, worker: usize) -> StageIndex {
        self.words[1 + worker]
    }

    /// How far the group has claimed.
    pub(crate) fn claimed(&self) -> Sequence {
        self.control.sequence_of(self.words[0])
    }

    /// Whether everything below `end` is claimed and finished.
    pub(crate) fn has_finished(&self, end: Sequence) -> bool {
        self.control.finished_by_all(&self.words) >= end
    }

    /// Claims `events`, which are there, for the worker with `word`; false if another worker has
    /// claimed the first of them. Then the worker's word stands at them until it tries again or
    /// [rests](Self::rest).
    #[inline]
    pub(crate) fn try_claim(&self, word: StageIndex, events: Range<Sequence>) -> bool {
        debug_assert!(!events.is_empty(), "a claim has events");
        // O25: before the claim.
        self.control.advance(word, events.start);
        let group = &self.control.stages[self.words[0]].sequence;
        // O25, Release: carries the bound, also past later claims, which are read-modify-writes too.
        // Relaxed on failure: the number is looked at again.
        let swap =
            group.compare_exchange(events.start, events.end, Ordering::Release, Ordering::Relaxed);
        if swap.is_ok() {
            self.control.notify_released(self.words[0]);
        }
        swap.is_ok()
    }

    /// Says that the worker with `word` has nothing in hand, and has finished all that it had.
    #[inline]
    pub(crate) fn rest(&self, word: StageIndex) {
        self.control.advance(word, IDLE);
    }

    /// Number of workers that are to work, or fewer if fewer are left.
    pub(crate) fn size(&self) -> usize {
        // O26, Relaxed: a look.
        let left = self.roster.left.load(Ordering::Relaxed).count_ones() as usize;
        // O26, Relaxed: a look.
        let size = self.roster.size.load(Ordering::Relaxed) as usize;
        size.min(self.max() - left).max(1)
    }

    /// Sets the number of workers that are to work, `1..=max`.
    pub(crate) fn resize(&self, size: usize) {
        // O26, Relaxed: sleepers see it with the epoch that is advanced after it (O7).
        self.roster.size.store(size as u64, Ordering::Relaxed);
        self.control.wake_everybody();
    }

    /// Whether `worker` is to work: it is one of the first that have not left.
    #[inline]
    pub(crate) fn is_wanted(&self, worker: usize) -> bool {
        // O26, Relaxed: a worker that learns of it late claims once more, or once less.
        let left = self.roster.left.load(Ordering::Relaxed);
        let before = !left & ((1_u64 << worker) - 1);
        (before.count_ones() as usize) < self.size()
    }

    /// A bit for each worker that is to work.
    pub(crate) fn wanted(&self) -> u64 {
        // O26, Relaxed: a look.
        let left = self.roster.left.load(Ordering::Relaxed);
        let (mut there, mut wanted) = (!left & bits(self.max()), 0);
        for _ in 0..self.size() {
            let rest = there & there.wrapping_sub(1);
            wanted |= there ^ rest;
            there = rest;
        }
        wanted
    }

    /// Sleeps until `worker` is to work, or has something in hand, or the ring is closed or halted, or for
    /// no reason. Whatever the stage's strategy is: a worker that is not to work costs nothing.
    #[cold]
    pub(crate) fn sleep_until_wanted(&self, worker: usize) {
        let Control { fence, life, stages, .. } = &*self.control;
        // Nobody else sleeps here while the worker has nothing in hand.
        let place = &stages[self.word_of(worker)].released.anything;
        let is_over = || {
            self.is_wanted(worker)
                // By key, who has not yet heard that it is not to work may make it one of the team.
                || self.control.sequence_of(self.word_of(worker)) != IDLE
                || !life.is_open()
                || self.control.is_stopping(self.word_of(worker), ONLY_TURN)
        };
        place.park(*fence, || None, is_over);
    }

    /// Takes `worker` out, which leaves `claims` behind for the others. Halts the ring if it was the
    /// last, and says so: its events would never be done.
    pub(crate) fn leave(&self, worker: usize, claims: impl IntoIterator<Item = Claim>) -> bool {
        for Claim { word, events } in claims {
            let slot = self.slot_of(word);
            // O27, Release: pairs with the Acquire in `take_over`; carries what this worker did to
            // the events before them, and to these.
            self.left_behind[slot].store(events.end, Ordering::Release);
            // O26, Relaxed: those who sleep see it by O7, those who look see it in time.
            self.roster.orphans.fetch_add(1, Ordering::Relaxed);
        }
        // O26, Relaxed: one modification order says who was the last.
        let left = self.roster.left.fetch_or(1 << worker, Ordering::Relaxed) | 1 << worker;
        let is_last = left.count_ones() as usize == self.max();
        if is_last {
            self.control.halt(HaltCause::NoConsumers);
        } else {
            self.control.wake_everybody();
        }
        is_last
    }

    /// Which worker's word `word` is, or was before that one left.
    fn slot_of(&self, word: StageIndex) -> usize {
        word - self.words[1]
    }

    /// Whether a claim that was left behind waits for somebody to take it over.
    #[inline]
    pub(crate) fn has_orphans(&self) -> bool {
        // O26, Relaxed: a look; the claim itself is taken by O27.
        self.roster.orphans.load(Ordering::Relaxed) != 0
    }

    /// Takes over a claim that was left behind, if there is one. The word that shows it now belongs
    /// to the caller.
    #[cold]
    pub(crate) fn take_over(&self) -> Option<Claim> {
        (0..self.max()).find_map(|slot| self.take_over_from(slot))
    }

    /// As [`take_over`](Self::take_over), of the claim with the word of this number.
    fn take_over_from(&self, slot: usize) -> Option<Claim> {
        // O27, Acquire: pairs with the Release in `leave`; brings the word and what its worker did.
        let end = self.left_behind[slot].swap(0, Ordering::Acquire);
        if end == 0 {
            return None;
        }
        // O26, Relaxed: as in `leave`.
        self.roster.orphans.fetch_sub(1, Ordering::Relaxed);
        let word = self.word_of(slot);
        Some(Claim { word, events: self.control.sequence_of(word)..end })
    }
}
