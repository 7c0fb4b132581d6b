//! Judges each event at once, so that a run may have any number of them. Not here: what a consumer sees
//! (`sentry`), and how the run must have ended (`judge`).

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use lapwing::consumer::{Failure, FailurePolicy};
use lapwing::{Action, Sequence};

use super::board::{Board, Count, Entry, locked};
use super::checker::{Checker, Place};
use super::event::{CLEAR, Event, Payload};
use super::facts::Facts;
use super::faults::Fault;
use super::program::{Form, Policy, Program};
use super::sentry::{Post, Sentry};
use super::will::decide;
use super::witness::{Observer, Pen};

/// A run that is judged in line.
#[derive(Clone)]
pub(super) struct InLine(pub(super) Arc<Facts>);

impl InLine {
    pub(super) fn new(program: &Arc<Program>, board: &Arc<Board>, entry: Entry, seed: u64) -> Self {
        Self(Arc::new(Facts::new(program, board, entry, seed)))
    }
}

impl Observer for InLine {
    type Witness = Sentry;
    type Policy = Plain;
    type Pen = CheckingPen;

    fn witness(&self, stage: usize, worker: usize) -> Sentry {
        let program = &self.0.program;
        let plan = &program.stages[stage];
        let is_group = plan.is_group();
        let keys = matches!(plan.form, Form::Workers { by_key: true, .. });
        let keys = keys.then(|| Arc::clone(&self.0.stages[stage].keys));
        let checker = Checker::new(self.0.seed, program, Place::of_stage(program, stage));
        let checker = if is_group { checker.of_group(keys) } else { checker };
        Sentry::new(&self.0, Post::Stage { stage, worker, is_group }, checker)
    }

    fn guest(&self, number: usize, start: Sequence) -> Sentry {
        let program = &self.0.program;
        let checker = Checker::new(self.0.seed, program, Place::of_guest(program));
        Sentry::new(&self.0, Post::Guest { number, start }, checker.joining(start))
    }

    fn policy(&self, _: usize, policy: Policy) -> Plain {
        Plain(policy)
    }

    fn pen(&self, lane: usize) -> CheckingPen {
        let program = &self.0.program;
        let clear = program.clears.then_some(CLEAR);
        let finals = (0..program.stages.len()).chain(clear).collect();
        let published = self.0.entry.publisher();
        let run = Arc::clone(&self.0);
        let (lane, wrong) = (lane as u32, None);
        CheckingPen { run, finals, published, lane, next: 0, filled: 0, wrong }
    }

    fn seed(&self) -> u64 {
        self.0.seed
    }

    fn stops(&self, stage: usize) {
        // The other workers of a group go on.
        if !self.0.program.stages[stage].is_group() {
            self.0.leave(stage);
        }
    }

    fn injected(&self, fault: Fault) {
        self.0.board.injected(fault);
    }

    fn steps(&self) -> u64 {
        0 // the board watches
    }

    fn is_over(&self) -> Option<bool> {
        Some(self.0.is_over())
    }
}

/// A policy that does nothing else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain(Policy);

impl FailurePolicy for Plain {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        decide(self.0, failure)
    }
}

/// Judges what a producer finds in its slots.
pub(super) struct CheckingPen {
    run: Arc<Facts>,
    /// The stages that must have finished a slot.
    finals: Vec<usize>,
    published: Arc<Count>,
    lane: u32,
    /// The number of its next event.
    next: u64,
    filled: u64,
    /// What is wrong with a slot, if the call succeeds. In a halted ring, a producer may get a slot
    /// that no stage will read, and is then refused.
    wrong: Option<String>,
}

impl Pen for CheckingPen {
    fn begin(&mut self) {
        (self.filled, self.wrong) = (0, None);
    }

    #[inline]
    fn fill(&mut self, slot: &mut Event) {
        if slot.is_event() {
            for &stage in &self.finals {
                if !slot.has_mark(stage) && !self.run.has_left(stage) {
                    let payload = slot.payload();
                    self.wrong = Some(format!("{payload:x?} is overwritten before {stage} has it"));
                }
            }
        }
        slot.fill(Payload::new(self.run.seed, self.lane, self.next + self.filled));
        self.filled += 1;
    }

    fn accept(&mut self, sequences: Range<Sequence>, _: usize) {
        let events = sequences.end - sequences.start;
        if events != self.filled {
            let wrong = format!("{} slots were filled, {sequences:?} accepted", self.filled);
            self.wrong = Some(wrong);
        }
        if let Some(wrong) = self.wrong.take() {
            self.run.refuse(&wrong, "a producer");
        }
        self.next += events;
        self.published.add(events);
    }

    fn give_up(&mut self, _: Range<Sequence>) {}

    fn sleep(&mut self, time: Duration) {
        self.run.board.stall(time);
    }
}

impl Drop for CheckingPen {
    fn drop(&mut self) {
        locked(&self.run.accepted)[self.lane as usize] = self.next;
    }
}
