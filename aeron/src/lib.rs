//! Lapwing over more than one process: [Aeron](https://aeron.io) carries the events of a ring to
//! rings of other processes and machines.
//!
//! ```text
//!       process A                                               process B
//! ┌──────────────────────────────┐                  ┌──────────────────────────────┐
//! │ producer ──> [ring] ──> risk │                  │            [ring] ──> report │
//! │                │             │      Aeron:      │               ^              │
//! │                └> Publisher ────> IPC or UDP ────> Subscriber ──┘              │
//! └──────────────────────────────┘                  └──────────────────────────────┘
//! ```
//!
//! - A [`Publisher`] is a stage. It offers batches to a publication. Back-pressure fills the ring.
//! - A [`Subscriber`] is a producer. It polls a subscription. While its ring is full, messages stay
//!   in the stream.
//! - A [`Client`] connects both to a media driver, which the user runs.
//!
//! What is and what is not guaranteed:
//!
//! - The events of one publisher arrive in order and once, or a [`Notice::Gap`] names what is
//!   missing.
//! - Aeron has accepted a released event, unless a policy dropped it. The event may not have
//!   arrived.
//! - If a driver dies, the events in flight are lost. Both ends open the stream again, and the
//!   subscriber reports the gap. To close gaps, use a journal, or Aeron Archive or Cluster.
//! - [`Publisher::send`] never blocks, and [`Subscriber::poll_into`] does not wait. Each failure is a
//!   [`SendError`], a [`ReceiveError`] or a [`Notice`].

// The map, as each `mod.rs` has one. Blank lines divide layers, the lowest first. A file imports
// from lower layers.

mod back_off; // how an end waits between two attempts
mod error; // why an end cannot be opened or go on
mod movable; // handles of the C client that move to another thread
mod notice; // what a subscriber reports besides the events
mod stream; // which stream

mod client; // the connection to the media driver
mod frame; // the header of a message

mod link; // how an end comes to its stream, and comes back

mod publisher; // the stage that sends
mod subscriber; // the source that receives

pub use client::Client;
pub use error::{OpenError, ReceiveError, SendError};
pub use notice::{Notice, Rejected};
pub use publisher::{Publisher, PublisherFigures, WhenNotConnected};
pub use stream::Stream;
pub use subscriber::{Polled, Subscriber};
