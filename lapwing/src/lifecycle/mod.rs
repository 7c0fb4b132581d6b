//! From a built ring to joined threads: which threads run the consumers, how they are stopped, and
//! what they leave.
//!
//! ```text
//! build ─> Consumers ─ start ─> Running ─ shutdown ─> Report
//!             │  take_poller       │ close, halt         │ take: handlers
//!             └─ into_iter: run them yourself            └ stages: outcomes
//! ```

mod affinity;
mod completion;
mod consumers;
mod crew;
mod report;
mod running;
mod worker_group;

pub use consumers::Consumers;
pub(crate) use consumers::UntakenPoller;
pub use report::{Report, RunError};
pub use running::{Backlog, Running, ShutdownError};
pub use worker_group::WorkerGroup;
