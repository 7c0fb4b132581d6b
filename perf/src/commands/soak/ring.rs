//! The life of a ring: built, started, disturbed, ended, checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::graph::Placement;
use lapwing::lifecycle::{RunError, ShutdownError};
use lapwing::{Consumers, Report, Running};

use super::board::Board;
use super::disturb::Disturber;
use super::event::Event;
use super::faults::Kind as Fault;
use super::feed::Feed;
use super::kind::{Kind, Many, One};
use super::orders::Orders;
use super::plan::{Ending, Plan, Sharing};
use super::violation::{Checked, Violation};
use super::wiring::{self, Handlers};
use super::world::World;
use super::{guests, waits};

/// The timeout of a shutdown that is repeated.
const SHORT: Duration = Duration::from_millis(2);

/// Builds the ring of `plan` as often as it says, one after the other.
pub(super) fn run(plan: &Arc<Plan>, board: &Arc<Board>) {
    for life in 0..plan.lives {
        if board.violation().is_some() {
            return;
        }
        if life > 0 {
            board.injected(Fault::Restart);
        }
        let world = Arc::new(World::new(plan, life, board));
        let lived = if plan.is_multi { live::<Many>(&world) } else { live::<One>(&world) };
        world.note(lived, "the ring");
    }
}

/// Runs one ring.
fn live<K: Kind>(world: &Arc<World>) -> Checked {
    let plan = &world.plan;
    let refused = |error: String| Violation::Refused(error);
    let mut handlers = Handlers::default();
    let ring = K::ring(plan.capacity).seats(plan.seats).placement(placement(plan));
    let ring = waits::of_ring(ring, plan.wait, plan.producer_wait);
    let ring = ring.graph(wiring::graph(world, &mut handlers));
    let (producer, mut consumers) = ring.build().map_err(|error| refused(error.to_string()))?;
    world.entry.set_monitor(consumers.monitor());

    let pollers = spawn_pollers(world, &mut consumers, &handlers)?;
    let seats = consumers.seats();
    let running = consumers.start().map_err(|error| refused(error.to_string()))?;
    let mut disturber = Disturber::new(world, &running, &handlers, seats);
    let producers = spawn_producers::<K>(world, producer, &mut disturber);

    disturber.run(&running);
    let report = end(world, running, producers)?;
    let guests = disturber.guests();
    for thread in pollers.into_iter().chain(guests) {
        join(thread)?;
    }
    drop(handlers.readers.into_iter().map(join).collect::<Result<Vec<()>, _>>()?);
    check_report(world, &report)?;
    world.check();
    Ok(())
}

fn placement(plan: &Plan) -> Placement {
    match plan.sharing {
        Sharing::Own => Placement::thread_per_stage(),
        Sharing::Automatic => Placement::automatic().producers(plan.producers),
        Sharing::Threads(count) => Placement::threads(count),
    }
}

/// Starts a thread for each stage that is polled.
fn spawn_pollers(
    world: &Arc<World>,
    consumers: &mut Consumers<'static, Event>,
    handlers: &Handlers,
) -> Checked<Vec<JoinHandle<()>>> {
    let mut threads = Vec::new();
    for &id in &handlers.pollers {
        let name = &world.plan.stages[id].name;
        let poller = consumers.take_poller(name);
        let poller = poller.map_err(|error| Violation::Refused(error.to_string()))?;
        let (world, orders) = (Arc::clone(world), Arc::clone(&handlers.orders[name]));
        threads.push(thread::spawn(move || guests::poll_stage(&world, id, poller, &orders)));
    }
    Ok(threads)
}

/// Starts the producers, each with its own numbers.
fn spawn_producers<K: Kind>(
    world: &Arc<World>,
    producer: super::kind::ProducerOf<K>,
    disturber: &mut Disturber,
) -> Vec<JoinHandle<()>> {
    let others = (1..world.plan.producers).filter_map(|_| K::another(&producer));
    let all: Vec<_> = others.collect::<Vec<_>>().into_iter().chain([producer]).collect();
    let spawn = |(lane, producer)| {
        let orders = Arc::new(Orders::default());
        disturber.add_producer(Arc::clone(&orders));
        let feed = Feed::<K>::new(world, producer, lane, orders);
        thread::spawn(move || feed.run())
    };
    all.into_iter().enumerate().map(spawn).collect()
}

/// Ends a ring in the way of the plan, and waits for all of its threads.
fn end(
    world: &World,
    running: Running<'static>,
    mut producers: Vec<JoinHandle<()>>,
) -> Checked<Report> {
    let ending = world.plan.ending;
    match ending {
        Ending::Drop => {}
        Ending::Die => world.expect_close(),
        Ending::Close | Ending::Shutdown => {
            world.board.injected(Fault::Close);
            world.expect_close();
        }
        Ending::Halt => {
            world.board.injected(Fault::Halt);
            world.expect_halt();
        }
    }
    let result = match ending {
        Ending::Drop | Ending::Die => {
            world.end();
            // The end of `running` closes a ring that has only pollers.
            producers.drain(..).try_for_each(join)?;
            running.join()
        }
        Ending::Close => {
            running.close();
            running.join()
        }
        Ending::Halt => {
            running.halt();
            running.join()
        }
        Ending::Shutdown => shut_down(running)?,
    };
    world.end();
    producers.into_iter().try_for_each(join)?;
    match result {
        Ok(report) => Ok(report),
        Err(error) if error.is_already_reported() => Err(Violation::Refused(error.to_string())),
        Err(error) => Ok(error.into_report()),
    }
}

/// Shuts down with timeouts that are too short, until one is not.
fn shut_down(mut running: Running<'static>) -> Checked<Result<Report, RunError>> {
    loop {
        match running.shutdown_timeout(SHORT) {
            Ok(report) => return Ok(Ok(report)),
            Err(ShutdownError::TimedOut { .. }) => {}
            Err(ShutdownError::Failed(error)) => return Ok(Err(error)),
            Err(error) => return Err(Violation::Refused(error.to_string())),
        }
    }
}

fn join(thread: JoinHandle<()>) -> Checked {
    thread.join().map_err(|_| Violation::Refused("a thread of the soak panicked".to_owned()))
}

/// Checks how each stage ended, and what the report counts.
fn check_report(world: &World, report: &Report) -> Checked {
    let accepted: u64 = world.accepted().iter().sum();
    let mut handled = BTreeMap::new();
    let mut skipped = BTreeMap::new();
    for finished in report.stages() {
        let name = finished.name().split('-').next().unwrap_or_default();
        let Some(id) = world.plan.stages.iter().position(|stage| stage.name == name) else {
            continue;
        };
        let has_left = world.stage(id).has_left() || finished.name().contains('-');
        let is_well = match finished.outcome() {
            Outcome::Drained => true,
            Outcome::Stopped | Outcome::Detached { .. } => has_left,
            Outcome::Halted | Outcome::Failed { .. } | Outcome::Panicked { .. } => {
                world.is_halt_expected()
            }
            _ => false,
        };
        if !is_well {
            let outcome = format!("{:?}: {}", finished.outcome(), finished.name());
            return Err(Violation::Outcome { outcome });
        }
        *handled.entry(id).or_insert(0) += finished.handled();
        *skipped.entry(id).or_insert(0) += finished.skipped();
    }
    for (id, reported) in handled {
        let seen = world.stage(id);
        if seen.has_left() || world.is_halt_expected() {
            continue;
        }
        equal("handled", reported, accepted)?;
        equal("skipped", skipped[&id], seen.skipped())?;
    }
    Ok(())
}

fn equal(what: &'static str, reported: u64, counted: u64) -> Checked {
    if reported == counted { Ok(()) } else { Err(Violation::Report { what, reported, counted }) }
}
