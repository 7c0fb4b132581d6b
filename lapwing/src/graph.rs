//! Stages, their order, and their threads: graphs that are made as the program runs, positions in a graph, groups of
//! workers, consumers that join while the ring runs, and which thread runs which stage.
//!
//! A program with a [`Builder`](crate::Builder) and no more needs none of these names: they are the types of its calls.

pub use crate::placement::Placement;
pub use crate::protocol::seats::StartAt;
pub use crate::topology::{
    Alone, Chain, Graph, Position, Seat, Seats, Side, StageId, Unplaced, Workers,
};
