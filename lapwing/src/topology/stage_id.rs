//! The identity of a stage of a graph.

/// The identity of a stage of a [`Graph`](crate::graph::Graph), by which other stages of that graph can depend on it.
///
/// ```
/// use lapwing::{Disruptor, error::BuildError, graph::{Graph, StageId}};
///
/// let (mut graph, mut other) = (Graph::new(), Graph::new());
/// let first: StageId = graph.stage("first").read(|_: &u64, _, _| {});
/// graph.stage("second").after(first).read(|_, _, _| {});
/// assert!(Disruptor::single_producer(8, || 0).graph(graph).build().is_ok());
///
/// other.stage("lost").after(first).read(|_: &u64, _, _| {});
/// let error = Disruptor::single_producer(8, || 0).graph(other).build().unwrap_err();
/// assert_eq!(error, BuildError::UnknownStage { stage: "lost".into() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StageId {
    pub(super) graph: u64,
    pub(super) index: usize,
}
