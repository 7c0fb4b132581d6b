//! A file in memory, in which the words of a ring can lie so that other processes see them. Not here:
//! what lies where in it (`words`), and which file it is (`lapwing::observe`).
//!
//! A checker's atomics are no plain numbers, and other systems have no such file yet. There, a mapping
//! cannot be made.

#[cfg(any(loom, lapwing_shuttle, not(target_os = "linux")))]
mod absent;
#[cfg(all(target_os = "linux", not(any(loom, lapwing_shuttle))))]
mod linux;

#[cfg(any(loom, lapwing_shuttle, not(target_os = "linux")))]
pub use absent::{Mapping, Word};
#[cfg(all(target_os = "linux", not(any(loom, lapwing_shuttle))))]
pub use linux::{Mapping, Word};
