//! What a stage may read, and how it reads, releases and leaves.
//!
//! # The law of visibility
//!
//! Five words can show a stage that an event is there: the cursor, the words of the stages before it, a stamp, and, in a
//! channel, the notice in the event's own slot. Each keeps one law:
//!
//! *If it shows events up to `end`, then the caller has acquired every event below `end`, and a look for a close that
//! follows, after the light fence, sees each close that refused one of them.*
//!
//! | source | file | ordering |
//! |---|---|---|
//! | cursor | [`cursor`] | O1 |
//! | stages before | [`upstream`] | O3 |
//! | stamps | [`stamps`](super::stamps) | O4, O5 |
//! | notice | [`notices`](super::ring_buffer::Notices) | O30 |
//!
//! [`Barrier`] chooses the source. [`Reader`] looks for a close after each look (O8), cuts what it was shown at the end of
//! a closed ring, and so hands out only events that count.

pub(crate) mod barrier;
mod cursor;
mod polling;
mod reader;
mod upstream;

pub(crate) use barrier::{Barrier, NextEvent};
pub(crate) use polling::Spun;
pub(crate) use reader::{Drained, LastLook, Reader, UNLIMITED};
