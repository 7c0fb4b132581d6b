//! How to migrate from the LMAX Disruptor in Java, from the crates `disruptor` and `rtrb`, or from the
//! channels of crossbeam, flume and the standard library.
//!
//! The book has this page, with programs of each library and tables of their calls: see
//! `docs/migration.md` in the repository. [`lmax`](crate::docs::lmax) lists all features of LMAX.
