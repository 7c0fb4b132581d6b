//! Documentation only: where each word lies, and why the crate is sound.
//!
//! - [`layout`]: the segment, word by word, for programs in other languages and for debuggers.
//! - [`memory_ordering`]: the pairs of atomic operations, and the model of each.
//! - [`unsafe_code`]: the invariants on which the unsafe code relies, and what each death does to them.

pub mod layout;
pub mod memory_ordering;
pub mod unsafe_code;
