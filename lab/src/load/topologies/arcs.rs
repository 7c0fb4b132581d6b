//! The ends of a worker's queues. A worker knows the number of events, so a stream has no end mark.
//! If the peer is gone, the worker ends.

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::Queue;
use crate::measure::crew::{Answers, Disconnected};

/// Sends the events numbered `0..events` into each of `arcs`, as the producer numbered `origin`.
pub(super) fn produce<Q: Queue, const PAD: usize>(
    arcs: &mut [Q::Sender<Event<PAD>>],
    events: u32,
    origin: u8,
) -> Result<Answers, Disconnected> {
    for value in 0..events {
        let message = Event::new(value, origin);
        for arc in &mut *arcs {
            Q::send(arc, message)?;
        }
    }
    Ok(Answers::new())
}

/// Receives `events`, applies `step` to each and sends it on.
pub(super) fn relay<Q: Queue, const PAD: usize>(
    from: &mut Q::Receiver<Event<PAD>>,
    to: &mut Q::Sender<Event<PAD>>,
    events: u32,
    step: impl Fn(&mut Event<PAD>),
) -> Result<Answers, Disconnected> {
    for _ in 0..events {
        let mut message = Q::receive(from)?;
        step(&mut message);
        Q::send(to, message)?;
    }
    Ok(Answers::new())
}

/// Receives `events` and folds each.
pub(super) fn consume<Q: Queue, const PAD: usize>(
    from: &mut Q::Receiver<Event<PAD>>,
    events: u32,
) -> Result<Answers, Disconnected> {
    let mut fold = Fold::new();
    for _ in 0..events {
        fold.add(Q::receive(from)?.digest());
    }
    Ok(vec![fold.answer()])
}
