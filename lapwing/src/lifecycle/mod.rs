//! From a built ring to joined threads: which threads run the consumers, how they are stopped, and
//! what they leave.
//!
//! ```text
//! build ─> Consumers ─ start ─> Running ─ shutdown ─> Report
//!             │  take_poller       │ close, halt         │ take: handlers
//!             └─ into_iter: run them yourself            └ stages: outcomes
//! ```

mod completion;
mod report;
mod worker_group;

mod running;

mod crew;

mod consumers;

pub use consumers::Consumers;
pub(crate) use consumers::UntakenPoller;
pub use report::{Report, RunError};
pub use running::{Backlog, Running, ShutdownError};
pub use worker_group::WorkerGroup;
