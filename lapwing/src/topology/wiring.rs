//! Turns a graph into a ring: sequences, barriers, gates, and the two ends.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::vec;

use lapwing_core::error::MemoryError;
use lapwing_core::memory::{Reserved, check_capacity};
use lapwing_core::{
    Claims, Control, Factory, HasPublishedMark, Place, Placed, Room, StageIndex, View, Waits, Words,
};

use super::batch_length;
use super::check::check;
use super::graph::{Body, Graph, Node};
use super::placing::{describe, place};
use crate::MAX_DYNAMIC_STAGES;
use crate::consumer::{Acknowledger, Consumer, Poller, StageReader, Worker};
use crate::error::BuildError;
use crate::failures::Failures;
use crate::group::Group;
use crate::lifecycle::{Consumers, UntakenPoller};
use crate::placement::{Placement, Plan};
use crate::producer::{Producer, Sequencer};
use crate::ring::{Ring, Shared};
use crate::ring_file::{Draft, MonitorWords, end_of_words};
use crate::shape::{offsets, to_file};
use crate::sync::{Arc, AtomicU8, AtomicU32, AtomicU64};
use crate::wait::spinner::count_cpus;
use crate::wait::{Adaptive, AnyWaitStrategy};
use crate::watched::Watched;
use crate::{MAX_FIRST_SEQUENCE, Sequence};

/// Name of a ring that has no other.
const DEFAULT_NAME: &str = "ring";

/// What a ring is made from, apart from its graph.
pub(super) struct Parts<'env, E, S> {
    /// [`DEFAULT_NAME`] if there is none, or the name under which the ring is observable.
    pub(super) name: Option<String>,
    /// The name of its file, if it is observable.
    pub(super) observable: Option<String>,
    pub(super) capacity: usize,
    pub(super) dynamic_stages: usize,
    pub(super) factory: Factory<'env, E>,
    pub(super) wait: Box<dyn AnyWaitStrategy>,
    pub(super) producer_wait: Box<dyn AnyWaitStrategy>,
    pub(super) first_sequence: Sequence,
    pub(super) placement: Placement,
    /// Finds the published marks of the events, if the events have them.
    marks: Option<fn(&mut Room<E>)>,
    pub(super) sequencer: PhantomData<S>,
}

impl<'env, E: Send + 'env, S: Sequencer> Parts<'env, E, S> {
    pub(super) fn new(capacity: usize, factory: Factory<'env, E>) -> Self {
        Self {
            name: None,
            observable: None,
            capacity,
            dynamic_stages: 0,
            factory,
            wait: Box::new(Adaptive::default()),
            producer_wait: Box::new(Adaptive::default()),
            first_sequence: 0,
            placement: Placement::default(),
            marks: None,
            sequencer: PhantomData,
        }
    }

    /// Makes first stages check the published marks of events while they wait. Requires a single
    /// producer that sets published marks.
    pub(super) fn look_at_published_marks(&mut self)
    where
        E: HasPublishedMark,
    {
        self.marks = Some(Room::look_at_published_marks);
    }

    /// Checks the graph, makes the ring, and returns its ends. Starts nothing.
    pub(super) fn build(
        self,
        graph: Graph<'env, E>,
    ) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        count_cpus();
        let upstream = check(&graph)?;
        let has_followers = followed(&upstream);
        let mut shape = lapwing_core::Graph::new(upstream);
        let first_sequence = check_first_sequence(self.first_sequence)?;
        check_dynamic_stages(self.dynamic_stages)?;
        let name = self.name.as_deref().or(self.observable.as_deref()).unwrap_or(DEFAULT_NAME);
        let plan = place(&self.placement, name, &graph.nodes)?;
        let acknowledged = add_acknowledgements(&graph.nodes, &mut shape);
        let groups = add_workers(&graph.nodes, &mut shape);
        let last_writer = graph.nodes.iter().rposition(|node| node.part.is_exclusive);
        let shape = shape.with_dynamic_stages(self.dynamic_stages, last_writer);
        // A caller that names a thread may run that thread itself, with several stages on it.
        let names_threads = graph.nodes.iter().any(|node| node.stage.thread.is_some());
        let shares_threads = plan.has_shared() || names_threads;
        let waits = Waits { parks: self.parks(&graph.nodes), shares_threads };
        let (draft, mut words) = self.place_of_words(&shape)?;
        let (of_monitors, names) = MonitorWords::place(&mut words, &shape);
        let description = describe(name.to_owned(), &graph.nodes, &plan, names);
        let Rooms { events, failures, owners } = self.rooms(&mut words, &graph.nodes)?;
        let core = events.into_ring(&mut words, self.factory, shape, first_sequence, waits);
        let is_followed = has_followers.into_iter().map(|is_one| is_one || self.dynamic_stages > 0);
        let failures = failures.into_iter().zip(is_followed);
        let failures = failures.map(|(room, is_one)| Some(Failures::new(room?, is_one))).collect();
        let longest_batch = batch_length::of_handler::<E>(
            core.control().capacity(),
            graph.nodes.len(),
            S::Claims::IS_MULTI,
        );
        let control = core.control().clone();
        let view = View::of(&control);
        let file = draft.map(|draft| {
            let offsets = offsets(&words, &view, &of_monitors, &description);
            draft.publish(&to_file(&view, &description, offsets))
        });
        let watched = Watched::new(view, description, of_monitors, file.transpose()?);
        let shared = Shared::new(control, watched, failures);
        let ring = Ring::new(core, shared);
        let producer = Producer::new(ring.clone(), self.producer_wait);

        let acknowledgers = acknowledgers(ring.control(), &graph.nodes, &acknowledged);
        let (groups, owners, made) = (groups.into_iter(), owners.into_iter(), Made::default());
        let wait = &*self.wait;
        let mut ends = Ends { ring: &ring, wait, longest_batch, plan: &plan, groups, owners, made };
        for (index, node) in graph.nodes.into_iter().enumerate() {
            ends.add(index, node);
        }
        let Made { names, consumers, pollers, groups } = ends.made;
        let consumers = Consumers::new(ring, names, consumers, pollers, acknowledgers, self.wait);
        Ok((producer, consumers.with_groups(groups)))
    }

    /// Makes the file of an observable ring, and returns where the words of monitors are placed.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`], [`BuildError::OutOfMemory`], [`BuildError::ObservableName`] or
    /// [`BuildError::ObservableFile`].
    fn place_of_words(
        &self,
        shape: &lapwing_core::Graph,
    ) -> Result<(Option<Draft>, Words), BuildError> {
        let Some(name) = &self.observable else { return Ok((None, Words::private())) };
        check_capacity(self.capacity).map_err(BuildError::of)?;
        let (capacity, bytes_per_slot) = (self.capacity, size_of::<AtomicU32>());
        let end = end_of_words(shape, capacity, S::Claims::IS_MULTI);
        let end = end.ok_or(BuildError::OutOfMemory { capacity, bytes_per_slot })?;
        Draft::new(name, end).map(|(draft, words)| (Some(draft), words))
    }

    /// Reserves the memory of the ring.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`] or [`BuildError::OutOfMemory`].
    fn rooms(&self, words: &mut Words, nodes: &[Node<'_, E>]) -> Result<Rooms<E>, BuildError> {
        let mut rooms = Rooms::reserve(words, self.capacity, S::Claims::IS_MULTI, nodes);
        if let (Ok(rooms), Some(with_published_marks)) = (&mut rooms, self.marks) {
            with_published_marks(&mut rooms.events);
        }
        rooms.map_err(BuildError::of)
    }

    /// Whether a thread of the ring may park. A consumer that takes a dynamic stage may, whatever
    /// the other strategies are.
    fn parks(&self, nodes: &[Node<'env, E>]) -> bool {
        let wait_of = |node: &Node<'env, E>| node.stage.wait.as_ref().unwrap_or(&self.wait).parks();
        self.dynamic_stages > 0 || self.producer_wait.parks() || nodes.iter().any(wait_of)
    }
}

/// The acknowledger of each stage that is `acknowledged`, by the name of the stage.
fn acknowledgers<E>(
    control: &Placed<Control>,
    nodes: &[Node<'_, E>],
    acknowledged: &[(StageIndex, StageIndex)],
) -> HashMap<String, Option<Acknowledger>> {
    let acknowledger = |&(stage, words): &(StageIndex, StageIndex)| {
        let acknowledger = Acknowledger::new(control.clone(), words);
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
        let capacity = self.ring.control().capacity();
        let longest = match &node.part.body {
            Body::Handler(_) => self.longest_batch,
            Body::Workers(..) => batch_length::shared(capacity),
            // The program decides when a poller releases events.
            Body::Poller => capacity,
        };
        let max_batch = stage.max_batch.map_or(longest, |events| events as u64);
        let place = match &node.part.body {
            Body::Workers(..) => Place::Group(index),
            Body::Handler(_) | Body::Poller => Place::Stage(index),
        };
        let is_exclusive = node.part.is_exclusive;
        // SAFETY: I5: only calls that require `E: Sync` give the program the events of a stage that
        // is not exclusive: those that add a handler, and `take_poller`.
        unsafe { StageReader::new(self.ring.clone(), (place, None), is_exclusive, wait, max_batch) }
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
        let control = self.ring.control().clone();
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

/// Returns, for each stage, whether another stage follows it.
fn followed(upstream: &[Box<[StageIndex]>]) -> Vec<bool> {
    let is_followed = |stage| upstream.iter().any(|stages| stages.contains(&stage));
    (0..upstream.len()).map(is_followed).collect()
}

fn check_dynamic_stages(requested: usize) -> Result<(), BuildError> {
    if requested <= MAX_DYNAMIC_STAGES {
        Ok(())
    } else {
        Err(BuildError::DynamicStages { requested })
    }
}

/// Ensures that enough sequences follow the first one.
fn check_first_sequence(requested: Sequence) -> Result<Sequence, BuildError> {
    if requested <= MAX_FIRST_SEQUENCE {
        Ok(requested)
    } else {
        Err(BuildError::FirstSequence { requested })
    }
}

/// The memory of a ring, before any of it is filled.
struct Rooms<E> {
    events: Room<E>,
    /// For each stage that may skip events as failed, the marks of these events.
    failures: Vec<Option<Reserved<AtomicU64>>>,
    /// For each group by key, the owners of its events.
    owners: Vec<Option<Reserved<AtomicU8>>>,
}

impl<E> Rooms<E> {
    fn reserve(
        words: &mut Words,
        capacity: usize,
        is_multi: bool,
        nodes: &[Node<'_, E>],
    ) -> Result<Self, MemoryError> {
        let failures = nodes
            .iter()
            .map(|node| node.part.abilities.may_fail.then(|| Reserved::reserve(capacity)));
        let groups = nodes.iter().filter_map(Node::workers);
        let owners = groups.map(|group| group.keys.as_ref().map(|_| Reserved::reserve(capacity)));
        Ok(Self {
            events: Room::reserve(words, capacity, is_multi)?,
            failures: failures.map(Option::transpose).collect::<Result<_, _>>()?,
            owners: owners.map(Option::transpose).collect::<Result<_, _>>()?,
        })
    }
}

/// Adds words for each acknowledgement. Returns the stages with their words.
fn add_acknowledgements<E>(
    nodes: &[Node<'_, E>],
    shape: &mut lapwing_core::Graph,
) -> Vec<(StageIndex, StageIndex)> {
    let acknowledged = (0..nodes.len()).filter(|&stage| nodes[stage].stage.is_acknowledged);
    acknowledged.map(|stage| (stage, shape.acknowledge(stage))).collect()
}

/// Adds words for the workers of each group. Returns the group's word and those of its workers.
fn add_workers<E>(
    nodes: &[Node<'_, E>],
    shape: &mut lapwing_core::Graph,
) -> Vec<Box<[StageIndex]>> {
    let groups =
        nodes.iter().enumerate().filter_map(|(stage, node)| Some((stage, node.workers()?)));
    groups.map(|(stage, workers)| shape.share(stage, workers.max().unwrap_or(0))).collect()
}

impl<E, S> fmt::Debug for Parts<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("name", &self.name)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
