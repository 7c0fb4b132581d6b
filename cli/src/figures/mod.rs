//! What is shown of a ring, as plain data made from two snapshots. Not here: when they are taken
//! (`watch`), how they are shown (`json`, `table`, `screen`, `text`).

mod verdict;
mod waits;

mod stage;

#[cfg(test)]
pub(crate) mod tests;

use std::time::{Duration, SystemTime};

use lapwing::monitor::{Limits, Part, RingState, Snapshot, Throughput};
use lapwing::observe::ProcessState;

pub(crate) use stage::StageFigures;
use stage::per_second;
pub(crate) use verdict::{Kind, Verdict};
pub(crate) use waits::Awaited;

/// Which ring it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name of its file.
    pub(crate) name: String,
    /// The process that made it.
    pub(crate) pid: u32,
    /// When it was made.
    pub(crate) made_at: SystemTime,
}

/// What an observer has seen of a ring.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) process: ProcessState,
    pub(crate) at: SystemTime,
    pub(crate) snapshot: &'a Snapshot,
    /// The snapshot before, and what has passed through the ring since then.
    pub(crate) earlier: Option<(&'a Snapshot, &'a Throughput)>,
    /// What has limited the ring for the last time.
    pub(crate) limits: &'a Limits,
    /// From which duration on a part that stands still is a stall.
    pub(crate) stall_after: Duration,
}

/// The figures of a ring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    pub(crate) identity: Identity,
    /// The name of the ring, which may differ from that of its file.
    pub(crate) ring: String,
    pub(crate) process: ProcessState,
    pub(crate) at: SystemTime,
    /// The time between the two snapshots; `None` with a single one.
    pub(crate) interval: Option<Duration>,
    pub(crate) state: RingState,
    pub(crate) capacity: usize,
    pub(crate) held_slots: usize,
    pub(crate) published: u64,
    pub(crate) claimed: u64,
    pub(crate) dropped: u64,
    pub(crate) waiting_producers: u64,
    pub(crate) published_per_second: Option<f64>,
    pub(crate) dropped_per_second: Option<f64>,
    pub(crate) claim_held_for: Option<Duration>,
    pub(crate) idle_for: Option<Duration>,
    /// What producers that wait wait for.
    pub(crate) producers_wait_for: Vec<Awaited>,
    pub(crate) verdict: Verdict,
    /// What limited the ring between the two snapshots.
    pub(crate) limited_by: Option<Part>,
    /// What has limited it for the last time, the longest first.
    pub(crate) shares: Vec<Share>,
    /// This time.
    pub(crate) shares_over: Duration,
    pub(crate) stages: Vec<StageFigures>,
}

/// For how long a part has limited the ring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Share {
    /// `None` for the time that shows no limit.
    pub(crate) part: Option<Part>,
    /// From 0 to 1.
    pub(crate) share: f64,
}

impl Figures {
    pub(crate) fn of(seen: &Seen<'_>) -> Self {
        let Seen { snapshot, identity, limits, .. } = *seen;
        // A process that has ended has no rate.
        let lives = matches!(seen.process, ProcessState::Running | ProcessState::Stopped);
        let earlier = seen.earlier.filter(|_| lives);
        let throughput = earlier.map(|(_, throughput)| throughput);
        let verdict = Verdict::of(seen, throughput);
        let dropped = |since: &Throughput| per_second(since.dropped, since.elapsed);
        let culprit = verdict.culprit.clone();
        let share = |share: &&lapwing::monitor::LimitShare| Share {
            part: share.limit.clone(),
            share: share.share(),
        };
        let shares = limits.shares();
        Self {
            identity: identity.clone(),
            ring: snapshot.ring.clone(),
            process: seen.process,
            at: seen.at,
            interval: throughput.map(|throughput| throughput.elapsed),
            state: snapshot.state,
            capacity: snapshot.capacity,
            held_slots: snapshot.held_slots(),
            published: snapshot.published,
            claimed: snapshot.claimed,
            dropped: snapshot.dropped,
            waiting_producers: snapshot.waiting_producers,
            published_per_second: throughput.map(Throughput::published_per_second),
            dropped_per_second: throughput.map(dropped),
            claim_held_for: snapshot.claim_held_for.filter(|_| lives),
            idle_for: snapshot.idle_for.filter(|_| lives),
            producers_wait_for: waits::of_producers(snapshot),
            verdict,
            limited_by: throughput.and_then(|throughput| throughput.bottleneck().cloned()),
            shares: shares.iter().map(share).collect(),
            shares_over: shares.iter().map(|share| share.elapsed).sum(),
            stages: stage::all(snapshot, earlier, culprit.as_ref(), lives),
        }
    }
}
