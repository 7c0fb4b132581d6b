//! Turns a graph into a ring: sequences, barriers, gates, and the two ends.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::mem;
use std::vec;

use super::batch_length;
use super::check::check;
use super::graph::{Body, Graph, Node};
use super::placing::{describe, place};
use super::seats::Seats;
use crate::MAX_SEATS;
use crate::consumer::{Acknowledger, Consumer, Poller, StageReader, Worker};
use crate::error::BuildError;
use crate::lifecycle::{Consumers, UntakenPoller};
use crate::placement::{Placement, Plan};
use crate::producer::{Producer, Sequencer};
use crate::protocol::claims::Claims;
use crate::protocol::control::{Control, StageIndex};
use crate::protocol::failures::Failures;
use crate::protocol::group::Group;
use crate::protocol::memory::Reserved;
use crate::protocol::ring::Ring;
use crate::protocol::ring_buffer::{Factory, Noticed, Notices, RingBuffer};
use crate::protocol::seats::{Place, Seating};
use crate::protocol::stamps::Stamps;
use crate::sync::{Arc, AtomicU8, AtomicU32, AtomicU64};
use crate::wait::spinner::count_cpus;
use crate::wait::{Adaptive, AnyWaitStrategy};
use crate::{MAX_FIRST_SEQUENCE, Sequence};

/// Name of a ring that has no other.
const DEFAULT_NAME: &str = "ring";

/// What a ring is made from, apart from its graph.
pub(super) struct Parts<'env, E, S> {
    pub(super) name: String,
    pub(super) capacity: usize,
    pub(super) seats: usize,
    pub(super) factory: Factory<'env, E>,
    pub(super) wait: Box<dyn AnyWaitStrategy>,
    pub(super) producer_wait: Box<dyn AnyWaitStrategy>,
    pub(super) first_sequence: Sequence,
    pub(super) placement: Placement,
    /// Finds the notices of the events, if the events have them.
    notices: Option<fn(&RingBuffer<E>) -> Notices>,
    pub(super) sequencer: PhantomData<S>,
}

impl<'env, E: Send + 'env, S: Sequencer> Parts<'env, E, S> {
    pub(super) fn new(capacity: usize, factory: Factory<'env, E>) -> Self {
        Self {
            name: DEFAULT_NAME.to_owned(),
            capacity,
            seats: 0,
            factory,
            wait: Box::new(Adaptive::default()),
            producer_wait: Box::new(Adaptive::default()),
            first_sequence: 0,
            placement: Placement::default(),
            notices: None,
            sequencer: PhantomData,
        }
    }

    /// Makes first stages check the notices of events while they wait. Requires a single producer
    /// that gives notices.
    pub(super) fn look_at_notices(&mut self)
    where
        E: Noticed,
    {
        self.notices = Some(Notices::of::<E>);
    }

    /// Checks the graph, makes the ring, and returns its ends. Starts nothing.
    pub(super) fn build(
        self,
        graph: Graph<'env, E>,
    ) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        count_cpus();
        let mut upstream = check(&graph)?;
        let first_sequence = check_first_sequence(self.first_sequence)?;
        check_seats(self.seats)?;
        let plan = place(&self.placement, &self.name, &graph.nodes)?;
        let acknowledged = add_acknowledgements(&graph.nodes, &mut upstream);
        let groups = add_workers(&graph.nodes, &mut upstream);
        let seating = add_seats(&graph.nodes, &acknowledged, &groups, &mut upstream, self.seats);
        let parks = self.parks(&graph.nodes);
        let mut rooms = Rooms::reserve(self.capacity, S::Claims::IS_MULTI, &graph.nodes)?;
        let owners = mem::take(&mut rooms.owners);
        let (buffer, stamps, mut failures) = rooms.fill(self.factory, first_sequence);
        failures.resize_with(upstream.len(), || None);
        let capacity = buffer.capacity();
        let longest_batch =
            batch_length::of_handler::<E>(capacity, graph.nodes.len(), S::Claims::IS_MULTI);
        let mut control = Control::new(capacity, stamps, upstream, failures, seating, parks)
            .starting_at(first_sequence);
        // A caller that names a thread may run that thread itself, with several stages on it.
        if plan.has_shared() || graph.nodes.iter().any(|node| node.stage.thread.is_some()) {
            control.expect_shared_threads();
        }
        for &(stage, words) in &acknowledged {
            control.stage_mut(stage).acknowledgement = Some(words);
        }
        for words in &groups {
            control.stage_mut(words[0]).set_workers(&words[1..]);
        }
        let notices = self.notices.map(|of| of(&buffer));
        let description = describe(self.name, &graph.nodes, &plan);
        let ring = Ring::new(control, buffer, notices, description);
        let producer = Producer::new(ring.clone(), self.producer_wait);

        let acknowledgers = acknowledgers(&ring.control, &graph.nodes, &acknowledged);
        let (groups, owners, made) = (groups.into_iter(), owners.into_iter(), Made::default());
        let wait = &*self.wait;
        let mut ends = Ends { ring: &ring, wait, longest_batch, plan: &plan, groups, owners, made };
        for (index, node) in graph.nodes.into_iter().enumerate() {
            ends.add(index, node);
        }
        let Made { names, consumers, pollers, groups } = ends.made;
        let seats = Seats::new(ring.clone(), self.wait);
        let Ring { control, description, .. } = ring;
        let consumers =
            Consumers::new(control, description, names, consumers, pollers, acknowledgers, seats);
        Ok((producer, consumers.with_groups(groups)))
    }

    /// Whether a thread of the ring may park. A consumer that takes a seat may, whatever the other
    /// strategies are.
    fn parks(&self, nodes: &[Node<'env, E>]) -> bool {
        let wait_of = |node: &Node<'env, E>| node.stage.wait.as_ref().unwrap_or(&self.wait).parks();
        self.seats > 0 || self.producer_wait.parks() || nodes.iter().any(wait_of)
    }
}

/// The acknowledger of each stage that is `acknowledged`, by the name of the stage.
fn acknowledgers<E>(
    control: &Arc<Control>,
    nodes: &[Node<'_, E>],
    acknowledged: &[(StageIndex, StageIndex)],
) -> HashMap<String, Option<Acknowledger>> {
    let acknowledger = |&(stage, words): &(StageIndex, StageIndex)| {
        let acknowledger = Acknowledger::new(Arc::clone(control), words);
        (nodes[stage].stage.name.clone(), Some(acknowledger))
    };
    acknowledged.iter().map(acknowledger).collect()
}

/// The reading ends of a ring while they are made.
struct Ends<'a, 'env, E> {
    ring: &'a Ring<E>,
    /// The strategy of a stage that sets none.
    wait: &'a dyn AnyWaitStrategy,
    /// The longest batch of a handler that sets none.
    longest_batch: u64,
    plan: &'a Plan,
    /// The words of the groups that are still to be made.
    groups: vec::IntoIter<Box<[StageIndex]>>,
    /// Memory for the owners of the events of each such group, if it is by key.
    owners: vec::IntoIter<Option<Reserved<AtomicU8>>>,
    made: Made<'env, E>,
}

/// What the stages of a graph have become.
struct Made<'env, E> {
    names: Vec<String>,
    consumers: Vec<Consumer<'env>>,
    pollers: HashMap<String, Option<UntakenPoller<E>>>,
    groups: HashMap<String, Arc<Group>>,
}

impl<E> Default for Made<'_, E> {
    fn default() -> Self {
        let (names, consumers) = (Vec::new(), Vec::new());
        Self { names, consumers, pollers: HashMap::new(), groups: HashMap::new() }
    }
}

impl<'env, E: Send + 'env> Ends<'_, 'env, E> {
    /// Makes the ends of the stage with `index`.
    fn add(&mut self, index: StageIndex, node: Node<'env, E>) {
        let name = node.stage.name.clone();
        self.made.names.push(name.clone());
        let reader = || self.reader_of(index, &node);
        if let Some(workers) = node.workers() {
            let readers = (0..workers.max().unwrap_or(0)).map(|_| reader()).collect();
            self.add_workers(readers, index, name, node);
            return;
        }
        let reader = reader();
        let poller = match node.part.body {
            Body::Handler(make) => {
                let stage = node.stage.placed(&self.plan.of_stage(index)[0]);
                return self.made.consumers.push(make(reader, stage));
            }
            _ if node.part.is_exclusive => UntakenPoller::Exclusive(Poller::new(reader)),
            _ => UntakenPoller::Shared(Poller::new(reader)),
        };
        self.made.pollers.insert(name, Some(poller));
    }

    /// The reading end of a stage. It uses the ring's strategy if the stage has none.
    fn reader_of(&self, index: StageIndex, node: &Node<'env, E>) -> StageReader<E> {
        let stage = &node.stage;
        let wait = stage.wait.clone().unwrap_or_else(|| self.wait.boxed_clone());
        let capacity = self.ring.control.capacity;
        let longest = match &node.part.body {
            Body::Handler(_) => self.longest_batch,
            Body::Workers(..) => batch_length::shared(capacity),
            // The program decides when a poller releases events.
            Body::Poller => capacity,
        };
        let max_batch = stage.max_batch.map_or(longest, |events| events as u64);
        StageReader::new(self.ring.clone(), Place::Graph(index), wait, max_batch)
    }

    /// Makes the workers of the next group, each with one of `readers`.
    fn add_workers(
        &mut self,
        readers: Vec<StageReader<E>>,
        index: StageIndex,
        name: String,
        mut node: Node<'env, E>,
    ) {
        let Body::Workers(workers, bodies) = node.part.body else {
            return;
        };
        let words = self.groups.next().expect("each group has words");
        let owners = self.owners.next().flatten();
        let control = Arc::clone(&self.ring.control);
        let group = Group::new(control, words, workers.size, owners);
        let group = Arc::new(if workers.hands_over { group.handing_over() } else { group });
        let stages = workers.stages(&mut node.stage);
        let stages = stages.into_iter().zip(self.plan.of_stage(index));
        let parts = bodies.into_iter().zip(stages).zip(readers).enumerate();
        for (worker, ((make, (stage, place)), reader)) in parts {
            let worker = Worker::new(reader, Arc::clone(&group), worker, workers.keys.clone());
            self.made.consumers.push(make(worker, stage.placed(place)));
        }
        self.made.groups.insert(name, group);
    }
}

fn check_seats(requested: usize) -> Result<(), BuildError> {
    if requested <= MAX_SEATS { Ok(()) } else { Err(BuildError::Seats { requested }) }
}

/// Ensures that enough sequences follow the first one.
fn check_first_sequence(requested: Sequence) -> Result<Sequence, BuildError> {
    if requested <= MAX_FIRST_SEQUENCE {
        Ok(requested)
    } else {
        Err(BuildError::FirstSequence { requested })
    }
}

/// Memory for all that a ring has for each slot. All of it is reserved before any of it is filled.
struct Rooms<E> {
    events: Reserved<UnsafeCell<E>>,
    stamps: Option<Reserved<AtomicU32>>,
    /// For each stage of the graph.
    failures: Vec<Option<Reserved<AtomicU64>>>,
    /// For each group.
    owners: Vec<Option<Reserved<AtomicU8>>>,
}

impl<E> Rooms<E> {
    fn reserve(capacity: usize, is_multi: bool, nodes: &[Node<'_, E>]) -> Result<Self, BuildError> {
        let failures = nodes
            .iter()
            .map(|node| node.part.abilities.may_fail.then(|| Reserved::reserve(capacity)));
        let groups = nodes.iter().filter_map(Node::workers);
        let owners = groups.map(|group| group.keys.as_ref().map(|_| Reserved::reserve(capacity)));
        Ok(Self {
            events: Reserved::reserve(capacity)?,
            stamps: is_multi.then(|| Reserved::reserve(capacity)).transpose()?,
            failures: failures.map(Option::transpose).collect::<Result<_, _>>()?,
            owners: owners.map(Option::transpose).collect::<Result<_, _>>()?,
        })
    }

    fn fill(
        self,
        factory: Factory<'_, E>,
        first: Sequence,
    ) -> (RingBuffer<E>, Option<Stamps>, Vec<Option<Failures>>) {
        let failures = self.failures.into_iter().map(|room| room.map(Failures::new));
        let buffer = RingBuffer::new(self.events, factory);
        let stamps = self.stamps.map(|room| Stamps::new(room, first));
        (buffer, stamps, failures.collect())
    }
}

/// Adds words for each acknowledgement, behind the stages of the graph. Stages downstream of an
/// acknowledged stage wait for these words as well. Returns each such stage with its words.
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

/// Adds `count` seats, behind all of these. A consumer in a seat depends on the last stage that
/// writes, and so on all stages that write (I6). It also depends on the acknowledgement and the
/// workers of that stage.
fn add_seats<E>(
    nodes: &[Node<'_, E>],
    acknowledged: &[(StageIndex, StageIndex)],
    groups: &[Box<[StageIndex]>],
    upstream: &mut Vec<Box<[StageIndex]>>,
    count: usize,
) -> Seating {
    let last_writer = nodes.iter().rposition(|node| node.part.is_exclusive);
    let words = acknowledged.iter().filter(|(stage, _)| Some(*stage) == last_writer);
    let words = words.map(|&(_, words)| words);
    let group = groups.iter().filter(|group| Some(group[0]) == last_writer);
    let workers = group.flat_map(|group| &group[1..]).copied();
    let near: Box<[StageIndex]> = last_writer.into_iter().chain(words).chain(workers).collect();
    let first = upstream.len();
    upstream.resize(first + count, near);
    Seating::new(nodes.len(), first, count)
}

/// Adds words for each worker, behind all of these. Stages downstream of the group wait for these
/// words, after the group's own. Returns the words of each group, its own first.
fn add_workers<E>(
    nodes: &[Node<'_, E>],
    upstream: &mut Vec<Box<[StageIndex]>>,
) -> Vec<Box<[StageIndex]>> {
    let mut groups: Vec<Box<[StageIndex]>> = Vec::new();
    let mut unused = upstream.len()..;
    for (stage, node) in nodes.iter().enumerate() {
        if let Some(workers) = node.workers() {
            let own = unused.by_ref().take(workers.max().unwrap_or(0));
            groups.push(iter::once(stage).chain(own).collect());
        }
    }
    for near in upstream.iter_mut() {
        let near_groups = groups.iter().filter(|group| near.contains(&group[0]));
        let of_workers = near_groups.flat_map(|group| &group[1..]).copied();
        *near = near.iter().copied().chain(of_workers).collect();
    }
    upstream.resize_with(unused.start, Box::default);
    groups
}

impl<E, S> fmt::Debug for Parts<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("name", &self.name)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
