//! What a monitor remembers of its last snapshot, and the durations that follow from it.

use std::time::{Duration, Instant};

use lapwing_core::StageIndex;

use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::state::RingState;
use crate::Sequence;

/// What stayed the same from one snapshot to the next, and since when.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// By index of the stage in the ring.
    stages: Vec<StageHistory>,
    /// A claim that no stage can pass.
    claim: Spell<Sequence>,
    /// The next sequence of an idle ring.
    idle: Spell<Sequence>,
}

#[derive(Debug, Clone, Default)]
struct StageHistory {
    /// The state, with the numbers of batches and parks.
    state: Spell<(StageState, u64, u64)>,
    /// The sequence at which the stage could make progress.
    stuck: Spell<Sequence>,
    /// A finished sequence that is not acknowledged.
    unacknowledged: Spell<Sequence>,
}

/// A value that each snapshot since the recorded instant has shown.
#[derive(Debug, Clone)]
struct Spell<T>(Option<(T, Instant)>);

/// When a snapshot began and ended.
#[derive(Clone, Copy)]
struct Times {
    began: Instant,
    ended: Instant,
}

impl<T> Default for Spell<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialEq> Spell<T> {
    /// Returns the least duration for which `now` has held: from the end of the first snapshot that
    /// showed it to the beginning of this one. `None` if it does not hold, or did not in the last
    /// snapshot.
    fn observe(&mut self, now: Option<T>, times: Times) -> Option<Duration> {
        match (&self.0, now) {
            (Some((before, since)), Some(now)) if *before == now => {
                Some(times.began.saturating_duration_since(*since))
            }
            (_, now) => {
                self.0 = now.map(|now| (now, times.ended));
                None
            }
        }
    }
}

impl History {
    /// Fills in the durations of a snapshot and remembers it.
    pub(super) fn compare(&mut self, snapshot: &mut Snapshot, began: Instant, ended: Instant) {
        let times = Times { began, ended };
        for at in 0..snapshot.stages.len() {
            let stuck = can_go_on(snapshot, at).then_some(snapshot.stages[at].sequence);
            let unacknowledged = unacknowledged(snapshot, at);
            let stage = &mut snapshot.stages[at];
            let history = self.stage(stage.index);
            let state = Some((stage.state, stage.batches, stage.parks));
            stage.state_for = history.state.observe(state, times).unwrap_or_default();
            stage.stuck_for = history.stuck.observe(stuck, times);
            stage.unacknowledged_for = history.unacknowledged.observe(unacknowledged, times);
        }
        let next = snapshot.published;
        let is_held = has_open_claim(snapshot);
        snapshot.claim_held_for = self.claim.observe(is_held.then_some(next), times);
        snapshot.idle_for = self.idle.observe(is_idle(snapshot).then_some(next), times);
    }

    fn stage(&mut self, index: StageIndex) -> &mut StageHistory {
        if self.stages.len() <= index {
            self.stages.resize_with(index + 1, StageHistory::default);
        }
        &mut self.stages[index]
    }
}

/// Whether only the stage at `at` itself keeps it from making progress.
fn can_go_on(snapshot: &Snapshot, at: usize) -> bool {
    let stage = &snapshot.stages[at];
    let others = || snapshot.stages.iter().filter(|other| other.index != stage.index);
    let is_mate =
        |other: &&StageSnapshot| stage.threads.iter().any(|own| other.threads.contains(own));
    let mates = || others().filter(is_mate);
    let is_taken =
        |thread: &String| mates().any(|mate| is_busy(mate) && mate.threads.contains(thread));
    // A group has a thread as long as one of its workers has one.
    let has_thread =
        is_busy(stage) || stage.threads.is_empty() || !stage.threads.iter().all(is_taken);
    // Of stages that share a thread, the one in its handler holds up the others.
    let can_read = can_read(stage) || (is_busy(stage) && mates().any(can_read));
    let is_at_end = stage.sequence == snapshot.claimed;
    has_thread
        && match snapshot.state {
            RingState::Open | RingState::Closing => can_read,
            RingState::Closed => can_read || (is_at_end && is_at_work(stage)),
            RingState::Halted => is_at_work(stage),
        }
}

/// Whether the stage has events to handle.
fn can_read(stage: &StageSnapshot) -> bool {
    let has_ended = matches!(
        stage.state,
        StageState::Drained | StageState::Halted | StageState::Failed | StageState::Left
    );
    stage.available > 0 && !has_ended
}

/// Whether the stage occupies its thread.
fn is_busy(stage: &StageSnapshot) -> bool {
    matches!(stage.state, StageState::InHandler | StageState::Pausing)
}

/// Whether the stage has a thread and has not ended.
fn is_at_work(stage: &StageSnapshot) -> bool {
    let is_running =
        matches!(stage.state, StageState::Running | StageState::Waiting | StageState::Parked);
    stage.thread.is_some() && (is_running || is_busy(stage))
}

/// The first event that the stage at `at` has finished and that is not acknowledged.
fn unacknowledged(snapshot: &Snapshot, at: usize) -> Option<Sequence> {
    let stage = &snapshot.stages[at];
    let is_open = |sequence: &Sequence| *sequence < stage.sequence;
    stage.acknowledged.filter(is_open).filter(|_| snapshot.state != RingState::Halted)
}

/// Whether there is an unpublished claim, which no stage can pass.
fn has_open_claim(snapshot: &Snapshot) -> bool {
    snapshot.published < snapshot.claimed && snapshot.state != RingState::Halted
}

/// Whether every event is finished and the ring is open.
fn is_idle(snapshot: &Snapshot) -> bool {
    snapshot.state == RingState::Open
        && snapshot.claimed == snapshot.published
        && snapshot.waiting_producers == 0
        && snapshot.stages.iter().all(|stage| stage.lag == 0)
        && (0..snapshot.stages.len()).all(|at| unacknowledged(snapshot, at).is_none())
}
