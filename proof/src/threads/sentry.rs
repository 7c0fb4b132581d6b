//! Judges what one consumer sees, at once: each event once, in order, whole, and after the stages
//! upstream. Not here: what follows from what a handler does (`past`), and what the workers of a group
//! share (`tally`).

use std::ops::Range;
use std::sync::Arc;

use lapwing::{Action, Sequence};

use super::board::{Count, locked};
use super::checker::{Checker, Next};
use super::event::{Event, Payload};
use super::facts::Facts;
use super::faults::Fault;
use super::past::{Effect, Ending, Past, Reactions};
use super::program::{Policy, Program, Verdict};
use super::tally::{Tally, sums};
use super::will::Will;
use super::witness::{Call, Told, Witness};

/// Where a sentry stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Post {
    Stage { stage: usize, worker: usize, is_group: bool },
    Guest { number: usize, start: Sequence },
}

impl Post {
    fn start(self, program: &Program) -> Sequence {
        match self {
            Self::Stage { .. } => program.first,
            Self::Guest { start, .. } => start,
        }
    }

    /// The stage, if a mark of it is left on events.
    fn stage(self) -> Option<usize> {
        if let Self::Stage { stage, .. } = self { Some(stage) } else { None }
    }

    fn is_group(self) -> bool {
        matches!(self, Self::Stage { is_group: true, .. })
    }
}

/// Judges what a consumer sees.
pub(super) struct Sentry {
    run: Arc<Facts>,
    post: Post,
    checker: Checker,
    /// The next numbers at the first event that is not released, and before the last event.
    released: Next,
    before: Next,
    /// The events that were seen since the last release.
    batch: Range<Sequence>,
    /// Of a worker: the same events.
    pending: Vec<Payload>,
    tally: Tally,
    ticks: u64,
    reactions: Reactions,
    past: Past,
    handled: Arc<Count>,
}

impl Sentry {
    /// A sentry of a run.
    pub(super) fn new(run: &Arc<Facts>, post: Post, checker: Checker) -> Self {
        let start = post.start(&run.program);
        let (on_error, on_panic) = match post {
            Post::Stage { stage, .. } => {
                let plan = &run.program.stages[stage];
                (plan.on_error, plan.on_panic)
            }
            Post::Guest { .. } => (Policy::None, Policy::None),
        };
        Self {
            handled: run.entry.handler(),
            run: Arc::clone(run),
            post,
            released: checker.next(),
            before: checker.next(),
            checker,
            batch: start..start,
            pending: Vec::new(),
            tally: Tally::default(),
            ticks: 0,
            reactions: Reactions::new(on_error, on_panic),
            past: Past::new(start),
        }
    }

    #[cold]
    fn refuse(&self, wrong: &str) {
        self.run.refuse(wrong, &format!("{:?}", self.post));
    }

    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// Notes that `sequences` come next, which must follow those of their batch.
    #[inline]
    fn go_on(&mut self, sequences: Range<Sequence>) {
        let is_next = if self.batch.is_empty() {
            self.batch.start = sequences.start;
            self.post.is_group() || self.past.next <= sequences.start
        } else {
            self.batch.end == sequences.start
        };
        if !is_next {
            self.refuse(&format!(
                "{sequences:?} follows {:?}, next={}",
                self.batch, self.past.next
            ));
        }
        self.batch.end = sequences.end;
    }

    #[inline]
    fn look(&mut self, event: &Event, sequence: Sequence) {
        if self.post.is_group() {
            self.pending.push(event.payload());
        }
        let run = &self.run;
        if let Err(wrong) = self.checker.one(event, sequence, &|stage| run.has_left(stage)) {
            self.refuse(&wrong);
        }
        self.handled.add(1);
    }

    #[inline]
    fn look_at_all(&mut self, events: &[Event], first: Sequence) {
        let run = &self.run;
        if let Err(wrong) = self.checker.slice(events, first, &|stage| run.has_left(stage)) {
            self.refuse(&wrong);
        }
        self.handled.add(events.len() as u64);
    }

    /// The batch is finished.
    #[inline]
    fn finish(&mut self) {
        self.settle(&Effect::of_all(self.batch.clone()));
    }

    /// What follows from a verdict at the event `at` about the events from `from` on.
    #[cold]
    fn follow(&mut self, verdict: Verdict, at: Sequence, from: Sequence) {
        match verdict {
            Verdict::Fails => self.run.board.injected(Fault::Error),
            Verdict::Panics => self.run.board.injected(Fault::Panic),
            _ => {}
        }
        let events = from..self.batch.end;
        let (effect, _) = self.reactions.follow(verdict, at, events, self.batch.start);
        self.settle(&effect);
        if self.past.has_left() {
            self.leave();
        } else if effect.outcome.is_some() {
            self.run.board.injected(Fault::Halt);
        }
    }

    /// Notes that it is about to leave. The other workers of a group go on.
    fn leave(&self) {
        self.run.board.injected(Fault::Left);
        if let Post::Stage { stage, is_group: false, .. } = self.post {
            self.run.leave(stage);
        }
    }

    /// What has become of the batch.
    #[inline]
    fn settle(&mut self, effect: &Effect) {
        self.past.add(effect);
        let next = effect.finished.end;
        if next < self.batch.end {
            let at = if next == self.batch.start { self.released } else { self.before };
            self.checker.go_back(at, self.batch.end);
        }
        if self.post.is_group() {
            self.share((next - self.batch.start) as usize);
        }
        self.released = self.checker.next();
        self.batch = next..next;
    }

    /// A worker has finished the first events of its batch. Others may get the rest.
    fn share(&mut self, finished: usize) {
        for payload in &self.pending[..finished] {
            self.tally[payload.lane as usize].add(payload.number);
        }
        for &payload in self.pending[finished..].iter().rev() {
            self.checker.take_back(payload);
        }
        self.pending.clear();
    }
}

impl Witness for Sentry {
    #[inline]
    fn event(&mut self, event: &Event, told: Told, will: &mut Will) -> Verdict {
        let Told { sequence, is_last, .. } = told;
        self.go_on(sequence..sequence + 1);
        self.before = self.checker.next();
        self.look(event, sequence);
        let tick = self.tick();
        let verdict = will.decide(sequence, tick, |time| self.run.sleep(time));
        if !verdict.continues() {
            self.follow(verdict, sequence, sequence);
            // Another worker may get the event.
            if self.post.is_group() && self.past.next <= sequence {
                self.post.stage().into_iter().for_each(|stage| event.unmark(stage));
            }
        } else if is_last {
            self.finish();
        }
        verdict
    }

    #[inline]
    fn batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        _: bool,
        will: &mut Will,
    ) -> (Verdict, Sequence) {
        let end = first + events.len() as u64;
        self.go_on(first..end);
        let mut decided = (Verdict::Says(Action::Continue), first);
        if will.is_quiet(first..end) {
            self.look_at_all(events, first);
            let tick = self.tick();
            will.pause(tick, |time| self.run.sleep(time));
            self.finish();
            return decided;
        }
        for (event, sequence) in events.iter().zip(first..) {
            if decided.0.continues() {
                self.before = self.checker.next();
            }
            self.look(event, sequence);
            if decided.0.continues() {
                let tick = self.tick();
                let verdict = will.decide(sequence, tick, |time| self.run.sleep(time));
                decided = (verdict, sequence);
            }
        }
        if decided.0.continues() {
            self.finish();
        } else {
            // A handler has said which events are done, a closure has not.
            let Post::Stage { stage, .. } = self.post else { unreachable!("guests get events") };
            let is_handler = self.run.program.stages[stage].is_handler();
            self.follow(decided.0, decided.1, if is_handler { decided.1 } else { first });
        }
        decided
    }

    fn polled(
        &mut self,
        events: &[Event],
        first: Sequence,
        _: impl Fn(Sequence) -> bool,
        consumed: usize,
    ) {
        self.go_on(first..first + consumed as u64);
        self.look_at_all(&events[..consumed], first);
        self.finish();
    }

    fn call(&mut self, call: Call) {
        match call {
            Call::Closed => self.past.end = Ending::Closed,
            Call::Halted(cause) => self.past.end = Ending::Halted(cause),
            Call::Left => {
                self.past.end = Ending::Left;
                self.leave();
            }
            // A release says how far; it also passes claims that were given up.
            Call::Released(next) | Call::Timeout(next)
                if !self.post.is_group() && next < self.past.next =>
            {
                self.refuse(&format!("released up to {next}, next={}", self.past.next));
            }
            _ => {}
        }
    }
}

impl Drop for Sentry {
    /// Keeps what it has seen: a handler is dropped after its stage has ended.
    fn drop(&mut self) {
        let kept = (self.past.clone(), self.checker.numbers());
        match self.post {
            Post::Stage { stage, worker, is_group } => {
                let seen = &self.run.stages[stage];
                if is_group {
                    sums(&mut locked(&seen.tally), &self.tally);
                }
                locked(&seen.pasts).insert(worker, kept);
            }
            Post::Guest { number, .. } => _ = locked(&self.run.guests).insert(number, kept),
        }
    }
}
