//! Which events a stage may read, and how it reads, releases and leaves. Not here: the slots
//! (`ring_buffer`), and how a stage waits (`lapwing::wait`).
//!
//! # The law of visibility
//!
//! Four kinds of words can show a stage that an event is published: the cursor, the words of the
//! upstream stages, a stamp, and, in a channel, the published mark in the event's slot. One law
//! holds for each:
//!
//! *If it shows events up to `end`, the caller has acquired every event below `end`. A check for a
//! close that follows, after the light fence, sees each close that refused one of these events.*
//!
//! | source | file | ordering |
//! |---|---|---|
//! | cursor | `publication` | O1 |
//! | upstream stages | `upstream`, `stages` | O3 |
//! | stamps | `publication::stamps` | O4, O5 |
//! | published mark | `ring_buffer::published_marks` | O30 |
//!
//! [`Barrier`](barrier::Barrier) chooses the source. [`Reader`] checks for a close after each load
//! (O8) and truncates the result at the end of a closed ring, so it returns only events that count.

mod place;
mod upstream;

pub(crate) mod barrier;

mod reader;

mod batch;
mod polling;
mod waiting;

mod access;

pub use batch::Batch;
pub use place::Place;
pub use polling::Spun;
pub use reader::{Drained, Reader, UNLIMITED};
