//! How a worker gives away the state of keys that move to another worker, and takes what it was given.
//! Not here: the state itself (`consumer::hand_over`), and how far a move is (`moves`).

use lapwing_core::StageIndex;

use super::Group;
use super::moves::Moves;
use super::routes::Routes;
use super::teams::{members_of, owner_among};
use crate::sync::{Ordering, fence};

/// The keys whose state a worker of a group [by key](crate::graph::WorkerStage::by_key) has to give
/// away. The library passes it to [`HandOver::give`](crate::consumer::HandOver::give).
///
/// ```
/// use std::collections::HashMap;
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{HandOver, MovedKeys}};
///
/// #[derive(Default)]
/// struct Last(HashMap<u64, Sequence>); // the last event of each key
///
/// impl EventHandler<u64> for Last {
///     fn on_event(&mut self, key: &u64, at: Sequence, _: bool) { self.0.insert(*key, at); }
/// }
///
/// impl HandOver for Last {
///     type State = Sequence;
///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Sequence)> {
///         self.0.extract_if(|&key, _| moved.contains(key)).collect()
///     }
///     fn take(&mut self, key: u64, at: Sequence) { self.0.insert(key, at); }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
///     .stage("last").workers(1).up_to(2).by_key(|key| *key)
///     .read_keyed_handlers(|_worker| Last::default())
///     .build()?;
/// let work = consumers.workers("last").unwrap();
/// let running = consumers.start()?;
/// (0..100).try_for_each(|key| producer.publish(|event| *event = key).map(drop))?;
/// work.resize(2)?; // about half of the keys move to the second worker
/// (0..100).try_for_each(|key| producer.publish(|event| *event = key).map(drop))?;
/// let mut report = running.shutdown()?;
/// let (Last(first), Last(second)) = (report.take("last-0")?, report.take("last-1")?);
/// assert_eq!(first.len() + second.len(), 100); // each key is in one of them
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MovedKeys {
    /// The workers that share the keys from now on.
    members: Box<[u8]>,
    /// A bit for each word that the worker holds.
    own: u64,
    /// The worker's own word, if the worker leaves and gives everything away.
    leaves: Option<u8>,
}

impl MovedKeys {
    /// Returns whether this worker has to give away its state of `key`. If the worker leaves its
    /// group, that is every key.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, EventHandler, Sequence};
    /// use lapwing::consumer::{HandOver, MovedKeys, Shared};
    ///
    /// struct Stops(bool); // whether it has to give away the key 7
    ///
    /// impl EventHandler<u64, Shared, Action> for Stops {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Action { Action::Stop }
    /// }
    ///
    /// impl HandOver for Stops {
    ///     type State = ();
    ///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, ())> {
    ///         self.0 = moved.contains(7);
    ///         Vec::new()
    ///     }
    ///     fn take(&mut self, _: u64, _: ()) {}
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 7)
    ///     .stage("stops").workers(1).by_key(|key| *key)
    ///     .read_keyed_handlers(|_worker| Stops(false))
    ///     .build()?;
    /// producer.publish(|_| {})?;
    /// let mut finished = consumers.into_iter().next().unwrap().run(); // leaves
    /// assert!(finished.take_handler::<Stops>()?.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.leaves.is_some() || !self.is_own(owner_among(&self.members, key))
    }

    /// Returns the index of the word whose worker gets the state of `key`.
    pub(crate) fn destination(&self, key: u64) -> usize {
        let owner = owner_among(&self.members, key);
        match self.leaves {
            // The state stays with the word, for the worker that takes the word over.
            Some(own) if !self.is_own(owner) => usize::from(own),
            _ => usize::from(owner.expect("there is a team to give to")),
        }
    }

    fn is_own(&self, owner: Option<u8>) -> bool {
        owner.is_some_and(|owner| self.own >> owner & 1 == 1)
    }
}

/// How a worker hands over its state of keys.
pub(crate) trait KeyTransfer {
    /// Puts the state of the keys in `moved` where their next owners take it. Returns a bit for
    /// each word that gets some.
    fn give(&mut self, moved: &MovedKeys) -> u64;

    /// Takes the state that was given to the word with this index.
    fn take(&mut self, word: usize);
}

/// Returns the index of each word in the bit set `words`.
fn numbers(words: u64) -> impl Iterator<Item = u8> {
    members_of(words).into_vec().into_iter()
}

impl Group {
    fn moves(&self) -> Option<&Moves> {
        self.routes.as_ref()?.moves.as_ref()
    }

    /// Returns a bit for each of `words`.
    fn bits_of(&self, words: &[StageIndex]) -> u64 {
        words.iter().map(|&word| 1 << self.slot_of(word)).fold(0, |bits, bit: u64| bits | bit)
    }

    /// Whether the worker with `words` has state to give or to take.
    #[inline]
    pub(crate) fn has_transfer(&self, words: &[StageIndex]) -> bool {
        self.moves().is_some_and(|moves| {
            let own = self.bits_of(words);
            moves.has_pending(own) || moves.owes(own)
        })
    }

    /// Takes the pending state of the worker with `words`, and gives what it has to give, with its
    /// `transfer`.
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
        // Wakes the workers that are parked until they may route.
        self.control.notify_released(self.words[0]);
    }

    /// The same as [`hand_over`](Self::hand_over), for a worker that is about to leave. It gives
    /// all its state to the next owners, or leaves it with its own word.
    #[cold]
    pub(crate) fn hand_all_over(&self, words: &[StageIndex], transfer: &mut dyn KeyTransfer) {
        let Some(moves) = self.moves() else { return };
        self.hand_over(words, transfer);
        let team = match moves.target() {
            0 => self.routes.as_ref().map_or(0, Routes::team),
            target => target,
        };
        let leaves = Some(self.slot_of(words[0]) as u8);
        let moved = MovedKeys { members: members_of(team), own: self.bits_of(words), leaves };
        moves.send(transfer.give(&moved));
    }

    /// Takes back what a worker with `words`, which has left, gave away, if no other worker will
    /// take it.
    #[cold]
    pub(crate) fn take_back(&self, words: &[StageIndex], transfer: &mut dyn KeyTransfer) {
        let Some(moves) = self.moves() else { return };
        // O37: either this worker sees that everything is finished, or a worker that ends at that
        // point sees what this one left behind.
        fence(Ordering::SeqCst);
        let control = &self.control;
        let is_drained = || control.end().is_some_and(|end| self.has_finished(end));
        // In a halted ring no worker takes anything over, so the last one that leaves gets all of
        // it.
        let slots: Vec<usize> = if control.is_halted() {
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

    /// Whether a worker that sees everything finished sees a claim left behind, which it must take
    /// over before it ends.
    #[cold]
    pub(crate) fn has_left_something(&self) -> bool {
        // O37: pairs with the fence in `take_back`.
        fence(Ordering::SeqCst);
        self.moves().is_some() && self.has_orphans()
    }
}
