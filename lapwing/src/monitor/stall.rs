//! Who holds up whom, in one line.

use std::fmt;
use std::time::Duration;

use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::state::RingState;
use super::table::waiting;
use super::text::{counted, rounded_down};
use crate::Sequence;

/// What holds a ring up: one thing that could go on and does not. What counts as one is defined at
/// [`Monitor::stalled_for`](crate::monitor::Monitor::stalled_for).
///
/// It prints as one line (broken here) for whoever is on call:
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
/// The state is that of the last look; the time is how long it has been at its sequence.
///
/// A stage that is slow but still moves holds up nothing by this definition. It is a
/// [`Bottleneck`](crate::monitor::Bottleneck).
///
/// ```
/// use lapwing::{Disruptor, monitor::{Culprit, StageState}};
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
/// let stall = monitor.stall().unwrap(); // neither is asked; "sum" is further behind
/// let culprit = Culprit::Stage { name: "sum".into(), state: StageState::NotAsked };
/// assert_eq!(stall.culprit, culprit);
/// assert_eq!((stall.sequence, stall.lag, stall.others), (0, 3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// [Name](crate::Builder::name) of the ring.
    pub ring: String,
    /// Whether it accepts events.
    pub state: RingState,
    /// What holds it up.
    pub culprit: Culprit,
    /// Where the culprit is: the next sequence that it has to finish, publish or wait for.
    pub sequence: Sequence,
    /// Number of events that are published and that the culprit has not finished; of an
    /// acknowledgement, not acknowledged.
    pub lag: u64,
    /// For how long at least it has been there, by the looks of the monitor.
    pub at_least: Duration,
    /// How many more things could go on and have not for as long as was asked for; they are further
    /// ahead.
    pub others: usize,
    /// Number of slots.
    pub capacity: usize,
    /// Slots that can be claimed now.
    pub free_slots: usize,
    /// Producers that wait for free slots now.
    pub waiting_producers: u64,
}

/// What holds a ring up; see [`Stall`].
///
/// ```
/// use lapwing::{Disruptor, monitor::Culprit};
///
/// let (mut producer, _consumers) =
///     Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build()?;
/// let monitor = producer.monitor();
/// let claim = producer.claim()?; // and neither publishes it nor gives it up
/// let _ = monitor.snapshot();
/// let stall = monitor.stall().unwrap();
/// assert_eq!((stall.culprit, stall.sequence), (Culprit::Claim, 0));
/// # drop(claim);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Culprit {
    /// A stage.
    Stage {
        /// Its name.
        name: String,
        /// What it was doing at the last look.
        state: StageState,
    },
    /// Whoever is to [acknowledge](crate::consumer::Acknowledger) the events of a stage.
    Acknowledgement {
        /// Name of the stage.
        stage: String,
    },
    /// A claim of one of several producers that is neither published nor given up.
    Claim,
    /// Nobody: all is done, and nothing comes.
    Nobody,
}

impl Snapshot {
    /// Who holds up whom, if somebody has for `at_least` so long, as
    /// [`Monitor::stalled_for`](crate::monitor::Monitor::stalled_for) defines it: of this very look, so that
    /// a table and a verdict belong together.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use lapwing::Disruptor;
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// producer.publish(|event| *event = 7)?;
    /// assert!(monitor.snapshot().stall(Duration::ZERO).is_none()); // the first look
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
        let claim = claim.map(|duration| self.stall_of(Culprit::Claim, self.published, duration));
        let causes: Vec<_> = causes.chain(claim).filter(is_long).collect();
        let others = causes.len().saturating_sub(1);
        // Of causes at one sequence, the one upstream.
        let worst = causes.into_iter().min_by_key(|cause| cause.sequence)?;
        Some(Stall { others, ..worst })
    }

    /// How `stage` holds the ring up, if it does.
    fn causes_in(&self, stage: &StageSnapshot) -> impl Iterator<Item = Stall> {
        let name = || stage.name.clone();
        let itself = stage.stuck_for.map(|duration| {
            let culprit = Culprit::Stage { name: name(), state: stage.state };
            self.stall_of(culprit, stage.sequence, duration)
        });
        let unacknowledged = stage.unacknowledged_for.zip(stage.acknowledged);
        let acknowledgement = unacknowledged.map(|(duration, sequence)| {
            self.stall_of(Culprit::Acknowledgement { stage: name() }, sequence, duration)
        });
        itself.into_iter().chain(acknowledgement)
    }

    /// That the ring is idle, if it has been for `at_least` so long, as
    /// [`Monitor::idle_for`](crate::monitor::Monitor::idle_for) defines it.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use lapwing::{Disruptor, monitor::Culprit};
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// assert!(monitor.snapshot().idle(Duration::ZERO).is_none()); // the first look
    /// let idle = monitor.snapshot().idle(Duration::ZERO).unwrap();
    /// assert_eq!((idle.culprit, idle.sequence), (Culprit::Nobody, 0));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn idle(&self, at_least: Duration) -> Option<Stall> {
        let duration = self.idle_for.filter(|duration| *duration >= at_least)?;
        Some(self.stall_of(Culprit::Nobody, self.published, duration))
    }

    fn stall_of(&self, culprit: Culprit, sequence: Sequence, at_least: Duration) -> Stall {
        Stall {
            ring: self.ring.clone(),
            state: self.state,
            culprit,
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
    /// What is the matter with the ring.
    fn matter(&self) -> &'static str {
        match self.state {
            RingState::Halted => "halted",
            RingState::Closed | RingState::Closing => "closed",
            RingState::Open if self.culprit == Culprit::Nobody => "empty",
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
            Culprit::Nobody => write!(f, "waiting for a publication at sequence {sequence},")?,
            Culprit::Claim => write!(f, "sequence {sequence} is claimed and not published,")?,
            Culprit::Stage { name, state } => {
                write!(f, "stage {name:?} {}, at sequence {sequence}", in_words(*state))?;
            }
            Culprit::Acknowledgement { stage } => {
                write!(f, "stage {stage:?} is not acknowledged, at sequence {sequence}")?;
            }
        }
        write!(f, " for at least {at_least}")?;
        match self.culprit {
            Culprit::Nobody => return Ok(()),
            Culprit::Claim => {}
            Culprit::Stage { .. } | Culprit::Acknowledgement { .. } => {
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

/// What a stage does that could go on.
fn in_words(state: StageState) -> &'static str {
    match state {
        StageState::NotStarted => "has not started",
        StageState::Running => "is between two batches",
        StageState::Waiting => "waits, though it could go on",
        StageState::Parked => "is parked, though it could go on",
        StageState::Pausing => "pauses before it tries again",
        StageState::InHandler => "is in its handler",
        StageState::NotAsked => "is not asked",
        StageState::HasBatch => "holds a batch",
        StageState::Drained => "is drained",
        StageState::Halted => "is halted",
        StageState::Failed => "has failed",
        StageState::Left => "has left",
    }
}
