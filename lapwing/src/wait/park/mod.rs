//! Sleeping until a word changes: a futex on Linux, a lock and a condition variable elsewhere. Not
//! here: what the word says (`word`), when to sleep on it (`event_count`).

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod futex;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
mod portable;
mod word;

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
use futex::Futex as Sleepers;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
use portable::Portable as Sleepers;

pub(crate) use word::{ENDED, Epoch, FOLLOW_UP};
