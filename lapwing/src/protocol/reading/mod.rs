//! Which events a stage may read, and how it reads, releases and leaves. Not here: the slots
//! (`ring_buffer`), and how a stage waits (`wait`).
//!
//! # The law of visibility
//!
//! Four kinds of words can show a stage that an event is published: the cursor, the words of the
//! upstream stages, a stamp, and, in a channel, the notice in the event's slot. One law holds for
//! each:
//!
//! *If it shows events up to `end`, the caller has acquired every event below `end`. A check for a
//! close that follows, after the light fence, sees each close that refused one of these events.*
//!
//! | source | file | ordering |
//! |---|---|---|
//! | cursor | [`cursor`] | O1 |
//! | upstream stages | [`upstream`] | O3 |
//! | stamps | [`stamps`](super::stamps) | O4, O5 |
//! | notice | [`notices`](super::ring_buffer::Notices) | O30 |
//!
//! [`Barrier`] chooses the source. [`Reader`] checks for a close after each load (O8) and truncates
//! the result at the end of a closed ring, so it returns only events that count.

pub(crate) mod barrier;
mod cursor;
mod polling;
mod reader;
mod upstream;

pub(crate) use barrier::{Barrier, NextEvent};
pub(crate) use polling::Spun;
pub(crate) use reader::{Drained, LastLook, Reader, UNLIMITED};
