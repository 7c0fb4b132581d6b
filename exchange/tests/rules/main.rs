//! The rules of README.md, one after the other. Each runs on the engine and on the plain exchange.
#![cfg(not(miri))]

mod desk;
mod memory;
mod orders;
mod packed;
mod priority;
mod refusals;
mod risk;
mod self_trade;
mod states;
