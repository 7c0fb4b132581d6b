//! The metrics of a stage, and what becomes of them when it leaves.

use lapwing::monitor::{StageSnapshot, StageState};
use metrics::Label;

use crate::catalogue::{
    AVAILABLE, BATCHES, Counter, FINISHED, Gauge, LAG, PARKS, STAGE_STATE, STUCK, UNACKNOWLEDGED,
    UNACKNOWLEDGED_FOR, WAKES,
};
use crate::states::States;
use crate::total::Total;

/// What the exporter remembers of a stage, or of all consumers that had its name.
#[derive(Debug)]
pub(crate) struct Stage {
    labels: Vec<Label>,
    finished: Total,
    batches: Total,
    parks: Total,
    wakes: Total,
    states: States,
    /// Whether the last snapshot has shown it.
    is_there: bool,
}

/// The gauges of a stage except its state.
#[derive(Default)]
struct Gauges {
    lag: u64,
    available: u64,
    unacknowledged: u64,
    stuck_seconds: f64,
    unacknowledged_seconds: f64,
}

impl Stage {
    pub(crate) fn new(ring: &Label, name: &str) -> Self {
        Self {
            labels: vec![ring.clone(), Label::new("stage", name.to_owned())],
            finished: Total::default(),
            batches: Total::default(),
            parks: Total::default(),
            wakes: Total::default(),
            states: States::default(),
            is_there: false,
        }
    }

    /// Adds what has happened since the last snapshot to the totals.
    pub(crate) fn add(&mut self, stage: &StageSnapshot) {
        let is_other = self.batches.has_fallen_to(stage.batches);
        if is_other {
            // A dynamic stage and a name have passed to a consumer, which counts from 0.
            self.end_consumer();
        }
        if stage.state != StageState::Left {
            // A stage that has left shows the sequence of its upstream stages.
            self.finished.add(stage.sequence);
        }
        self.batches.add(stage.batches);
        self.parks.add(stage.parks);
        self.wakes.add(stage.wakes);
        self.is_there = true;
    }

    pub(crate) fn record(&mut self, stage: &StageSnapshot) {
        let gauges = match stage.state {
            StageState::Left => Gauges::default(),
            _ => Gauges::of(stage),
        };
        self.record_all(&gauges, stage.state);
    }

    /// Records that the stage is no longer in the ring, once.
    pub(crate) fn record_absence(&mut self) {
        if self.is_there {
            self.is_there = false;
            self.end_consumer();
            self.record_all(&Gauges::default(), StageState::Left);
        }
    }

    fn end_consumer(&mut self) {
        for total in [&mut self.finished, &mut self.batches, &mut self.parks, &mut self.wakes] {
            total.begin_again();
        }
    }

    fn record_all(&mut self, gauges: &Gauges, state: StageState) {
        let labels = &self.labels;
        let count = |counter: Counter, total: &Total| counter.record(labels, total.sum());
        count(FINISHED, &self.finished);
        count(BATCHES, &self.batches);
        count(PARKS, &self.parks);
        count(WAKES, &self.wakes);
        let set = |gauge: Gauge, value: f64| gauge.record(labels, value);
        set(LAG, gauges.lag as f64);
        set(AVAILABLE, gauges.available as f64);
        set(UNACKNOWLEDGED, gauges.unacknowledged as f64);
        set(STUCK, gauges.stuck_seconds);
        set(UNACKNOWLEDGED_FOR, gauges.unacknowledged_seconds);
        self.states.record(&STAGE_STATE, labels, state.to_string());
    }
}

impl Gauges {
    fn of(stage: &StageSnapshot) -> Self {
        let acknowledged = stage.acknowledged.unwrap_or(stage.sequence);
        Self {
            lag: stage.lag,
            available: stage.available,
            unacknowledged: stage.sequence.saturating_sub(acknowledged),
            stuck_seconds: stage.stuck_for.unwrap_or_default().as_secs_f64(),
            unacknowledged_seconds: stage.unacknowledged_for.unwrap_or_default().as_secs_f64(),
        }
    }
}
