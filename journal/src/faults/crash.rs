//! What ends a program on a simulated disk, and which of its writes are lost then.

/// What ends a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The program is killed. Its writes stay.
    Process,
    /// The power is cut. Unsynced writes are lost as `loss` says, chosen by `seed`.
    Power {
        /// Seed of the choice.
        seed: u64,
        /// What is lost.
        loss: Loss,
    },
}

/// What a power cut does to unsynced writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All are lost.
    All,
    /// The first ones are kept, and the one after them is torn.
    Torn,
    /// Each sector of each write is kept or lost.
    Sectors,
    /// The first changes of names are kept, as by a file system with a journal such as ext4. Each
    /// sector of each write is kept or lost.
    Ordered,
    /// None is lost.
    None,
}
