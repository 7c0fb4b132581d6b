//! Judges the notes of a run: replays those of each consumer, and compares what the consumers did to
//! each slot and each key.

use std::collections::BTreeSet;

use lapwing::Sequence;

use super::consumers::Visit;
use super::event::{CLEARED, KEYS, NO_EVENT, key_of};
use super::history::{Claimed, History};
use super::judge::Judgement;
use super::model::{Events, replay};
use super::notes::{Note, Notes, Slots};
use super::past::Past;
use super::program::{Form, Policy, Program, Stages, members};
use super::rules::{Rules, must};
use super::run::Observed;
use super::world::World;

/// # Errors
///
/// Says what is not as the model says.
pub(super) fn judge(program: &Program, observed: &Observed, notes: &Notes) -> Judgement {
    let producers = notes.of_producers();
    let history = History::new(program, &producers)?;
    let mut replays = Replays::new(program, &history);
    let mut pasts = Vec::new();
    for stage in 0..program.stages.len() {
        pasts.push(replays.replay_stage(stage, &notes.of_stage(stage))?);
    }
    let mut guests = Vec::new();
    for visit in &observed.visits {
        let Ok(start) = visit.start else { continue };
        let rules = replays.rules_of_guest(visit, start);
        let past = replay(&rules, &notes.of_guest(visit.number));
        guests.push((visit, past.map_err(|wrong| format!("guest from {start}: {wrong}"))?.0));
    }
    let world = World::new(program, observed, &history, pasts, guests);
    if world.causes.is_empty() && !history.is_complete() {
        return Err("a sequence was lost".to_owned());
    }
    replays.judge_slots(&producers)?;
    replays.judge_groups()?;
    world.judge()
}

/// What the consumers of the graph have done, event by event.
struct Replays<'a> {
    program: &'a Program,
    history: &'a History,
    /// By stage, and by worker.
    events: Vec<Vec<Events>>,
    /// By stage: what any of its workers has finished, and skipped.
    done: Vec<BTreeSet<Sequence>>,
    skipped: Vec<BTreeSet<Sequence>>,
}

impl<'a> Replays<'a> {
    fn new(program: &'a Program, history: &'a History) -> Self {
        let (events, done, skipped) = Default::default();
        Self { program, history, events, done, skipped }
    }

    /// Replays the notes of the next stage, by worker.
    fn replay_stage(&mut self, stage: usize, notes: &[Vec<Note>]) -> Result<Vec<Past>, String> {
        let rules = self.rules_of_stage(stage);
        let replays: Result<Vec<_>, _> = notes.iter().map(|notes| replay(&rules, notes)).collect();
        let replays = replays.map_err(|wrong| format!("stage {stage}: {wrong}"))?;
        let (pasts, events): (Vec<Past>, Vec<Events>) = replays.into_iter().unzip();
        self.done.push(events.iter().flat_map(|events| events.done.keys().copied()).collect());
        let skipped = events.iter().flat_map(|events| events.skipped.iter().copied());
        self.skipped.push(skipped.collect());
        self.events.push(events);
        Ok(pasts)
    }

    fn rules(&self, upstream: Stages) -> Rules<'_> {
        let failed =
            members(upstream).flat_map(|stage| self.skipped[stage].iter().copied()).collect();
        Rules {
            history: self.history,
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
            is_worker: plan.is_group(),
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

    /// A slot was filled only after each stage had finished the event of a lap ago.
    fn judge_slots(&self, producers: &[Vec<Slots>]) -> Judgement {
        let slots = producers.iter().flatten();
        let accepted = slots.filter_map(|slots| match slots {
            Slots::Accepted(accepted) => Some(accepted),
            Slots::GivenUp(_) => None,
        });
        for accepted in accepted.flatten() {
            let lap = accepted.sequence.checked_sub(self.program.capacity as u64);
            let Some((lap, Claimed::Event(id))) =
                lap.and_then(|lap| Some((lap, self.history.at(lap)?)))
            else {
                continue;
            };
            // The only producer fills a slot again whose claim it gave up.
            if accepted.found.id != id {
                must(!self.program.is_multi && accepted.found.id == NO_EVENT, || {
                    format!("{accepted:?} overwrote another event")
                })?;
                continue;
            }
            let by = |stage: &usize| self.done[*stage].contains(&lap);
            let by = (0..self.program.stages.len())
                .filter(by)
                .fold(0, |marks, stage| marks | 1 << stage);
            let by = if self.program.clears { by | CLEARED } else { by };
            let marks = accepted.found.marks;
            must(marks & by == by, || {
                format!("{accepted:x?} overwrote an event before {by:b} had finished it")
            })?;
        }
        Ok(())
    }

    /// The workers of a group got each event once and, by key, the events of a key in order.
    fn judge_groups(&self) -> Judgement {
        for (stage, events) in self.events.iter().enumerate() {
            let Form::Workers { by_key, .. } = self.program.stages[stage].form else { continue };
            let calls: usize = events.iter().map(|events| events.done.len()).sum();
            must(calls == self.done[stage].len(), || {
                format!("the group {stage} did an event twice")
            })?;
            if !by_key {
                continue;
            }
            let mut calls: Vec<_> = events.iter().flat_map(|events| &events.done).collect();
            calls.sort_unstable();
            for key in 0..KEYS {
                let is_of_key = |sequence: Sequence| key_of(self.history.id(sequence)) == key;
                let of_key = calls.iter().filter(|(sequence, _)| is_of_key(**sequence));
                let is_in_order = of_key.is_sorted_by(|(_, one), (_, next)| one.1 <= next.0);
                must(is_in_order, || format!("the group {stage} did the key {key} out of order"))?;
            }
        }
        Ok(())
    }
}
