//! The settings of the service.

use std::path::PathBuf;

/// The settings of a [`Service`](super::Service).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The folder of the journal and the snapshots. Without one, nothing is kept, and reports do not
    /// wait for a disk.
    pub folder: Option<PathBuf>,
    /// The number of commands from one snapshot to the next, at least 1.
    pub snapshot_every: u64,
    /// Slots of the input ring, a power of two. So many commands may be under way.
    pub input_slots: usize,
    /// Slots of the output ring, a power of two.
    pub output_slots: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: None,
            snapshot_every: 1_000_000,
            input_slots: 1 << 14,
            output_slots: 1 << 15,
        }
    }
}
