//! The figures of a ring and its stages as a monitor sees them: plain values.

use std::fmt;
use std::time::{Duration, Instant};

use super::look::{Look, is_part};
use super::state::RingState;
use crate::Sequence;
use crate::activity::{Doing, Figures};
use crate::description::Description;
use crate::protocol::control::{Control, StageIndex};

/// The figures of a ring, as one look of a [`Monitor`](crate::monitor::Monitor) saw them.
///
/// It prints as a table for a terminal; [`to_dot`](Self::to_dot) and
/// [`to_mermaid`](Self::to_mermaid) draw it. [`since`](Self::since) compares it with an earlier one, and
/// tells how fast the stages are and which one limits the ring.
///
/// ```
/// use lapwing::{Disruptor, monitor::RingState};
///
/// let (mut producer, mut consumers) = Disruptor::multi_producer(8, || 0_u64)
///     .name("quotes")
///     .side_by_side(|side| side.stage("left").poller().stage("right").poller())
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
    /// When the look began. [`since`](Self::since) compares two snapshots by it.
    pub taken_at: Instant,
    /// [Name](crate::Builder::name) of the ring.
    pub ring: String,
    /// Number of slots.
    pub capacity: usize,
    /// Whether events are accepted.
    pub state: RingState,
    /// The next sequence that stages wait for: every sequence below it was published or given up. With
    /// a single producer, in a ring that [begins](crate::Builder::first_sequence) at 0, it is the number
    /// of events published. With several producers, it is the first claim that is neither published
    /// nor given up, and claims that were given up below it count as well.
    pub published: Sequence,
    /// The next sequence to be claimed. With a single producer, whose claims are private, the same
    /// as `published`.
    pub claimed: Sequence,
    /// Slots that hold no claim and no event that some stage has not finished, or that is not
    /// [acknowledged](crate::Stage::acknowledged). Producers can claim them while the ring is open. The
    /// private claim of a single producer does not show: its slots count as free until it publishes.
    pub free_slots: usize,
    /// Producers that wait for free slots now. Those that use `try_` calls do not wait, and do not
    /// count.
    pub waiting_producers: u64,
    /// Number of events that producers have [dropped](crate::producer::WhenFull::DropNew) so far because the ring
    /// was full.
    pub dropped: u64,
    /// The stages, upstream ones first.
    pub stages: Vec<StageSnapshot>,
    /// For how long at least all stages have waited for the claim at `published`, which is neither
    /// published nor given up. `None` if they do not, or did not at the last look.
    pub claim_held_for: Option<Duration>,
    /// For how long at least the ring has been open with every event finished, and nothing was
    /// published. `None` if that is not so, or was not at the last look.
    pub idle_for: Option<Duration>,
}

/// The figures of a stage in a [`Snapshot`].
///
/// ```
/// use lapwing::{Disruptor, monitor::StageState};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("first").poller()
///     .stage("second").poller()
///     .build()?;
/// let mut first = consumers.take_poller("first")?;
/// let monitor = consumers.monitor();
/// producer.publish_batch(3, |_| {})?;
/// first.poll_max(1)?.consume_all();
/// let batch = first.poll()?; // in our hand
///
/// let snapshot = monitor.snapshot();
/// let [first, second] = &snapshot.stages[..] else { panic!("two stages") };
/// assert_eq!((first.state, second.state), (StageState::HasBatch, StageState::NotAsked));
/// assert_eq!((first.sequence, first.lag, first.available), (1, 2, 2));
/// assert_eq!((second.sequence, second.lag, second.available), (0, 3, 1));
/// assert_eq!((first.batches, second.upstream.as_slice()), (1, &["first".to_owned()][..]));
/// # drop(batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageSnapshot {
    /// Its name.
    pub name: String,
    /// Names of the stages that it comes after directly; none for a first stage.
    pub upstream: Vec<String>,
    /// Name of its thread, which other stages may [share](crate::graph::Placement); of the workers of a group, of
    /// each of their threads, with commas in between; `None` for a poller.
    pub thread: Option<String>,
    /// The first sequence that it has not finished. Events that it skipped, and claims that were given
    /// up, count as finished. For a worker group, it is the first sequence that one of its workers has
    /// not finished. For a stage that has left, it is the first that those before it have not finished.
    pub sequence: Sequence,
    /// The first sequence that it has not finished or that is not
    /// [acknowledged](crate::Stage::acknowledged): nobody may go on further than this. `None` if it
    /// asks for no acknowledgement, or has left.
    pub acknowledged: Option<Sequence>,
    /// Number of sequences from `sequence` up to [`Snapshot::published`]: events that are published and
    /// that it has not finished. With several producers this includes claims that were given up and
    /// that it has not passed.
    pub lag: u64,
    /// The depth of its queue: as far as the stages before it have got, the part of `lag` that is up to
    /// itself. These are events that it may handle now, or is handling.
    pub available: u64,
    /// What it is doing.
    pub state: StageState,
    /// Number of batches that it has finished. The part of a batch that ends with
    /// [`ReleaseNow`](crate::Action::ReleaseNow) is one; a part that ends with an event that failed or
    /// comes again is not. Of a poller, it is the number of batches that were dropped, whether their
    /// events were consumed or not.
    pub batches: u64,
    /// How many times its thread parked, or was about to. A sleep for a set time, as of
    /// [`Sleeping`](crate::wait::Sleeping), is no park, nor is the sleep of a worker that is not to work.
    /// Stages that share a thread count each park of the thread.
    pub parks: u64,
    /// How many of these parks ended because what it waited for came and woke it. The others were over
    /// before the thread slept, or timed out.
    pub wakes: u64,
    /// For how long at least every look has seen it in this state, with no batch and no park in
    /// between; zero at the first one.
    pub state_for: Duration,
    /// For how long at least it could have gone on and has not: it is a cause of a
    /// [stall](crate::monitor::Monitor::stalled_for). `None` if it waits for others, or did something since
    /// the last look.
    pub stuck_for: Option<Duration>,
    /// For how long at least the event at `acknowledged` has been finished and not acknowledged,
    /// which is a cause of a stall as well. `None` if that is not so, or was not at the last look.
    pub unacknowledged_for: Option<Duration>,
    /// Names of its threads.
    pub(super) threads: Vec<String>,
    /// Where it is in the ring.
    pub(super) index: StageIndex,
    /// Where those are that it comes after directly.
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
    /// Nobody has begun to run it.
    NotStarted,
    /// It is between two batches.
    Running,
    /// It waits, and its thread is awake: it spins, yields or sleeps for a set time.
    Waiting,
    /// It waits, and its thread is parked, or about to be.
    Parked,
    /// It sleeps before it [tries again](crate::Action::Retry) what has failed.
    Pausing,
    /// It is in the code that was given to it: a closure, any method of its handler, or its policy.
    InHandler,
    /// A poller that nobody is asking just now.
    NotAsked,
    /// A poller whose batch is in somebody's hand.
    HasBatch,
    /// It has finished every event of a closed ring.
    Drained,
    /// It has stopped, since the ring is halted.
    Halted,
    /// Its code failed, or it was dropped without having run; either halts the ring.
    Failed,
    /// It holds nobody back any more: a poller that was dropped, or a stage that
    /// [stopped](crate::Action::Stop).
    Left,
}

impl Snapshot {
    pub(super) fn new(
        taken_at: Instant,
        look: &Look,
        control: &Control,
        description: &Description,
    ) -> Self {
        let held = look.claimed.saturating_sub(look.gate()).min(control.capacity);
        let limits = look.limits(control);
        // A place that no stage was built for, and where none is now, is nothing to show.
        let is_there = |&index: &StageIndex| {
            let is_filled = look.stages[index].sequence.is_some();
            description.stage(index).is_some() || (is_filled && !is_part(control, index))
        };
        let stages = (0..look.stages.len()).filter(is_there);
        Self {
            taken_at,
            ring: description.ring().to_owned(),
            capacity: control.capacity as usize,
            state: look.state,
            published: look.published,
            claimed: look.claimed,
            free_slots: (control.capacity - held) as usize,
            waiting_producers: look.waiting_producers,
            dropped: look.dropped,
            stages: stages
                .map(|index| StageSnapshot::new(index, look, limits[index], control, description))
                .collect(),
            claim_held_for: None,
            idle_for: None,
        }
    }

    /// Slots that hold a claim, or an event that some stage has not finished or that is not
    /// acknowledged: those that are not [free](Self::free_slots).
    ///
    /// ```
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// let snapshot = producer.monitor().snapshot();
    /// assert_eq!((snapshot.held_slots(), snapshot.free_slots), (3, 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn held_slots(&self) -> usize {
        self.capacity - self.free_slots
    }

    /// The consumer of `stage`, which a later snapshot shows, as this one shows it.
    pub(super) fn same_consumer(&self, stage: &StageSnapshot) -> Option<&StageSnapshot> {
        let is_it = |other: &&StageSnapshot| {
            let is_in_its_place = other.index == stage.index && other.name == stage.name;
            // A seat and a name may change hands. The count of batches then begins anew.
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
        control: &Control,
        description: &Description,
    ) -> Self {
        let (name, threads) = description.consumer(index);
        let stage = &look.stages[index];
        let sequence = stage.sequence.unwrap_or(limit);
        let upstream = control.stages[index].upstream.iter().copied();
        let upstream: Box<[_]> = upstream.filter(|&index| !is_part(control, index)).collect();
        let Figures { doing, batches, parks, wakes } = stage.figures;
        Self {
            name,
            upstream: upstream.iter().map(|&index| description.consumer(index).0).collect(),
            sequence,
            acknowledged: look.acknowledged(control, index),
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
            Self::NotAsked => "not asked",
            Self::HasBatch => "has a batch",
            Self::Drained => "drained",
            Self::Halted => "halted",
            Self::Failed => "failed",
            Self::Left => "left",
        })
    }
}
