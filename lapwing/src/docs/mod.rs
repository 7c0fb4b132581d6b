//! Pages of documentation, without code:
//!
//! - [`errors`]: the state of an event after each result of a publishing call.
//! - [`preemption`]: what happens when a thread loses its CPU.
//! - [`migration`]: where the book says how to migrate from another library.
//! - [`lmax`]: a comparison with LMAX's Disruptor.
//! - [`locks`]: the locks of the library.
//! - [`unsafe_code`]: the invariants that the unsafe code relies on.
//! - [`memory_ordering`]: the pairs of atomic operations.
//!
//! `tests/sources/tables.rs` checks the tables. Each unsafe block cites an invariant, and each ordering
//! cites a row. Each row names an existing model, and each scenario for LMAX and Lapwing names a
//! test. `ci/mutants.py` breaks the rows one by one and checks that their models fail. Its list
//! says which edits no model sees; CONTRIBUTING explains why loom cannot check O11, O13 and one side
//! of a few others.

pub mod errors;
pub mod lmax;
pub mod locks;
pub mod memory_ordering;
pub mod migration;
pub mod preemption;
pub mod unsafe_code;
