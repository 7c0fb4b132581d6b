//! The order of the stages, and which of them may write: the graph, the fluent builder on top of
//! it, and the wiring of both to a ring. Not here: what a stage does (`consumer`), which thread
//! runs it (`lifecycle`).

mod batch_length;
mod builder;
mod check;
mod disruptor;
mod graph;
mod placing;
mod position;
mod seat;
mod seats;
mod side;
mod stage;
mod team;
mod wiring;

pub use builder::Builder;
pub use disruptor::Disruptor;
pub use graph::{Graph, StageId};
pub use position::{Alone, Position};
pub use seat::Seat;
pub use seats::Seats;
pub use side::{Chain, Side};
pub use stage::{Stage, Unplaced, Workers};
