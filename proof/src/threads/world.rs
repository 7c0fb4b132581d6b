//! A whole run as the model sees it: the history, what each consumer has done, and why the ring may
//! have been halted.

use std::collections::BTreeSet;

use lapwing::Sequence;
use lapwing::consumer::Outcome;
use lapwing::error::HaltCause;

use super::consumers::{Ended, Visit};
use super::history::History;
use super::model::replay;
use super::program::{Deed, End, Form, Policy, Program, Stages, consumer_name, members};
use super::rules::{Ending, Past, Rules, must};
use super::run::Observed;

/// What the consumers of a run have done.
pub(super) struct World<'a> {
    pub(super) program: &'a Program,
    pub(super) observed: &'a Observed,
    pub(super) history: History,
    /// By stage, and by worker.
    pub(super) pasts: Vec<Vec<Past>>,
    /// By stage: what any of its workers has finished.
    pub(super) done: Vec<BTreeSet<Sequence>>,
    pub(super) skipped: Vec<BTreeSet<Sequence>>,
    /// By guest that got a seat.
    pub(super) guests: Vec<(&'a Visit, Past)>,
    /// Why the ring may have been halted.
    pub(super) causes: Vec<HaltCause>,
}

impl<'a> World<'a> {
    pub(super) fn new(program: &'a Program, observed: &'a Observed) -> Result<Self, String> {
        let history = History::new(program, &observed.feeds)?;
        let (pasts, done, skipped, guests, causes) = Default::default();
        let mut world = Self { program, observed, history, pasts, done, skipped, guests, causes };
        for (stage, notes) in observed.notes.iter().enumerate() {
            let rules = world.rules_of_stage(stage);
            let pasts: Result<Vec<_>, _> =
                notes.iter().map(|notes| replay(&rules, notes)).collect();
            let pasts = pasts.map_err(|wrong| format!("stage {stage}: {wrong}"))?;
            world.done.push(pasts.iter().flat_map(|past| past.done.keys().copied()).collect());
            world
                .skipped
                .push(pasts.iter().flat_map(|past| past.skipped.iter().copied()).collect());
            world.pasts.push(pasts);
        }
        for visit in &observed.visits {
            let Ok(start) = visit.start else { continue };
            let past = replay(&world.rules_of_guest(visit, start), &visit.log.take());
            let past = past.map_err(|wrong| format!("guest from {start}: {wrong}"))?;
            world.guests.push((visit, past));
        }
        world.causes = world.causes();
        Ok(world)
    }

    fn rules(&self, upstream: Stages) -> Rules<'_> {
        let failed =
            members(upstream).flat_map(|stage| self.skipped[stage].iter().copied()).collect();
        Rules {
            history: &self.history,
            capacity: self.program.capacity as u64,
            start: self.program.first,
            max_batch: u64::MAX,
            is_handler: true,
            takes_failed: false,
            is_worker: false,
            on_error: Policy::None,
            on_panic: Policy::None,
            upstream: members(upstream).map(|stage| (stage, &self.done[stage])).collect(),
            writers: self.program.writers(),
            downstream: 0,
            failed,
            sees_cleared: false,
        }
    }

    fn rules_of_stage(&self, stage: usize) -> Rules<'_> {
        let plan = &self.program.stages[stage];
        Rules {
            max_batch: plan.max_batch.map_or(u64::MAX, |events| events as u64),
            is_handler: plan.is_handler(),
            takes_failed: !plan.is_poller() && (plan.takes_failed || !plan.is_handler()),
            is_worker: matches!(plan.form, Form::Workers { .. }),
            on_error: plan.on_error,
            on_panic: plan.on_panic,
            downstream: self.program.downstream(stage),
            ..self.rules(self.program.upstream(stage))
        }
    }

    fn rules_of_guest(&self, visit: &Visit, start: Sequence) -> Rules<'_> {
        Rules {
            start,
            max_batch: visit.guest.max_batch.map_or(u64::MAX, |events| events as u64),
            is_handler: !visit.guest.polls,
            sees_cleared: self.program.clears,
            ..self.rules(self.program.upstream_of_guests())
        }
    }

    /// Every consumer of the graph, and every guest.
    fn everything_past(&self) -> impl Iterator<Item = &Past> {
        self.pasts.iter().flatten().chain(self.guests.iter().map(|(_, past)| past))
    }

    /// Why the ring may have been halted.
    fn causes(&self) -> Vec<HaltCause> {
        let mut causes = Vec::new();
        let by = |is_it: fn(&Outcome) -> bool| {
            self.everything_past()
                .any(|past| matches!(&past.end, Ending::Own(outcome) if is_it(outcome)))
        };
        let asks = matches!(self.program.end, End::Halt(_)) && !self.program.by_hand;
        if asks || by(|outcome| *outcome == Outcome::Halted) {
            causes.push(HaltCause::Requested);
        }
        if by(|outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Panicked { .. })) {
            causes.push(HaltCause::StageFailed);
        }
        if self.may_be_without_consumers() {
            causes.push(HaltCause::NoConsumers);
        }
        causes
    }

    /// Whether the ring must have been halted: a consumer did it, or all of them stopped at an
    /// event, and so before they had drained the ring.
    pub(super) fn must_halt(&self) -> bool {
        let own = |past: &Past| {
            if let Ending::Own(outcome) = &past.end { Some(outcome.clone()) } else { None }
        };
        let stops =
            |past: &Past| matches!(own(past), Some(Outcome::Stopped | Outcome::Detached { .. }));
        let halts = |past: &Past| own(past).is_some() && !stops(past);
        let is_group =
            |stage: usize| matches!(self.program.stages[stage].form, Form::Workers { .. });
        let has_group_left =
            |(stage, pasts): (usize, &Vec<Past>)| is_group(stage) && pasts.iter().all(stops);
        self.everything_past().any(halts)
            || self.pasts.iter().enumerate().any(has_group_left)
            || !self.program.clears && self.everything_past().all(stops)
    }

    /// Whether all workers of a group may have left, or all consumers.
    fn may_be_without_consumers(&self) -> bool {
        let group_has_left = |stage: usize| {
            let mut pasts = self.pasts[stage].iter().enumerate();
            pasts.all(|(worker, past)| {
                has_left(past) || past.end == Ending::Open && self.may_be_stopped(stage, worker)
            })
        };
        let stages = 0..self.program.stages.len();
        let is_group =
            |stage: &usize| matches!(self.program.stages[*stage].form, Form::Workers { .. });
        if stages.clone().filter(is_group).any(group_has_left) {
            return true;
        }
        // A consumer that has drained the ring stays in the count.
        let stage_is_gone = |stage: usize| {
            let mut pasts = self.pasts[stage].iter().enumerate();
            pasts.all(|(worker, past)| {
                let ended = self.ended(&consumer_name(self.program, stage, worker)).ok();
                is_gone(past, ended)
                    || past.end == Ending::Open && self.may_be_stopped(stage, worker)
            })
        };
        let stops = self.stops_guests();
        let guests = || self.guests.iter();
        let is_any =
            stages.clone().any(group_has_left) || guests().any(|(_, past)| has_left(past) || stops);
        let are_gone = guests().all(|(visit, past)| is_gone(past, visit.ended.as_ref()) || stops);
        !self.program.clears && is_any && are_gone && stages.clone().all(stage_is_gone)
    }

    pub(super) fn stops_guests(&self) -> bool {
        self.program.deeds.iter().any(|(_, deed)| matches!(deed, Deed::StopGuest))
    }

    /// The result of a consumer of the graph.
    ///
    /// # Errors
    ///
    /// It has none, or two.
    pub(super) fn ended(&self, name: &str) -> Result<&'a Ended, String> {
        let mut ended = self.observed.ended.iter().filter(|ended| ended.name == name);
        let only = ended.next().ok_or_else(|| format!("{name} has no result"))?;
        must(ended.next().is_none(), || format!("{name} has two results"))?;
        Ok(only)
    }

    /// Whether the program stops this consumer from outside.
    pub(super) fn may_be_stopped(&self, stage: usize, worker: usize) -> bool {
        let plan = &self.program.stages[stage];
        self.program.deeds.iter().any(|(_, deed)| {
            matches!(*deed, Deed::Stop { stage: s, worker: w }
                if s % self.program.stages.len() == stage && w % plan.consumers() == worker)
        })
    }
}

/// Whether a consumer has left the ring by itself, and did not halt it.
fn has_left(past: &Past) -> bool {
    matches!(&past.end, Ending::Left | Ending::Own(Outcome::Stopped | Outcome::Detached { .. }))
}

/// Whether a consumer has left, also because it was stopped from outside.
fn is_gone(past: &Past, ended: Option<&Ended>) -> bool {
    let is_over = |ended: &Ended| matches!(ended.outcome, Outcome::Drained | Outcome::Stopped);
    has_left(past)
        || past.end == Ending::Closed
        || past.end == Ending::Open && ended.is_some_and(is_over)
}
