//! Types for graphs of stages: graphs that are made at run time, positions in a graph, worker
//! groups, consumers that join while the ring runs, and the placement of stages on threads.
//!
//! A program that uses [`Builder`](crate::Builder) names [`Graph`], [`Placement`] and [`StartAt`]
//! to make such values. It rarely names the other types, which its calls take and return.

pub use crate::placement::Placement;
pub use crate::topology::{
    Alone, Chain, DynamicStage, DynamicStages, Graph, Parallel, Position, StageId, StartAt,
    Unplaced, WorkerStage,
};
