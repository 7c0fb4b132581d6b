//! One run: the result of a contender, and its figures after the check of its answer.

use std::time::Duration;

use serde::Serialize;

use crate::measure::crew::{Answers, Finish};
use crate::measure::error::Error;

/// One completed run of one contender. Its answers are not checked yet.
#[derive(Debug)]
pub(crate) struct Pass {
    /// The time from the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// CPU time of all threads during the run, or `None` if the system does not report it.
    pub(crate) cpu_time: Option<Duration>,
    /// The answers of the consumers, in the order that the benchmark expects.
    pub(crate) answers: Answers,
    /// Mean number of events that a consumer receives at once.
    pub(crate) events_per_batch: f64,
}

impl Pass {
    /// Returns the pass of a contender that hands over one event at a time.
    pub(crate) fn one_by_one(finish: Finish) -> Self {
        let Finish { elapsed, cpu_time, answers, .. } = finish;
        Self { elapsed, cpu_time, answers, events_per_batch: 1.0 }
    }

    /// Returns the pass of consumers with these `answers`, each of which received `events` in
    /// `batches` batches.
    pub(crate) fn in_batches(
        finish: Finish,
        answers: Answers,
        events: u32,
        batches: &[u64],
    ) -> Self {
        let handed_over = f64::from(events) * batches.len() as f64;
        let all_batches = batches.iter().sum::<u64>();
        let events_per_batch = handed_over / all_batches.max(1) as f64;
        Self { answers, events_per_batch, ..Self::one_by_one(finish) }
    }

    /// Returns this pass, of `contender` over `events` in `topology`, if its answers are right.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAnswer`] if the answers are not `expected`.
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
    /// Events of all producers, per second of the whole run. The benchmark defines what an event
    /// counts for.
    pub(crate) events_per_second: f64,
    /// Mean number of events that a consumer receives at once.
    pub(crate) events_per_batch: f64,
    /// Mean number of CPUs in use, or `None` if the system does not report CPU time.
    pub(crate) cpus: Option<f64>,
}

impl Run {
    /// Returns the figures of a run of `events`, each of which counts for `operations_per_event`.
    pub(crate) fn new(events: u32, operations_per_event: u32, pass: &Pass) -> Self {
        let seconds = pass.elapsed.as_secs_f64();
        let operations = f64::from(events) * f64::from(operations_per_event);
        Self {
            events_per_second: operations / seconds,
            events_per_batch: pass.events_per_batch,
            cpus: pass.cpu_time.map(|time| time.as_secs_f64() / seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_for_its_operations() {
        let pass = Pass {
            elapsed: Duration::from_secs(2),
            cpu_time: Some(Duration::from_secs(3)),
            answers: Answers::new(),
            events_per_batch: 1.0,
        };
        let run = Run::new(10, 2, &pass);
        assert_eq!((run.events_per_second, run.cpus), (10.0, Some(1.5)));
        assert_eq!(Run::new(10, 1, &pass).events_per_second, 5.0);
    }
}
