//! What a stage, or a producer, waits for. A monitor does not record it: it follows from the sequences.

use std::fmt;

use lapwing::monitor::{RingState, Snapshot, StageSnapshot, StageState};

use crate::words::visible;

/// What is awaited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// That producers publish events.
    Publication,
    /// That a claim of one of several producers is published or given up.
    Claim,
    /// That this stage goes on.
    Stage(String),
    /// That the events of this stage are acknowledged.
    Acknowledgement(String),
    /// That this stage gives the thread back, which both share.
    Thread(String),
    /// That the program polls it.
    Poll,
    /// That the program drops the batch that it polled.
    DropOfBatch,
    /// That a thread runs it.
    Start,
    /// That its time to try again comes.
    Retry,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publication => f.write_str("events"),
            Self::Claim => f.write_str("an open claim"),
            Self::Stage(name) => f.write_str(&visible(name)),
            Self::Acknowledgement(name) => write!(f, "acks of {}", visible(name)),
            Self::Thread(name) => write!(f, "thread of {}", visible(name)),
            Self::Poll => f.write_str("its poll"),
            Self::DropOfBatch => f.write_str("its program"),
            Self::Start => f.write_str("its start"),
            Self::Retry => f.write_str("its retry"),
        }
    }
}

/// Returns what `stage` waits for; nothing if it works or has ended.
pub(super) fn of(snapshot: &Snapshot, stage: &StageSnapshot) -> Vec<Awaited> {
    match stage.state {
        StageState::NotStarted => vec![Awaited::Start],
        StageState::Pausing => vec![Awaited::Retry],
        StageState::HasBatch => vec![Awaited::DropOfBatch],
        StageState::NotAsked if stage.available > 0 => vec![Awaited::Poll],
        StageState::Waiting | StageState::Parked | StageState::NotAsked => {
            let has_event = stage.available > 0;
            if has_event { thread_holder(snapshot, stage) } else { before(snapshot, stage) }
        }
        _ => Vec::new(),
    }
}

/// Returns what producers wait for, if one waits: the parts that hold the oldest slot.
pub(super) fn of_producers(snapshot: &Snapshot) -> Vec<Awaited> {
    if snapshot.waiting_producers == 0 {
        return Vec::new();
    }
    let there = snapshot.stages.iter().filter(|stage| stage.state != StageState::Left);
    let holders = furthest_behind(there.collect());
    if holders.is_empty() && snapshot.published < snapshot.claimed {
        return vec![Awaited::Claim];
    }
    // A stage that depends on another holder only waits for it.
    let is_held =
        |stage: &&&StageSnapshot| holders.iter().any(|other| stage.upstream.contains(&other.name));
    let first: Vec<_> = holders.iter().filter(|stage| !is_held(stage)).collect();
    if first.iter().all(|stage| stage.available == 0 && end_of(stage) == snapshot.published)
        && snapshot.published < snapshot.claimed
    {
        return vec![Awaited::Claim];
    }
    first.into_iter().map(|stage| awaited(stage)).collect()
}

/// Returns what has to go on before `stage` has an event.
fn before(snapshot: &Snapshot, stage: &StageSnapshot) -> Vec<Awaited> {
    if stage.sequence < snapshot.published {
        let upstream = upstream(snapshot, stage);
        return furthest_behind(upstream).into_iter().map(awaited).collect();
    }
    match snapshot.state {
        _ if snapshot.published < snapshot.claimed => vec![Awaited::Claim],
        RingState::Open | RingState::Closing => vec![Awaited::Publication],
        _ => Vec::new(),
    }
}

/// Returns the stages that `stage` depends on. One that has left is replaced by those before it.
fn upstream<'a>(snapshot: &'a Snapshot, stage: &StageSnapshot) -> Vec<&'a StageSnapshot> {
    let named = |name: &String| snapshot.stages.iter().find(|other| other.name == *name);
    let mut found: Vec<&StageSnapshot> = Vec::new();
    let mut open: Vec<_> = stage.upstream.iter().filter_map(named).collect();
    while let Some(next) = open.pop() {
        if next.state == StageState::Left {
            open.extend(next.upstream.iter().filter_map(named));
        } else if !found.iter().any(|known| known.name == next.name) {
            found.push(next);
        }
    }
    found.sort_by_key(|stage| snapshot.stages.iter().position(|other| other.name == stage.name));
    found
}

/// Returns those of `stages` that have released the fewest events.
fn furthest_behind(stages: Vec<&StageSnapshot>) -> Vec<&StageSnapshot> {
    let least = stages.iter().map(|stage| end_of(stage)).min();
    stages.into_iter().filter(|stage| Some(end_of(stage)) == least).collect()
}

/// The first sequence that a stage has not released.
fn end_of(stage: &StageSnapshot) -> u64 {
    stage.acknowledged.unwrap_or(stage.sequence)
}

fn awaited(stage: &StageSnapshot) -> Awaited {
    let is_unacknowledged = stage.acknowledged.is_some_and(|end| end < stage.sequence);
    let kind = if is_unacknowledged { Awaited::Acknowledgement } else { Awaited::Stage };
    kind(stage.name.clone())
}

/// Returns the stage that occupies the thread of a stage that has an event.
fn thread_holder(snapshot: &Snapshot, stage: &StageSnapshot) -> Vec<Awaited> {
    let threads = |stage: &StageSnapshot| -> Vec<String> {
        let threads = stage.thread.iter().flat_map(|threads| threads.split(", "));
        threads.map(str::to_owned).collect()
    };
    let own = threads(stage);
    let is_holder = |other: &&StageSnapshot| {
        other.state == StageState::InHandler
            && other.name != stage.name
            && threads(other).iter().any(|thread| own.contains(thread))
    };
    let holder = snapshot.stages.iter().find(is_holder);
    holder.map(|holder| Awaited::Thread(holder.name.clone())).into_iter().collect()
}
