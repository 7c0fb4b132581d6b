//! The figures of a stage.

use std::collections::HashMap;
use std::time::Duration;

use lapwing::monitor::{Part, Snapshot, StageSnapshot, StageState, Throughput};

use super::waits::{self, Awaited};

/// The figures of a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StageFigures {
    pub(crate) name: String,
    /// The stages that it directly depends on.
    pub(crate) after: Vec<String>,
    /// Number of stages on the longest path from the producers to it.
    pub(crate) depth: usize,
    /// Names of its threads; `None` for a poller.
    pub(crate) thread: Option<String>,
    pub(crate) state: StageState,
    /// The least duration of the state; `None` if nothing is known about it.
    pub(crate) state_for: Option<Duration>,
    pub(crate) waits_for: Vec<Awaited>,
    pub(crate) sequence: u64,
    pub(crate) acknowledged: Option<u64>,
    pub(crate) lag: u64,
    pub(crate) available: u64,
    pub(crate) batches: u64,
    pub(crate) parks: u64,
    pub(crate) wake_ups: u64,
    /// Since the snapshot before; `None` if that did not show the stage.
    pub(crate) rates: Option<Rates>,
    pub(crate) stuck_for: Option<Duration>,
    pub(crate) unacknowledged_for: Option<Duration>,
    /// Whether the verdict names it, or its acknowledgement.
    pub(crate) is_culprit: bool,
}

/// What a stage has done between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    pub(crate) events_per_second: f64,
    /// `None` if it finished no batch.
    pub(crate) events_per_batch: Option<f64>,
    pub(crate) batches_per_second: f64,
    pub(crate) parks_per_second: f64,
    pub(crate) wake_ups_per_second: f64,
}

/// Returns the figures of all stages, upstream stages first. Durations mean nothing if the process
/// does not live.
pub(super) fn all(
    snapshot: &Snapshot,
    earlier: Option<(&Snapshot, &Throughput)>,
    culprit: Option<&Part>,
    lives: bool,
) -> Vec<StageFigures> {
    let depths = depths(&snapshot.stages);
    let figures = snapshot.stages.iter().map(|stage| StageFigures {
        name: stage.name.clone(),
        after: stage.upstream.clone(),
        depth: depths[stage.name.as_str()],
        thread: stage.thread.clone(),
        state: stage.state,
        state_for: Some(stage.state_for).filter(|duration| lives && !duration.is_zero()),
        waits_for: waits::of(snapshot, stage),
        sequence: stage.sequence,
        acknowledged: stage.acknowledged,
        lag: stage.lag,
        available: stage.available,
        batches: stage.batches,
        parks: stage.parks,
        wake_ups: stage.wakes,
        rates: earlier.and_then(|earlier| rates(stage, earlier)),
        stuck_for: stage.stuck_for.filter(|_| lives),
        unacknowledged_for: stage.unacknowledged_for.filter(|_| lives),
        is_culprit: culprit.and_then(stage_of) == Some(&stage.name),
    });
    figures.collect()
}

/// The stage that a verdict is about.
fn stage_of(part: &Part) -> Option<&String> {
    match part {
        Part::Stage { name } => Some(name),
        Part::Acknowledgement { stage } => Some(stage),
        _ => None,
    }
}

fn rates(stage: &StageSnapshot, (earlier, since): (&Snapshot, &Throughput)) -> Option<Rates> {
    // A name is unique among the consumers that are there. The count of batches of a consumer that
    // has joined since under the name of another one is lower, or the throughput leaves it out.
    let before = earlier.stages.iter().find(|before| before.name == stage.name)?;
    let through = since.stages.iter().find(|through| through.name == stage.name)?;
    let batches = stage.batches.checked_sub(before.batches)?;
    let rate = |count| per_second(count, since.elapsed);
    Some(Rates {
        events_per_second: through.per_second(),
        events_per_batch: (batches > 0).then(|| through.finished as f64 / batches as f64),
        batches_per_second: rate(batches),
        parks_per_second: rate(stage.parks.saturating_sub(before.parks)),
        wake_ups_per_second: rate(stage.wakes.saturating_sub(before.wakes)),
    })
}

/// Returns the depth of each stage by its name. Upstream stages stand first.
fn depths(stages: &[StageSnapshot]) -> HashMap<&str, usize> {
    let mut depths: HashMap<&str, usize> = HashMap::new();
    for stage in stages {
        let above = stage.upstream.iter().filter_map(|name| depths.get(name.as_str()));
        let depth = above.max().map_or(0, |depth| depth + 1);
        depths.insert(&stage.name, depth);
    }
    depths
}

/// Returns `events` per second of `elapsed`; zero if no time has passed.
pub(super) fn per_second(events: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { events as f64 / elapsed.as_secs_f64() }
}
