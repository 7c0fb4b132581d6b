//! What is done when a journal is opened. Each frame says how far the journal was synced when it
//! was written. This decides what an unreadable frame means:
//!
//! ```text
//!   readable frames        | unreadable at s |  later frames, in this or another segment
//!                          |                 |
//!                          |                 |  the greatest `synced` of them is D
//!
//!   D > s   event s was synced: damage. An error, and nothing is changed.
//!   D <= s  a write that was never synced: cut, with all that follows.
//! ```
//!
//! What was cut never comes back: it is erased in its place, durably, before the journal continues
//! there. So an opening needs no space, also on a full disk.
//!
//! What no frame proves to be synced is written and synced again before the journal continues. A
//! sync may have failed: the system then has the data in its memory, believes that it is on disk, and
//! would never write it.

mod evidence; // how far later frames were synced, and what bytes are there

mod survey; // the readable frames

mod repair; // cut, and write again

pub use repair::Recovered;
pub(crate) use repair::repair;
pub(crate) use survey::{check_synced_to, survey};
