//! Consumers that join and leave a running ring. A consumer that joins takes a *seat*, a stage
//! outside the graph; the number of seats is set when the ring is built. `joining` decides where it
//! may start, `seating` counts consumers and assigns seats, `guest` frees the seat.

mod guest;
mod joining;
mod seating;

pub(crate) use guest::{Guest, Place};
pub use joining::StartAt;
pub(crate) use seating::Seating;
