//! Runs a plan: its threads, and the actions during the run.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::Duration;

use lapwing::consumer::{Consumer, StopHandle};
use lapwing::graph::Seats;
use lapwing::lifecycle::{ShutdownError, WorkerGroup};
use lapwing::monitor::{Monitor, RingState};
use lapwing::{Consumers, Report, Running};

use crate::build::{build, groups, take_pollers};
use crate::common::{Kind, ProducerOf};
use crate::event::Event;
use crate::plan::{Deed, Plan, Start};
use crate::producers::{Cloned, Feed};
use crate::world::World;

/// A request of producer 0 to the thread that has the ring.
enum Request {
    Shutdown,
    Halt,
}

/// Executes the actions.
struct Hands {
    stops: HashMap<String, StopHandle>,
    groups: HashMap<String, WorkerGroup>,
    seats: Seats<Event>,
    requests: Sender<Request>,
}

pub(crate) fn run<K: Cloned>(plan: &Plan) {
    let world = World::new(plan);
    let (producer, mut consumers) = build::<K>(&world);
    let pollers = take_pollers(plan, &mut consumers);
    thread::scope(|scope| {
        let world = &world;
        if plan.is_watched {
            let monitor = consumers.monitor();
            scope.spawn(move || look_on(&monitor));
        }
        for (id, poller) in pollers {
            scope.spawn(move || world.poll(id, poller));
        }
        let (requests, asked) = mpsc::channel();
        let groups = groups(plan, &consumers);
        let seats = consumers.seats();
        let (stops, ring) = start(scope, world, consumers);
        let hands = Hands { stops, groups, seats, requests };
        spawn_producers::<K>(scope, world, producer, hands);
        match (asked.recv(), ring) {
            (_, None) => {}
            (Ok(Request::Halt), Some(running)) => {
                running.halt();
                let report =
                    running.join().unwrap_or_else(lapwing::lifecycle::RunError::into_report);
                world.keep(report.stages());
            }
            (Ok(Request::Shutdown), Some(running)) => world.keep(shut_down(running).stages()),
            (Err(_), Some(running)) => world.keep(running.join().unwrap().stages()),
        }
    });
    world.check();
}

/// Shuts down repeatedly, with a timeout that is too short.
fn shut_down(mut running: Running<'_>) -> Report {
    loop {
        match running.shutdown_timeout(Duration::from_micros(200)) {
            Ok(report) => return report,
            Err(ShutdownError::TimedOut { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Starts the consumers, and returns how each can be stopped.
fn start<'scope, 'ring: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    world: &'scope World<'_>,
    consumers: Consumers<'ring, Event>,
) -> (HashMap<String, StopHandle>, Option<Running<'scope>>) {
    if world.plan.start == Start::Library {
        let names: Vec<String> =
            consumers.threads().flat_map(|(_, names)| names).map(str::to_owned).collect();
        let running = consumers.start_scoped(scope).unwrap();
        let stop = |name: String| Some((name.clone(), running.stop_handle(&name)?));
        return (names.into_iter().filter_map(stop).collect(), Some(running));
    }
    let mut stops = HashMap::new();
    let mut crews: BTreeMap<String, Vec<Consumer<'ring>>> = BTreeMap::new();
    for consumer in consumers {
        stops.insert(consumer.name().to_owned(), consumer.stop_handle());
        let thread = consumer.thread().unwrap_or(consumer.name()).to_owned();
        crews.entry(thread).or_default().push(consumer);
    }
    for crew in crews.into_values() {
        scope.spawn(move || {
            let finished = Consumer::run_together(crew);
            world.keep(&finished);
        });
    }
    (stops, None)
}

fn spawn_producers<'scope, K: Cloned>(
    scope: &'scope Scope<'scope, '_>,
    world: &'scope World<'_>,
    producer: ProducerOf<Event, K>,
    hands: Hands,
) {
    let plan = world.plan;
    for number in 1..plan.producers {
        let Some(other) = K::another(&producer) else { break };
        scope.spawn(move || {
            let accepted = Feed::<K>::new(plan, other, number).run(|_, _| {});
            world.keep_accepted(accepted);
        });
    }
    scope.spawn(move || {
        let mut deeds = plan.deeds.iter().enumerate().peekable();
        let accepted = Feed::<K>::new(plan, producer, 0).run(|next, producer| {
            while let Some((number, (_, deed))) = deeds.next_if(|(_, (at, _))| *at <= next) {
                do_deed::<K>(scope, world, &hands, deed, number as u64, producer);
            }
        });
        world.keep_accepted(accepted);
    });
}

fn do_deed<'scope, K: Kind>(
    scope: &'scope Scope<'scope, '_>,
    world: &'scope World<'_>,
    hands: &Hands,
    deed: &'scope Deed,
    number: u64,
    producer: &ProducerOf<Event, K>,
) {
    let is_started = world.plan.start == Start::Library;
    match deed {
        Deed::Stop(name) => hands.stops[name].stop(),
        Deed::Resize(name, size) => hands.groups[name].resize(*size).unwrap(),
        Deed::Guest(guest) => {
            let seats = hands.seats.clone();
            scope.spawn(move || world.guests.visit(world.plan, &seats, guest, number));
        }
        Deed::StopGuest => world.guests.stop_one(),
        // Only the first request has a receiver.
        Deed::Shutdown if is_started => _ = hands.requests.send(Request::Shutdown),
        Deed::Halt if is_started => _ = hands.requests.send(Request::Halt),
        Deed::Shutdown | Deed::Halt | Deed::Close => producer.close(),
    }
}

/// Takes snapshots continuously, and checks what holds in every snapshot.
fn look_on(monitor: &Monitor) {
    let mut before = monitor.snapshot();
    while before.state == RingState::Open || before.state == RingState::Closing {
        let snapshot = monitor.snapshot();
        assert!(snapshot.free_slots <= snapshot.capacity, "{snapshot}");
        assert!(snapshot.published <= snapshot.claimed, "{snapshot}");
        assert!(snapshot.published >= before.published, "{before}\n{snapshot}");
        // No stall lasts a second: the watchdog would report it next.
        let _ = monitor.stalled_for(Duration::from_secs(1)).map(|stall| println!("{stall}"));
        before = snapshot;
        thread::sleep(Duration::from_micros(200));
    }
}
