//! Every graph over a queue for each arrow, for libraries whose queues hand an event to one receiver. A stage receives an
//! event, changes its copy and sends it on.

use crate::crew::{Crew, Failure, Run};
use crate::graphs::{self, Checksum, Event, Graph, Load, SEVERAL};

/// A kind of bounded queue, together with how its ends wait.
pub(super) trait Arcs: Copy {
    type Sender: Sender + 'static;
    type Receiver: Receiver + 'static;

    /// An empty queue of so many producers, whose memory has been touched.
    fn arc(self, slots: usize, producers: usize) -> (Vec<Self::Sender>, Self::Receiver);
}

/// The sending end of a queue.
pub(super) trait Sender: Send {
    /// Sends one event. Waits while the queue is full.
    fn send(&mut self, event: Event);
}

/// The receiving end of a queue.
pub(super) trait Receiver: Send {
    /// Takes the oldest event. Waits while there is none.
    fn take(&mut self) -> Event;

    /// Hands `each` the available events, as many as the queue hands over at once, and returns how many. Waits while
    /// there is none.
    fn receive(&mut self, mut each: impl FnMut(Event)) -> usize {
        each(self.take());
        1
    }
}

/// Runs `graph` once.
///
/// # Errors
///
/// A thread panicked.
pub(super) fn run(
    arcs: impl Arcs,
    graph: Graph,
    Load { events, slots }: Load,
) -> Result<Run, Failure> {
    let arc = || arcs.arc(slots, 1);
    let mut crew = Crew::default();
    match graph {
        Graph::Unicast => {
            let (to_consumer, inbox) = arc();
            add_producer(&mut crew, to_consumer, events, 0);
            add_stage(&mut crew, inbox, events, |event, sum| event.consume(sum));
        }
        Graph::Pipeline => {
            let (to_first, first) = arc();
            let ((to_second, second), (to_third, third)) = (arc(), arc());
            add_producer(&mut crew, to_first, events, 0);
            add_relay(&mut crew, first, to_second, events, Event::step_one);
            add_relay(&mut crew, second, to_third, events, Event::step_two);
            add_stage(&mut crew, third, events, |event, sum| event.consume(sum));
        }
        Graph::Sequencer | Graph::Channel => {
            let (senders, inbox) = arcs.arc(slots, SEVERAL);
            for (sender, (producer, share)) in senders.into_iter().zip(graphs::shares(events)) {
                add_producer(&mut crew, vec![sender], share, producer);
            }
            add_stage(&mut crew, inbox, events, |event, sum| event.consume_by_producer(sum));
        }
        Graph::Multicast => {
            let (senders, inboxes): (Vec<_>, Vec<_>) = (0..SEVERAL).map(|_| arc()).unzip();
            add_producer(&mut crew, senders.into_iter().flatten().collect(), events, 0);
            for inbox in inboxes {
                add_stage(&mut crew, inbox, events, |event, sum| event.consume(sum));
            }
        }
        Graph::Diamond => {
            let ((mut senders, fizz), (to_buzz, buzz)) = (arc(), arc());
            let ((from_fizz, mut with_fizz), (from_buzz, mut with_buzz)) = (arc(), arc());
            senders.extend(to_buzz);
            add_producer(&mut crew, senders, events, 0);
            add_relay(&mut crew, fizz, from_fizz, events, Event::fizz);
            add_relay(&mut crew, buzz, from_buzz, events, Event::buzz);
            crew.add_consumer(move || {
                let mut sum = Checksum::default();
                (0..events).for_each(|_| with_fizz.take().join(with_buzz.take(), &mut sum));
                sum
            });
        }
        Graph::RoundTrip => add_round_trips(&mut crew, arc(), arc(), events),
    }
    crew.run()
}

/// Adds the threads of a round trip, with a queue each way.
fn add_round_trips<'a, S: Sender + 'a, R: Receiver + 'a>(
    crew: &mut Crew<'a>,
    (mut there, mut arrivals): (Vec<S>, R),
    (mut back, mut returns): (Vec<S>, R),
    events: u32,
) {
    let call = move |event| {
        there[0].send(event);
        returns.take()
    };
    crew.add_round_trips(events, call, move || back[0].send(arrivals.take()));
}

/// Adds a thread that sends the events `0..events` to every one of `senders`.
fn add_producer<'a>(
    crew: &mut Crew<'a>,
    mut senders: Vec<impl Sender + 'a>,
    events: u32,
    producer: usize,
) {
    crew.add(move || {
        for number in 0..events {
            senders.iter_mut().for_each(|sender| sender.send(Event::new(number, producer)));
        }
    });
}

/// Adds a thread that sends on what `work` makes of each event.
fn add_relay<'a>(
    crew: &mut Crew<'a>,
    inbox: impl Receiver + 'a,
    mut next: Vec<impl Sender + 'a>,
    events: u32,
    work: impl Fn(&mut Event, &mut Checksum) + Send + 'a,
) {
    add_stage(crew, inbox, events, move |mut event, sum| {
        work(&mut event, sum);
        next[0].send(event);
    });
}

/// Adds a thread that does `work` on each event of `inbox`.
fn add_stage<'a>(
    crew: &mut Crew<'a>,
    mut inbox: impl Receiver + 'a,
    events: u32,
    mut work: impl FnMut(Event, &mut Checksum) + Send + 'a,
) {
    crew.add_consumer(move || {
        let (mut sum, mut left) = (Checksum::default(), events as usize);
        while left > 0 {
            left -= inbox.receive(|event| work(event, &mut sum));
        }
        sum
    });
}
