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
//! The leader ships a command after its journal has synced it. So a follower has no command that a
//! crash of the leader can undo, and a leader that restarts continues where its follower is.

// The map, as each `mod.rs` has one. Blank lines divide layers, the lowest first. A file imports
// from lower layers.

mod acknowledge; // what the answers of a leader wait for
pub mod local; // the exchange of either
pub mod messages; // what the two send
mod process; // what both programs print and read
mod progress; // how far the leader has shipped
pub mod streams; // the Aeron streams between the two

mod following; // which command the follower applies next
mod inbox; // messages that arrive
mod outbox; // messages that a thread sends outside of a ring

mod confirming; // the follower says what its journal has synced
pub mod resending; // the leader hears its follower, and sends older commands from its journal again
mod shipping; // the stage of the leader that ships commands

pub mod follower; // an exchange whose only client is the leader
pub mod leader; // an exchange that ships what its journal has synced

/// The result of a program.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
