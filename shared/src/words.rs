//! The words that processes share: which there are, who writes them, and where they lie. Each has a
//! cache line of its own, unless it is written rarely.
//!
//! A word is a number without a pointer, and any bytes are a value of it. A segment that was just
//! made has zeros.

use crate::event_count::EventCount;
use crate::sync::{AtomicU32, AtomicU64};

/// A value on cache lines of its own. x86-64 fetches lines of 64 bytes in pairs, and some aarch64
/// has lines of 128.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Line<T>(pub(crate) T);

/// The words of a segment, beside those of its seats.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Words {
    /// The number of published events, which is the sequence of the next one. The writer stores it, and
    /// readers load it.
    pub(crate) published: Line<AtomicU64>,
    /// The writer writes to sequences below this one without another look at the seats. It never
    /// decreases. The writer stores it, and readers load it when they join.
    pub(crate) granted: Line<AtomicU64>,
    /// Where readers park until an event is published. Readers mark it, the writer wakes them.
    pub(crate) events: Line<EventCount>,
    /// Where the writer parks until a slot is free. The writer marks it, readers wake it.
    pub(crate) slots: Line<EventCount>,
    pub(crate) life: Line<Life>,
}

/// What is written rarely.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Life {
    /// 0 while the segment is open, 1 when no further event comes. Stored by a process that has the
    /// right to write.
    pub(crate) closed: AtomicU32,
    /// How often a process took the segment over.
    pub(crate) takeovers: AtomicU32,
    /// The process that writes, for people.
    pub(crate) writer_pid: AtomicU32,
    /// Which [fence](crate::fences::Fences::code) the writer runs.
    pub(crate) writer_fences: AtomicU32,
}

/// The words of one seat.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Seat {
    /// The sequence of the first event that the reader has not finished. The reader stores it, and the
    /// writer loads it.
    pub(crate) sequence: Line<AtomicU64>,
    pub(crate) holder: Line<Holder>,
}

/// Who sits there. Written when a reader joins, leaves or is cleared away.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Holder {
    /// Odd while a reader has the seat. Increases by one when a reader takes it and when it is free
    /// again.
    pub(crate) tenure: AtomicU64,
    /// The process that reads, for people.
    pub(crate) pid: AtomicU32,
    /// Which [fence](crate::fences::Fences::code) the reader runs.
    pub(crate) fences: AtomicU32,
}
