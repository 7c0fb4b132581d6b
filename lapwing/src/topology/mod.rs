//! The order of the stages, and which of them may write: the graph, the fluent builder on top of
//! it, and the wiring of both to a ring. Not here: what a stage does (`consumer`), which thread
//! runs it (`lifecycle`).

mod batch_length;
mod guest;
mod order;
mod stage_id;

mod settings;

mod team;

mod graph;

mod check;
mod placing;
mod position;

mod stage;

mod dynamic_stage;
mod parallel;

mod dynamic_stages;

mod wiring;

mod builder;

mod disruptor;
mod places;

pub use builder::Builder;
pub use disruptor::Disruptor;
pub use dynamic_stage::DynamicStage;
pub use dynamic_stages::DynamicStages;
pub use graph::Graph;
pub use guest::StartAt;
pub use parallel::{Chain, Parallel};
pub use position::{Alone, Position};
pub use stage::{Stage, Unplaced, WorkerStage};
pub use stage_id::StageId;
