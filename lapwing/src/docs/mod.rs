//! Why Lapwing is sound: the invariants behind its unsafe code, and the pairs behind its atomics;
//! what happens when a thread [loses its CPU](preemption); where it stands beside [LMAX's Disruptor](lmax); and how to
//! [come from elsewhere](migration).
//! Documentation only.
//!
//! All tables are checked by `tests/house.rs`: each unsafe block cites an invariant, each ordering
//! a row, each row names a model that exists, and each scenario that is asked of LMAX and of Lapwing
//! a test. `ci/mutants.py` breaks the rows one by one and sees their models fail, but for O11, O13
//! and one side of a few others, of which CONTRIBUTING says why loom cannot.

pub mod lmax;
pub mod memory_ordering;
pub mod migration;
pub mod preemption;
pub mod unsafe_code;
