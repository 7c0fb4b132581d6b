//! The crate `disruptor`: one ring for the whole graph, and a thread of the crate's own for each handler. A handler gets
//! `&E`, so what stages change is an atomic in the event.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use disruptor::wait_strategies::WaitStrategy;
use disruptor::{
    BusySpin, BusySpinWithSpinLoopHint, EventPoller, Polling, Producer, Sequence,
    SingleProducerBarrier, Sleep, build_multi_producer, build_single_producer,
};

use crate::crew::{Crew, Failure, Run};
use crate::graphs::{self, Checksum, Event, Graph, Load, SEVERAL, SharedEvent};

/// How handlers wait for events and producers for slots: the strategies of the crate, and one that yields, which the crate
/// invites its users to write.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    BusySpin,
    SpinHint,
    Yield,
    /// For so many nanoseconds at least.
    Sleep(u64),
}

impl WaitStrategy for Wait {
    fn wait_for(&self, sequence: Sequence) {
        match self {
            Self::BusySpin => BusySpin.wait_for(sequence),
            Self::SpinHint => BusySpinWithSpinLoopHint.wait_for(sequence),
            Self::Yield => thread::yield_now(),
            Self::Sleep(ns) => Sleep::new(Duration::from_nanos(*ns)).wait_for(sequence),
        }
    }
}

/// Runs `graph` once.
///
/// # Errors
///
/// A thread panicked.
pub(super) fn run(wait: Wait, graph: Graph, Load { events, slots }: Load) -> Result<Run, Failure> {
    let mut line = FinishLine { last: Sequence::from(events) - 1, handlers: Vec::new() };
    let (mut crew, ring) = (Crew::default(), build_single_producer(slots, Event::default, wait));
    match graph {
        Graph::Unicast => {
            let ring = ring.handle_events_with(line.handler(Event::consume));
            add_producer(&mut crew, wait, ring.build(), events, write);
        }
        Graph::Pipeline => {
            let ring = build_single_producer(slots, SharedEvent::default, wait);
            let ring = ring.handle_events_with(line.handler(SharedEvent::step_one)).and_then();
            let ring = ring.handle_events_with(line.handler(SharedEvent::step_two)).and_then();
            let ring = ring.handle_events_with(line.handler(SharedEvent::consume));
            add_producer(&mut crew, wait, ring.build(), events, SharedEvent::write);
        }
        // The crate has no channel.
        Graph::Sequencer | Graph::Channel => {
            let ring = build_multi_producer(slots, Event::default, wait);
            let ring = ring.handle_events_with(line.handler(Event::consume_by_producer));
            let producer = ring.build();
            for (number, share) in graphs::shares(events) {
                let write = move |event: &mut Event, value| *event = Event::new(value, number);
                add_producer(&mut crew, wait, producer.clone(), share, write);
            }
        }
        Graph::Multicast => {
            let ring = (0..SEVERAL).fold(ring.with_multi_consumer(), |ring, _| {
                ring.handle_events_with(line.handler(Event::consume))
            });
            add_producer(&mut crew, wait, ring.build(), events, write);
        }
        Graph::Diamond => {
            let ring = build_single_producer(slots, SharedEvent::default, wait);
            let ring = ring.handle_events_with(line.handler(SharedEvent::fizz));
            let ring = ring.handle_events_with(line.handler(SharedEvent::buzz)).and_then();
            let ring = ring.handle_events_with(line.handler(SharedEvent::join));
            add_producer(&mut crew, wait, ring.build(), events, SharedEvent::write);
        }
        Graph::RoundTrip => return round_trip(wait, events, slots),
    }
    line.ends(crew.run()?)
}

/// A ring each way, with pollers. There is never more than one event in a ring, so `publish` does not wait.
fn round_trip(wait: Wait, events: u32, slots: usize) -> Result<Run, Failure> {
    let ring = || {
        let (poller, ring) = build_single_producer(slots, Event::default, wait).new_event_poller();
        (ring.build(), poller)
    };
    let ((mut there, mut arrivals), (mut back, mut returns)) = (ring(), ring());
    let call = move |sent: Event| {
        there.publish(|event| *event = sent);
        next(&mut returns, wait)
    };
    let echo = move || {
        let arrived = next(&mut arrivals, wait);
        back.publish(|event| *event = arrived);
    };
    let mut crew = Crew::default();
    crew.add_round_trips(events, call, echo);
    crew.run()
}

/// Waits for the next event. There is never more than one.
fn next(poller: &mut EventPoller<Event, SingleProducerBarrier>, wait: Wait) -> Event {
    loop {
        match poller.poll() {
            Ok(mut events) => {
                if let Some(event) = (&mut events).next() {
                    return *event;
                }
            }
            Err(Polling::NoEvents) => wait.wait_for(0),
            Err(Polling::Shutdown) => panic!("the sender sends every event"),
        }
    }
}

/// Writes the event `number` of the only producer.
fn write(event: &mut Event, number: u32) {
    *event = Event::new(number, 0);
}

/// Adds a thread that publishes the events `0..events`. The drop of the last producer joins the handlers. The `publish` of
/// the crate spins on a full ring whatever the strategy; a loop over `try_publish` is as fast, and can leave the CPU.
fn add_producer<'a, E>(
    crew: &mut Crew<'a>,
    wait: Wait,
    mut producer: impl Producer<E> + Send + 'a,
    events: u32,
    write: impl Fn(&mut E, u32) + Send + 'a,
) {
    crew.add(move || {
        for number in 0..events {
            while producer.try_publish(|event| write(event, number)).is_err() {
                match wait {
                    Wait::BusySpin | Wait::SpinHint => wait.wait_for(0),
                    Wait::Yield | Wait::Sleep(_) => thread::yield_now(),
                }
            }
        }
    });
}

/// Where handlers report when they have seen the last event: their threads do not belong to the crew.
struct FinishLine {
    last: Sequence,
    handlers: Vec<Receiver<(Instant, Checksum)>>,
}

impl FinishLine {
    /// A handler that does `work` on every event. Its checksum is on the stack of its thread, so that handlers do not
    /// share a cache line.
    fn handler<E>(
        &mut self,
        mut work: impl FnMut(&E, &mut Checksum) + Send + 'static,
    ) -> impl FnMut(&E, Sequence, bool) + Send + 'static {
        let (end, receiver) = mpsc::channel();
        self.handlers.push(receiver);
        let (mut sum, last) = (Checksum::default(), self.last);
        move |event, sequence, end_of_batch| {
            work(event, &mut sum);
            if end_of_batch && sequence == last {
                let _unread = end.send((Instant::now(), sum));
            }
        }
    }

    /// The run with the answers of all handlers. It ends with the last of them.
    fn ends(self, run: Run) -> Result<Run, Failure> {
        let ends = self.handlers.iter().map(Receiver::try_recv).collect::<Result<Vec<_>, _>>()?;
        let ended_at = ends.iter().map(|(at, _)| *at).max().unwrap_or(run.ended_at);
        Ok(Run { ended_at, answers: ends.into_iter().map(|(_, sum)| sum).collect(), ..run })
    }
}
