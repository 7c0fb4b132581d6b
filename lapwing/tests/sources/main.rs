//! Checks of the sources of both crates that neither the compiler nor Clippy makes. They read lines
//! as rustfmt writes them, so they need no parser. The imports between files are checked by
//! `journal/tests/layers.rs`, which has one.
//!
//! ```text
//! tables   the tables of the documentation and the comments of the code agree
//! layers   what only few files may do
//! files    the files, without their tests
//! ```
#![cfg(not(any(miri, loom)))]

mod files;
mod layers;
mod tables;
