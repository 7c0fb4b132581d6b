//! Why Lapwing is sound: the invariants behind its unsafe code, and the pairs behind its atomics.
//! Documentation only.
//!
//! Both tables are checked by `tests/house.rs`: each unsafe block cites an invariant, each ordering
//! a row, and each row names a model that fails when the pair is broken. CONTRIBUTING says how to
//! break one.

pub mod memory_ordering;
pub mod unsafe_code;
