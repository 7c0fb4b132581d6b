//! Lapwing with its default settings: one ring for the whole graph, and a stage for each consumer. Events are written and
//! read in place.

use std::sync::atomic::Ordering::Relaxed;

use crossbeam_utils::CachePadded;
use lapwing::producer::Sequencer;
use lapwing::{Consumers, Disruptor, Poller, Producer, SingleProducer, consumer};

use crate::crew::{Crew, Failure, Run};
use crate::graphs::{self, Checksum, Event, Graph, Load, SEVERAL, SharedEvent};

/// What can only fail if a thread has panicked.
const OPEN: &str = "the ring is open until the last event";

/// Runs `graph` once.
///
/// # Errors
///
/// The ring could not be built, or a thread panicked.
pub(super) fn run(graph: Graph, load: Load) -> Result<Run, Failure> {
    if graph == Graph::RoundTrip {
        return round_trip(load);
    }
    let mut sums = [(); SEVERAL].map(|()| CachePadded::new(Checksum::default()));
    let run = over_one_ring(graph, load, &mut sums)?;
    let answers = sums.iter().take(graph.consumers()).map(|sum| **sum).collect();
    Ok(Run { answers, ..run })
}

/// Runs `graph` over one ring, and leaves the checksum of each consumer in `sums`, on a cache line of its own.
fn over_one_ring(
    graph: Graph,
    Load { events, slots }: Load,
    [one, two, three]: &mut [CachePadded<Checksum>; SEVERAL],
) -> Result<Run, Failure> {
    let mut crew = Crew::default();
    let ring = Disruptor::single_producer(slots, Event::default);
    match graph {
        Graph::Unicast => {
            let ring = ring.stage("consumer").read(|event, _, _| one.add(event.number()));
            let (producer, consumers) = ring.build()?;
            add_producer(&mut crew, producer, events, write);
            finish(crew, consumers)
        }
        Graph::Pipeline => {
            let ring = ring
                .stage("step-1")
                .write(|event, _, _| {
                    one.add(event.number());
                    *event = Event::new(graphs::step_one(event.number()), 0);
                })
                .stage("step-2")
                .write(|event, _, _| {
                    two.add(event.number());
                    *event = Event::new(graphs::step_two(event.number()), 0);
                })
                .stage("step-3")
                .read(|event, _, _| three.add(event.number()));
            let (producer, consumers) = ring.build()?;
            add_producer(&mut crew, producer, events, write);
            finish(crew, consumers)
        }
        Graph::Sequencer => {
            let ring = Disruptor::multi_producer(slots, Event::default);
            let ring = ring.stage("consumer").read(|event, _, _| one.add_by_producer(*event));
            let (producer, consumers) = ring.build()?;
            for (number, share) in graphs::shares(events) {
                let write = move |event: &mut Event, value| *event = Event::new(value, number);
                add_producer(&mut crew, producer.clone(), share, write);
            }
            drop(producer); // only the threads keep the ring open
            finish(crew, consumers)
        }
        Graph::Multicast => {
            let ring = ring.side_by_side(|side| {
                let side = side.stage("consumer-1").read(|event, _, _| one.add(event.number()));
                let side = side.stage("consumer-2").read(|event, _, _| two.add(event.number()));
                side.stage("consumer-3").read(|event, _, _| three.add(event.number()))
            });
            let (producer, consumers) = ring.build()?;
            add_producer(&mut crew, producer, events, write);
            finish(crew, consumers)
        }
        Graph::Diamond => {
            let ring = Disruptor::single_producer(slots, SharedEvent::default)
                .side_by_side(|side| {
                    side.stage("fizz")
                        .read(|event, _, _| {
                            let number = event.number.load(Relaxed);
                            one.add(number);
                            event.fizz.store(graphs::is_fizz(number), Relaxed);
                        })
                        .stage("buzz")
                        .read(|event, _, _| {
                            let number = event.number.load(Relaxed);
                            two.add(number);
                            event.buzz.store(graphs::is_buzz(number), Relaxed);
                        })
                })
                .stage("join")
                .read(|event, _, _| three.add(event.fizz_buzz()));
            let (producer, consumers) = ring.build()?;
            add_producer(&mut crew, producer, events, SharedEvent::write);
            finish(crew, consumers)
        }
        Graph::RoundTrip => unreachable!("it has two rings"),
    }
}

/// A ring each way, with pollers, as both threads send and receive.
fn round_trip(Load { events, slots }: Load) -> Result<Run, Failure> {
    let ring = || -> Result<(SingleProducer<Event>, Poller<Event>), Failure> {
        let ring = Disruptor::single_producer(slots, Event::default).stage("receiver").poller();
        let (producer, mut consumers) = ring.build()?;
        Ok((producer, consumers.take_poller("receiver")?))
    };
    let ((mut there, mut arrivals), (mut back, mut returns)) = (ring()?, ring()?);
    let mut crew = Crew::default();
    crew.add_consumer(move || {
        let mut sum = Checksum::default();
        for number in 0..events {
            there.publish(|event| write(event, number)).expect(OPEN);
            sum.add(next(&mut returns).number());
        }
        sum
    });
    crew.add(move || {
        for _ in 0..events {
            let arrived = next(&mut arrivals);
            back.publish(|event| *event = arrived).expect(OPEN);
        }
    });
    crew.run()
}

/// Waits for the next event. There is never more than one.
#[inline]
fn next(poller: &mut Poller<Event>) -> Event {
    let mut batch = poller.wait().expect(OPEN);
    let event = batch.as_slice()[0];
    batch.consume_all();
    event
}

/// Writes the event `number` of the only producer.
#[inline]
fn write(event: &mut Event, number: u32) {
    *event = Event::new(number, 0);
}

/// Adds a thread that publishes the events `0..events`. The ring closes when its last producer is dropped.
fn add_producer<'a, E: Send + Sync + 'a, S: Sequencer + Send + 'a>(
    crew: &mut Crew<'a>,
    mut producer: Producer<E, S>,
    events: u32,
    write: impl Fn(&mut E, u32) + Send + 'a,
) {
    crew.add(move || {
        for number in 0..events {
            producer.publish(|event| write(event, number)).expect(OPEN);
        }
    });
}

/// Runs the producers of `crew`, and a thread for each consumer until the ring is drained.
fn finish<'a, E>(mut crew: Crew<'a>, consumers: Consumers<'a, E>) -> Result<Run, Failure> {
    for consumer in consumers {
        crew.add(move || assert_eq!(*consumer.run().outcome(), consumer::Outcome::Drained));
    }
    crew.run()
}
