//! The names under which a record keeps the labels of its cell and its facts.

/// The name of a label of a cell, or of a fact. One that several experiments have is a constant here; one of a single
/// experiment is a constant beside its flags. What writes a label and what reads it name the same constant, so a
/// misspelled name does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(&'static str);

impl Key {
    /// The configuration of producers and consumers.
    pub(crate) const TOPOLOGY: Self = Self("topology");
    /// Slots of each ring and of each queue.
    pub(crate) const RING: Self = Self("ring");
    /// Size of an event, in bytes.
    pub(crate) const EVENT_BYTES: Self = Self("event_bytes");
    /// Consumers.
    pub(crate) const CONSUMERS: Self = Self("consumers");
    /// Busy threads of another process.
    pub(crate) const BUSY_THREADS: Self = Self("busy_threads");
    /// Events of a run.
    pub(crate) const EVENTS: Self = Self("events");
    /// Operations for which one event counts.
    pub(crate) const OPERATIONS_PER_EVENT: Self = Self("operations_per_event");

    /// Creates the key of this name in a file.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name in a file.
    pub(crate) const fn name(self) -> &'static str {
        self.0
    }
}
