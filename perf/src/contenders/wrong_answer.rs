//! A contender that lies, hidden from the help: it shows that the command refuses a wrong answer
//! instead of reporting a speed.

use std::time::Duration;

use super::contender::Contender;
use crate::crew::RunError;
use crate::run::Pass;
use crate::topologies::Topology;
use crate::workload::Workload;

/// Answers as if one event had been damaged, and claims to have been fast.
pub(super) struct WrongAnswer;

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
        Ok(Pass { elapsed: Duration::from_secs(1), answers, events_per_batch: 1.0 })
    }

    fn ping_pong(&self, _: usize, _: u32) -> Result<Pass, RunError> {
        Ok(Pass { elapsed: Duration::from_secs(1), answers: vec![0], events_per_batch: 1.0 })
    }
}
