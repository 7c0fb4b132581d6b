//! Documentation only: what the [`errors`] of publishing calls mean, what happens when a thread
//! [loses its CPU](preemption), how to [migrate](migration) from another library, where Lapwing stands
//! beside [LMAX's Disruptor](lmax), and why it is sound: the [invariants](unsafe_code) behind its unsafe
//! code and the [pairs](memory_ordering) behind its atomics.
//!
//! All tables are checked by `tests/house.rs`: each unsafe block cites an invariant, each ordering
//! a row, each row names a model that exists, and each scenario that is asked of LMAX and of Lapwing
//! a test. `ci/mutants.py` breaks the rows one by one and sees their models fail, but for O11, O13
//! and one side of a few others, of which CONTRIBUTING says why loom cannot.

pub mod errors;
pub mod lmax;
pub mod locks;
pub mod memory_ordering;
pub mod migration;
pub mod preemption;
pub mod unsafe_code;
