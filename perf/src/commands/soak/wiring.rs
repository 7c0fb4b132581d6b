//! The graph of a plan, with the handlers that check.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use lapwing::graph::{Graph, StageId};
use lapwing::{Action, Stage};

use super::event::Event;
use super::orders::Orders;
use super::plan::{Policy, Role, StagePlan};
use super::station::{Station, WorkerStation};
use super::taps;
use super::waits;
use super::world::World;

use lapwing::consumer::Retries;

/// Most slots of a tap, as a power of two. In few slots, readers and the writer meet often.
const MOST_TAP_BITS: u32 = 8;
/// Readers of a tap.
const TAP_READERS: usize = 2;

/// What else belongs to the handlers of a graph.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    /// How faults reach the handlers, by the name of the stage or the worker.
    pub(super) orders: BTreeMap<String, Arc<Orders>>,
    /// The stages that are polled.
    pub(super) pollers: Vec<usize>,
    /// The readers of taps.
    pub(super) readers: Vec<JoinHandle<()>>,
}

impl Handlers {
    fn orders(&mut self, name: String) -> Arc<Orders> {
        Arc::clone(self.orders.entry(name).or_default())
    }
}

/// Makes the graph of the plan.
pub(super) fn graph(world: &Arc<World>, handlers: &mut Handlers) -> Graph<'static, Event> {
    let mut graph = Graph::new();
    let mut ids = Vec::new();
    for (id, stage) in world.plan.stages.iter().enumerate() {
        let placed = stage.after.iter().map(|&after| ids[after]);
        let unplaced = graph.stage(settings(stage));
        let placed = placed.fold(unplaced, Stage::after);
        ids.push(add(placed, world, id, handlers));
    }
    graph
}

/// The settings of a stage.
fn settings(plan: &StagePlan) -> Stage {
    let mut stage = waits::of_stage(Stage::new(plan.name.as_str()), plan.wait);
    if let Some(events) = plan.max_batch {
        stage = stage.max_batch(events);
    }
    if plan.role == Role::Poller {
        return stage;
    }
    let pause = std::time::Duration::from_micros(50);
    match plan.policy {
        Policy::Retry => with_policy(stage, Retries::of_event().pause(pause)),
        Policy::Rewind => with_policy(stage, Retries::of_batch()),
        Policy::Restart => with_policy(stage, Retries::with_restart()),
        Policy::Skip => with_policy(stage, Action::Skip),
        Policy::Continue => with_policy(stage, Action::Continue),
        Policy::Stop => with_policy(stage, Action::Stop),
        Policy::Halt => with_policy(stage, Action::Halt),
    }
}

fn with_policy(stage: Stage, policy: impl lapwing::consumer::FailurePolicy) -> Stage {
    stage.on_error(policy.clone()).on_panic(policy)
}

/// Adds the stage `id`.
fn add(
    stage: Stage<&mut Graph<'static, Event>>,
    world: &Arc<World>,
    id: usize,
    handlers: &mut Handlers,
) -> StageId {
    let StagePlan { name, role, .. } = &world.plan.stages[id];
    if let Role::Workers { size, max, is_by_key } = *role {
        let workers = stage.workers(size).up_to(max);
        let workers = if is_by_key { workers.by_key(Event::key) } else { workers };
        return workers.read(|worker| {
            let orders = handlers.orders(format!("{name}-{worker}"));
            let mut station = WorkerStation::new(world, id, is_by_key, orders);
            move |event: &Event, sequence, _| station.one(event, sequence)
        });
    }
    let orders = handlers.orders(name.clone());
    if *role == Role::Poller {
        handlers.pollers.push(id);
        return stage.poller();
    }
    let mut station = Station::new(world, id, orders);
    match role {
        Role::Read => stage.read_batch(move |events, first| station.batch(events, first)),
        Role::Write => stage.write_batch(move |events, first| station.batch_mut(events, first)),
        Role::ReadEach => {
            stage.read(move |event, sequence, is_last| station.one(event, sequence, is_last))
        }
        Role::WriteEach => stage.write(move |event, sequence, _| station.one_mut(event, sequence)),
        Role::Tap => {
            let bits = world.plan.rng(world.life, 2).u32(0..=MOST_TAP_BITS);
            let (mut writer, threads) = taps::tap(world, 1 << bits, TAP_READERS);
            handlers.readers.extend(threads);
            stage.read(move |event, sequence, is_last| {
                let handled = station.one(event, sequence, is_last);
                writer.write(event, handled.is_ok());
                handled
            })
        }
        Role::Poller | Role::Workers { .. } => unreachable!("added above"),
    }
}
