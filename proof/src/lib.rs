//! Compares Lapwing with sequential models that are written to be read.
//!
//! - [`one_thread`]: each call of a ring against a model of that ring, step by step.
//! - [`threads`]: whole programs with threads. What each consumer saw is compared with what a model
//!   says it must see.

pub mod one_thread;
pub mod threads;
