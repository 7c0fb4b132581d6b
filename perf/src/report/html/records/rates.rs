//! The records of runs with a fixed length: those of `lapwing channels` and `lapwing neighbours`.

use serde::Deserialize;

use super::{speed, time};

/// The common part of both. Keys of the cell that only one of them has are optional.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rates {
    /// The contender.
    pub(crate) contender: String,
    /// The wait of its threads.
    pub(crate) wait: String,
    /// The placement of Lapwing's consumers on threads.
    pub(crate) placement: Option<String>,
    /// The counted traffic; only of channels, as the next four keys.
    pub(crate) traffic: Option<String>,
    /// The payload.
    pub(crate) payload: Option<String>,
    /// The other load of the machine.
    pub(crate) beside: Option<String>,
    /// The number of senders.
    pub(crate) senders: Option<u64>,
    /// Slots of each channel.
    pub(crate) capacity: Option<u64>,
    /// The configuration; only of neighbours, as the slots of the ring.
    pub(crate) topology: Option<String>,
    /// Slots of the ring.
    pub(crate) ring: Option<u64>,
    /// Busy threads of another process during the runs.
    pub(crate) busy_threads: Option<u64>,
    /// Whether every answer was right.
    verified: bool,
    /// The median of the runs.
    pub(crate) median_per_second: f64,
    /// The quartiles of the runs.
    pub(crate) quartiles_per_second: [f64; 2],
    /// The median of the per-round ratios to the fastest row of the cell.
    pub(crate) ratio_to_first: Option<f64>,
    /// Share of the runs below a tenth of the median.
    pub(crate) stalled_share: f64,
    /// CPUs in use, and context switches, or `None` if the system did not report them.
    pub(crate) cpus: Option<f64>,
    pub(crate) voluntary_per_second: Option<f64>,
    pub(crate) involuntary_per_second: Option<f64>,
    /// The longest send of all runs, if each was timed.
    pub(crate) longest_send_ns: Option<f64>,
    /// Values of the least served sender divided by those of the most served one.
    pub(crate) fairness: Option<f64>,
}

impl Rates {
    /// Checks that its answer was right and that its figures can be shown.
    ///
    /// # Errors
    ///
    /// The figure that cannot be shown, and the allowed values.
    pub(super) fn check(&self) -> Result<bool, String> {
        speed("median_per_second", self.median_per_second)?;
        for quartile in self.quartiles_per_second {
            speed("quartiles_per_second", quartile)?;
        }
        time("longest_send_ns", self.longest_send_ns.unwrap_or(0.0))?;
        Ok(self.verified)
    }
}
