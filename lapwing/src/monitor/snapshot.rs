//! The figures of a ring and its stages as plain values.

use std::fmt;
use std::time::{Duration, Instant};

use lapwing_core::{StageIndex, View};

use super::look::{Look, is_part};
use super::state::RingState;
use crate::Sequence;
use crate::activity::{Doing, Figures};
use crate::description::Description;
use crate::watched::Watched;

/// The figures of a ring, read once by a [`Monitor`](crate::monitor::Monitor).
///
/// [`Display`](fmt::Display) prints it as a table for a terminal. [`to_dot`](Self::to_dot) and
/// [`to_mermaid`](Self::to_mermaid) draw it as a graph. [`since`](Self::since) compares it with an
/// earlier snapshot, and shows the rate of each stage and what limits the ring.
///
/// ```
/// use lapwing::{Disruptor, monitor::RingState};
///
/// let (mut producer, mut consumers) = Disruptor::multi_producer(8, || 0_u64)
///     .name("quotes")
///     .parallel(|parallel| parallel.stage("left").poller().stage("right").poller())
///     .build()?;
/// let mut left = consumers.take_poller("left")?;
/// let monitor = producer.monitor();
/// producer.publish_batch(3, |_| {})?;
/// left.poll()?.consume_all();
///
/// let snapshot = monitor.snapshot();
/// assert_eq!((snapshot.ring.as_str(), snapshot.state), ("quotes", RingState::Open));
/// assert_eq!((snapshot.published, snapshot.claimed), (3, 3));
/// assert_eq!((snapshot.capacity, snapshot.free_slots), (8, 5)); // "right" holds three
/// let lags: Vec<u64> = snapshot.stages.iter().map(|stage| stage.lag).collect();
/// assert_eq!(lags, [0, 3]);
/// let table = snapshot.to_string();
/// assert!(table.starts_with("ring \"quotes\": open, 5 of 8 slots free, 3 published"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// When the monitor began to read. [`since`](Self::since) compares two snapshots by it.
    pub taken_at: Instant,
    /// The [name](crate::Builder::name) of the ring.
    pub ring: String,
    /// Number of slots.
    pub capacity: usize,
    /// Whether events are accepted.
    pub state: RingState,
    /// The next sequence that stages wait for: every sequence below it was published or given up.
    /// With a single producer, in a ring that [begins](crate::Builder::first_sequence) at 0, this
    /// is the number of published events. With several producers, it is the first claim that is
    /// neither published nor given up, or `claimed` if there is none. Claims below it that were
    /// given up are included.
    pub published: Sequence,
    /// The next sequence to be claimed. Equals `published` with a single producer, whose claims are
    /// private.
    pub claimed: Sequence,
    /// Number of slots that producers can claim while the ring is open. A slot is not free if it
    /// holds a claim, an event that some stage has not finished, or an event that is not
    /// [acknowledged](crate::Stage::acknowledged). The private claim of a single producer is not
    /// visible: its slots count as free until it publishes.
    pub free_slots: usize,
    /// Number of producers that wait for free slots. A `try_` call does not wait, so it does not
    /// count.
    pub waiting_producers: u64,
    /// Number of events that producers have [dropped](crate::producer::WhenFull::DropNew) so far
    /// because the ring was full.
    pub dropped: u64,
    /// The stages, upstream stages first, and then the consumers in [dynamic
    /// stages](crate::graph::DynamicStages).
    pub stages: Vec<StageSnapshot>,
    /// The least duration for which the claim at `published` has been neither published nor given
    /// up. No stage can pass it. `None` if there is no such claim, if there was none in the last
    /// snapshot, or if the ring is halted.
    pub claim_held_for: Option<Duration>,
    /// The least duration for which the ring has been idle: open, with every event finished and
    /// acknowledged, no claim of several producers, no waiting producer, and nothing published.
    /// `None` if it is not idle, or was not in the last snapshot.
    pub idle_for: Option<Duration>,
}

/// The figures of a stage in a [`Snapshot`].
///
/// ```
/// use lapwing::{Disruptor, monitor::StageState};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("decode").poller()
///     .stage("sum").poller()
///     .build()?;
/// let mut poller = consumers.take_poller("decode")?;
/// let monitor = consumers.monitor();
/// producer.publish_batch(3, |_| {})?;
/// poller.poll_max(1)?.consume_all();
/// let batch = poller.poll()?;
///
/// let snapshot = monitor.snapshot();
/// let (decode, sum) = (&snapshot.stages[0], &snapshot.stages[1]);
/// assert_eq!((decode.state, sum.state), (StageState::HasBatch, StageState::NotAsked));
/// assert_eq!((decode.sequence, decode.lag, decode.available), (1, 2, 2));
/// assert_eq!((sum.sequence, sum.lag, sum.available), (0, 3, 1));
/// assert_eq!(decode.batches, 1);
/// assert_eq!(sum.upstream, ["decode"]);
/// drop(batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageSnapshot {
    /// The name of the stage.
    pub name: String,
    /// Names of the stages that it directly depends on; empty for a first stage.
    pub upstream: Vec<String>,
    /// Name of its thread, which other stages may [share](crate::graph::Placement). For a worker
    /// group, the names of all its threads, separated by commas. For a consumer in a [dynamic
    /// stage](crate::graph::DynamicStages), the name of the consumer, whatever thread runs it.
    /// `None` for a poller.
    pub thread: Option<String>,
    /// The first sequence that it has not finished. Skipped events and claims that were given up
    /// count as finished. Workers of a group may have finished later sequences. For a stage that
    /// has left, the first sequence that its upstream stages have not finished.
    pub sequence: Sequence,
    /// The first sequence that it has not finished or that is not
    /// [acknowledged](crate::Stage::acknowledged). No producer or downstream stage may pass it.
    /// `None` if the stage asks for no acknowledgements, or has left.
    pub acknowledged: Option<Sequence>,
    /// Number of sequences from `sequence` up to [`Snapshot::published`]: the published events that
    /// it has not finished. With several producers this includes claims that were given up and that
    /// the stage has not passed yet.
    pub lag: u64,
    /// The depth of its queue: events that it may handle or is handling. This is the part of `lag`
    /// that its upstream stages have finished and that is acknowledged, if they ask for it.
    pub available: u64,
    /// What it is doing. For a worker group, what its busiest worker is doing, or
    /// [`Failed`](StageState::Failed) if one has failed. `batches`, `parks` and `wakes` of a group
    /// are the sums over its workers.
    pub state: StageState,
    /// Number of batches that it has finished. The part of a batch that ends with
    /// [`ReleaseNow`](crate::Action::ReleaseNow) counts as one batch. A part that ends with a
    /// failed or retried event does not count. For a poller, this is the number of batches that
    /// were dropped, whether their events were consumed or not.
    pub batches: u64,
    /// Number of times that its thread parked or prepared to. A sleep for a fixed time, as in
    /// [`Sleeping`](crate::wait::Sleeping), does not count, nor does the sleep of a worker that is
    /// not wanted. Stages that share a thread each count every park of the thread.
    pub parks: u64,
    /// Number of these parks that another thread ended with a wake-up: the awaited event came, or
    /// the ring was closed, for example. The others ended before the thread slept, or timed out.
    pub wakes: u64,
    /// The least duration for which every snapshot has shown it in this state, with no batch and no
    /// park in between. Zero in the first snapshot of the state.
    pub state_for: Duration,
    /// The least duration for which it could have made progress and has not; it is then a cause of
    /// a [stall](crate::monitor::Monitor::stalled_for). `None` if it waits for others, or made
    /// progress since the last snapshot.
    pub stuck_for: Option<Duration>,
    /// The least duration for which the event at `acknowledged` has been finished and not
    /// acknowledged, which is also a cause of a stall. `None` if that does not hold, or did not in
    /// the last snapshot, or if the ring is halted.
    pub unacknowledged_for: Option<Duration>,
    /// Names of its threads.
    pub(super) threads: Vec<String>,
    /// Its index in the ring.
    pub(super) index: StageIndex,
    /// Indices of the stages that it directly depends on.
    pub(super) upstream_indices: Box<[StageIndex]>,
}

/// What a stage is doing.
///
/// ```
/// use lapwing::{Disruptor, monitor::StageState};
///
/// let (_producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let monitor = consumers.monitor();
/// let ticks = consumers.take_poller("ticks")?;
/// assert_eq!(monitor.snapshot().stages[0].state, StageState::NotAsked);
/// drop(ticks);
/// assert_eq!(monitor.snapshot().stages[0].state, StageState::Left);
/// assert_eq!(StageState::InHandler.to_string(), "in its handler");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StageState {
    /// No thread has begun to run it.
    NotStarted,
    /// Between two batches.
    Running,
    /// Waiting, with its thread awake: it spins, yields or sleeps for a fixed time. An inactive
    /// worker of a group also counts as waiting, although its thread is parked.
    Waiting,
    /// Waiting, with its thread parked or about to park.
    Parked,
    /// Pausing before it handles an event again, as [`Retry`](crate::Action::Retry) or a similar
    /// action asks.
    Pausing,
    /// In user code: a closure, a method of its handler, or its failure policy.
    InHandler,
    /// A poller that is not being polled.
    NotAsked,
    /// A poller whose batch is alive.
    HasBatch,
    /// Has finished every event of a closed ring. A poller shows this once a call has returned
    /// `Closed`.
    Drained,
    /// Stopped because the ring is halted. A poller shows this once a call has returned `Halted`.
    Halted,
    /// Failed, or was dropped without having run. Both halt the ring.
    Failed,
    /// Holds back nothing: a poller that was dropped, or a stage that
    /// [stopped](crate::Action::Stop) or was detached by its failure policy.
    Left,
}

impl Snapshot {
    pub(super) fn new(taken_at: Instant, look: &Look, watched: &Watched) -> Self {
        let (view, description) = (&watched.view, &watched.description);
        let held = look.claimed.saturating_sub(look.gate()).min(view.capacity());
        let limits = look.limits(view);
        // Skips dynamic stages that are free.
        let is_there = |&index: &StageIndex| {
            let is_filled = look.stages[index].sequence.is_some();
            description.stage(index).is_some() || (is_filled && !is_part(view, index))
        };
        let stages = (0..look.stages.len()).filter(is_there);
        Self {
            taken_at,
            ring: description.ring().to_owned(),
            capacity: view.capacity() as usize,
            state: look.state,
            published: look.published,
            claimed: look.claimed,
            free_slots: (view.capacity() - held) as usize,
            waiting_producers: look.waiting_producers,
            dropped: look.dropped,
            stages: stages
                .map(|index| StageSnapshot::new(index, look, limits[index], view, description))
                .collect(),
            claim_held_for: None,
            idle_for: None,
        }
    }

    /// Returns the number of slots that are not [free](Self::free_slots).
    ///
    /// Such a slot holds a claim, an event that some stage has not finished, or an event that is
    /// not acknowledged.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// let snapshot = producer.monitor().snapshot();
    /// assert_eq!((snapshot.held_slots(), snapshot.free_slots), (3, 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn held_slots(&self) -> usize {
        self.capacity - self.free_slots
    }

    /// Returns the entry of this snapshot for the consumer that a later snapshot shows as `stage`.
    pub(super) fn same_consumer(&self, stage: &StageSnapshot) -> Option<&StageSnapshot> {
        let is_it = |other: &&StageSnapshot| {
            let is_in_its_place = other.index == stage.index && other.name == stage.name;
            // A dynamic stage and a name may pass to another consumer, whose count of batches
            // begins at 0.
            is_in_its_place && other.batches <= stage.batches
        };
        self.stages.iter().find(is_it)
    }
}

impl StageSnapshot {
    fn new(
        index: StageIndex,
        look: &Look,
        limit: Sequence,
        view: &View,
        description: &Description,
    ) -> Self {
        let (name, threads) = description.consumer(index);
        let stage = &look.stages[index];
        let sequence = stage.sequence.unwrap_or(limit);
        let upstream = view.upstream_of(index).iter().copied();
        let upstream: Box<[_]> = upstream.filter(|&index| !is_part(view, index)).collect();
        let Figures { doing, batches, parks, wakes } = stage.figures;
        Self {
            name,
            upstream: upstream.iter().map(|&index| description.consumer(index).0).collect(),
            sequence,
            acknowledged: look.acknowledged(view, index),
            lag: look.published.saturating_sub(sequence),
            available: limit.saturating_sub(sequence),
            state: match stage.sequence {
                Some(_) => StageState::of(doing, threads.is_empty()),
                None => StageState::Left,
            },
            thread: (!threads.is_empty()).then(|| threads.join(", ")),
            threads,
            batches,
            parks,
            wakes,
            state_for: Duration::ZERO,
            stuck_for: None,
            unacknowledged_for: None,
            index,
            upstream_indices: upstream,
        }
    }
}

impl StageState {
    fn of(doing: Doing, is_poller: bool) -> Self {
        match (doing, is_poller) {
            (Doing::Nothing, false) => Self::NotStarted,
            (Doing::Between, false) => Self::Running,
            (Doing::Handling, false) => Self::InHandler,
            (Doing::Nothing | Doing::Between, true) => Self::NotAsked,
            (Doing::Handling, true) => Self::HasBatch,
            (Doing::Waiting, _) => Self::Waiting,
            (Doing::Parked, _) => Self::Parked,
            (Doing::Pausing, _) => Self::Pausing,
            (Doing::Drained, _) => Self::Drained,
            (Doing::Halted, _) => Self::Halted,
            (Doing::Failed, _) => Self::Failed,
        }
    }
}

impl fmt::Display for StageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NotStarted => "not started",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Parked => "parked",
            Self::Pausing => "pausing",
            Self::InHandler => "in its handler",
            Self::NotAsked => "not polled",
            Self::HasBatch => "has a batch",
            Self::Drained => "drained",
            Self::Halted => "halted",
            Self::Failed => "failed",
            Self::Left => "left",
        })
    }
}
