//! Builds the ring of a plan.

use std::collections::HashMap;

use lapwing::consumer::{Exclusive, Shared};
use lapwing::graph::{Graph, StageId, Workers};
use lapwing::lifecycle::WorkerGroup;
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, Consumers, EventHandler, Poller, Sequence, Stage};

use crate::common::{self, ProducerOf};
use crate::event::{Event, Recorder};
use crate::plan::{Kind, Plan, StagePlan, Wait};
use crate::strategy::Unseen;
use crate::world::World;

pub(crate) fn build<'a, K: common::Kind>(
    world: &'a World<'_>,
) -> (ProducerOf<Event, K>, Consumers<'a, Event>) {
    let plan = world.plan;
    let mut graph = Graph::new();
    let mut ids = Vec::new();
    for id in 0..plan.stages.len() {
        ids.push(add(&mut graph, world, id, &ids));
    }
    let ring = K::ring(plan.capacity, Event::new)
        .first_sequence(plan.first)
        .seats(plan.seats)
        .placement(plan.placement.clone());
    let ring = with_waits(ring, plan).graph(graph);
    let ring = if plan.clears { ring.clear(Event::clear) } else { ring };
    ring.build().unwrap_or_else(|error| panic!("{error}: {plan:?}"))
}

fn with_waits<'env, S: Sequencer>(
    ring: Builder<'env, Event, S>,
    plan: &Plan,
) -> Builder<'env, Event, S> {
    let ring = match plan.wait.clone() {
        Wait::Seen(strategy) => ring.wait(strategy),
        Wait::Unseen(strategy) => ring.wait(Unseen(strategy)),
    };
    match plan.producer_wait.clone() {
        Wait::Seen(strategy) => ring.producer_wait(strategy),
        Wait::Unseen(strategy) => ring.producer_wait(Unseen(strategy)),
    }
}

fn add<'a>(
    graph: &mut Graph<'a, Event>,
    world: &'a World<'_>,
    id: usize,
    ids: &[StageId],
) -> StageId {
    let plan = &world.plan.stages[id];
    let after = plan.after.iter().map(|&id| ids[id]);
    let stage = after.fold(graph.stage(plan.stage()), Stage::after);
    if let Kind::Poller = plan.kind {
        return stage.poller();
    }
    if let Kind::Workers { size, max, is_by_key, writes } = plan.kind {
        let workers = stage.workers(size).up_to(max);
        let workers = if is_by_key { workers.by_key(Event::key) } else { workers };
        return add_workers(workers, world, id, writes);
    }
    let mut recorder = world.recorder(id, 0);
    let bit = recorder.bit;
    match plan.kind {
        Kind::Read if plan.timeout.is_some() => stage.read_local(move || Local(recorder)),
        Kind::Write if plan.timeout.is_some() => stage.write_local(move || Local(recorder)),
        Kind::Read => {
            stage.read(move |event, sequence, is_last| recorder.handle(event, sequence, is_last))
        }
        Kind::Write => stage.write(move |event, sequence, is_last| {
            event.write(bit);
            recorder.handle(event, sequence, is_last)
        }),
        Kind::ReadBatch => stage.read_batch(move |events, first| {
            events.iter().zip(first..).for_each(|(event, sequence)| recorder.see(event, sequence));
        }),
        Kind::WriteBatch => stage.write_batch(move |events, first| {
            for (event, sequence) in events.iter_mut().zip(first..) {
                recorder.see(event, sequence);
                event.write(bit);
            }
        }),
        Kind::Poller | Kind::Workers { .. } => unreachable!("added above"),
    }
}

fn add_workers<'a>(
    workers: Workers<&mut Graph<'a, Event>, Event>,
    world: &'a World<'_>,
    id: usize,
    writes: bool,
) -> StageId {
    if !writes {
        return workers.read(|worker| {
            let mut recorder = world.recorder(id, worker);
            move |event: &Event, sequence, is_last| recorder.handle(event, sequence, is_last)
        });
    }
    workers.write(|worker| {
        let mut recorder = world.recorder(id, worker);
        move |event: &mut Event, sequence, is_last| {
            event.write(recorder.bit);
            recorder.handle(event, sequence, is_last)
        }
    })
}

/// A handler with timeouts.
struct Local<'a>(Recorder<'a>);

impl EventHandler<Event, Shared, Action> for Local<'_> {
    fn on_event(&mut self, event: &Event, sequence: Sequence, is_last: bool) -> Action {
        self.0.handle(event, sequence, is_last)
    }

    fn on_timeout(&mut self, next: Sequence) {
        self.0.has_nothing(next);
    }
}

impl EventHandler<Event, Exclusive, Action> for Local<'_> {
    fn on_event(&mut self, event: &mut Event, sequence: Sequence, is_last: bool) -> Action {
        event.write(self.0.bit);
        self.0.handle(event, sequence, is_last)
    }

    fn on_timeout(&mut self, next: Sequence) {
        self.0.has_nothing(next);
    }
}

pub(crate) fn take_pollers(
    plan: &Plan,
    consumers: &mut Consumers<'_, Event>,
) -> Vec<(usize, Poller<Event>)> {
    let stages = plan.stages.iter().enumerate();
    let pollers = stages.filter(|(_, stage)| stage.kind == Kind::Poller);
    pollers.map(|(id, stage)| (id, consumers.take_poller(&stage.name).unwrap())).collect()
}

/// The groups of a plan, by name.
pub(crate) fn groups(
    plan: &Plan,
    consumers: &Consumers<'_, Event>,
) -> HashMap<String, WorkerGroup> {
    let named = |stage: &StagePlan| Some((stage.name.clone(), consumers.workers(&stage.name)?));
    plan.stages.iter().filter_map(named).collect()
}
