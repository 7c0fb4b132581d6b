//! The sentence on what holds up a ring, or else on what limits it.

use std::time::Duration;

use lapwing::monitor::{Part, RingState, Snapshot, StageSnapshot, StageState, Throughput};
use lapwing::observe::ProcessState;

use super::Seen;
use crate::words::{counted, visible};

/// Number of stages that a sentence names.
const NAMED: usize = 3;

/// What a verdict is about, the first that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The process has ended without dropping the ring.
    Ended,
    /// The process has dropped the ring.
    Dropped,
    /// The process is stopped.
    Stopped,
    /// A part has stopped that could go on.
    Stalled,
    /// The ring is halted.
    Halted,
    /// The ring is closed, and every event is finished.
    Drained,
    /// A stage or its acknowledgement limits the ring.
    Limited,
    /// The producers limit the ring: the stages keep up.
    KeepsUp,
    /// Nothing is published, and everything is finished.
    Idle,
    /// The snapshots do not show a limit.
    Unclear,
    /// There is one snapshot only.
    FirstLook,
}

impl Kind {
    /// Returns its name in the output of `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Dropped => "dropped",
            Self::Stopped => "stopped",
            Self::Stalled => "stalled",
            Self::Halted => "halted",
            Self::Drained => "drained",
            Self::Limited => "limited",
            Self::KeepsUp => "keeps_up",
            Self::Idle => "idle",
            Self::Unclear => "unclear",
            Self::FirstLook => "first_look",
        }
    }
}

/// The verdict on a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) kind: Kind,
    /// A sentence without a full stop.
    pub(crate) sentence: String,
    /// The same in a few words, for a list.
    pub(crate) short: String,
    /// The part that the sentence names first.
    pub(crate) culprit: Option<Part>,
    /// Of a stall and an idle ring, the least duration.
    pub(crate) at_least: Option<Duration>,
}

impl Verdict {
    pub(super) fn of(seen: &Seen<'_>, throughput: Option<&Throughput>) -> Self {
        let (snapshot, pid) = (seen.snapshot, seen.identity.pid);
        let stopped = |kind: Kind, short: &str, what: String| {
            let then = Then::of(snapshot);
            let short = match &then.culprit {
                Some(part) => format!("{short}: {}", short_name(part)),
                None => short.to_owned(),
            };
            let sentence = format!("{what}; {}", then.sentence);
            Self { kind, sentence, short, culprit: then.culprit, at_least: None }
        };
        match seen.process {
            ProcessState::Dropped => {
                let sentence =
                    format!("process {pid} has dropped the ring: the figures are its last ones");
                Self::plain(Kind::Dropped, sentence, "dropped")
            }
            ProcessState::Stopped => {
                let what =
                    format!("process {pid} is stopped, by SIGSTOP, a terminal or a debugger");
                stopped(Kind::Stopped, "stopped", what)
            }
            ProcessState::Running => Self::of_running(seen, throughput),
            // Also a state that is added later, in which the process certainly does not run.
            _ => {
                let what = format!(
                    "process {pid} has ended without dropping the ring: the figures are its last ones"
                );
                stopped(Kind::Ended, "ended", what)
            }
        }
    }

    fn of_running(seen: &Seen<'_>, throughput: Option<&Throughput>) -> Self {
        let snapshot = seen.snapshot;
        if let Some(stall) = snapshot.stall(seen.stall_after) {
            return Self {
                kind: Kind::Stalled,
                sentence: stall.to_string(),
                short: format!("stalled: {}", short_name(&stall.culprit)),
                culprit: Some(stall.culprit),
                at_least: Some(stall.at_least),
            };
        }
        if snapshot.state == RingState::Halted {
            return Self::halted(snapshot);
        }
        let is_finished = |stage: &StageSnapshot| stage.lag == 0;
        if snapshot.state == RingState::Closed && snapshot.stages.iter().all(is_finished) {
            let sentence = "the ring is closed, and every event is finished".to_owned();
            return Self::plain(Kind::Drained, sentence, "closed");
        }
        if let Some(limit) = throughput.and_then(Throughput::bottleneck) {
            return Self::limited(limit, snapshot);
        }
        if let Some(idle) = snapshot.idle(Duration::ZERO) {
            let at_least = Some(idle.at_least);
            return Self { at_least, ..Self::plain(Kind::Idle, idle.to_string(), "idle") };
        }
        if throughput.is_none() {
            let sentence = "the first snapshot: rates and verdicts need a second one".to_owned();
            return Self::plain(Kind::FirstLook, sentence, "first look");
        }
        let sentence = "nothing has stopped, and the two snapshots show no limit".to_owned();
        Self::plain(Kind::Unclear, sentence, "no limit seen")
    }

    fn halted(snapshot: &Snapshot) -> Self {
        let failed = snapshot.stages.iter().find(|stage| stage.state == StageState::Failed);
        let culprit = failed.map(|stage| Part::Stage { name: stage.name.clone() });
        let (sentence, short) = match failed {
            Some(StageSnapshot { name, sequence, .. }) => (
                format!("the ring is halted: stage {name:?} has failed, at sequence {sequence}"),
                format!("halted: {}", visible(name)),
            ),
            None => ("the ring is halted: it accepts no events".to_owned(), "halted".to_owned()),
        };
        Self { culprit, ..Self::plain(Kind::Halted, sentence, &short) }
    }

    fn limited(limit: &Part, snapshot: &Snapshot) -> Self {
        let (kind, sentence, short) = match limit {
            Part::Stage { name } => {
                let stage = snapshot.stages.iter().find(|stage| stage.name == *name);
                let depth = stage.map_or(0, |stage| stage.available);
                let events = counted(depth, "event is", "events are");
                let sentence = format!("{limit} limits the ring: {events} ready for it");
                (Kind::Limited, sentence, format!("limited by {}", visible(name)))
            }
            Part::Producers => {
                let sentence = "the producers limit the ring: the stages keep up".to_owned();
                (Kind::KeepsUp, sentence, "keeps up".to_owned())
            }
            _ => {
                let sentence = format!("{limit} limits the ring");
                (Kind::Limited, sentence, format!("limited by {}", short_name(limit)))
            }
        };
        Self { culprit: Some(limit.clone()), ..Self::plain(kind, sentence, &short) }
    }

    fn plain(kind: Kind, sentence: String, short: &str) -> Self {
        Self { kind, sentence, short: short.to_owned(), culprit: None, at_least: None }
    }
}

fn short_name(part: &Part) -> String {
    match part {
        Part::Stage { name } => visible(name),
        Part::Acknowledgement { stage } => format!("acks of {}", visible(stage)),
        Part::Claim => "an open claim".to_owned(),
        _ => "producers".to_owned(),
    }
}

/// What a process did when it ended or was stopped.
struct Then {
    sentence: String,
    culprit: Option<Part>,
}

impl Then {
    fn of(snapshot: &Snapshot) -> Self {
        let is_busy = |stage: &&StageSnapshot| {
            matches!(stage.state, StageState::InHandler | StageState::HasBatch)
        };
        let mut busy: Vec<_> = snapshot.stages.iter().filter(is_busy).collect();
        busy.sort_by_key(|stage| stage.sequence);
        let behind = snapshot.stages.iter().filter(|stage| stage.state != StageState::Left);
        // Of equal stages, the one furthest upstream.
        let behind = behind.rev().max_by_key(|stage| stage.lag).filter(|stage| stage.lag > 0);
        let part = |stage: &&StageSnapshot| Part::Stage { name: stage.name.clone() };
        let culprit = snapshot.bottleneck();
        let culprit = culprit.or_else(|| busy.first().or(behind.as_ref()).map(part));
        // The culprit is named first.
        let is_culprit = |stage: &&StageSnapshot| Some(part(stage)) == culprit;
        busy.sort_by_key(|stage| !is_culprit(stage));
        let mut parts: Vec<_> = busy.iter().take(NAMED).map(|stage| was_busy(stage)).collect();
        if busy.len() > NAMED {
            let more = (busy.len() - NAMED) as u64;
            parts.push(counted(more, "more stage was busy", "more stages were busy"));
        }
        if busy.is_empty() {
            parts.push(match behind {
                Some(stage) => format!("no stage was in its handler, and {}", was_behind(stage)),
                None => "every stage had finished all published events".to_owned(),
            });
        }
        if snapshot.published < snapshot.claimed {
            let claim = format!("sequence {} was claimed and not published", snapshot.published);
            parts.push(claim);
        }
        if snapshot.waiting_producers > 0 {
            let waited = counted(snapshot.waiting_producers, "producer", "producers");
            parts.push(format!("{waited} waited for a free slot"));
        }
        Self { sentence: parts.join("; "), culprit }
    }
}

fn was_busy(stage: &StageSnapshot) -> String {
    let StageSnapshot { name, sequence, lag, .. } = stage;
    let what =
        if stage.state == StageState::HasBatch { "held a batch" } else { "was in its handler" };
    let behind = counted(*lag, "event behind", "events behind");
    format!("stage {name:?} {what}, at sequence {sequence}, {behind}")
}

fn was_behind(stage: &StageSnapshot) -> String {
    let StageSnapshot { name, sequence, lag, state, .. } = stage;
    let behind = counted(*lag, "event behind", "events behind");
    format!("stage {name:?} was the furthest behind: {state}, at sequence {sequence}, {behind}")
}
