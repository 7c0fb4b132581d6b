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
    /// readers load it. Unused with several writers.
    pub(crate) published: Line<AtomicU64>,
    /// The number of claimed sequences, with several writers. They swap it.
    pub(crate) claimed: Line<AtomicU64>,
    /// No writer writes to this sequence or a later one without another look at the seats. It never
    /// decreases. Writers store it, and readers load it when they join.
    pub(crate) granted: Line<AtomicU64>,
    /// Where readers park until an event is published. Readers mark it, writers wake them.
    pub(crate) events: Line<EventCount>,
    /// Where writers park until a slot is free. They mark it, and readers wake them, as does another
    /// writer that publishes.
    pub(crate) slots: Line<EventCount>,
    pub(crate) life: Line<Life>,
}

/// What is written rarely.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Life {
    /// Even while the segment is open, odd when no further event comes. Increases by two when a
    /// writer joins others.
    pub(crate) closed: AtomicU32,
    /// How often a process took the segment over, or joined its writers; for people.
    pub(crate) takeovers: AtomicU32,
    /// The process that was the last to become a writer, for people.
    pub(crate) writer_pid: AtomicU32,
    /// Which [fence](crate::fences::Fences::code) the writer runs. Unused with several writers.
    pub(crate) writer_fences: AtomicU32,
}

/// The words of a reader's seat.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Seat {
    /// The sequence of the first event that the reader has not finished. The reader stores it, and the
    /// writer loads it.
    pub(crate) sequence: Line<AtomicU64>,
    pub(crate) holder: Line<Holder>,
}

/// The words of a writer's seat, in a segment with several writers.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct WriterSeat {
    pub(crate) claim: Line<Claim>,
    pub(crate) holder: Line<Holder>,
}

/// What a writer has claimed last, or is about to claim. The writer stores it, and those that repair
/// what a dead writer left load it.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Claim {
    pub(crate) first: AtomicU64,
    pub(crate) count: AtomicU64,
}

/// Who has a seat. Written when a process takes it, gives it up, or is cleared away.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Holder {
    /// Odd while a process has the seat. Increases by one when a process takes it and when it is free
    /// again.
    pub(crate) tenure: AtomicU64,
    /// That process, for people.
    pub(crate) pid: AtomicU32,
    /// Which [fence](crate::fences::Fences::code) it runs.
    pub(crate) fences: AtomicU32,
}
