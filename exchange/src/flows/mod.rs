//! Commands to test and measure with.
//!
//! - [`mix`]: a seeded flow with the shares of commands that exchange-core is measured with.
//! - [`lobster`]: commands that would lead to a recording of NASDAQ messages.

pub mod lobster;
pub mod mix;
