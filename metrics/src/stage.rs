//! The metrics of a stage, and what becomes of them when it leaves.

use lapwing::monitor::{StageSnapshot, StageState};
use metrics::Label;

use crate::catalogue::{
    AVAILABLE, BATCHES, FINISHED, Gauge, LAG, PARKS, STUCK, UNACKNOWLEDGED, UNACKNOWLEDGED_FOR,
    WAKES,
};
use crate::growth::Growth;
use crate::states::record_stage_state;

/// What the exporter remembers of a stage, or of all consumers that had its name.
#[derive(Debug)]
pub(crate) struct Stage {
    labels: Vec<Label>,
    finished: Growth,
    batches: Growth,
    parks: Growth,
    wakes: Growth,
    /// Whether the last snapshot has shown it.
    is_there: bool,
}

/// What the counters of a stage add.
#[derive(Default)]
struct Increases {
    finished: u64,
    batches: u64,
    parks: u64,
    wakes: u64,
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
    /// Remembers a stage, whose counters begin here.
    pub(crate) fn new(ring: &Label, stage: &StageSnapshot) -> Self {
        let mut new = Self {
            labels: vec![ring.clone(), Label::new("stage", stage.name.clone())],
            finished: Growth::default(),
            batches: Growth::default(),
            parks: Growth::default(),
            wakes: Growth::default(),
            is_there: true,
        };
        let _ = new.increases(stage);
        new
    }

    pub(crate) fn record(&mut self, stage: &StageSnapshot) {
        self.is_there = true;
        let increases = self.increases(stage);
        let gauges = match stage.state {
            StageState::Left => Gauges::default(),
            _ => Gauges::of(stage),
        };
        self.record_all(&increases, &gauges, stage.state);
    }

    /// Records that the stage is no longer in the ring, once.
    pub(crate) fn record_absence(&mut self) {
        if self.is_there {
            self.is_there = false;
            self.begin_again();
            self.record_all(&Increases::default(), &Gauges::default(), StageState::Left);
        }
    }

    fn increases(&mut self, stage: &StageSnapshot) -> Increases {
        if self.batches.has_fallen_to(stage.batches) {
            // A dynamic stage and a name have passed to another consumer, which counts from 0.
            self.begin_again();
        }
        let finished = match stage.state {
            // It shows the sequence of its upstream stages.
            StageState::Left => 0,
            _ => self.finished.up_to(stage.sequence),
        };
        Increases {
            finished,
            batches: self.batches.up_to(stage.batches),
            parks: self.parks.up_to(stage.parks),
            wakes: self.wakes.up_to(stage.wakes),
        }
    }

    fn begin_again(&mut self) {
        for growth in [&mut self.finished, &mut self.batches, &mut self.parks, &mut self.wakes] {
            growth.begin_again();
        }
    }

    fn record_all(&self, increases: &Increases, gauges: &Gauges, state: StageState) {
        let labels = &self.labels;
        FINISHED.add(labels, increases.finished);
        BATCHES.add(labels, increases.batches);
        PARKS.add(labels, increases.parks);
        WAKES.add(labels, increases.wakes);
        let set = |gauge: Gauge, value: f64| gauge.record(labels, value);
        set(LAG, gauges.lag as f64);
        set(AVAILABLE, gauges.available as f64);
        set(UNACKNOWLEDGED, gauges.unacknowledged as f64);
        set(STUCK, gauges.stuck_seconds);
        set(UNACKNOWLEDGED_FOR, gauges.unacknowledged_seconds);
        record_stage_state(labels, state);
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
