//! A matching engine with risk checks.
//!
//! - [`types`]: commands go in, reports come out.
//! - [`engine`]: one state machine of [`risk`] and [`book`]s. The same commands give the same reports.
//! - [`plain`]: the same rules in plain collections, written to be read. Tests compare the two.
//! - [`state`]: the whole state, its hash, and snapshots.
//! - [`flows`]: commands to test and measure with.
//! - [`service`]: the engine in a graph of stages, with a journal.
//! - [`gateway`]: clients reach the service by TCP. [`client`] is the other end.
//!
//! The rules are in `exchange/README.md`.

pub mod book;
pub mod client;
pub mod engine;
pub mod flows;
pub mod gateway;
pub mod plain;
pub mod risk;
pub mod service;
pub mod state;
pub mod types;

use state::State;
use types::{Command, Report};

/// A state machine that follows the rules of the exchange.
pub trait Exchange {
    /// Carries out one command and hands each report to `sink`, in order.
    fn apply(&mut self, command: &Command, sink: &mut impl FnMut(Report));

    /// Returns the whole state.
    fn state(&self) -> State;
}
