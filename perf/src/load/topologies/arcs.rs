//! The ends of a worker's queues. A worker knows the number of events, so a stream has no end mark.
//! If the peer is gone, the worker ends.

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::{Receiver, Sender};
use crate::measure::crew::{Answers, Disconnected};

/// Sends the events numbered `0..events` into each of `arcs`, as the producer numbered `origin`.
pub(super) fn produce<const PAD: usize>(
    arcs: &[impl Sender<Event<PAD>>],
    events: u32,
    origin: u8,
) -> Result<Answers, Disconnected> {
    for value in 0..events {
        let message = Event::new(value, origin);
        for arc in arcs {
            arc.send(message)?;
        }
    }
    Ok(Answers::new())
}

/// Receives `events`, applies `step` to each and sends it on.
pub(super) fn relay<const PAD: usize>(
    from: &impl Receiver<Event<PAD>>,
    to: &impl Sender<Event<PAD>>,
    events: u32,
    step: impl Fn(&mut Event<PAD>),
) -> Result<Answers, Disconnected> {
    for _ in 0..events {
        let mut message = from.receive()?;
        step(&mut message);
        to.send(message)?;
    }
    Ok(Answers::new())
}

/// Receives `events` and folds each.
pub(super) fn consume<const PAD: usize>(
    from: &impl Receiver<Event<PAD>>,
    events: u32,
) -> Result<Answers, Disconnected> {
    let mut fold = Fold::new();
    for _ in 0..events {
        fold.add(from.receive()?.digest());
    }
    Ok(vec![fold.answer()])
}
