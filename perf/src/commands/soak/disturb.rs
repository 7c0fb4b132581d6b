//! Carries out the faults of a ring, each at its time.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapwing::Running;
use lapwing::consumer::StopHandle;
use lapwing::graph::{Seats, StartAt};
use lapwing::lifecycle::WorkerGroup;

use super::event::Event;
use super::faults::{Deed, Fault, Kind};
use super::guests::Guest;
use super::orders::{Order, Orders};
use super::plan::Role;
use super::wiring::Handlers;
use super::world::World;

/// How often the end of a ring that ends on its own is checked.
const NAP: Duration = Duration::from_millis(2);

/// What faults act on.
pub(super) struct Disturber {
    world: Arc<World>,
    consumers: Vec<Arc<Orders>>,
    producers: Vec<Arc<Orders>>,
    groups: Vec<WorkerGroup>,
    /// Consumers that may be stopped: the stage, whether it is a worker, and the handle.
    stops: Vec<(usize, bool, StopHandle)>,
    /// Orders of pollers that may leave.
    pollers: Vec<Arc<Orders>>,
    seats: Seats<Event>,
    guests: Vec<JoinHandle<()>>,
}

impl Disturber {
    /// Collects what faults can act on.
    pub(super) fn new(
        world: &Arc<World>,
        running: &Running<'static>,
        handlers: &Handlers,
        seats: Seats<Event>,
    ) -> Self {
        let stages = &world.plan.stages;
        let groups = stages.iter().filter_map(|stage| running.workers(&stage.name)).collect();
        let mut stops = Vec::new();
        let mut pollers = Vec::new();
        for (id, stage) in stages.iter().enumerate() {
            match stage.role {
                // The first worker stays, so the group does.
                Role::Workers { max, .. } => stops.extend((1..max).filter_map(|worker| {
                    let name = format!("{}-{worker}", stage.name);
                    Some((id, true, running.stop_handle(&name)?))
                })),
                Role::Poller if stage.may_leave => {
                    pollers.push(Arc::clone(&handlers.orders[&stage.name]));
                }
                _ if stage.may_leave => {
                    let handle = running.stop_handle(&stage.name);
                    stops.extend(handle.map(|handle| (id, false, handle)));
                }
                _ => {}
            }
        }
        Self {
            world: Arc::clone(world),
            consumers: handlers.orders.values().cloned().collect(),
            producers: Vec::new(),
            groups,
            stops,
            pollers,
            seats,
            guests: Vec::new(),
        }
    }

    /// Adds a producer.
    pub(super) fn add_producer(&mut self, orders: Arc<Orders>) {
        self.producers.push(orders);
    }

    /// Carries out the faults of the plan, and returns when the time of the ring is over, or when
    /// the ring has ended.
    pub(super) fn run(&mut self, running: &Running<'static>) {
        let start = Instant::now();
        let plan = Arc::clone(&self.world.plan);
        for fault in plan.faults(self.world.life) {
            if !self.sleep(running, start + fault.at) {
                return;
            }
            self.carry_out(&fault);
        }
        self.sleep(running, start + plan.time);
    }

    /// Returns the threads of the guests.
    pub(super) fn guests(self) -> Vec<JoinHandle<()>> {
        self.guests
    }

    /// Sleeps until `end`. Returns false if the ring has ended by then.
    fn sleep(&self, running: &Running<'static>, end: Instant) -> bool {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            let has_pollers_only = self.world.plan.stages.iter().all(|it| it.role == Role::Poller);
            if self.world.is_over() || (running.is_finished() && !has_pollers_only) {
                return false;
            }
            thread::sleep(left.min(NAP));
        }
    }

    fn carry_out(&mut self, fault: &Fault) {
        let target = fault.target;
        match fault.deed {
            Deed::Stall(time) => give(&self.consumers, target, Order::Stall(time)),
            Deed::Fail(failing) => give(&self.consumers, target, Order::Fail(failing)),
            Deed::Lose(losing) => give(&self.producers, target, Order::Lose(losing)),
            Deed::Resize(size) => self.resize(target, size),
            Deed::StopStage => self.stop(target),
            Deed::Join { leaves_after, is_poller, from_oldest } if self.world.plan.seats > 0 => {
                let start = if from_oldest { StartAt::Oldest } else { StartAt::Now };
                let name = format!("guest {}", self.guests.len());
                let guest = Guest { name, leaves_after, is_poller, start };
                let (world, seats) = (Arc::clone(&self.world), self.seats.clone());
                self.guests.push(thread::spawn(move || guest.visit(&world, &seats)));
            }
            Deed::Join { .. } => {}
        }
    }

    fn resize(&self, target: usize, size: usize) {
        if self.groups.is_empty() {
            return;
        }
        let group = &self.groups[target % self.groups.len()];
        let resized = group.resize(1 + size % group.max());
        resized.expect("the size is allowed");
        self.world.board.injected(Kind::Resize);
    }

    fn stop(&mut self, target: usize) {
        if self.stops.is_empty() {
            give(&self.pollers, target, Order::Leave);
            return;
        }
        let (id, is_worker, handle) = self.stops.swap_remove(target % self.stops.len());
        if is_worker {
            // Failures may have stopped the other workers.
            if self.world.plan.stages[id].policy == super::plan::Policy::Stop {
                self.world.expect_halt();
            }
        } else {
            self.world.stage(id).leave();
        }
        handle.stop();
        self.world.board.injected(Kind::Stopped);
    }
}

/// Gives an order to one of `threads`.
fn give(threads: &[Arc<Orders>], target: usize, order: Order) {
    if !threads.is_empty() {
        threads[target % threads.len()].give(order);
    }
}
