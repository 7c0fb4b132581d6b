//! The records of `lapwing idle`.

use serde::Deserialize;

use super::{speed, time};

/// The maximum CPU time in percent of one CPU: that of a million CPUs.
const MAX_PERCENT: f64 = 1e8;

/// The cost of waiting under a load.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Idle {
    /// The contender that waited.
    pub(crate) contender: String,
    /// How.
    pub(crate) wait: String,
    /// The placement of Lapwing's consumers on threads.
    pub(crate) placement: Option<String>,
    /// Their graph.
    pub(crate) topology: String,
    /// The number of waiting consumers.
    pub(crate) consumers: u64,
    /// Intended events per second.
    pub(crate) offered_per_second: u64,
    /// Whether every answer was right.
    verified: bool,
    /// CPU time without the sender's, or `None` if the system did not report it.
    pub(crate) cpu_percent: Option<f64>,
    /// The sender's.
    pub(crate) sender_cpu_percent: Option<f64>,
    /// The number of wake-ups.
    pub(crate) wakes_per_second: Option<f64>,
    /// Preemptions and yields per second.
    pub(crate) involuntary_per_second: Option<f64>,
    /// The median delay, or `None` without a load.
    pub(crate) p50_ns: Option<f64>,
    /// 99 %.
    pub(crate) p99_ns: Option<f64>,
}

/// The delay of an event to consumers that are parked.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LoneEvent {
    /// The contender that carried it.
    pub(crate) contender: String,
    /// The wait of the consumers.
    pub(crate) wait: String,
    /// The placement of Lapwing's consumers on threads.
    pub(crate) placement: Option<String>,
    /// The number of waiting consumers.
    pub(crate) consumers: u64,
    /// Whether every consumer received every event.
    verified: bool,
    /// The time at which half of the consumers had it.
    pub(crate) half_ns: f64,
    /// The time at which the last one had it.
    pub(crate) last_ns: f64,
    /// Both relative to a bare wake.
    pub(crate) half_times_bare: Option<f64>,
    pub(crate) last_times_bare: Option<f64>,
}

impl Idle {
    /// Checks that its answer was right and that its figures can be drawn.
    ///
    /// # Errors
    ///
    /// The figure that cannot be drawn, and the allowed values.
    pub(super) fn check(&self) -> Result<bool, String> {
        for (name, percent) in
            [("cpu_percent", self.cpu_percent), ("sender_cpu_percent", self.sender_cpu_percent)]
        {
            let percent = percent.unwrap_or(0.0);
            if !(0.0..=MAX_PERCENT).contains(&percent) {
                return Err(format!("must be in 0..={MAX_PERCENT:e}: {name}={percent}"));
            }
        }
        for ns in [self.p50_ns, self.p99_ns] {
            time("nanoseconds", ns.unwrap_or(0.0))?;
        }
        Ok(self.verified)
    }
}

impl LoneEvent {
    /// Checks that its answer was right and that its figures can be drawn.
    ///
    /// # Errors
    ///
    /// The figure that cannot be drawn, and the allowed values.
    pub(super) fn check(&self) -> Result<bool, String> {
        time("half_ns", self.half_ns)?;
        time("last_ns", self.last_ns)?;
        for ratio in [self.half_times_bare, self.last_times_bare].into_iter().flatten() {
            speed("times_bare", ratio)?;
        }
        Ok(self.verified)
    }
}
