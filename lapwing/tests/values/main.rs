//! Channels and taps.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod broadcast;
mod channel;
mod channel_drops;
mod tap;
