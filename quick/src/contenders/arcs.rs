//! Every graph over a queue for each arrow, for libraries whose queues hand an event to one receiver. A stage receives an
//! event, changes its copy and sends it on.

use crate::crew::{Crew, Failure, Run};
use crate::graphs::{self, BUZZ, Checksum, Event, FIZZ, Graph, Load, SEVERAL};

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
    #[inline]
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
            add_stage(&mut crew, inbox, events, |sum, event| sum.add(event.number()));
        }
        Graph::Pipeline => {
            let ((to_first, first), (mut second, from_first), (mut third, from_second)) =
                (arc(), arc(), arc());
            add_producer(&mut crew, to_first, events, 0);
            add_stage(&mut crew, first, events, move |sum, event| {
                sum.add(event.number());
                second[0].send(Event::new(graphs::step_one(event.number()), 0));
            });
            add_stage(&mut crew, from_first, events, move |sum, event| {
                sum.add(event.number());
                third[0].send(Event::new(graphs::step_two(event.number()), 0));
            });
            add_stage(&mut crew, from_second, events, |sum, event| sum.add(event.number()));
        }
        Graph::Sequencer => {
            let (senders, inbox) = arcs.arc(slots, SEVERAL);
            for (sender, (producer, share)) in senders.into_iter().zip(graphs::shares(events)) {
                add_producer(&mut crew, vec![sender], share, producer);
            }
            add_stage(&mut crew, inbox, events, Checksum::add_by_producer);
        }
        Graph::Multicast => {
            let (senders, inboxes): (Vec<_>, Vec<_>) = (0..SEVERAL).map(|_| arc()).unzip();
            add_producer(&mut crew, senders.into_iter().flatten().collect(), events, 0);
            for inbox in inboxes {
                add_stage(&mut crew, inbox, events, |sum, event| sum.add(event.number()));
            }
        }
        Graph::Diamond => {
            let ((mut senders, fizz), (to_buzz, buzz)) = (arc(), arc());
            let ((mut from_fizz, with_fizz), (mut from_buzz, with_buzz)) = (arc(), arc());
            senders.extend(to_buzz);
            add_producer(&mut crew, senders, events, 0);
            add_stage(&mut crew, fizz, events, move |sum, event| {
                sum.add(event.number());
                let bit = if graphs::is_fizz(event.number()) { FIZZ } else { 0 };
                from_fizz[0].send(Event(event.0 | bit));
            });
            add_stage(&mut crew, buzz, events, move |sum, event| {
                sum.add(event.number());
                let bit = if graphs::is_buzz(event.number()) { BUZZ } else { 0 };
                from_buzz[0].send(Event(event.0 | bit));
            });
            crew.add_consumer(move || join(with_fizz, with_buzz, events));
        }
        Graph::RoundTrip => round_trip(&mut crew, arc(), arc(), events),
    }
    crew.run()
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

/// Adds a thread that does `work` on each event of `inbox`.
fn add_stage<'a>(
    crew: &mut Crew<'a>,
    mut inbox: impl Receiver + 'a,
    events: u32,
    mut work: impl FnMut(&mut Checksum, Event) + Send + 'a,
) {
    crew.add_consumer(move || {
        let (mut sum, mut left) = (Checksum::default(), events as usize);
        while left > 0 {
            left -= inbox.receive(|event| work(&mut sum, event));
        }
        sum
    });
}

/// Takes each event from both sides. Events that are not copies of one event change the checksum.
fn join<R: Receiver>(mut with_fizz: R, mut with_buzz: R, events: u32) -> Checksum {
    let mut sum = Checksum::default();
    for _ in 0..events {
        let (fizz, buzz) = (with_fizz.take(), with_buzz.take());
        let mismatch = fizz.number() ^ buzz.number();
        sum.add((fizz.0 | buzz.0).wrapping_add(mismatch.into()));
    }
    sum
}

fn round_trip<'a, S: Sender + 'a, R: Receiver + 'a>(
    crew: &mut Crew<'a>,
    (mut there, mut arrivals): (Vec<S>, R),
    (mut back, mut returns): (Vec<S>, R),
    events: u32,
) {
    crew.add_consumer(move || {
        let mut sum = Checksum::default();
        for number in 0..events {
            there[0].send(Event::new(number, 0));
            sum.add(returns.take().number());
        }
        sum
    });
    crew.add(move || (0..events).for_each(|_| back[0].send(arrivals.take())));
}
