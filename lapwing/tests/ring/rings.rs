//! The rings that most tests of this program use: one with a poller, and one whose stages run while
//! a test publishes.

use std::thread;

use crate::common::{Kind, Many, One, ProducerOf};
use lapwing::lifecycle::Report;
use lapwing::producer::Sequencer;
use lapwing::{Builder, Poller, Producer, Sequence};

/// A ring whose only stage is a poller.
pub(crate) fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    ring_from::<K>(capacity, 0)
}

/// The same, which begins at `first`.
pub(crate) fn ring_from<K: Kind>(
    capacity: usize,
    first: Sequence,
) -> (ProducerOf<u64, K>, Poller<u64>) {
    let ring = K::ring(capacity, || 0).first_sequence(first).stage("poller").poller();
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, consumers.take_poller("poller").unwrap())
}

/// A producer for one more thread, if there may be several.
pub(crate) trait Another: Kind {
    fn another<E>(producer: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>>;
}

impl Another for One {
    fn another<E>(_: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>> {
        None
    }
}

impl Another for Many {
    fn another<E>(producer: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>> {
        Some(producer.clone())
    }
}

/// A ring whose stages are pollers, which the test takes by their names.
pub(crate) fn with_pollers<'env, E: Send + Sync + 'env, S: Sequencer, const N: usize>(
    ring: Builder<'env, E, S>,
    names: [&str; N],
) -> (Producer<E, S>, [Poller<E>; N]) {
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, names.map(|name| consumers.take_poller(name).unwrap()))
}

/// Consumes all available events, also past the wrap.
pub(crate) fn drain<E: Clone>(poller: &mut Poller<E>) -> Vec<(Sequence, E)> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(sequence, event)| (sequence, event.clone())));
    }
    events
}

/// Consumes all available events, and returns them without their sequences.
pub(crate) fn events<E: Clone>(poller: &mut Poller<E>) -> Vec<E> {
    drain(poller).into_iter().map(|(_, event)| event).collect()
}

/// A handler of the one type that most tests use, so that the loop of a stage is compiled once.
pub(crate) type OnEvent<'env, E> = Box<dyn FnMut(&E, Sequence, bool) + Send + 'env>;

pub(crate) fn on_event<'env, E>(
    handle: impl FnMut(&E, Sequence, bool) + Send + 'env,
) -> OnEvent<'env, E> {
    Box::new(handle)
}

/// Runs the stages of `ring` while `act` has its producer, and shuts them down.
pub(crate) fn run<'env, E: Send + Sync + 'env, S: Sequencer>(
    ring: Builder<'env, E, S>,
    act: impl FnOnce(Producer<E, S>),
) -> Report {
    let (producer, consumers) = ring.build().unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        act(producer);
        running.shutdown().unwrap()
    })
}
