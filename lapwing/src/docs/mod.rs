//! Why Lapwing is sound: the invariants behind its unsafe code, and the pairs behind its atomics.
//! Documentation only.
//!
//! Both tables are checked by `tests/house.rs`: each unsafe block cites an invariant, each ordering
//! a row, and each row names a model that exists. `ci/mutants.py` breaks the rows one by one and
//! sees their models fail, but for O11, O13 and one side of a few others, of which CONTRIBUTING
//! says why loom cannot.

pub mod memory_ordering;
pub mod unsafe_code;
