//! The records of runs of a given time: those of `lapwing channels` and `lapwing neighbours`.

use serde::Deserialize;

use super::{speed, time};

/// What both have in common. Keys of the cell that only one of them has are optional.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rates {
    /// The contender.
    pub(crate) contender: String,
    /// How its threads waited.
    pub(crate) wait: String,
    /// Which of Lapwing's consumers shared a thread.
    pub(crate) placement: Option<String>,
    /// What is counted; only of channels, as the four that follow.
    pub(crate) traffic: Option<String>,
    /// What was sent.
    pub(crate) payload: Option<String>,
    /// What else ran meanwhile.
    pub(crate) beside: Option<String>,
    /// Threads that sent.
    pub(crate) senders: Option<u64>,
    /// Slots of each channel.
    pub(crate) capacity: Option<u64>,
    /// The configuration; only of neighbours, as the slots of the ring.
    pub(crate) topology: Option<String>,
    /// Slots of the ring.
    pub(crate) ring: Option<u64>,
    /// Threads of another process that computed meanwhile.
    pub(crate) busy_threads: Option<u64>,
    /// Whether every answer was right.
    verified: bool,
    /// The median of the runs.
    pub(crate) median_per_second: f64,
    /// The quartiles of the runs.
    pub(crate) quartiles_per_second: [f64; 2],
    /// The median of the per-round ratio to the first of the cell.
    pub(crate) ratio_to_first: Option<f64>,
    /// Share of the runs below a tenth of the median.
    pub(crate) stalled_share: f64,
    /// CPUs that a run kept busy, and its context switches; none if the system did not tell.
    pub(crate) cpus: Option<f64>,
    pub(crate) voluntary_per_second: Option<f64>,
    pub(crate) involuntary_per_second: Option<f64>,
    /// The longest send of all runs; only where each was timed.
    pub(crate) longest_send_ns: Option<f64>,
    /// The least served sender by the most served one.
    pub(crate) fairness: Option<f64>,
}

impl Rates {
    /// Whether its answer was right.
    ///
    /// # Errors
    ///
    /// A figure that cannot be shown, and what is allowed.
    pub(super) fn check(&self) -> Result<bool, String> {
        speed("median_per_second", self.median_per_second)?;
        for quartile in self.quartiles_per_second {
            speed("quartiles_per_second", quartile)?;
        }
        time("longest_send_ns", self.longest_send_ns.unwrap_or(0.0))?;
        Ok(self.verified)
    }
}
