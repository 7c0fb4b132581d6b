//! Builds the ring of a program.

use std::sync::Arc;
use std::time::Duration;

use lapwing::graph::{Graph, Placement, StageId, WorkerStage};
use lapwing::producer::Sequencer;
use lapwing::{Builder, Consumers, Producer};

use super::actor::Actor;
use super::event::Event;
use super::program::{
    Form, Guest, Place, Policy, Program, Stage, Threads, consumer_name, members, stage_name,
};
use super::taps::{self, Reader};
use super::waits::{Strategy, Unannounced};
use super::will::{Acts, Will};
use super::witness::{Observer, Witness};

/// Time after which a stage is told that no event has come.
const TIMEOUT: Duration = Duration::from_micros(100);

/// A ring and its ends.
pub(super) type Ring<S> = (Producer<Event, S>, Consumers<'static, Event>);

/// Builds the ring of `program`, whose consumers `observer` watches. Returns the readers of its
/// taps too.
pub(super) fn build<S: Sequencer>(
    ring: Builder<'static, Event, S>,
    program: &Program,
    observer: &impl Observer,
) -> (Ring<S>, Vec<Reader>) {
    let mut graph = Graph::new();
    let mut ids: Vec<StageId> = Vec::new();
    let mut readers = Vec::new();
    for stage in 0..program.stages.len() {
        let settings = settings(program, stage, observer);
        let after = members(program.after(stage)).map(|other| ids[other]);
        let placed = after.fold(graph.stage(settings), lapwing::Stage::after);
        ids.push(add(placed, program, stage, observer, &mut readers));
    }
    let ring = ring
        .first_sequence(program.first)
        .dynamic_stages(program.dynamic_stages)
        .placement(placement(program));
    let (wait, producer_wait) = (program.wait.clone(), program.producer_wait.clone());
    let ring = if program.announces {
        ring.wait_strategy(wait).producer_wait_strategy(producer_wait)
    } else {
        ring.wait_strategy(Unannounced(wait)).producer_wait_strategy(Unannounced(producer_wait))
    };
    let ring = ring.graph(graph);
    let ring = if program.clears { ring.clear(Event::clear) } else { ring };
    (ring.build().expect("each program has a valid graph"), readers)
}

/// A stage with its settings.
fn settings(program: &Program, stage: usize, observer: &impl Observer) -> lapwing::Stage {
    let plan = &program.stages[stage];
    let mut settings = lapwing::Stage::new(stage_name(stage));
    if let Some(wait) = &plan.wait {
        settings = with_wait(settings, wait, program.announces);
    }
    if let Some(events) = plan.max_batch {
        settings = settings.max_batch(events);
    }
    if plan.is_poller() {
        return settings;
    }
    if plan.takes_failed || !plan.is_handler() {
        settings = settings.with_failed_events();
    }
    if plan.has_timeout && plan.is_handler() {
        settings = settings.timeout_after(TIMEOUT);
    }
    match plan.place {
        Place::Blocking => settings = settings.may_block(),
        Place::OnThread(thread) => settings = settings.on_thread(format!("t{thread}")),
        Place::Free | Place::Group(_) => {}
    }
    if !matches!(plan.on_error, Policy::None) {
        settings = settings.on_error(observer.policy(stage, plan.on_error));
    }
    if !matches!(plan.on_panic, Policy::None) {
        settings = settings.on_panic(observer.policy(stage, plan.on_panic));
    }
    settings
}

/// The settings of a guest.
pub(super) fn guest_settings(
    program: &Program,
    guest: &Guest,
    mut settings: lapwing::Stage,
) -> lapwing::Stage {
    if let Some(wait) = &guest.wait {
        settings = with_wait(settings, wait, program.announces);
    }
    if let Some(events) = guest.max_batch {
        settings = settings.max_batch(events);
    }
    settings
}

/// The stage with this wait strategy.
fn with_wait(settings: lapwing::Stage, wait: &Strategy, announces: bool) -> lapwing::Stage {
    if announces {
        settings.wait_strategy(wait.clone())
    } else {
        settings.wait_strategy(Unannounced(wait.clone()))
    }
}

type Placed<'a> = lapwing::Stage<&'a mut Graph<'static, Event>>;

fn add<O: Observer>(
    placed: Placed<'_>,
    program: &Program,
    stage: usize,
    observer: &O,
    readers: &mut Vec<Reader>,
) -> StageId {
    let plan = &program.stages[stage];
    let writes = plan.writes();
    let acts = Arc::new(Acts::new(program.first, &plan.acts));
    let tap = plan.tap.filter(|_| !plan.is_group() && !plan.is_poller());
    let mut tap = tap.map(|power| {
        let (end, more) = taps::tap(1 << power, observer.seed());
        readers.extend(more);
        end
    });
    let mut actor = |worker: usize| Actor {
        stage,
        will: Will { acts: Arc::clone(&acts), leaves_after: None, pace: plan.pace },
        witness: observer.witness(stage, worker),
        tap: tap.take(),
    };
    match plan.form {
        Form::Handler { is_local, .. } => add_handler(placed, actor(0), writes, is_local),
        Form::Closure { .. } => add_closure(placed, actor(0), writes),
        Form::BatchClosure { .. } => add_batch_closure(placed, actor(0), writes),
        Form::BatchHandler { .. } if writes => placed.write_batch_handler(actor(0)),
        Form::BatchHandler { .. } => placed.read_batch_handler(actor(0)),
        Form::Poller { .. } => placed.poller(),
        Form::Workers { size, max, by_key, .. } => {
            let workers = placed.workers(size).up_to(max);
            let workers = if by_key { workers.by_key(Event::key) } else { workers };
            add_workers(workers, actor, writes)
        }
    }
}

fn add_handler<W: Witness>(
    placed: Placed<'_>,
    actor: Actor<W>,
    writes: bool,
    is_local: bool,
) -> StageId {
    match (writes, is_local) {
        (false, false) => placed.read_handler(actor),
        (false, true) => placed.read_local(move || actor),
        (true, false) => placed.write_handler(actor),
        (true, true) => placed.write_local(move || actor),
    }
}

fn add_closure<W: Witness>(placed: Placed<'_>, mut actor: Actor<W>, writes: bool) -> StageId {
    if !writes {
        return placed
            .read(move |event, sequence, is_last| actor.handle(event, sequence, is_last, false));
    }
    placed.write(move |event, sequence, is_last| {
        event.write(actor.stage);
        actor.handle(event, sequence, is_last, false)
    })
}

fn add_batch_closure<W: Witness>(placed: Placed<'_>, mut actor: Actor<W>, writes: bool) -> StageId {
    if !writes {
        return placed
            .read_batch(move |events, first| actor.handle_batch(events, first, false, |_| {}));
    }
    placed.write_batch(move |events, first| {
        events.iter_mut().for_each(|event| event.write(actor.stage));
        actor.handle_batch(events, first, false, |_| {})
    })
}

fn add_workers<W: Witness>(
    workers: WorkerStage<&mut Graph<'static, Event>, Event>,
    actor: impl FnMut(usize) -> Actor<W>,
    writes: bool,
) -> StageId {
    if writes { workers.write_handlers(actor) } else { workers.read_handlers(actor) }
}

fn placement(program: &Program) -> Placement {
    let mut placement = match program.threads {
        Threads::PerStage => Placement::thread_per_stage(),
        Threads::Count(threads) => Placement::threads(threads),
        Threads::Automatic => Placement::automatic().producers(program.producers.len()),
    };
    for group in 0..2 {
        let is_in = |stage: &Stage| stage.place == Place::Group(group) && !stage.is_poller();
        let names: Vec<_> = (0..program.stages.len())
            .filter(|&stage| is_in(&program.stages[stage]))
            .map(stage_name)
            .collect();
        if !names.is_empty() {
            placement = placement.group(format!("g{group}"), names);
        }
    }
    placement
}

/// The names of the consumers of a stage.
pub(super) fn names(program: &Program, stage: usize) -> impl Iterator<Item = String> {
    (0..program.stages[stage].consumers()).map(move |worker| consumer_name(program, stage, worker))
}
