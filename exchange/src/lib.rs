//! A matching engine with risk checks.
//!
//! - [`types`]: commands go in, reports come out.
//! - [`engine`]: one state machine of [`risk`] and [`book`]s. The same commands give the same reports.
//! - [`plain`]: the same rules in plain collections, written for readability. Tests compare the two.
//! - [`state`]: the whole state, its hash, and snapshots.
//! - [`flows`]: commands to test and measure with.
//! - [`service`]: the engine in a graph of stages, with a journal.
//! - [`gateway`]: clients reach the service by TCP. [`client`] is the other end.
//! - [`ends`]: what ends a program that serves.
//! - [`market`]: a book rebuilt from market data. [`view`] shows it in a terminal.
//!
//! The rules that no type states are in `exchange/README.md`.
//!
//! ```
//! use exchange::Exchange;
//! use exchange::engine::Engine;
//! use exchange::types::{AccountId, Command, Deposit, Report};
//!
//! let mut engine = Engine::default();
//! let mut reports = Vec::new();
//! let account = AccountId(1);
//! for command in [
//!     Command::AddAccount(account),
//!     Command::Deposit(Deposit { account, amount: 100 }),
//! ] {
//!     engine.apply(&command, &mut |report| reports.push(report));
//! }
//! assert_eq!(reports[0], Report::AccountAdded(account));
//!
//! let snapshot = engine.state().to_bytes();
//! let restored = Engine::from_state(&exchange::state::State::from_bytes(&snapshot)?)?;
//! assert_eq!(restored.state().hash(), engine.state().hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod book;
pub mod client;
pub mod ends;
pub mod engine;
mod errors;
pub mod flows;
pub mod gateway;
pub mod market;
pub mod plain;
pub mod risk;
pub mod service;
pub mod state;
pub mod types;
pub mod view;

use state::State;
use types::{Command, Report};

/// A state machine that follows the rules of the exchange.
pub trait Exchange {
    /// Carries out one command and hands each report to `sink`, in order.
    fn apply(&mut self, command: &Command, sink: &mut impl FnMut(Report));

    /// Returns the whole state.
    fn state(&self) -> State;
}
