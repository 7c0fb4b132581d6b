//! Any acyclic graph of stages, put together at run time. The builder is a front to it.
//!
//! A stage names the stages that it depends on by their ids or by their names. An id exists only once
//! its stage does, so a cycle needs a name. Names become ids when the graph is added to a ring, and
//! then the stages are put into an order (`order`).

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::order::{Cycle, order};
use super::settings::Settings;
use super::stage_id::StageId;
use super::team::Team;
use crate::consumer::{Access, Consumer, IntoAction, StageReader, Work, Worker};

/// Stages and their order, put together at run time, for example in a loop.
/// [`Builder::graph`](crate::Builder::graph) adds them to a ring.
///
/// ```
/// use lapwing::{Disruptor, graph::Graph};
///
/// let mut graph = Graph::new();
/// let decode = graph.stage("decode").write(|event: &mut u64, _, _| *event += 1);
/// for shard in 0..4 {
///     let shard = graph.stage(format!("shard {shard}")).after(decode);
///     shard.read(|event, sequence, _| assert_eq!(*event, sequence + 1));
/// }
/// let (mut producer, consumers) = Disruptor::single_producer(64, || 0).graph(graph).build()?;
/// let running = consumers.start()?; // five threads
/// for number in 0..100 {
///     producer.publish(|event| *event = number)?;
/// }
/// let report = running.shutdown()?;
/// assert!(report.stages().all(|stage| stage.processed() == 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The methods of a [`Builder`](crate::Builder) allow only valid orders of stages. A graph is
/// checked when the ring is built: a stage that writes must run before or after each other stage.
/// Otherwise [`BuildError::Overlap`](crate::error::BuildError::Overlap) names two stages that would
/// run at the same time:
///
/// ```
/// use lapwing::{Disruptor, error::BuildError, graph::Graph};
///
/// let mut graph = Graph::new();
/// graph.stage("left").write(|event: &mut u64, _, _| *event += 1);
/// graph.stage("right").read(|event, _, _| assert!(*event > 0));
/// let error = Disruptor::single_producer(64, || 0).graph(graph).build().unwrap_err();
/// assert_eq!(error, BuildError::Overlap { exclusive: "left".into(), other: "right".into() });
/// ```
#[must_use = "a graph has no effect until `Builder::graph` adds it to a ring"]
pub struct Graph<'env, E> {
    /// Distinguishes the ids of this graph from those of other graphs.
    id: u64,
    pub(super) nodes: Vec<Node<'env, E>>,
    /// The names of the stages of a circle: each depends on the next one, the last on the first.
    pub(super) cycle: Option<Vec<String>>,
}

/// A stage of a graph. Once the graph is added to a ring, the stages that it depends on precede it in
/// the list.
pub(super) struct Node<'env, E> {
    pub(super) stage: Settings,
    pub(super) part: Part<'env, E>,
}

/// What a stage does, as set by its verb.
pub(crate) struct Part<'env, E> {
    pub(super) is_exclusive: bool,
    pub(super) abilities: Abilities,
    pub(super) body: Body<'env, E>,
}

/// What a stage can do, as determined by the type of its handler. A poller has none of these
/// abilities.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Abilities {
    /// Whether it may skip an event as failed.
    pub(super) may_fail: bool,
    pub(super) hears_timeouts: bool,
    pub(super) returns_errors: bool,
}

impl Abilities {
    /// The abilities of `stage` with a handler `H` that returns an `R`.
    pub(super) fn of<E, A: Access, H: Work<E, A>, R: IntoAction>(stage: &Settings) -> Self {
        Self {
            may_fail: !R::ALWAYS_CONTINUES || stage.on_panic.is_some(),
            hears_timeouts: H::HEARS_TIMEOUTS,
            returns_errors: R::MAY_BE_ERROR,
        }
    }
}

/// What a stage becomes once there is a ring.
pub(super) enum Body<'env, E> {
    /// A handler, which a thread runs.
    Handler(Box<dyn FnOnce(StageReader<E>, Settings) -> Consumer<'env> + Send + 'env>),
    /// A poller, which the program takes by name.
    Poller,
    /// A worker group: one handler for each worker.
    Workers(Team<E>, Vec<WorkerBody<'env, E>>),
}

/// What a worker becomes once there is a ring.
pub(super) type WorkerBody<'env, E> =
    Box<dyn FnOnce(Worker<E>, Settings) -> Consumer<'env> + Send + 'env>;

impl<E> Node<'_, E> {
    /// The workers that share its events, if it is a group.
    pub(super) fn workers(&self) -> Option<&Team<E>> {
        match &self.part.body {
            Body::Workers(workers, _) => Some(workers),
            Body::Handler(_) | Body::Poller => None,
        }
    }
}

impl<'env, E: Send + 'env> Graph<'env, E> {
    /// Creates a graph without stages.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BuildError, graph::Graph};
    ///
    /// let empty = Graph::new();
    /// let ring = Disruptor::single_producer(8, || 0_u64).graph(empty);
    /// assert_eq!(ring.build().unwrap_err(), BuildError::NoConsumers);
    ///
    /// let mut graph = Graph::new();
    /// graph.stage("sum").read(|_, _, _| {});
    /// assert!(Disruptor::single_producer(8, || 0_u64).graph(graph).build().is_ok());
    /// ```
    pub fn new() -> Self {
        static GRAPHS: AtomicU64 = AtomicU64::new(0);
        // O13, Relaxed: only uniqueness matters.
        Self { id: GRAPHS.fetch_add(1, Ordering::Relaxed), nodes: Vec::new(), cycle: None }
    }

    pub(super) fn push(&mut self, stage: Settings, part: Part<'env, E>) -> StageId {
        self.nodes.push(Node { stage, part });
        StageId { graph: self.id, index: self.nodes.len() - 1 }
    }

    /// Moves the stages of `other` here, after `after`. Returns those that no other stage depends
    /// on, or `after` if `other` has no stages.
    pub(super) fn append(&mut self, mut other: Self, after: &[StageId]) -> Vec<StageId> {
        other.resolve_names();
        self.cycle = self.cycle.take().or_else(|| other.sort());
        let offset = self.nodes.len();
        let mut last: BTreeSet<usize> = (offset..offset + other.nodes.len()).collect();
        for mut node in other.nodes {
            for id in node.stage.after.iter_mut().filter(|id| id.graph == other.id) {
                *id = StageId { graph: self.id, index: offset + id.index };
                last.remove(&id.index);
            }
            if node.stage.after.is_empty() {
                node.stage.after.extend(after);
            }
            self.nodes.push(node);
        }
        if last.is_empty() {
            return after.to_vec();
        }
        last.into_iter().map(|index| StageId { graph: self.id, index }).collect()
    }

    /// Turns names of stages of this graph into ids. Leaves names that no stage has.
    fn resolve_names(&mut self) {
        let names = self.nodes.iter().enumerate().rev();
        let indices: HashMap<String, usize> =
            names.map(|(index, node)| (node.stage.name.clone(), index)).collect();
        for node in &mut self.nodes {
            let Settings { after, after_names, .. } = &mut node.stage;
            after_names.retain(|name| {
                let index = indices.get(name).copied();
                after.extend(index.map(|index| StageId { graph: self.id, index }));
                index.is_none()
            });
        }
    }

    /// Puts the stages into an order in which each one follows those that it depends on. Returns the
    /// names of the stages of a circle, if there is one.
    fn sort(&mut self) -> Option<Vec<String>> {
        let own = |id: &StageId| (id.graph == self.id).then_some(id.index);
        let upstream = |node: &Node<'env, E>| node.stage.after.iter().filter_map(own).collect();
        let upstream: Vec<Vec<usize>> = self.nodes.iter().map(upstream).collect();
        let order = match order(&upstream) {
            Ok(order) => order,
            Err(Cycle(stages)) => {
                let names = stages.into_iter().map(|index| self.nodes[index].stage.name.clone());
                return Some(names.collect());
            }
        };
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let mut nodes: Vec<_> = place.iter().copied().zip(self.nodes.drain(..)).collect();
        nodes.sort_by_key(|&(place, _)| place);
        for (_, mut node) in nodes {
            let ids = node.stage.after.iter_mut().filter(|id| id.graph == self.id);
            ids.for_each(|id| id.index = place[id.index]);
            self.nodes.push(node);
        }
        None
    }

    /// The index of a stage with a single handler, so that another stage can share its thread.
    pub(super) fn with_handler(&self, id: StageId) -> Option<usize> {
        // Each worker of a group has a thread of its own.
        matches!(self.nodes[id.index].part.body, Body::Handler(_)).then_some(id.index)
    }

    /// The stages that `node` depends on; `None` if it names one of another graph.
    pub(super) fn upstream(&self, node: &Node<'env, E>) -> Option<Box<[usize]>> {
        let index_of = |id: &StageId| (id.graph == self.id).then_some(id.index);
        node.stage.after.iter().map(index_of).collect()
    }
}

impl<'env, E: Send + 'env> Default for Graph<'env, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Graph<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stages = self.nodes.iter().map(|node| &node.stage);
        f.debug_list().entries(stages).finish()
    }
}
