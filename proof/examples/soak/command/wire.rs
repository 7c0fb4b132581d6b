//! The lines that the child prints and the parent reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A line, as JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The child is at work.
    Beat(State),
    /// A violation, which ends the child.
    Violation {
        /// What it is, and in which ring.
        text: String,
        /// The rings that ran, with a snapshot of each monitor.
        snapshots: String,
        /// The figures until then.
        state: State,
    },
    /// The time is over.
    Done(State),
}

/// The figures of a soak.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct State {
    /// Events that producers were told are accepted.
    pub(super) events: u64,
    /// Events that consumers have checked.
    pub(super) checked: u64,
    /// Rings and channels that were built.
    pub(super) rings: u64,
    /// Faults by kind.
    pub(super) faults: BTreeMap<String, u64>,
    /// Events by topology.
    pub(super) topologies: BTreeMap<String, u64>,
    /// The longest stall that no fault explains, in milliseconds.
    pub(super) longest_stall_ms: u64,
    /// The same, while CPUs were taken away or busy threads ran.
    pub(super) longest_crowded_stall_ms: u64,
    /// Resident memory, in bytes.
    pub(super) resident_bytes: Option<u64>,
    /// Growth of the resident memory since the warm-up, in bytes.
    pub(super) growth_bytes: Option<i64>,
}
