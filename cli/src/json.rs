//! The output of `--json`. `README.md` documents its keys; a test holds them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing::monitor::{Part, RingState, StageState};
use lapwing::observe::ProcessState;
use serde::Serialize;

use crate::figures::{Awaited, Figures, Share, StageFigures, Verdict};

/// It grows when a key changes its meaning or is no longer there. New keys do not count.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct RingObject<'a> {
    format: u32,
    taken_at_unix_seconds: f64,
    interval_seconds: Option<f64>,
    name: &'a str,
    ring: &'a str,
    pid: u32,
    process_state: &'static str,
    made_at_unix_seconds: f64,
    ring_state: &'static str,
    verdict: VerdictObject<'a>,
    limited_by: Option<PartObject<'a>>,
    limit_shares: Vec<ShareObject<'a>>,
    limit_shares_over_seconds: f64,
    capacity_slots: usize,
    held_slots: usize,
    free_slots: usize,
    published_sequence: u64,
    claimed_sequence: u64,
    published_events_per_second: Option<f64>,
    dropped_events: u64,
    dropped_events_per_second: Option<f64>,
    waiting_producers: u64,
    producers_wait_for: Vec<AwaitedObject<'a>>,
    claim_held_seconds: Option<f64>,
    idle_seconds: Option<f64>,
    stages: Vec<StageObject<'a>>,
}

#[derive(Serialize)]
struct VerdictObject<'a> {
    kind: &'static str,
    sentence: &'a str,
    culprit: Option<PartObject<'a>>,
    at_least_seconds: Option<f64>,
}

#[derive(Serialize)]
struct PartObject<'a> {
    kind: &'static str,
    stage: Option<&'a str>,
}

#[derive(Serialize)]
struct ShareObject<'a> {
    part: Option<PartObject<'a>>,
    share: f64,
}

#[derive(Serialize)]
struct AwaitedObject<'a> {
    kind: &'static str,
    stage: Option<&'a str>,
}

#[derive(Serialize)]
struct StageObject<'a> {
    name: &'a str,
    after: &'a [String],
    thread: Option<&'a str>,
    is_culprit: bool,
    state: &'static str,
    state_seconds: Option<f64>,
    waits_for: Vec<AwaitedObject<'a>>,
    sequence: u64,
    acknowledged_sequence: Option<u64>,
    lag_events: u64,
    available_events: u64,
    events_per_second: Option<f64>,
    events_per_batch: Option<f64>,
    batches: u64,
    batches_per_second: Option<f64>,
    parks: u64,
    parks_per_second: Option<f64>,
    wake_ups: u64,
    wake_ups_per_second: Option<f64>,
    stuck_seconds: Option<f64>,
    unacknowledged_seconds: Option<f64>,
}

/// Returns the figures as one line without its end.
pub(crate) fn line(figures: &Figures) -> String {
    serde_json::to_string(&RingObject::of(figures)).expect("the keys are texts")
}

impl<'a> RingObject<'a> {
    fn of(figures: &'a Figures) -> Self {
        Self {
            format: FORMAT,
            taken_at_unix_seconds: unix_seconds(figures.at),
            interval_seconds: seconds(figures.interval),
            name: &figures.identity.name,
            ring: &figures.ring,
            pid: figures.identity.pid,
            process_state: process_state(figures.process),
            made_at_unix_seconds: unix_seconds(figures.identity.made_at),
            ring_state: ring_state(figures.state),
            verdict: VerdictObject::of(&figures.verdict),
            limited_by: figures.limited_by.as_ref().map(PartObject::of),
            limit_shares: figures.shares.iter().map(ShareObject::of).collect(),
            limit_shares_over_seconds: figures.shares_over.as_secs_f64(),
            capacity_slots: figures.capacity,
            held_slots: figures.held_slots,
            free_slots: figures.capacity - figures.held_slots,
            published_sequence: figures.published,
            claimed_sequence: figures.claimed,
            published_events_per_second: figures.published_per_second,
            dropped_events: figures.dropped,
            dropped_events_per_second: figures.dropped_per_second,
            waiting_producers: figures.waiting_producers,
            producers_wait_for: all_awaited(&figures.producers_wait_for),
            claim_held_seconds: seconds(figures.claim_held_for),
            idle_seconds: seconds(figures.idle_for),
            stages: figures.stages.iter().map(StageObject::of).collect(),
        }
    }
}

impl<'a> VerdictObject<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        Self {
            kind: verdict.kind.name(),
            sentence: &verdict.sentence,
            culprit: verdict.culprit.as_ref().map(PartObject::of),
            at_least_seconds: seconds(verdict.at_least),
        }
    }
}

impl<'a> PartObject<'a> {
    fn of(part: &'a Part) -> Self {
        let (kind, stage) = match part {
            Part::Producers => ("producers", None),
            Part::Claim => ("claim", None),
            Part::Stage { name } => ("stage", Some(name.as_str())),
            Part::Acknowledgement { stage } => ("acknowledgement", Some(stage.as_str())),
            _ => ("other", None),
        };
        Self { kind, stage }
    }
}

impl<'a> ShareObject<'a> {
    fn of(share: &'a Share) -> Self {
        Self { part: share.part.as_ref().map(PartObject::of), share: share.share }
    }
}

fn all_awaited(awaited: &[Awaited]) -> Vec<AwaitedObject<'_>> {
    awaited.iter().map(AwaitedObject::of).collect()
}

impl<'a> AwaitedObject<'a> {
    fn of(awaited: &'a Awaited) -> Self {
        let (kind, stage) = match awaited {
            Awaited::Publication => ("publication", None),
            Awaited::Claim => ("claim", None),
            Awaited::Stage(name) => ("stage", Some(name.as_str())),
            Awaited::Acknowledgement(name) => ("acknowledgement", Some(name.as_str())),
            Awaited::Thread(name) => ("thread", Some(name.as_str())),
            Awaited::Poll => ("poll", None),
            Awaited::DropOfBatch => ("drop_of_batch", None),
            Awaited::Start => ("start", None),
            Awaited::Retry => ("retry", None),
        };
        Self { kind, stage }
    }
}

impl<'a> StageObject<'a> {
    fn of(stage: &'a StageFigures) -> Self {
        let rates = stage.rates.as_ref();
        Self {
            name: &stage.name,
            after: &stage.after,
            thread: stage.thread.as_deref(),
            is_culprit: stage.is_culprit,
            state: stage_state(stage.state),
            state_seconds: seconds(stage.state_for),
            waits_for: all_awaited(&stage.waits_for),
            sequence: stage.sequence,
            acknowledged_sequence: stage.acknowledged,
            lag_events: stage.lag,
            available_events: stage.available,
            events_per_second: rates.map(|rates| rates.events_per_second),
            events_per_batch: rates.and_then(|rates| rates.events_per_batch),
            batches: stage.batches,
            batches_per_second: rates.map(|rates| rates.batches_per_second),
            parks: stage.parks,
            parks_per_second: rates.map(|rates| rates.parks_per_second),
            wake_ups: stage.wake_ups,
            wake_ups_per_second: rates.map(|rates| rates.wake_ups_per_second),
            stuck_seconds: seconds(stage.stuck_for),
            unacknowledged_seconds: seconds(stage.unacknowledged_for),
        }
    }
}

fn process_state(state: ProcessState) -> &'static str {
    match state {
        ProcessState::Running => "running",
        ProcessState::Stopped => "stopped",
        ProcessState::Ended => "ended",
        ProcessState::Dropped => "dropped",
        _ => "other",
    }
}

fn ring_state(state: RingState) -> &'static str {
    match state {
        RingState::Open => "open",
        RingState::Closing => "closing",
        RingState::Closed => "closed",
        RingState::Halted => "halted",
        _ => "other",
    }
}

fn stage_state(state: StageState) -> &'static str {
    match state {
        StageState::NotStarted => "not_started",
        StageState::Running => "running",
        StageState::Waiting => "waiting",
        StageState::Parked => "parked",
        StageState::Pausing => "pausing",
        StageState::InHandler => "in_handler",
        StageState::NotAsked => "not_polled",
        StageState::HasBatch => "has_batch",
        StageState::Drained => "drained",
        StageState::Halted => "halted",
        StageState::Failed => "failed",
        StageState::Left => "left",
        _ => "other",
    }
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(|duration| duration.as_secs_f64())
}

fn unix_seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::figures::tests::figures;

    /// The paths of all keys; `[]` stands for the entries of a list.
    fn keys(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    found.push(path.clone());
                    keys(value, &path, found);
                }
            }
            Value::Array(values) => {
                values.iter().for_each(|value| keys(value, &format!("{path}[]"), found));
            }
            _ => {}
        }
    }

    #[test]
    fn the_keys_are_those_of_the_format() {
        let value: Value = serde_json::from_str(&line(&figures())).unwrap();
        let mut found = Vec::new();
        keys(&value, "", &mut found);
        found.sort();
        found.dedup();
        let golden = include_str!("../tests/golden/keys_of_format_1.txt");
        assert_eq!(found.join("\n"), golden.trim_end());
        assert_eq!(value["format"], 1);
    }

    #[test]
    fn a_line_is_one_line_and_units_are_in_the_keys() {
        let line = line(&figures());
        assert!(!line.contains('\n'));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["verdict"]["kind"], "limited");
        assert_eq!(value["stages"][1]["name"], "journal");
        assert_eq!(value["stages"][1]["lag_events"], 48);
        assert_eq!(value["stages"][0]["state"], "parked");
        assert_eq!(value["stages"][0]["waits_for"][0]["kind"], "publication");
    }
}
