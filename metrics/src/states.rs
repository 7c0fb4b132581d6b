//! A state as gauges: one for each possible state, of which one is 1.

use lapwing::monitor::{RingState, StageState};
use metrics::Label;

use crate::catalogue::{Gauge, RING_STATE, STAGE_STATE};

const RING_STATES: [RingState; 4] =
    [RingState::Open, RingState::Closing, RingState::Closed, RingState::Halted];

const STAGE_STATES: [StageState; 12] = [
    StageState::NotStarted,
    StageState::Running,
    StageState::Waiting,
    StageState::Parked,
    StageState::Pausing,
    StageState::InHandler,
    StageState::NotAsked,
    StageState::HasBatch,
    StageState::Drained,
    StageState::Halted,
    StageState::Failed,
    StageState::Left,
];

pub(crate) fn record_ring_state(labels: &[Label], present: RingState) {
    record(&RING_STATE, labels, &RING_STATES, present);
}

pub(crate) fn record_stage_state(labels: &[Label], present: StageState) {
    record(&STAGE_STATE, labels, &STAGE_STATES, present);
}

/// Records 1 for the state `present`, and 0 for the others. They are recorded even if this exporter
/// has never seen them, because an earlier ring of the same name may have been in them.
fn record<S: PartialEq + ToString>(gauge: &Gauge, labels: &[Label], states: &[S], present: S) {
    for state in states {
        let label = Label::new("state", state.to_string());
        let labels: Vec<_> = labels.iter().cloned().chain([label]).collect();
        gauge.record(&labels, if *state == present { 1.0 } else { 0.0 });
    }
}
