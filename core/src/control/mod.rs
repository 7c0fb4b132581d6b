//! The words that the threads of one ring share, and the operations on them: a stage advances, a
//! thread wakes others, a consumer leaves, the ring closes or halts. Not here: the events
//! (`ring_buffer`).
//!
//! ```text
//! lines    word                   written by                read by
//! publication: what is claimed and published
//! 1        cursor                 producers                 producers; first stages (if single)
//! 1        window (if single)     the producer; close, halt the producer, before each claim
//! 1/16     stamp (if multi)       the claim's owner         first stages
//! stages: what the stages have done
//! 2 each   stage: sequence,       its reader                downstream stages, producers
//!                 released        waiters when they park    its reader, after each batch
//! 2 each   worker: like a stage   the worker                like a stage, after its group's word
//! 1 each   stage: stop            a thread that stops it    its reader, before each batch
//!          group: watch           idle workers              idle workers
//! 2        dynamic                consumers, join or leave  producers, at a full ring
//! life: whether and how it ends
//! 1        life                   close, halt               consumers, at each poll; producers
//! parking: the threads that sleep
//! 1        published              waiters when they park;   producers, after each publish; where
//!                                 close, halt; a producer   threads run several stages,
//!                                 that keeps a count        stages that release events
//! 32       places (if multi)      producers that take       producers that wait for a turn
//!                                 turns; close, halt
//! beside the words
//! in slot  published mark (one sender)    the sender of a channel   a receiver that waits
//! ```
//!
//! The first column counts cache lines. "Single" is a ring with one producer, "multi" one with
//! several. The words are plain numbers: none of them holds a pointer.

mod ending;
mod joining;
// I12: the promise of the layer that shares the events of a group.
#[allow(unsafe_code)]
mod sharing;
mod state;
mod waiting;

pub use joining::{Joined, StartAt};
pub use sharing::Sharing;
pub use waiting::Wait;

use crate::Sequence;
use crate::error::Cause;
use crate::life::Life;
use crate::padded::Padded;
use crate::parking::asymmetric::AsymmetricFence;
use crate::parking::event_count::{EventCount, FOLLOW_UP};
use crate::parking::{Parking, Places, Turn, Waits};
use crate::publication::{Publication, Stamps};
use crate::stages::{Graph, StageIndex, StageWords, Stages};
use crate::sync::AtomicU32;
use crate::words::Words;

/// The shared words of one ring.
#[derive(Debug)]
pub struct Control {
    publication: Publication,
    stages: Stages,
    life: Padded<Life>,
    parking: Parking,
    /// Number of slots, a power of two (I4).
    capacity: u64,
}

impl Control {
    /// Places the words of a ring of `capacity` slots, whose first event has the sequence `first`. A
    /// ring with several producers has `stamps`.
    pub(crate) fn new(
        words: &mut Words,
        (capacity, stamps): (u64, Option<Stamps>),
        graph: Graph,
        first: Sequence,
        waits: Waits,
    ) -> Self {
        let is_multi = stamps.is_some();
        let control = Self {
            publication: Publication::new(first, stamps),
            stages: Stages::new(words, graph, first),
            life: Padded::default(),
            parking: Parking::new(is_multi, waits),
            capacity,
        };
        // The first lap counts as granted, since no event precedes it.
        control.stages.dynamic().raise_granted(first + capacity);
        if control.fence() == AsymmetricFence::Full {
            // A full fence follows each publication and each release.
            control.follow_up_publications(true);
        }
        if waits.parks && (waits.shares_threads || control.fence() == AsymmetricFence::Full) {
            let stages = control.stages.all().iter();
            stages.for_each(|stage| stage.released().anything.raise(FOLLOW_UP));
        }
        control
    }

    /// Returns the number of bytes in a mapping of the words of such a ring. `None` if no memory has as
    /// many.
    #[must_use]
    pub fn bytes(graph: &Graph, capacity: usize, is_multi: bool) -> Option<usize> {
        let stamps = if is_multi { Words::bytes_of::<AtomicU32>(capacity)? } else { 0 };
        let stages = Words::bytes_of::<StageWords>(1)?.checked_mul(graph.words())?;
        stamps.checked_add(stages)?.checked_add(Words::bytes_of::<Self>(1)?)
    }

    /// Creates the words of a ring with this graph, for a test. `upstream` lists, for each stage,
    /// the stages directly upstream. There are no dynamic stages, and no thread parks.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_graph(
        capacity: u64,
        stamps: Option<Stamps>,
        upstream: &[&[StageIndex]],
    ) -> Self {
        let upstream = upstream.iter().map(|&stages| stages.into()).collect();
        Self::for_test((capacity, stamps), Graph::new(upstream), Waits::default())
    }

    /// Creates the words of a ring with one stage whose threads may park, with this kind of fence,
    /// for a test.
    #[cfg(all(test, not(any(loom, miri))))]
    pub(crate) fn with_fence(
        capacity: u64,
        stamps: Option<Stamps>,
        fence: AsymmetricFence,
    ) -> Self {
        let waits = Waits { parks: true, shares_threads: false };
        let graph = Graph::new(vec![Box::default()]);
        let mut control = Self::for_test((capacity, stamps), graph, waits);
        control.parking.set_fence(fence);
        control
    }

    /// Creates the words of a ring that begins at 0, for a test.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn for_test(slots: (u64, Option<Stamps>), graph: Graph, waits: Waits) -> Self {
        Self::new(&mut Words::private(), slots, graph, 0, waits)
    }

    /// Stores the word of `stage`, as its reader would, for a test.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn advance_for_test(&self, stage: StageIndex, sequence: Sequence) {
        self.advance(self.stages.of(stage), stage, sequence);
    }

    pub(crate) fn publication(&self) -> &Publication {
        &self.publication
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    pub(crate) fn life(&self) -> &Life {
        &self.life
    }

    #[inline]
    pub(crate) fn parking(&self) -> &Parking {
        &self.parking
    }

    #[inline]
    pub(crate) fn fence(&self) -> AsymmetricFence {
        self.parking.fence()
    }
}

/// How a stage advances. Only its reader advances a stage that is not shared.
impl Control {
    /// Records that `stage`, whose `words` the caller holds, has finished everything below
    /// `sequence`, and wakes the threads that wait for that.
    #[inline]
    pub(crate) fn advance(&self, words: &StageWords, stage: StageIndex, sequence: Sequence) {
        words.store(sequence);
        self.advanced(words, stage);
    }

    /// Wakes the threads that wait for the word of `stage`, which the caller has just stored.
    #[inline]
    fn advanced(&self, words: &StageWords, stage: StageIndex) {
        // O6: between the store of the word and the check for parked threads. Where a compiler
        // fence is not enough, a flag is raised.
        AsymmetricFence::Membarrier.light();
        if words.released().flags() != 0 {
            self.follow_up(stage);
        }
    }

    /// The slow path after the store of the word. Runs unless it is known that no thread is parked.
    #[cold]
    fn follow_up(&self, stage: StageIndex) {
        self.notify_released(stage);
    }

    /// Wakes the threads that wait for the word of `stage`, which the caller has just advanced.
    #[inline]
    pub fn notify_released(&self, stage: StageIndex) {
        if self.parking.is_signalled() {
            // O6: between the store of the word and the check for parked threads.
            self.fence().light();
            self.notify_of(stage);
        }
    }

    /// Whether a quarter of the ring, [`room`](Self::room), is free behind `stage`.
    #[cold]
    fn has_room_behind(&self, stage: StageIndex) -> bool {
        let held = self.claimed().saturating_sub(self.sequence_of(stage));
        self.capacity.saturating_sub(held) >= self.room()
    }

    /// Wakes the threads whose wait is over since `stage` advanced. The caller has run the fence.
    #[inline]
    fn notify_of(&self, stage: StageIndex) {
        self.stages.of(stage).released().notify(|| self.has_room_behind(stage));
        self.parking.notify_shared_threads();
    }

    /// Sets whether publications of the only producer take the slow path even if no thread is
    /// parked. Only that producer calls this.
    pub(crate) fn follow_up_publications(&self, is_wanted: bool) {
        if is_wanted || self.fence() == AsymmetricFence::Full {
            self.parking.published().raise(FOLLOW_UP);
        } else {
            self.parking.published().lower(FOLLOW_UP);
        }
    }

    /// Wakes every thread that is parked until `word` advances.
    pub fn wake_all_behind(&self, word: StageIndex) {
        self.stages.of(word).released().wake_all();
    }

    /// Records that everything below `sequence` is acknowledged, in the words `acknowledgement`. An
    /// acknowledgement never goes back.
    ///
    /// # Panics
    ///
    /// If the words are not those of an acknowledgement.
    pub fn acknowledge(&self, acknowledgement: StageIndex, sequence: Sequence) {
        self.stages.of(acknowledgement).raise(sequence);
        self.fence().light();
        self.notify_of(acknowledgement);
    }

    /// Returns the sequence below which everything is acknowledged, in the words `acknowledgement`.
    #[must_use]
    pub fn acknowledged(&self, acknowledgement: StageIndex) -> Sequence {
        self.stages.of(acknowledgement).sequence_by_chance()
    }

    /// Removes `stage` from the graph, so that no thread waits for it. Halts the ring if it was the
    /// last consumer and no consumer has drained the ring. In a drained ring there is nothing to
    /// stop, and a producer whose event was handled may check for a halt only after this. A
    /// consumer in a dynamic stage that begins at the end has drained the ring too: which events
    /// before its first one were handled is not known here.
    pub(crate) fn detach(&self, stage: StageIndex) {
        let is_drained = self.life.end().is_some_and(|end| !self.is_behind(stage, end));
        // A consumer that has drained the ring stays in the count, like a stage that ends then. No
        // other consumer is then the last.
        let is_last = !is_drained && self.stages.dynamic().remove_consumer();
        let words = self.stages.of(stage);
        if let Some(acknowledgement) = words.acknowledgement() {
            self.acknowledge(acknowledgement, crate::DETACHED);
        }
        words.store(crate::DETACHED);
        words.released().wake_all();
        if self.parking.shares_threads() {
            self.parking.published().wake_all();
        }
        if is_last {
            self.halt(Cause::NO_CONSUMERS);
        }
    }

    /// Asks the consumer that holds `stage` in generation `generation` to leave after its batch.
    pub fn stop(&self, stage: StageIndex, generation: u64) {
        self.stages.of(stage).stop(generation);
        self.wake_all();
    }

    /// Whether the consumer that holds `stage` in generation `generation` is asked to leave.
    #[inline]
    #[must_use]
    pub fn is_stopping(&self, stage: StageIndex, generation: u64) -> bool {
        self.stages.of(stage).is_stopping(generation)
    }
}

/// Where a thread parks that waits for others.
impl Control {
    /// Returns the event count to park on until one of `stages`, or an ancestor of one that has
    /// left, finishes `sequence`. If all of them have left, it is the event count of publications.
    /// `None` if no stage is behind, so that there is nothing to wait for.
    ///
    /// `None` does not mean that the wait is over, since the bound of a worker may fall for a
    /// moment. A thread that parked on the publication in that moment would miss the wake-up when
    /// the bound rises.
    #[must_use]
    pub fn behind(&self, stages: &[StageIndex], sequence: Sequence) -> Option<&EventCount> {
        match self.stages.behind(stages, sequence) {
            Some(stage) => Some(self.released(stage)),
            None if self.finished_by_all(stages) == crate::DETACHED => {
                Some(self.parking.published())
            }
            None => None,
        }
    }

    /// Returns the event count to park on until the gate has finished `sequence`, which it has not
    /// yet. A patient producer waits for a quarter of the ring behind the slow consumer instead,
    /// for 100 µs at most. `None` means to check again instead.
    #[must_use]
    pub fn behind_gate(&self, sequence: Sequence, is_patient: bool) -> Option<&EventCount> {
        match self.stages.gate_behind(sequence) {
            Some(stage) if is_patient => Some(&self.stages.of(stage).released().room),
            Some(stage) => Some(self.released(stage)),
            None => self.behind(self.stages.gating(), sequence),
        }
    }

    /// Returns the event count to park on until `stage` releases events.
    #[must_use]
    pub fn released(&self, stage: StageIndex) -> &EventCount {
        &self.stages.of(stage).released().anything
    }

    /// Returns the event count to park on until an event is published.
    #[must_use]
    pub fn published(&self) -> &EventCount {
        self.parking.published()
    }

    /// Returns the event count to park on until any word advances, for a thread that runs several
    /// stages. `None` in a ring that was made for no such thread: there, a stage that releases
    /// events does not wake it.
    #[must_use]
    pub fn anything(&self) -> Option<&EventCount> {
        self.parking.shares_threads().then(|| self.published())
    }

    /// Returns the places where producers park that wait for other producers. The end of the ring
    /// wakes them. A ring with one producer has none.
    #[must_use]
    pub fn places(&self) -> &Places {
        self.parking.places()
    }

    /// Whether a thread can wait for [`anything`](Self::anything).
    #[must_use]
    pub fn shares_threads(&self) -> bool {
        self.parking.shares_threads()
    }

    /// Returns the turn of `worker` to wait for an event that is for any worker of `group`.
    #[must_use]
    pub fn turn_of(&self, group: StageIndex, worker: usize) -> Turn<'_> {
        self.stages.of(group).watch().turn(worker)
    }
}
