//! What the answers of a leader wait for.

/// What an answer to a client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Acknowledge {
    /// The journal of the leader. A follower that takes over may lack commands that were answered.
    Journal,
    /// The journals of both. Without a follower, no client gets an answer.
    Follower,
}
