//! The words of one ring that threads share, and the steps that are made of them: advancing a stage, waking, leaving,
//! closing and halting. Holds no event.
//!
//! ```text
//! line(s)   word                    written by                read by
//! 1         cursor                  producers                 first stages (single), producers (multi)
//! 1         life                    close, halt               consumers, at each look; producers, at the gate
//! 1         window (single only)    the producer; close, halt the producer, before each claim
//! 1         published: EventCount   waiters when they park;   producers, after each publish; where
//!                                   close, halt; a producer   threads are shared, whoever lets go
//!                                   that keeps a count
//! 2 each    stage: sequence,        its consumer              dependent stages, producers
//!                  released         waiters when they park    its consumer, after each batch
//! 2 each    worker: as a stage      the worker                as a stage, after its group's word
//! 1 each    stage: stop             whoever stops it          its consumer, before each batch
//!           group: watch            idle workers              idle workers
//! 2         seating                 whoever joins or leaves   producers, at a full ring
//! 1         dropped                 producers that drop       whoever wants to know
//! 1 each    stage: activity         its consumer              monitors
//! 1         waiting producers       producers that wait       monitors
//! 1         oversubscription        threads that yield        waiters
//! 1/16 slot stamp (multi only)      the claim's owner         first stages
//! in a slot notice (channels with   the sender                a receiver that waits
//!           one sender)
//! ```
//!
//! The words are plain: no pointer is stored in any of them.

mod ending;
mod progress;
mod stage;

use crate::Sequence;
use crate::error::HaltCause;
use crate::open_claim::OpenClaims;
use crate::padded::Padded;
use crate::protocol::claims::ClaimWindow;
use crate::protocol::failures::Failures;
use crate::protocol::life::Life;
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::{EventCount, FOLLOW_UP};
use crate::protocol::seats::Seating;
use crate::protocol::stamps::Stamps;
use crate::sync::{Arc, AtomicU64, Figure, Ordering};

pub(crate) use crate::description::StageIndex;
pub(crate) use stage::{StageControl, ancestors};

/// Set in the cursor of a multi-producer ring when no claim is granted any more. Sequences stay
/// below: at a billion events a second they get there after 292 years, or half as many from
/// [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE) on.
pub(crate) const CLAIMS_CLOSED: u64 = 1 << 63;

/// Sequence of a consumer that has left: it holds nothing back, and those who waited for it wait
/// for what it waited for.
pub(crate) const DETACHED: Sequence = Sequence::MAX;

/// Sequence of a worker that has nothing in hand: it holds nobody back. Below [`DETACHED`], since its
/// group has not left.
pub(crate) const IDLE: Sequence = DETACHED - 1;

/// The turn of a consumer that is in the graph from the start: it is the only one of its stage.
pub(crate) const ONLY_TURN: u64 = 1;

/// A producer that sleeps on a full ring is woken when this part of it is free.
const ROOMS_PER_RING: u64 = 4;

/// The shared words of one ring.
#[derive(Debug)]
pub(crate) struct Control {
    /// Single producer: number of events published. Multi-producer: number claimed, and
    /// [`CLAIMS_CLOSED`]; what is published stands in the stamps.
    pub(crate) cursor: Padded<AtomicU64>,
    pub(crate) life: Padded<Life>,
    /// Single producer: how far it may claim without a check.
    pub(crate) window: Padded<ClaimWindow>,
    /// Where stages sleep that wait for a publication, and threads that run several stages, which wait for
    /// anything that advances. Its flags tell producers of an end, and of more to do.
    pub(crate) published: Padded<EventCount>,
    /// Number of events that producers dropped since the ring was full. On a line of its own, since
    /// it is written just when everything else is busy.
    pub(crate) dropped: Padded<AtomicU64>,
    /// Producers that wait for a free slot just now.
    pub(crate) waiting_producers: Padded<Figure>,
    /// Whether its threads want more CPUs than they get, as waiters note it (`wait`). Nothing here is decided by it.
    pub(crate) oversubscription: Padded<Figure>,
    /// Which slots are published. Only with several producers.
    pub(crate) stamps: Option<Stamps>,
    /// Which thread has claimed what last, by each of several producers.
    pub(crate) open_claims: OpenClaims,
    /// One for each stage of the graph, upstream stages first; then one for each acknowledgement, each
    /// worker and each seat. Its consumer has it as well, and so by one load for each of its batches.
    pub(crate) stages: Box<[Arc<StageControl>]>,
    pub(crate) seating: Seating,
    /// The stages of the graph that nobody comes after: they gate the producers, and all the others
    /// are ahead of them. So do the seats that are taken.
    pub(crate) gating: Box<[StageIndex]>,
    /// Slots of the ring, a power of two (I4).
    pub(crate) capacity: u64,
    pub(crate) fence: AsymmetricFence,
    /// Whether some waiter of this ring may park, so that whoever advances something looks for
    /// sleepers.
    pub(crate) is_signalled: bool,
    /// Whether threads run several stages, so that whoever lets go of events looks for them.
    pub(crate) has_shared_threads: bool,
}

impl Control {
    /// The words of a ring of `capacity` slots. `upstream` says for each stage which ones it comes
    /// after, all of them before it in the list, and for each seat of `seating`, which stand last;
    /// `stamps` are there if the ring has several producers, `failures` of each stage if it may
    /// skip events.
    pub(crate) fn new(
        capacity: u64,
        stamps: Option<Stamps>,
        upstream: Vec<Box<[StageIndex]>>,
        failures: Vec<Option<Failures>>,
        seating: Seating,
        is_signalled: bool,
    ) -> Self {
        // Seats gate as well, but only while somebody sits there.
        let graph = &upstream[..seating.seats().start];
        let is_gating = |&stage: &StageIndex| !graph.iter().any(|stages| stages.contains(&stage));
        let gating = (0..graph.len()).filter(is_gating).collect();
        let ancestors = ancestors(&upstream);
        let stages = upstream.into_iter().zip(ancestors).zip(failures).enumerate();
        let stages = stages.map(|(stage, ((near, all), failures))| {
            let sequence = if seating.seats().contains(&stage) { DETACHED } else { 0 };
            Arc::new(StageControl::new(sequence, near, all, failures))
        });
        let control = Self {
            cursor: Padded(AtomicU64::new(0)),
            life: Padded::default(),
            window: Padded::default(),
            published: Padded::default(),
            dropped: Padded::default(),
            waiting_producers: Padded::default(),
            oversubscription: Padded::default(),
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
            // What is published and what is let go of is followed by that fence.
            control.follow_up_publications(true);
            control.follow_up_releases();
        }
        control
    }

    /// The words of a ring of such a graph, for a test: for each stage those that it comes after, which skip nothing and have no
    /// seat beside them.
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

    /// The same ring with `first` as the sequence of its first event. Nobody shares it yet.
    pub(crate) fn starting_at(mut self, first: Sequence) -> Self {
        self.cursor = Padded(AtomicU64::new(first));
        for stage in 0..self.seating.seats().start {
            self.stage_mut(stage).sequence = Padded(AtomicU64::new(first));
        }
        // As if the first lap were granted: there is nothing before it.
        self.seating.raise_granted(first + self.capacity);
        self
    }

    /// The words of `stage`, to change before anybody shares them.
    pub(crate) fn stage_mut(&mut self, stage: StageIndex) -> &mut StageControl {
        Arc::get_mut(&mut self.stages[stage]).expect("words are shared once the ring is made")
    }

    /// Who gates producers beside `stage`: an event that all of these have finished, and `stage` has not, is nobody else's.
    /// `None` if there is no such event: another stage comes after it, it has a seat beside it, or it holds producers back by
    /// the words of workers or of whoever acknowledges for it.
    pub(crate) fn gating_beside(&self, stage: StageIndex) -> Option<Box<[StageIndex]>> {
        let words = &self.stages[stage];
        let is_its_own = words.acknowledgement.is_none() && words.workers.is_empty();
        let gates = self.gating.contains(&stage) && self.seating.is_empty();
        let beside = self.gating.iter().copied().filter(|&other| other != stage);
        (is_its_own && gates).then(|| beside.collect())
    }

    /// The stages before `stage` that may skip events as failed.
    pub(crate) fn failing_before(&self, stage: StageIndex) -> Box<[StageIndex]> {
        let may_fail = |stage: &StageIndex| self.stages[*stage].failures.is_some();
        self.stages[stage].ancestors.iter().copied().filter(may_fail).collect()
    }

    /// Number of events published; with several producers, of sequences claimed.
    pub(crate) fn claimed(&self) -> Sequence {
        // O13, Relaxed: a look.
        self.cursor.load(Ordering::Relaxed) & !CLAIMS_CLOSED
    }

    /// What the word of `stage` says.
    #[inline]
    pub(crate) fn sequence_of(&self, stage: StageIndex) -> Sequence {
        // O3, Acquire: pairs with the Release in `advance` and `detach`; brings the end of the
        // stage's reads and its writes. For the gate of the producers it is O2.
        self.stages[stage].sequence.load(Ordering::Acquire)
    }

    /// Whether `stage` has not finished everything below `sequence`. One that has left holds nobody.
    pub(crate) fn is_behind(&self, stage: StageIndex, sequence: Sequence) -> bool {
        self.sequence_of(stage) < sequence
    }

    /// How far the first stage has finished, as advice; everything, if there is none.
    pub(crate) fn finished_by_first(&self) -> Sequence {
        // O13, Relaxed: a look.
        self.stages.first().map_or(DETACHED, |stage| stage.sequence.load(Ordering::Relaxed))
    }

    /// Whether there is a stage that `stage` may hold up while it keeps its CPU, one after it or beside it. If all others
    /// come before it, it waits for whatever they do not get done.
    pub(crate) fn may_delay_others(&self, stage: StageIndex) -> bool {
        !self.seating.is_empty() || *self.gating != [stage]
    }

    /// Records that `stage` has finished everything below `sequence`, for those who wait for it.
    #[inline]
    pub(crate) fn advance(&self, stage: StageIndex, sequence: Sequence) {
        self.advance_words(&self.stages[stage], stage, sequence);
    }

    /// The same for whoever has the `words` of `stage` at hand.
    #[inline(always)]
    pub(crate) fn advance_words(
        &self,
        words: &StageControl,
        stage: StageIndex,
        sequence: Sequence,
    ) {
        // O2 and O3, Release: pairs with the Acquire in `finished_by`; carries the end of this
        // stage's reads, and its writes.
        words.sequence.store(sequence, Ordering::Release);
        // O6: between the word and the look for sleepers. Where that takes more than the compiler's order, there is a flag.
        AsymmetricFence::Membarrier.light();
        if words.released.flags() != 0 {
            self.follow_up(stage);
        }
    }

    /// What comes after the word of `stage`, unless it is known that nobody sleeps.
    #[cold]
    fn follow_up(&self, stage: StageIndex) {
        self.notify_released(stage);
    }

    /// Whether a good part of the ring is free behind `stage`.
    #[cold]
    fn has_room_behind(&self, stage: StageIndex) -> bool {
        let held = self.claimed().saturating_sub(self.sequence_of(stage));
        self.capacity.saturating_sub(held) >= self.room()
    }

    /// Whether a good part of the ring is free.
    pub(crate) fn has_room(&self) -> bool {
        let held = self.claimed().saturating_sub(self.gate());
        self.capacity.saturating_sub(held) >= self.room()
    }

    /// Number of free slots that are a good part of the ring, for a producer that waits for some.
    pub(crate) fn room(&self) -> u64 {
        (self.capacity / ROOMS_PER_RING).max(1)
    }

    /// Has publications of the only producer do more than look for sleepers, or not. Called by that producer.
    pub(crate) fn follow_up_publications(&self, is_wanted: bool) {
        if is_wanted || self.fence == AsymmetricFence::Full {
            self.published.raise(FOLLOW_UP);
        } else {
            self.published.lower(FOLLOW_UP);
        }
    }

    /// Has whoever lets go of events look for threads that run several stages. Nobody shares the words yet.
    pub(crate) fn expect_shared_threads(&mut self) {
        self.has_shared_threads = true;
        self.follow_up_releases();
    }

    /// Says of each stage that there is more to do when it lets go of events than to look for sleepers of its own, in a ring
    /// where anybody sleeps.
    fn follow_up_releases(&self) {
        if self.is_signalled {
            self.stages.iter().for_each(|stage| stage.released.anything.raise(FOLLOW_UP));
        }
    }

    /// Wakes those who sleep until the word of `stage` goes on, as the caller has just made it do.
    #[inline]
    pub(crate) fn notify_released(&self, stage: StageIndex) {
        if self.is_signalled {
            // O6: between the word and the look for sleepers.
            self.fence.light();
            self.stages[stage].released.notify(|| self.has_room_behind(stage));
            self.notify_shared_threads();
        }
    }

    /// Wakes those who sleep until something is published. The caller has run the light fence after
    /// its publication (O6). Where nobody parks nobody is found, and the look costs no more than to know
    /// that.
    #[inline(always)]
    pub(crate) fn notify_published(&self) {
        self.published.notify();
    }

    /// Wakes the threads that run several stages.
    #[inline(always)]
    fn notify_shared_threads(&self) {
        if self.has_shared_threads {
            self.notify_published();
        }
    }

    /// Records that everything below `sequence` is acknowledged, in the words `acknowledgement`;
    /// what was acknowledged before stays so.
    pub(crate) fn acknowledge(&self, acknowledgement: StageIndex, sequence: Sequence) {
        let words = &self.stages[acknowledgement];
        // O2 and O3, Release: as in `advance`; carries what the caller did before, to stages after
        // this one. The end of the stage's own reads comes with its own sequence.
        words.sequence.fetch_max(sequence, Ordering::Release);
        self.fence.light();
        words.released.notify(|| self.has_room_behind(acknowledgement));
        self.notify_shared_threads();
    }

    /// How far the words `acknowledgement` say.
    pub(crate) fn acknowledged(&self, acknowledgement: StageIndex) -> Sequence {
        // O13, Relaxed: a look.
        self.stages[acknowledgement].sequence.load(Ordering::Relaxed)
    }

    /// Takes `stage` out of the order: nobody waits for it any more. Halts the ring if it was the
    /// last, unless somebody has drained it: then there is nothing to stop, and a producer whose event was
    /// handled may only now look for a halt.
    pub(crate) fn detach(&self, stage: StageIndex) {
        let is_drained = self.life.end().is_some_and(|end| !self.is_behind(stage, end));
        // Who has drained it stays in the count, as a stage does that ends then: so nobody is the last.
        let is_last = !is_drained && self.seating.remove_consumer();
        if let Some(acknowledgement) = self.stages[stage].acknowledgement {
            self.acknowledge(acknowledgement, DETACHED);
        }
        // O2 and O3, Release: as in `advance`.
        self.stages[stage].sequence.store(DETACHED, Ordering::Release);
        self.stages[stage].released.wake_all();
        if self.has_shared_threads {
            self.published.wake_all();
        }
        if is_last {
            self.halt(HaltCause::NoConsumers);
        }
    }

    /// Asks the consumer that has `stage` for its turn `turn` to leave after its batch.
    pub(crate) fn stop(&self, stage: StageIndex, turn: u64) {
        // O10, Relaxed: sleepers see it with the epoch that is advanced after it (O7).
        self.stages[stage].stop.fetch_max(turn, Ordering::Relaxed);
        self.wake_everybody();
    }

    /// Whether the consumer that has `stage` for its turn `turn` is asked to leave.
    #[inline]
    pub(crate) fn is_stopping(&self, stage: StageIndex, turn: u64) -> bool {
        self.stages[stage].is_stopping(turn)
    }
}
