//! Types for graphs of stages: graphs that are made at run time, positions in a graph, worker
//! groups, consumers that join while the ring runs, and the placement of stages on threads.
//!
//! A program that only uses [`Builder`](crate::Builder) need not name these types. They are the
//! types of its calls.

pub use crate::placement::Placement;
pub use crate::protocol::seats::StartAt;
pub use crate::topology::{
    Alone, Chain, Graph, Position, Seat, Seats, Side, StageId, Unplaced, Workers,
};
