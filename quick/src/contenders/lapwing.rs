//! Lapwing with its default settings: one ring for the whole graph, and a stage for each consumer. Events are written and
//! read in place.

use crossbeam_utils::CachePadded;
use lapwing::producer::{Sequencer, Single};
use lapwing::{Builder, Consumers, Disruptor, Poller, Producer, SingleProducer, channel, consumer};

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
    match graph {
        Graph::RoundTrip => return round_trip(load),
        Graph::Channel => return over_a_channel(load),
        _ => {}
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
    let ring = Disruptor::single_producer(slots, Event::default);
    match graph {
        Graph::Unicast => {
            let ring = ring.stage("consumer").read(|event, _, _| event.consume(one));
            finish(ring, events, write)
        }
        Graph::Pipeline => {
            let ring = ring.stage("step-1").write(|event, _, _| event.step_one(one));
            let ring = ring.stage("step-2").write(|event, _, _| event.step_two(two));
            let ring = ring.stage("step-3").read(|event, _, _| event.consume(three));
            finish(ring, events, write)
        }
        Graph::Sequencer => {
            let ring = Disruptor::multi_producer(slots, Event::default);
            let ring = ring.stage("consumer").read(|event, _, _| event.consume_by_producer(one));
            let (producer, consumers) = ring.build()?;
            let mut crew = Crew::default();
            for (number, share) in graphs::shares(events) {
                let write = move |event: &mut Event, value| *event = Event::new(value, number);
                add_producer(&mut crew, producer.clone(), share, write);
            }
            drop(producer); // only the threads keep the ring open
            add_consumers(&mut crew, consumers);
            crew.run()
        }
        Graph::Multicast => {
            let ring = ring.parallel(|parallel| {
                let parallel = parallel.stage("consumer-1").read(|event, _, _| event.consume(one));
                let parallel = parallel.stage("consumer-2").read(|event, _, _| event.consume(two));
                parallel.stage("consumer-3").read(|event, _, _| event.consume(three))
            });
            finish(ring, events, write)
        }
        Graph::Diamond => {
            let ring = Disruptor::single_producer(slots, SharedEvent::default);
            let ring = ring.parallel(|parallel| {
                let parallel = parallel.stage("fizz").read(|event, _, _| event.fizz(one));
                parallel.stage("buzz").read(|event, _, _| event.buzz(two))
            });
            let ring = ring.stage("join").read(|event, _, _| event.join(three));
            finish(ring, events, SharedEvent::write)
        }
        Graph::Channel | Graph::RoundTrip => unreachable!("it has its own function"),
    }
}

/// Three senders of a channel. The receiver takes the available events as one batch.
fn over_a_channel(Load { events, slots }: Load) -> Result<Run, Failure> {
    let (sender, mut receiver) = channel::mpsc(slots)?;
    let mut crew = Crew::default();
    for (number, share) in graphs::shares(events) {
        let mut sender = sender.clone();
        crew.add(move || {
            for value in 0..share {
                sender.send(Event::new(value, number)).expect("the receiver takes every event");
            }
        });
    }
    drop(sender); // only the threads keep the channel open
    crew.add_consumer(move || {
        let mut sum = Checksum::default();
        while let Ok(batch) = receiver.recv_batch() {
            batch.for_each(|event| event.consume_by_producer(&mut sum));
        }
        sum
    });
    crew.run()
}

/// A ring each way, with pollers, as both threads send and receive.
fn round_trip(Load { events, slots }: Load) -> Result<Run, Failure> {
    let ring = || -> Result<(SingleProducer<Event>, Poller<Event>), Failure> {
        let ring = Disruptor::single_producer(slots, Event::default).stage("receiver").poller();
        let (producer, mut consumers) = ring.build()?;
        Ok((producer, consumers.take_poller("receiver")?))
    };
    let ((mut there, mut arrivals), (mut back, mut returns)) = (ring()?, ring()?);
    let call = move |sent: Event| {
        there.publish(|event| *event = sent).expect(OPEN);
        next(&mut returns)
    };
    let echo = move || {
        let arrived = next(&mut arrivals);
        back.publish(|event| *event = arrived).expect(OPEN);
    };
    let mut crew = Crew::default();
    crew.add_round_trips(events, call, echo);
    crew.run()
}

/// Waits for the next event. There is never more than one.
fn next(poller: &mut Poller<Event>) -> Event {
    let mut batch = poller.wait().expect(OPEN);
    let event = batch.as_slice()[0];
    batch.consume_all();
    event
}

/// Writes the event `number` of the only producer.
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

/// Adds a thread for each consumer, which ends when the ring is drained.
fn add_consumers<'a, E>(crew: &mut Crew<'a>, consumers: Consumers<'a, E>) {
    for consumer in consumers {
        crew.add(move || assert_eq!(*consumer.run().outcome(), consumer::Outcome::Drained));
    }
}

/// Runs a `ring` whose only producer publishes the events `0..events`.
fn finish<'a, E: Send + Sync + 'a>(
    ring: Builder<'a, E, Single>,
    events: u32,
    write: impl Fn(&mut E, u32) + Send + 'a,
) -> Result<Run, Failure> {
    let (producer, consumers) = ring.build()?;
    let mut crew = Crew::default();
    add_producer(&mut crew, producer, events, write);
    add_consumers(&mut crew, consumers);
    crew.run()
}
