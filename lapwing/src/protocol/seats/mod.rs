//! Consumers that join and leave a running ring: how many there are, which seat each has, and where it may
//! start.

mod guest;
mod joining;
mod seating;

pub(crate) use guest::{Guest, Place};
pub use joining::StartAt;
pub(crate) use seating::Seating;
