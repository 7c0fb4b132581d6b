//! The shared words of one stage. Not here: what they mean for other stages (`stages`).

use std::sync::atomic::AtomicBool;

use super::StageIndex;
use crate::Sequence;
use crate::padded::Padded;
use crate::parking::released::Released;
use crate::parking::watch::Watch;
use crate::sync::{AtomicU64, Ordering};

/// The thread that may move the word of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mover {
    /// The reader of the stage.
    Reader,
    /// The layer that shares the events of a stage among workers.
    Group,
    /// The party that acknowledges the events of a stage.
    Acknowledger,
}

/// The shared words of one stage.
#[derive(Debug)]
pub(crate) struct StageWords {
    /// End of what the stage has finished, or [`DETACHED`](super::DETACHED). For a group, how far
    /// it has claimed. For a worker, a bound at or below every event that it holds, or
    /// [`IDLE`](super::IDLE).
    sequence: Padded<AtomicU64>,
    /// The event counts of threads that wait for `sequence`.
    released: Padded<Released>,
    /// The last generation that is asked to end, since a dynamic stage has one consumer after
    /// another. Written only to stop a consumer.
    stop: AtomicU64,
    mover: Mover,
    /// Whether the stage has its reader. It orders nothing, and no model depends on it.
    has_reader: AtomicBool,
    /// The stages directly upstream; empty for a first stage.
    upstream: Box<[StageIndex]>,
    /// All stages upstream, directly or not. Used once this stage has left.
    ancestors: Box<[StageIndex]>,
    /// The words of the acknowledgement, if another party acknowledges the events.
    acknowledgement: Option<StageIndex>,
    /// The words of its workers, if it is a group.
    workers: Box<[StageIndex]>,
    /// Which idle worker of a group an event wakes.
    watch: Watch,
}

impl StageWords {
    pub(super) fn new(
        sequence: Sequence,
        upstream: Box<[StageIndex]>,
        ancestors: Box<[StageIndex]>,
    ) -> Self {
        Self {
            sequence: Padded(AtomicU64::new(sequence)),
            released: Padded::default(),
            stop: AtomicU64::new(0),
            mover: Mover::Reader,
            has_reader: AtomicBool::new(false),
            upstream,
            ancestors,
            acknowledgement: None,
            workers: Box::default(),
            watch: Watch::default(),
        }
    }

    /// Creates words that no other thread reads.
    pub(crate) fn unshared() -> Self {
        Self::new(super::DETACHED, Box::default(), Box::default())
    }

    /// Makes these the words of a stage whose events the party with the words `acknowledgement`
    /// acknowledges.
    pub(super) fn set_acknowledgement(&mut self, acknowledgement: StageIndex) {
        self.acknowledgement = Some(acknowledgement);
    }

    /// Makes these the words of an acknowledgement.
    pub(super) fn become_acknowledgement(&mut self) {
        self.mover = Mover::Acknowledger;
    }

    /// Makes these the words of a group with `workers`, the words of its workers.
    pub(super) fn become_group(&mut self, workers: &[StageIndex]) {
        self.mover = Mover::Group;
        self.workers = workers.into();
        self.watch = Watch::new(workers.len());
    }

    /// Makes these the words of a worker, which are idle at first.
    pub(super) fn become_worker(&mut self) {
        self.mover = Mover::Group;
    }

    /// Whether these are the words of a group or a worker.
    pub(crate) fn is_group(&self) -> bool {
        self.mover == Mover::Group
    }

    /// Records that the stage has its reader. Returns false if it has one already.
    pub(crate) fn take_reader(&self) -> bool {
        // O13, Relaxed: one modification order decides.
        !self.has_reader.swap(true, Ordering::Relaxed)
    }

    /// Returns the value of the word.
    #[inline]
    pub(super) fn sequence(&self) -> Sequence {
        sequence_of(&self.sequence)
    }

    /// Returns the word, for monitors.
    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.sequence
    }

    /// Returns the value of the word, as advice.
    pub(crate) fn sequence_by_chance(&self) -> Sequence {
        // O13, Relaxed: a snapshot.
        self.sequence.load(Ordering::Relaxed)
    }

    /// Stores the word. The caller has finished everything below `sequence`.
    #[inline]
    pub(crate) fn store(&self, sequence: Sequence) {
        // O2 and O3, Release: pairs with the Acquire in `sequence`; carries the end of this stage's
        // reads, and its writes.
        self.sequence.store(sequence, Ordering::Release);
    }

    /// Stores the word of a group or a worker.
    ///
    /// # Panics
    ///
    /// If a reader or an acknowledger moves the word.
    #[inline]
    pub(crate) fn store_by_group(&self, sequence: Sequence) {
        assert!(self.mover == Mover::Group, "only the reader of a stage moves its word");
        self.store(sequence);
    }

    /// Moves the word of a group from `from` to `to`. Returns false if it has another value.
    ///
    /// # Panics
    ///
    /// If a reader or an acknowledger moves the word.
    #[inline]
    pub(crate) fn try_move(&self, from: Sequence, to: Sequence) -> bool {
        assert!(self.mover == Mover::Group, "only the reader of a stage moves its word");
        // O25, Release: carries the bound, also through later claims, which are read-modify-writes.
        // Relaxed on failure: the caller loads the word again.
        self.sequence.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Raises the word of an acknowledgement, which never goes back.
    ///
    /// # Panics
    ///
    /// If the word is not that of an acknowledgement.
    pub(crate) fn raise(&self, sequence: Sequence) {
        assert!(self.mover == Mover::Acknowledger, "only the reader of a stage moves its word");
        // O2 and O3, Release: pairs with the Acquire in `sequence`; carries what the caller did
        // before, to downstream stages. The stage's own sequence carries the end of its reads.
        self.sequence.fetch_max(sequence, Ordering::Release);
    }

    /// The event counts of threads that wait for the word.
    #[inline]
    pub(crate) fn released(&self) -> &Released {
        &self.released
    }

    /// The stages directly upstream.
    #[inline]
    pub(crate) fn upstream(&self) -> &[StageIndex] {
        &self.upstream
    }

    /// All stages upstream.
    pub(crate) fn ancestors(&self) -> &[StageIndex] {
        &self.ancestors
    }

    /// The words of the acknowledgement of its events, if there is one.
    pub(crate) fn acknowledgement(&self) -> Option<StageIndex> {
        self.acknowledgement
    }

    /// The words of its workers, if it is a group.
    pub(crate) fn workers(&self) -> &[StageIndex] {
        &self.workers
    }

    /// Which idle worker of a group an event wakes.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Asks the consumer that holds generation `generation` to leave after its batch.
    pub(crate) fn stop(&self, generation: u64) {
        // O10, Relaxed: parked threads see it with the epoch, which advances after it (O7).
        self.stop.fetch_max(generation, Ordering::Relaxed);
    }

    /// Whether the consumer that holds generation `generation` is asked to leave.
    #[inline]
    pub(crate) fn is_stopping(&self, generation: u64) -> bool {
        // O10, Relaxed: the flag publishes no other data.
        self.stop.load(Ordering::Relaxed) >= generation
    }
}

/// Returns the value of the word of a stage.
#[inline]
pub(crate) fn sequence_of(word: &AtomicU64) -> Sequence {
    // O3, Acquire: pairs with the Release in `store`, `try_move` and `raise`; brings the end of the
    // stage's reads and its writes. For the gate of the producers it is O2.
    word.load(Ordering::Acquire)
}
