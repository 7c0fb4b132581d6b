//! Where each word of a segment lies, for other programs: `docs` has this table, and a test compares them.

use std::mem::offset_of;

use crate::memory::{SEATS, WORDS};
use crate::words::{Holder, Life, Seat, Words};

/// The process that writes.
pub(crate) const WRITER_PID: usize = WORDS + offset_of!(Words, life) + offset_of!(Life, writer_pid);
