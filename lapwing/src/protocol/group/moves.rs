//! Keys that change hands with what their handlers know of them: which words' workers have still to give,
//! and for which words there is something to take. Not here: what is given (`consumer::hand_over`), when
//! the team changes (`routes`).
//!
//! ```text
//! the team has finished ──> target = new team, owing = old team
//!                              │ each worker of the old team: takes what is pending, gives, clears its bits
//!                              v
//!                           owing = 0 ──> the next router makes the target the team, and routes
//!                                            │ a worker of the new team
//!                                            v
//!                                         takes what is pending before the first event that is routed to it
//! ```
//!
//! All of it is by word, not by worker: whoever looks after the word of a worker that has left gives and
//! takes in its place. A move that has begun goes on to its target, whatever is asked for meanwhile.

use super::Group;
use super::routes::{members_of, owner_among};
use crate::protocol::control::StageIndex;
use crate::sync::{AtomicU64, Ordering, fence};

/// The keys that a worker of a group [by key](crate::graph::Workers::by_key) has to give away, as
/// [`HandOver::give`](crate::consumer::HandOver::give) sees them.
///
/// ```
/// use std::collections::HashMap;
/// use lapwing::consumer::MovedKeys;
///
/// fn give(counts: &mut HashMap<u64, u64>, moved: &MovedKeys) -> Vec<(u64, u64)> {
///     counts.extract_if(|&key, _| moved.contains(key)).collect()
/// }
/// ```
#[derive(Debug)]
pub struct MovedKeys {
    /// The workers that share the keys from now on.
    members: Box<[u8]>,
    /// A bit for each word that the worker looks after.
    own: u64,
    /// The worker's own word, if it leaves and gives all away.
    leaves: Option<u8>,
}

impl MovedKeys {
    /// Whether this worker has to give away what it knows of `key`. True of every key if the worker leaves
    /// its group.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::consumer::MovedKeys;
    /// # fn keys_that_stay(counts: &HashMap<u64, u64>, moved: &MovedKeys) -> usize {
    /// counts.keys().filter(|&&key| !moved.contains(key)).count()
    /// # }
    /// ```
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.leaves.is_some() || !self.is_own(owner_among(&self.members, key))
    }

    /// The word whose worker is to have what is known of `key`.
    pub(crate) fn destination(&self, key: u64) -> usize {
        let owner = owner_among(&self.members, key);
        match self.leaves {
            // It goes with the word, to whoever takes that over.
            Some(own) if !self.is_own(owner) => usize::from(own),
            _ => usize::from(owner.expect("there is a team to give to")),
        }
    }

    fn is_own(&self, owner: Option<u8>) -> bool {
        owner.is_some_and(|owner| self.own >> owner & 1 == 1)
    }
}

/// What a worker does to hand over what it knows of its keys.
pub(crate) trait KeyTransfer {
    /// Puts what is known of the keys in `moved` where those take it who have them next. Returns a bit for
    /// each word that there is something for.
    fn give(&mut self, moved: &MovedKeys) -> u64;

    /// Takes what there is for the word with this number.
    fn take(&mut self, word: usize);
}

/// How far the keys of a group have changed hands. A bit for each word in each of these.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The team that is to be; 0 if none is. Written by whoever holds the routing lock.
    target: AtomicU64,
    /// Those of the old team whose worker has not given yet. Set by whoever holds the routing lock.
    owing: AtomicU64,
    /// Those for which there is something to take.
    pending: AtomicU64,
}

impl Moves {
    /// The team that the keys are on their way to; 0 if they stay where they are.
    pub(super) fn target(&self) -> u64 {
        // O36, Acquire: pairs with the Release in `end`; brings the team that came of it.
        self.target.load(Ordering::Acquire)
    }

    /// Begins to move keys from `old` to `target`.
    pub(super) fn begin(&self, old: u64, target: u64) {
        // O36, Relaxed: released with what is owed.
        self.target.store(target, Ordering::Relaxed);
        // O36, Release: pairs with the Acquire in `owes`; carries the target.
        self.owing.store(old, Ordering::Release);
    }

    /// Whether all have given. The caller looks only while there is a target.
    pub(super) fn have_all_given(&self) -> bool {
        // O36, Acquire: pairs with the Release in `has_given`; brings what was given, and that it is pending.
        self.owing.load(Ordering::Acquire) == 0
    }

    /// The target is the team now, which the caller has stored.
    pub(super) fn end(&self) {
        // O36, Release: pairs with the Acquire in `target`; carries the team.
        self.target.store(0, Ordering::Release);
    }

    /// Whether the worker that looks after `own` has to give.
    fn owes(&self, own: u64) -> bool {
        // O36, Acquire: pairs with the Release in `begin`; brings the target.
        self.owing.load(Ordering::Acquire) & own != 0
    }

    fn has_given(&self, own: u64) {
        // O36, Release: pairs with the Acquire in `have_all_given`; carries what was given, also past the
        // others of the team, which are read-modify-writes too.
        self.owing.fetch_and(!own, Ordering::Release);
    }

    fn has_pending(&self, own: u64) -> bool {
        // O36, Relaxed: brought by whatever made the caller look: its event, or a word that was taken over.
        self.pending.load(Ordering::Relaxed) & own != 0
    }

    fn send(&self, words: u64) {
        // O36, Release: pairs with the Acquire in `fetch`; carries what was given.
        self.pending.fetch_or(words, Ordering::Release);
    }

    /// The words among `own` that there was something for.
    fn fetch(&self, own: u64) -> u64 {
        // O36, Acquire: pairs with the Release in `send`; brings what was given. Before that is taken: what
        // comes afterwards sets the bit again.
        self.pending.fetch_and(!own, Ordering::Acquire) & own
    }
}

/// Number of each word in `words`.
fn numbers(words: u64) -> impl Iterator<Item = u8> {
    members_of(words).into_vec().into_iter()
}

impl Group {
    fn moves(&self) -> Option<&Moves> {
        self.routes.as_ref()?.moves.as_ref()
    }

    /// A bit for each of `words`.
    fn bits_of(&self, words: &[StageIndex]) -> u64 {
        words.iter().map(|&word| 1 << self.slot_of(word)).fold(0, |bits, bit: u64| bits | bit)
    }

    /// Whether the worker that looks after `words` has something to give or to take.
    #[inline]
    pub(crate) fn has_transfer(&self, words: &[StageIndex]) -> bool {
        self.moves().is_some_and(|moves| {
            let own = self.bits_of(words);
            moves.has_pending(own) || moves.owes(own)
        })
    }

    /// Has the worker that looks after `words` take and give what there is to, with its `transfer`.
    #[cold]
    pub(crate) fn hand_over(&self, words: &[StageIndex], transfer: &mut dyn KeyTransfer) {
        let Some(moves) = self.moves() else { return };
        let own = self.bits_of(words);
        numbers(moves.fetch(own)).for_each(|word| transfer.take(usize::from(word)));
        if !moves.owes(own) {
            return;
        }
        let moved = MovedKeys { members: members_of(moves.target()), own, leaves: None };
        moves.send(transfer.give(&moved));
        moves.has_given(own);
        // For those who sleep until they may route.
        self.control.notify_released(self.words[0]);
    }

    /// As [`hand_over`](Self::hand_over), of a worker that is about to leave, and gives all that it has to
    /// those who will take its words over.
    #[cold]
    pub(crate) fn hand_all_over(&self, words: &[StageIndex], transfer: &mut dyn KeyTransfer) {
        let Some(moves) = self.moves() else { return };
        self.hand_over(words, transfer);
        let team = match moves.target() {
            0 => self.routes.as_ref().map_or(0, super::Routes::team),
            target => target,
        };
        let leaves = Some(self.slot_of(words[0]) as u8);
        let moved = MovedKeys { members: members_of(team), own: self.bits_of(words), leaves };
        moves.send(transfer.give(&moved));
    }

    /// Takes back what a worker with `words`, which has left, gave and nobody will take any more.
    #[cold]
    pub(crate) fn take_back(&self, words: &[StageIndex], transfer: &mut dyn KeyTransfer) {
        let Some(moves) = self.moves() else { return };
        // O37: either this worker sees that all is done, or a worker that ends at that point sees what this one left.
        fence(Ordering::SeqCst);
        let life = &self.control.life;
        let is_drained = || life.end().is_some_and(|end| self.has_finished(end));
        // Of a ring that is halted no worker takes anything over any more: the last that leaves has it all.
        let slots: Vec<usize> = if life.is_halted() {
            (0..self.max()).collect()
        } else if is_drained() {
            words.iter().map(|&word| self.slot_of(word)).collect()
        } else {
            return;
        };
        for slot in slots {
            if self.take_over_from(slot).is_some() && moves.fetch(1 << slot) != 0 {
                transfer.take(slot);
            }
        }
    }

    /// Whether a worker that finds all done sees something left behind, which it has to take over before it
    /// ends.
    #[cold]
    pub(crate) fn has_left_something(&self) -> bool {
        // O37: pairs with the fence in `take_back`.
        fence(Ordering::SeqCst);
        self.moves().is_some() && self.has_orphans()
    }
}
