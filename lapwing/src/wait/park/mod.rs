//! Sleeping until a word changes: a futex on Linux, a lock and a condition variable elsewhere.
//!
//! The word is an epoch: it is advanced before its sleepers are woken, so whoever read the old
//! epoch either does not fall asleep or is woken.

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod futex;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
mod portable;

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
pub(crate) use futex::Epoch;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
pub(crate) use portable::Epoch;
