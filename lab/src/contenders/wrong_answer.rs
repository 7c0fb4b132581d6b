//! A contender with wrong answers, hidden from the help. It tests that the command refuses a wrong
//! answer and reports no speed.

use std::time::Duration;

use super::contender::{Contender, Entry, Shares};
use crate::load::exchange::Exchange;
use crate::load::paced::{Delays, Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, RunError};
use crate::measure::run::Pass;

/// Returns the contender.
pub(super) fn entry() -> Entry {
    Entry::only(Box::new(WrongAnswer))
}

/// Answers as if one event were damaged, and claims a high speed.
struct WrongAnswer;

impl Contender for WrongAnswer {
    fn name(&self) -> &'static str {
        "wrong-answer"
    }

    fn wait(&self) -> &'static str {
        "none"
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        let mut answers = topology.expected(workload);
        if let Some(last) = answers.last_mut() {
            *last ^= 1;
        }
        Ok(pass(answers))
    }

    fn ping_pong(&self, _: usize, _: Exchange) -> Result<Pass, RunError> {
        Ok(pass(vec![0]))
    }

    fn paced(&self, _: &Pace) -> Result<Paced, RunError> {
        let Pass { elapsed, cpu_time, answers, .. } = pass(vec![0]);
        Ok(Paced { elapsed, cpu_time, answers, delays: Delays::new() })
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}

impl Shares for WrongAnswer {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        let mut answers = sharing.expected();
        answers[0] -= 1;
        Ok(pass(answers))
    }
}

/// Returns a run that claims to have taken a second.
fn pass(answers: Answers) -> Pass {
    Pass { elapsed: Duration::from_secs(1), cpu_time: None, answers, events_per_batch: 1.0 }
}
