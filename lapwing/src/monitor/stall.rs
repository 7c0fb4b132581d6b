//! The verdict on what holds up a ring, as one line.

use std::fmt;
use std::time::Duration;

use super::part::Part;
use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::state::RingState;
use super::table::waiting;
use super::text::{counted, rounded_down};
use crate::Sequence;

/// What holds up a ring: one thing that could make progress and does not.
///
/// [`Monitor::stalled_for`](crate::monitor::Monitor::stalled_for) defines the possible causes.
///
/// It prints as one line, broken here:
///
/// ```text
/// ring "orders" is full: stage "journal" is in its handler, at sequence 1041 for at least 2.1 s,
///     65536 events behind; 65536 of 65536 slots are held, 1 producer waits
/// ring "orders" is held up: sequence 77 is claimed and not published, for at least 3.0 s; 3 of 8
///     slots are held
/// ring "orders" is closed: stage "journal" is in its handler, at sequence 1041 for at least 2.1 s,
///     0 events behind; 0 of 8 slots are held
/// ring "orders" is empty: waiting for a publication at sequence 77, for at least 3.0 s
/// ```
///
/// The state is that of the snapshot. The duration is the time at the given sequence.
///
/// A stage that is slow but makes progress is not a stall. It is a
/// [bottleneck](Snapshot::bottleneck).
///
/// ```
/// use lapwing::{Disruptor, monitor::{Part, StageState}};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("decode").poller()
///     .stage("sum").poller()
///     .build()?;
/// let mut decode = consumers.take_poller("decode")?;
/// producer.publish_batch(3, |_| {})?;
/// decode.poll_max(2)?.consume_all();
///
/// let monitor = producer.monitor();
/// let _ = monitor.snapshot();
/// let stall = monitor.stall().unwrap(); // neither is polled, and "sum" is further behind
/// assert_eq!(stall.culprit, Part::Stage { name: "sum".into() });
/// assert_eq!(stall.stage_state, Some(StageState::NotAsked));
/// assert_eq!((stall.sequence, stall.lag, stall.others), (0, 3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// The [name](crate::Builder::name) of the ring.
    pub ring: String,
    /// Whether the ring accepts events.
    pub state: RingState,
    /// What holds it up.
    pub culprit: Part,
    /// If the culprit is a stage, its state in the snapshot.
    pub stage_state: Option<StageState>,
    /// The next sequence that the culprit has to finish, acknowledge, publish or wait for.
    pub sequence: Sequence,
    /// Number of published events that the culprit has not finished, or not acknowledged. 0 for a
    /// claim and for an idle ring.
    pub lag: u64,
    /// The least duration for which it has been at this sequence, by the snapshots of the monitor.
    pub at_least: Duration,
    /// Number of further causes that have lasted for the requested duration. They are at the same
    /// or a higher sequence.
    pub others: usize,
    /// Number of slots.
    pub capacity: usize,
    /// Number of slots that producers can claim: [`Snapshot::free_slots`].
    pub free_slots: usize,
    /// Number of producers that wait for free slots.
    pub waiting_producers: u64,
}

impl Snapshot {
    /// Returns what has held up the ring for the duration `at_least` or longer. `None` for the
    /// first snapshot of a monitor.
    ///
    /// The causes are those of [`Monitor::stalled_for`](crate::monitor::Monitor::stalled_for). This
    /// method judges an existing snapshot, so that a table and its verdict agree.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// producer.publish(|event| *event = 7)?;
    /// assert!(monitor.snapshot().stall(Duration::ZERO).is_none()); // the first snapshot
    /// let snapshot = monitor.snapshot();
    /// let stall = snapshot.stall(Duration::ZERO).unwrap();
    /// assert_eq!(Some(stall.at_least), snapshot.stages[0].stuck_for);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stall(&self, at_least: Duration) -> Option<Stall> {
        let is_long = |cause: &Stall| cause.at_least >= at_least;
        let causes = self.stages.iter().flat_map(|stage| self.causes_in(stage));
        let claim = self.claim_held_for;
        let claim = claim.map(|duration| self.stall_of(Part::Claim, self.published, duration));
        let causes: Vec<_> = causes.chain(claim).filter(is_long).collect();
        let others = causes.len().saturating_sub(1);
        // Of causes at the same sequence, the one furthest upstream.
        let worst = causes.into_iter().min_by_key(|cause| cause.sequence)?;
        Some(Stall { others, ..worst })
    }

    /// The ways in which `stage` holds up the ring.
    fn causes_in(&self, stage: &StageSnapshot) -> impl Iterator<Item = Stall> {
        let name = || stage.name.clone();
        let itself = stage.stuck_for.map(|duration| {
            let stall = self.stall_of(Part::Stage { name: name() }, stage.sequence, duration);
            Stall { stage_state: Some(stage.state), ..stall }
        });
        let unacknowledged = stage.unacknowledged_for.zip(stage.acknowledged);
        let acknowledgement = unacknowledged.map(|(duration, sequence)| {
            self.stall_of(Part::Acknowledgement { stage: name() }, sequence, duration)
        });
        itself.into_iter().chain(acknowledgement)
    }

    /// Returns a description of the idle ring if it has been idle for the duration `at_least` or
    /// longer.
    ///
    /// A ring is idle while it is open and has nothing to do: every published event is finished and
    /// acknowledged, none of several producers holds a claim, and no producer waits. The first
    /// snapshot of a monitor shows no duration, so the result is then `None`.
    /// [`Monitor::idle_for`](crate::monitor::Monitor::idle_for) does the same for a new snapshot.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, monitor::Part};
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// assert!(monitor.snapshot().idle(Duration::ZERO).is_none()); // the first snapshot
    /// let idle = monitor.snapshot().idle(Duration::ZERO).unwrap();
    /// assert_eq!((idle.culprit, idle.sequence), (Part::Producers, 0));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn idle(&self, at_least: Duration) -> Option<Stall> {
        let duration = self.idle_for.filter(|duration| *duration >= at_least)?;
        Some(self.stall_of(Part::Producers, self.published, duration))
    }

    fn stall_of(&self, culprit: Part, sequence: Sequence, at_least: Duration) -> Stall {
        Stall {
            ring: self.ring.clone(),
            state: self.state,
            culprit,
            stage_state: None,
            sequence,
            lag: self.published.saturating_sub(sequence),
            at_least,
            others: 0,
            capacity: self.capacity,
            free_slots: self.free_slots,
            waiting_producers: self.waiting_producers,
        }
    }
}

impl Stall {
    /// The state of the ring in words.
    fn matter(&self) -> &'static str {
        match self.state {
            RingState::Halted => "halted",
            RingState::Closed | RingState::Closing => "closed",
            RingState::Open if self.culprit == Part::Producers => "empty",
            RingState::Open if self.free_slots == 0 => "full",
            RingState::Open if self.waiting_producers > 0 => "too full",
            RingState::Open => "held up",
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ring {:?} is {}: ", self.ring, self.matter())?;
        let (sequence, at_least) = (self.sequence, rounded_down(self.at_least));
        match &self.culprit {
            Part::Producers => write!(f, "waiting for a publication at sequence {sequence},")?,
            Part::Claim => write!(f, "sequence {sequence} is claimed and not published,")?,
            Part::Stage { name } => {
                let state = self.stage_state.map_or("has stopped", in_words);
                write!(f, "stage {name:?} {state}, at sequence {sequence}")?;
            }
            Part::Acknowledgement { stage } => {
                write!(f, "stage {stage:?} is not acknowledged, at sequence {sequence}")?;
            }
        }
        write!(f, " for at least {at_least}")?;
        match self.culprit {
            Part::Producers => return Ok(()),
            Part::Claim => {}
            Part::Stage { .. } | Part::Acknowledgement { .. } => {
                write!(f, ", {}", counted(self.lag, "event behind", "events behind"))?;
            }
        }
        if self.others > 0 {
            write!(f, ", and {} more", self.others)?;
        }
        let held = self.capacity - self.free_slots;
        write!(f, "; {held} of {} slots are held", self.capacity)?;
        if self.waiting_producers > 0 {
            write!(f, ", {}", waiting(self.waiting_producers))?;
        }
        Ok(())
    }
}

/// The state of the stage in words.
fn in_words(state: StageState) -> &'static str {
    match state {
        StageState::NotStarted => "has not started",
        StageState::Running => "is between two batches",
        StageState::Waiting => "waits, though it could go on",
        StageState::Parked => "is parked, though it could go on",
        StageState::Pausing => "pauses before it tries again",
        StageState::InHandler => "is in its handler",
        StageState::NotAsked => "is not polled",
        StageState::HasBatch => "holds a batch",
        StageState::Drained => "is drained",
        StageState::Halted => "is halted",
        StageState::Failed => "has failed",
        StageState::Left => "has left",
    }
}
