//! From a graph to a ring: sequences, barriers, gates, and the two ends.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use super::check::check;
use super::graph::{Body, Graph, Node};
use super::seats::Seats;
use crate::MAX_SEATS;
use crate::consumer::{Acknowledger, Place, Poller, Reader};
use crate::control::{Control, StageIndex};
use crate::description::{Description, StageDescription};
use crate::error::BuildError;
use crate::failures::Failures;
use crate::lifecycle::{Consumers, UntakenPoller};
use crate::memory::Room;
use crate::padded::Padded;
use crate::producer::Producer;
use crate::ring::Ring;
use crate::ring_buffer::RingBuffer;
use crate::seating::Seating;
use crate::sequencer::Sequencer;
use crate::stamps::Stamps;
use crate::sync::{Arc, AtomicU32, AtomicU64};
use crate::wait::{Adaptive, AnyWaitStrategy};
use crate::{MAX_FIRST_SEQUENCE, Sequence};

/// A stage lets go of its events after this part of the ring at the latest, so that whoever waits
/// for it can go on meanwhile. Measured: see `perf/results/experiments.md`.
const BATCHES_PER_RING: u64 = 4;

/// Name of a ring that was given none.
const DEFAULT_NAME: &str = "ring";

/// Longest batch of a handler that does not say so itself, in a ring of `capacity` events.
pub(super) fn longest_batch(capacity: u64) -> u64 {
    (capacity / BATCHES_PER_RING).max(1)
}

/// What a ring is made of, apart from its graph.
pub(super) struct Parts<'env, E, S> {
    pub(super) name: String,
    pub(super) capacity: usize,
    pub(super) seats: usize,
    pub(super) factory: Box<dyn FnMut(usize) -> E + 'env>,
    pub(super) wait: Box<dyn AnyWaitStrategy>,
    pub(super) producer_wait: Box<dyn AnyWaitStrategy>,
    pub(super) first_sequence: Sequence,
    pub(super) sequencer: PhantomData<S>,
}

impl<'env, E: Send + 'env, S: Sequencer> Parts<'env, E, S> {
    pub(super) fn new(capacity: usize, factory: impl FnMut(usize) -> E + 'env) -> Self {
        Self {
            name: DEFAULT_NAME.to_owned(),
            capacity,
            seats: 0,
            factory: Box::new(factory),
            wait: Box::new(Adaptive::default()),
            producer_wait: Box::new(Adaptive::default()),
            first_sequence: 0,
            sequencer: PhantomData,
        }
    }

    /// Checks the graph, makes the ring, and hands out its ends. Starts nothing.
    pub(super) fn build(
        self,
        graph: Graph<'env, E>,
    ) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        let mut upstream = check(&graph.nodes)?;
        let first_sequence = check_first_sequence(self.first_sequence)?;
        check_seats(self.seats)?;
        let acknowledged = add_acknowledgements(&graph.nodes, &mut upstream);
        let seating = add_seats(&graph.nodes, &acknowledged, &mut upstream, self.seats);
        let parks = self.parks(&graph.nodes);
        let rooms = Rooms::reserve(self.capacity, S::IS_MULTI, &graph.nodes)?;
        let (buffer, stamps, mut failures) = rooms.fill(self.factory, first_sequence);
        failures.resize_with(upstream.len(), || None);
        let capacity = buffer.capacity();
        let mut control = Control::new(capacity, stamps, upstream, failures, seating, parks)
            .starting_at(first_sequence);
        if graph.nodes.iter().any(|node| node.stage.thread.is_some()) {
            control.doorbell = Some(Padded::default());
        }
        for &(stage, words) in &acknowledged {
            control.stages[stage].acknowledgement = Some(words);
        }
        let ring = Ring::new(control, buffer, describe(self.name, &graph.nodes));
        let producer = Producer::new(ring.clone(), self.producer_wait);

        let acknowledger = |&(stage, words): &(StageIndex, StageIndex)| {
            let acknowledger = Acknowledger::new(Arc::clone(&ring.control), words);
            (graph.nodes[stage].stage.name.clone(), Some(acknowledger))
        };
        let acknowledgers = acknowledged.iter().map(acknowledger).collect();
        let mut names = Vec::new();
        let mut consumers = Vec::new();
        let mut pollers = HashMap::new();
        for (index, node) in graph.nodes.into_iter().enumerate() {
            let reader = reader_of(&ring, index, &node, &*self.wait);
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
        let seats = Seats::new(ring.clone(), names.iter().cloned(), self.wait);
        let Ring { control, description, .. } = ring;
        let consumers =
            Consumers::new(control, description, names, consumers, pollers, acknowledgers, seats);
        Ok((producer, consumers))
    }

    /// Whether somebody may park. Who takes a seat may, whatever the others do.
    fn parks(&self, nodes: &[Node<'env, E>]) -> bool {
        let wait_of = |node: &Node<'env, E>| node.stage.wait.as_ref().unwrap_or(&self.wait).parks();
        self.seats > 0 || self.producer_wait.parks() || nodes.iter().any(wait_of)
    }
}

fn check_seats(requested: usize) -> Result<(), BuildError> {
    if requested <= MAX_SEATS { Ok(()) } else { Err(BuildError::Seats { requested }) }
}

/// Leaves room for the sequences that follow.
fn check_first_sequence(requested: Sequence) -> Result<Sequence, BuildError> {
    if requested <= MAX_FIRST_SEQUENCE {
        Ok(requested)
    } else {
        Err(BuildError::FirstSequence { requested })
    }
}

/// The reading end of a stage, which waits by `default` if it does not say.
fn reader_of<E>(
    ring: &Ring<E>,
    index: StageIndex,
    node: &Node<'_, E>,
    default: &dyn AnyWaitStrategy,
) -> Reader<E> {
    let wait = node.stage.wait.clone().unwrap_or_else(|| default.boxed_clone());
    let capacity = ring.control.capacity;
    let longest = match &node.body {
        Body::Handler(_) => longest_batch(capacity),
        // Whoever polls lets go of what is done when it likes.
        Body::Poller => capacity,
    };
    let max_batch = node.stage.max_batch.map_or(longest, |events| events as u64);
    Reader::new(ring.clone(), Place::Graph(index), wait, max_batch)
}

/// Memory for all that a ring has by the slot: all of it is reserved before any of it is filled.
struct Rooms<E> {
    events: Room<UnsafeCell<E>>,
    stamps: Option<Room<AtomicU32>>,
    /// For each stage of the graph.
    failures: Vec<Option<Room<AtomicU64>>>,
}

impl<E> Rooms<E> {
    fn reserve(capacity: usize, is_multi: bool, nodes: &[Node<'_, E>]) -> Result<Self, BuildError> {
        let failures = nodes.iter().map(|node| node.may_fail.then(|| Room::reserve(capacity)));
        Ok(Self {
            events: Room::reserve(capacity)?,
            stamps: is_multi.then(|| Room::reserve(capacity)).transpose()?,
            failures: failures.map(Option::transpose).collect::<Result<_, _>>()?,
        })
    }

    fn fill(
        self,
        factory: impl FnMut(usize) -> E,
        first: Sequence,
    ) -> (RingBuffer<E>, Option<Stamps>, Vec<Option<Failures>>) {
        let failures = self.failures.into_iter().map(|room| room.map(Failures::new));
        let buffer = RingBuffer::new(self.events, factory);
        let stamps = self.stamps.map(|room| Stamps::new(room, first));
        (buffer, stamps, failures.collect())
    }
}

/// Adds, behind the stages of the graph, words for each acknowledgement, which whoever comes after the
/// stage waits for as well. Returns each such stage with its words.
fn add_acknowledgements<E>(
    nodes: &[Node<'_, E>],
    upstream: &mut Vec<Box<[StageIndex]>>,
) -> Vec<(StageIndex, StageIndex)> {
    let acknowledged = (0..nodes.len()).filter(|&stage| nodes[stage].stage.is_acknowledged);
    let acknowledged: Vec<_> = acknowledged.zip(nodes.len()..).collect();
    for near in upstream.iter_mut() {
        let is_near = |(stage, _): &&(StageIndex, StageIndex)| near.contains(stage);
        let words = acknowledged.iter().filter(is_near).map(|&(_, words)| words);
        *near = near.iter().copied().chain(words).collect();
    }
    upstream.extend(acknowledged.iter().map(|_| Box::default()));
    acknowledged
}

/// What people call the ring and its stages.
fn describe<E>(ring: String, nodes: &[Node<'_, E>]) -> Description {
    let describe = |Node { stage, body, .. }: &Node<'_, E>| {
        let thread = || stage.thread.as_ref().unwrap_or(&stage.name).clone();
        let is_run = matches!(body, Body::Handler(_));
        StageDescription { name: stage.name.clone(), thread: is_run.then(thread) }
    };
    Description::new(ring, nodes.iter().map(describe))
}

/// Adds, behind all that, `count` seats. Whoever sits there comes after the last stage that writes,
/// and so after all that do (I6), and after its acknowledgement.
fn add_seats<E>(
    nodes: &[Node<'_, E>],
    acknowledged: &[(StageIndex, StageIndex)],
    upstream: &mut Vec<Box<[StageIndex]>>,
    count: usize,
) -> Seating {
    let last_writer = nodes.iter().rposition(|node| node.is_exclusive);
    let words = acknowledged.iter().filter(|(stage, _)| Some(*stage) == last_writer);
    let near: Box<[StageIndex]> =
        last_writer.into_iter().chain(words.map(|&(_, words)| words)).collect();
    let first = upstream.len();
    upstream.resize(first + count, near);
    Seating::new(nodes.len(), first, count)
}

impl<E, S> fmt::Debug for Parts<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("name", &self.name)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
