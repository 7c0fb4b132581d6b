//! The words that the threads of one ring share, and the operations on them: a stage advances, a
//! thread wakes others, a consumer leaves, the ring closes or halts. Not here: the events
//! (`ring_buffer`).
//!
//! ```text
//! lines    word                   written by                read by
//! 1        cursor                 producers                 producers; first stages (if single)
//! 1        life                   close, halt               consumers, at each poll; producers
//! 1        window (if single)     the producer; close, halt the producer, before each claim
//! 1        published: EventCount  waiters when they park;   producers, after each publish; where
//!                                 close, halt; a producer   threads run several stages,
//!                                 that keeps a count        stages that release events
//! 2 each   stage: sequence,       its consumer              downstream stages, producers
//!                 released        waiters when they park    its consumer, after each batch
//! 2 each   worker: like a stage   the worker                like a stage, after its group's word
//! 1 each   stage: stop            a thread that stops it    its consumer, before each batch
//!          group: watch           idle workers              idle workers
//! 2        seating                consumers, join or leave  producers, at a full ring
//! 1        dropped                producers that drop       monitors
//! 1 each   stage: activity        its consumer              monitors
//! 1        waiting producers      producers that wait       monitors
//! 1        cpu load               threads that yield        waiters
//! 1        turns                  producers, consumers      producers that wait; consumers
//! 8        places (if multi)      producers that wait       close, halt; producers, consumers
//! 1/16     stamp (if multi)       the claim's owner         first stages
//! in slot  notice (one sender)    the sender of a channel   a receiver that waits
//! ```
//!
//! The first column counts cache lines. "Single" is a ring with one producer, "multi" one with
//! several. The words are plain numbers: none of them holds a pointer.

mod ending;
mod progress;
mod stage;

use std::time::Instant;

use crate::Sequence;
use crate::error::HaltCause;
use crate::open_claim::OpenClaims;
use crate::padded::Padded;
use crate::protocol::claims::ClaimWindow;
use crate::protocol::failures::Failures;
use crate::protocol::life::Life;
use crate::protocol::parking::event_count::{EventCount, FOLLOW_UP};
use crate::protocol::parking::{asymmetric::AsymmetricFence, places::Places};
use crate::protocol::seats::Seating;
use crate::protocol::stamps::Stamps;
use crate::sync::{Arc, AtomicU64, Figure, Ordering, now};
use crate::turns::Turns;

pub(crate) use crate::description::StageIndex;
pub(crate) use progress::Gate;
pub(crate) use stage::{StageControl, ancestors};

/// A bit of the cursor of a multi-producer ring that is set when no more claims are granted.
/// Sequences stay below it: at a billion events per second they reach it after 292 years, or after
/// half of that from [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE).
pub(crate) const CLAIMS_CLOSED: u64 = 1 << 63;

/// Sequence of a consumer that has left. It holds no thread back. Stages downstream of it wait for
/// the stages upstream of it.
pub(crate) const DETACHED: Sequence = Sequence::MAX;

/// Sequence of a worker that holds no event, and therefore holds no thread back. It is below
/// [`DETACHED`], since the worker's group has not left.
pub(crate) const IDLE: Sequence = DETACHED - 1;

/// The turn of a consumer of the graph. Its stage never has another consumer, unlike a seat.
pub(crate) const ONLY_TURN: u64 = 1;

/// A producer that is parked on a full ring is woken when one part in this many is free.
const ROOMS_PER_RING: u64 = 4;

/// The shared words of one ring.
#[derive(Debug)]
pub(crate) struct Control {
    /// Single producer: end of the published events. Multi-producer: end of the claims, and the bit
    /// [`CLAIMS_CLOSED`]; the stamps show what is published.
    pub(crate) cursor: Padded<AtomicU64>,
    pub(crate) life: Padded<Life>,
    /// Single producer: how far it may claim without a check.
    pub(crate) window: Padded<ClaimWindow>,
    /// The event count of stages that wait for a publication, and of threads that run several
    /// stages, which wait for any advance. Its flags tell producers that the ring has ended, or
    /// that the slow path is needed.
    pub(crate) published: Padded<EventCount>,
    /// Where producers park that wait for other producers.
    pub(crate) places: Places,
    /// Number of events that producers dropped because the ring was full. It has its own cache
    /// line, since it is written under the heaviest load.
    pub(crate) dropped: Padded<AtomicU64>,
    /// Number of producers that currently wait for a free slot.
    pub(crate) waiting_producers: Padded<Figure>,
    /// When the ring was created.
    pub(crate) made_at: Instant,
    /// What waiting threads record about their yields (`wait`). Advice only.
    pub(crate) cpu_load: Padded<[Figure; 2]>,
    /// How several producers take turns on a full ring. Advice only.
    pub(crate) turns: Padded<Turns>,
    /// Which slots are published; only with several producers.
    pub(crate) stamps: Option<Stamps>,
    /// For each of several producers, its last claim and the thread that made it.
    pub(crate) open_claims: OpenClaims,
    /// The words of each stage of the graph, upstream stages first, then those of each
    /// acknowledgement, worker and seat. Each consumer also holds an `Arc` of its own words, which
    /// saves a load per batch.
    pub(crate) stages: Box<[Arc<StageControl>]>,
    pub(crate) seating: Seating,
    /// The stages of the graph that have no stage downstream. They gate the producers, since all
    /// other stages are ahead of them. Occupied seats gate producers too.
    pub(crate) gating: Box<[StageIndex]>,
    /// Number of slots, a power of two (I4).
    pub(crate) capacity: u64,
    pub(crate) fence: AsymmetricFence,
    /// Whether any waiter of this ring may park. Threads that advance a word then check for parked
    /// threads.
    pub(crate) is_signalled: bool,
    /// Whether a thread runs several stages. Threads that release events then check for it.
    pub(crate) has_shared_threads: bool,
}

impl Control {
    /// Creates the words of a ring of `capacity` slots. `upstream` lists, for each stage and then
    /// for each seat of `seating`, the stages directly upstream, all with lower indices. A ring
    /// with several producers has `stamps`; a stage that may skip events has `failures`.
    pub(crate) fn new(
        capacity: u64,
        stamps: Option<Stamps>,
        upstream: Vec<Box<[StageIndex]>>,
        failures: Vec<Option<Failures>>,
        seating: Seating,
        is_signalled: bool,
    ) -> Self {
        // A seat gates producers only while it is occupied.
        let graph = &upstream[..seating.seats().start];
        let is_gating = |&stage: &StageIndex| !graph.iter().any(|stages| stages.contains(&stage));
        let gating = (0..graph.len()).filter(is_gating).collect();
        let ancestors = ancestors(&upstream);
        let stages = upstream.into_iter().zip(ancestors).zip(failures).enumerate();
        let stages = stages.map(|(stage, ((near, all), failures))| {
            let sequence = if seating.seats().contains(&stage) { DETACHED } else { 0 };
            Arc::new(StageControl::new(sequence, near, all, failures))
        });
        let places = Places::new(stamps.is_some());
        let control = Self {
            cursor: Padded(AtomicU64::new(0)),
            life: Padded::default(),
            window: Padded::default(),
            published: Padded::default(),
            dropped: Padded::default(),
            waiting_producers: Padded::default(),
            made_at: now(),
            cpu_load: Padded::default(),
            turns: Padded(Turns::new(places.len())),
            places,
            stamps,
            open_claims: OpenClaims::default(),
            gating,
            stages: stages.collect(),
            seating,
            capacity,
            fence: AsymmetricFence::detect(),
            is_signalled,
            has_shared_threads: false,
        };
        if control.fence == AsymmetricFence::Full {
            // A full fence follows each publication and each release.
            control.follow_up_publications(true);
            control.follow_up_releases();
        }
        control
    }

    /// Creates the words of a ring with this graph, for a test. `upstream` lists, for each stage,
    /// the stages directly upstream. No stage skips events, and there are no seats.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_graph(
        capacity: u64,
        stamps: Option<Stamps>,
        upstream: &[&[StageIndex]],
    ) -> Self {
        let upstream: Vec<_> = upstream.iter().map(|&stages| stages.into()).collect();
        let failures = upstream.iter().map(|_| None).collect();
        let seating = Seating::new(upstream.len(), upstream.len(), 0);
        Self::new(capacity, stamps, upstream, failures, seating, false)
    }

    /// Returns the same ring with `first` as the sequence of its first event. No other thread
    /// shares it yet.
    pub(crate) fn starting_at(mut self, first: Sequence) -> Self {
        self.cursor = Padded(AtomicU64::new(first));
        for stage in 0..self.seating.seats().start {
            self.stage_mut(stage).sequence = Padded(AtomicU64::new(first));
        }
        // The first lap counts as granted, since no event precedes it.
        self.seating.raise_granted(first + self.capacity);
        self
    }

    /// Returns the words of `stage`, to change them before any thread shares them.
    pub(crate) fn stage_mut(&mut self, stage: StageIndex) -> &mut StageControl {
        Arc::get_mut(&mut self.stages[stage]).expect("no thread shares the words yet")
    }

    /// Returns the other stages that gate producers. If all of these have finished an event and
    /// `stage` has not, only `stage` accesses it. Returns `None` if no event is ever in that state:
    /// another stage depends on `stage`, the ring has seats, or the words of workers or of an
    /// acknowledgement hold producers back for it.
    pub(crate) fn gating_beside(&self, stage: StageIndex) -> Option<Box<[StageIndex]>> {
        let words = &self.stages[stage];
        let is_its_own = words.acknowledgement.is_none() && words.workers.is_empty();
        let gates = self.gating.contains(&stage) && self.seating.is_empty();
        let beside = self.gating.iter().copied().filter(|&other| other != stage);
        (is_its_own && gates).then(|| beside.collect())
    }

    /// Returns the stages upstream of `stage` that may skip events as failed.
    pub(crate) fn failing_before(&self, stage: StageIndex) -> Box<[StageIndex]> {
        let may_fail = |stage: &StageIndex| self.stages[*stage].failures.is_some();
        self.stages[stage].ancestors.iter().copied().filter(may_fail).collect()
    }

    /// Returns the end of the published events; with several producers, of the claims.
    pub(crate) fn claimed(&self) -> Sequence {
        // O13, Relaxed: a snapshot.
        self.cursor.load(Ordering::Relaxed) & !CLAIMS_CLOSED
    }

    /// Returns the value of the word of `stage`.
    #[inline]
    pub(crate) fn sequence_of(&self, stage: StageIndex) -> Sequence {
        // O3, Acquire: pairs with the Release in `advance` and `detach`; brings the end of the
        // stage's reads and its writes. For the gate of the producers it is O2.
        self.stages[stage].sequence.load(Ordering::Acquire)
    }

    /// Whether `stage` has not finished everything below `sequence`. A stage that has left is never
    /// behind.
    pub(crate) fn is_behind(&self, stage: StageIndex, sequence: Sequence) -> bool {
        self.sequence_of(stage) < sequence
    }

    /// Returns how far the first stage has finished, as advice; [`DETACHED`] if there is no stage.
    pub(crate) fn finished_by_first(&self) -> Sequence {
        // O13, Relaxed: a snapshot.
        self.stages.first().map_or(DETACHED, |stage| stage.sequence.load(Ordering::Relaxed))
    }

    /// Whether another stage, downstream of `stage` or side by side with it, may be delayed while
    /// `stage` keeps its CPU. If all other stages are upstream, `stage` waits for them instead.
    pub(crate) fn may_delay_others(&self, stage: StageIndex) -> bool {
        !self.seating.is_empty() || *self.gating != [stage]
    }

    /// Records that `stage` has finished everything below `sequence`, and wakes the threads that
    /// wait for that.
    #[inline]
    pub(crate) fn advance(&self, stage: StageIndex, sequence: Sequence) {
        self.advance_words(&self.stages[stage], stage, sequence);
    }

    /// The same as [`advance`](Self::advance), for a caller that holds the `words` of `stage`.
    #[inline]
    pub(crate) fn advance_words(
        &self,
        words: &StageControl,
        stage: StageIndex,
        sequence: Sequence,
    ) {
        // O2 and O3, Release: pairs with the Acquire in `sequence_of`; carries the end of this
        // stage's reads, and its writes.
        words.sequence.store(sequence, Ordering::Release);
        // O6: between the store of the word and the check for parked threads. Where a compiler
        // fence is not enough, a flag is raised.
        AsymmetricFence::Membarrier.light();
        if words.released.flags() != 0 {
            self.follow_up(stage);
        }
    }

    /// The slow path after the store of the word. Runs unless it is known that no thread is parked.
    #[cold]
    fn follow_up(&self, stage: StageIndex) {
        self.notify_released(stage);
    }

    /// Whether a quarter of the ring, [`room`](Self::room), is free behind `stage`.
    #[cold]
    fn has_room_behind(&self, stage: StageIndex) -> bool {
        let held = self.claimed().saturating_sub(self.sequence_of(stage));
        self.capacity.saturating_sub(held) >= self.room()
    }

    /// Whether a quarter of the ring, [`room`](Self::room), is free.
    pub(crate) fn has_room(&self) -> bool {
        let free_up_to = self.gate().free_up_to(self.capacity);
        free_up_to.is_none_or(|end| end.saturating_sub(self.claimed()) >= self.room())
    }

    /// Returns the number of free slots that a producer on a full ring waits for: a quarter of the
    /// ring.
    pub(crate) fn room(&self) -> u64 {
        (self.capacity / ROOMS_PER_RING).max(1)
    }

    /// Sets whether publications of the only producer take the slow path even if no thread is
    /// parked. Only that producer calls this.
    pub(crate) fn follow_up_publications(&self, is_wanted: bool) {
        if is_wanted || self.fence == AsymmetricFence::Full {
            self.published.raise(FOLLOW_UP);
        } else {
            self.published.lower(FOLLOW_UP);
        }
    }

    /// Makes each release of events check for threads that run several stages. No other thread
    /// shares the words yet.
    pub(crate) fn expect_shared_threads(&mut self) {
        self.has_shared_threads = true;
        self.follow_up_releases();
    }

    /// Makes the releases of each stage take the slow path, in a ring where a thread may park.
    fn follow_up_releases(&self) {
        if self.is_signalled {
            self.stages.iter().for_each(|stage| stage.released.anything.raise(FOLLOW_UP));
        }
    }

    /// Wakes the threads that wait for the word of `stage`, which the caller has just advanced.
    #[inline]
    pub(crate) fn notify_released(&self, stage: StageIndex) {
        if self.is_signalled {
            // O6: between the store of the word and the check for parked threads.
            self.fence.light();
            self.stages[stage].released.notify(|| self.has_room_behind(stage));
            self.notify_shared_threads();
        }
    }

    /// Wakes the threads that wait for a publication. The caller has run the light fence after its
    /// publication (O6). In a ring where no thread parks, this costs as little as a test of
    /// `is_signalled`.
    #[inline]
    pub(crate) fn notify_published(&self) {
        self.published.notify();
    }

    /// Wakes the threads that run several stages.
    #[inline]
    fn notify_shared_threads(&self) {
        if self.has_shared_threads {
            self.notify_published();
        }
    }

    /// Records that everything below `sequence` is acknowledged, in the words `acknowledgement`. An
    /// acknowledgement never goes back.
    pub(crate) fn acknowledge(&self, acknowledgement: StageIndex, sequence: Sequence) {
        let words = &self.stages[acknowledgement];
        // O2 and O3, Release: pairs with the Acquire in `sequence_of`; carries what the caller did
        // before, to downstream stages. The stage's own sequence carries the end of its reads.
        words.sequence.fetch_max(sequence, Ordering::Release);
        self.fence.light();
        words.released.notify(|| self.has_room_behind(acknowledgement));
        self.notify_shared_threads();
    }

    /// Returns the sequence below which everything is acknowledged, in the words `acknowledgement`.
    pub(crate) fn acknowledged(&self, acknowledgement: StageIndex) -> Sequence {
        // O13, Relaxed: a snapshot.
        self.stages[acknowledgement].sequence.load(Ordering::Relaxed)
    }

    /// Removes `stage` from the graph, so that no thread waits for it. Halts the ring if it was the
    /// last consumer and no consumer has drained the ring. In a drained ring there is nothing to
    /// stop, and a producer whose event was handled may check for a halt only after this.
    pub(crate) fn detach(&self, stage: StageIndex) {
        let is_drained = self.life.end().is_some_and(|end| !self.is_behind(stage, end));
        // A consumer that has drained the ring stays in the count, like a stage that ends then. No
        // other consumer is then the last.
        let is_last = !is_drained && self.seating.remove_consumer();
        if let Some(acknowledgement) = self.stages[stage].acknowledgement {
            self.acknowledge(acknowledgement, DETACHED);
        }
        // O2 and O3, Release: pairs with the Acquire in `sequence_of`; carries the end of this
        // stage's reads, and its writes.
        self.stages[stage].sequence.store(DETACHED, Ordering::Release);
        self.stages[stage].released.wake_all();
        if self.has_shared_threads {
            self.published.wake_all();
        }
        if is_last {
            self.halt(HaltCause::NoConsumers);
        }
    }

    /// Asks the consumer that holds `stage` in turn `turn` to leave after its batch.
    pub(crate) fn stop(&self, stage: StageIndex, turn: u64) {
        // O10, Relaxed: parked threads see it with the epoch, which advances after it (O7).
        self.stages[stage].stop.fetch_max(turn, Ordering::Relaxed);
        self.wake_all();
    }

    /// Whether the consumer that holds `stage` in turn `turn` is asked to leave.
    #[inline]
    pub(crate) fn is_stopping(&self, stage: StageIndex, turn: u64) -> bool {
        self.stages[stage].is_stopping(turn)
    }
}
