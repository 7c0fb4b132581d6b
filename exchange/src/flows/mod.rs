//! Commands to test and measure with.
//!
//! - [`mix`]: a seeded flow with the shares of commands that exchange-core is measured with.

pub mod mix;
