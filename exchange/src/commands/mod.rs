//! The commands of the program.

pub(crate) mod bench;
pub(crate) mod check;
mod deadline;
mod delays;
mod flight;
pub(crate) mod load;
mod market_side;
mod plain_side;
mod program;
pub(crate) mod replicated;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod watch;

/// The result of a command.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
