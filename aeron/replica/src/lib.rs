//! The exchange on two machines. A leader serves clients and ships its input, a follower applies it
//! to the same state, and takes over on command.
//!
//! ```text
//!              leader                                          follower
//! ┌───────────────────────────────┐              ┌────────────────────────────────────┐
//! │ clients ──> input ring        │   commands   │ [Inbox] ──> input ring             │
//! │   ├──> matching ──> answers   │              │    ^           ├──> matching       │
//! │   └──> journal ──> synced     │              │    │           └──> journal        │
//! │                      └> ship ─────────────────────┘                 └──> synced    │
//! │                               │   confirms   │                            └> ship  │
//! │ answers wait for <─────────────────────────────────────────────────────────┘       │
//! └───────────────────────────────┘              └────────────────────────────────────┘
//! ```
//!
//! - [`leader`]: an exchange with a stage that ships what its journal has synced.
//! - [`follower`]: an exchange whose only client is the leader.
//! - [`resending`]: the leader sends older commands from its journal to a follower that lacks them.
//! - [`local`]: the exchange of either. [`messages`]: what the two send. [`streams`]: through which Aeron streams.
//!
//! The leader ships a command after its journal has synced it. So a follower has no command that a
//! crash of the leader can undo, and a leader that restarts continues where its follower is.

mod confirming;
pub mod follower;
mod following;
mod inbox;
pub mod leader;
pub mod local;
pub mod messages;
mod outbox;
mod process;
pub mod resending;
mod shipping;
pub mod streams;

/// The result of a program.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
