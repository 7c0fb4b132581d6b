//! One run: as a contender hands it in, and as it counts once its answer is checked.

use std::time::Duration;

use serde::Serialize;

use crate::crew::Answers;

/// One run of one contender that came to its end; its answers are not checked yet.
#[derive(Debug)]
pub(crate) struct Pass {
    /// From the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// The answers of the consumers, in the order that the benchmark expects.
    pub(crate) answers: Answers,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
}

/// One timed run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Run {
    /// Events of all producers, per second of the whole run.
    pub(crate) events_per_second: f64,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
}

impl Run {
    /// What a run of `events` was like.
    pub(crate) fn new(events: u32, pass: &Pass) -> Self {
        Self {
            events_per_second: f64::from(events) / pass.elapsed.as_secs_f64(),
            events_per_batch: pass.events_per_batch,
        }
    }
}
