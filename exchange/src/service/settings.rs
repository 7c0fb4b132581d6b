//! The settings of the service.

use std::hint::black_box;
use std::path::PathBuf;

use super::error::ServiceError;
use crate::engine::Engine;

/// The settings of a [`Service`](super::Service).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The folder of the journal and the snapshots. Without one, nothing is kept, and reports do not
    /// wait for a disk.
    pub folder: Option<PathBuf>,
    /// The limit of the memory that all books, accounts and positions may take, in MiB. A gateway
    /// that starts with another limit than that of the recovered exchange sends the command which
    /// sets it, so that a replay refuses the same commands. Without one, the limit stays as it is: the
    /// first is [`DEFAULT_MEMORY`](crate::types::DEFAULT_MEMORY).
    pub memory: Option<u32>,
    /// The number of commands from one snapshot to the next, at least 1.
    pub snapshot_every: u64,
    /// Slots of the input ring, a power of two. So many commands may be under way.
    pub input_slots: usize,
    /// Slots of the output ring, a power of two.
    pub output_slots: usize,
}

impl Settings {
    /// Checks whether the system gives what the exchange may use. Later would be too late: a command
    /// that is in the journal must be carried out.
    pub(super) fn check_memory(&self, engine: &Engine) -> Result<(), ServiceError> {
        let mut memory = *engine.memory();
        memory.set_limit(self.memory.unwrap_or(memory.limit()));
        let needed = memory.rest();
        let bytes = usize::try_from(needed).unwrap_or(usize::MAX);
        let mut reserved = Vec::<u8>::new();
        let result = reserved.try_reserve_exact(bytes);
        // Without a use, the compiler may leave the allocation out.
        black_box(&reserved);
        result.map_err(|_| ServiceError::Memory { needed: needed >> 20 })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: None,
            memory: None,
            snapshot_every: 1_000_000,
            input_slots: 1 << 14,
            output_slots: 1 << 15,
        }
    }
}
