//! One run: the result of a contender, before and after the check of its answer.

use std::time::Duration;

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
