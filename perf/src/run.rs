//! One run: as a contender hands it in, and as it counts once its answer is checked.

use std::time::Duration;

use serde::Serialize;

use crate::crew::{Answers, Finish};
use crate::error::Error;

/// One run of one contender that came to its end; its answers are not checked yet.
#[derive(Debug)]
pub(crate) struct Pass {
    /// From the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// CPU time of all threads meanwhile; none if the system does not tell.
    pub(crate) cpu_time: Option<Duration>,
    /// The answers of the consumers, in the order that the benchmark expects.
    pub(crate) answers: Answers,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
}

impl Pass {
    /// The pass of a contender that hands over one event at a time.
    pub(crate) fn one_by_one(finish: Finish) -> Self {
        let Finish { elapsed, cpu_time, answers } = finish;
        Self { elapsed, cpu_time, answers, events_per_batch: 1.0 }
    }

    /// This pass, of `contender` over `events` in `topology`, if its answers are right.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAnswer`] if they are not `expected`.
    pub(crate) fn checked(
        self,
        topology: &'static str,
        contender: &'static str,
        events: u32,
        expected: &Answers,
    ) -> Result<Self, Error> {
        if self.answers == *expected {
            return Ok(self);
        }
        let (expected, found) = (expected.clone(), self.answers);
        Err(Error::WrongAnswer { topology, contender, events, expected, found })
    }
}

/// One timed run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Run {
    /// Events of all producers, per second of the whole run.
    pub(crate) events_per_second: f64,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
    /// CPUs that the run kept busy, as a mean; none if the system does not tell.
    pub(crate) cpus: Option<f64>,
}

impl Run {
    /// What a run of `events` was like.
    pub(crate) fn new(events: u32, pass: &Pass) -> Self {
        let seconds = pass.elapsed.as_secs_f64();
        Self {
            events_per_second: f64::from(events) / seconds,
            events_per_batch: pass.events_per_batch,
            cpus: pass.cpu_time.map(|time| time.as_secs_f64() / seconds),
        }
    }
}
