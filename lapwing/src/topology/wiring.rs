//! From a graph to a ring: sequences, barriers, gates, and the two ends.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use super::check::check;
use super::graph::{Body, Graph, Node};
use crate::consumer::{Poller, Reader};
use crate::control::Control;
use crate::error::BuildError;
use crate::failures::Failures;
use crate::lifecycle::{Consumers, UntakenPoller};
use crate::memory::Room;
use crate::producer::Producer;
use crate::ring::Ring;
use crate::ring_buffer::RingBuffer;
use crate::sequencer::Sequencer;
use crate::stamps::Stamps;
use crate::wait::{Adaptive, AnyWaitStrategy};

/// A stage lets go of its events after this part of the ring at the latest, so that whoever waits
/// for it can go on meanwhile. Measured: see `perf/results/experiments.md`.
const BATCHES_PER_RING: u64 = 4;

/// What a ring is made of, apart from its graph.
pub(super) struct Parts<'env, E, S> {
    pub(super) capacity: usize,
    pub(super) factory: Box<dyn FnMut(usize) -> E + 'env>,
    pub(super) wait: Box<dyn AnyWaitStrategy>,
    pub(super) producer_wait: Box<dyn AnyWaitStrategy>,
    pub(super) sequencer: PhantomData<S>,
}

impl<'env, E: Send + 'env, S: Sequencer> Parts<'env, E, S> {
    pub(super) fn new(capacity: usize, factory: impl FnMut(usize) -> E + 'env) -> Self {
        Self {
            capacity,
            factory: Box::new(factory),
            wait: Box::new(Adaptive::default()),
            producer_wait: Box::new(Adaptive::default()),
            sequencer: PhantomData,
        }
    }

    /// Checks the graph, makes the ring, and hands out its ends. Starts nothing.
    pub(super) fn build(
        self,
        graph: Graph<'env, E>,
    ) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        let upstream = check(&graph.nodes)?;
        let room_of_events = Room::reserve(self.capacity)?;
        let may_fail = |node: &Node<'_, E>| node.may_fail.then(|| Room::reserve(self.capacity));
        let rooms_of_failures = graph
            .nodes
            .iter()
            .map(|node| may_fail(node).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        let room_of_stamps = S::IS_MULTI.then(|| Room::reserve(self.capacity)).transpose()?;
        let buffer = RingBuffer::new(room_of_events, self.factory);
        let stamps = room_of_stamps.map(Stamps::new);
        let failures = rooms_of_failures.into_iter().map(|room| room.map(Failures::new)).collect();
        let is_signalled = self.producer_wait.parks()
            || graph
                .nodes
                .iter()
                .any(|node| node.stage.wait.as_ref().unwrap_or(&self.wait).parks());
        let capacity = buffer.capacity();
        let control = Control::new(capacity, stamps, upstream, failures, is_signalled);
        let ring = Ring::new(control, buffer);
        let producer = Producer::new(ring.clone(), self.producer_wait);

        let mut names = Vec::new();
        let mut consumers = Vec::new();
        let mut pollers = HashMap::new();
        for (index, mut node) in graph.nodes.into_iter().enumerate() {
            let wait = node.stage.wait.take().unwrap_or_else(|| self.wait.clone());
            let longest = match &node.body {
                Body::Handler(_) => (capacity / BATCHES_PER_RING).max(1),
                // Whoever polls lets go of what is done when it likes.
                Body::Poller => capacity,
            };
            let max_batch = node.stage.max_batch.map_or(longest, |events| events as u64);
            let reader = Reader::new(ring.clone(), index, wait, max_batch);
            names.push(node.stage.name.clone());
            match node.body {
                Body::Handler(make) => consumers.push(make(reader, node.stage)),
                Body::Poller => {
                    let poller = if node.is_exclusive {
                        UntakenPoller::Exclusive(Poller::new(reader))
                    } else {
                        UntakenPoller::Shared(Poller::new(reader))
                    };
                    pollers.insert(node.stage.name, Some(poller));
                }
            }
        }
        Ok((producer, Consumers::new(ring.control, names, consumers, pollers)))
    }
}

impl<E, S> fmt::Debug for Parts<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
