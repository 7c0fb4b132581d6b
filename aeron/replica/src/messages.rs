//! What leader and follower send to each other.

use bytemuck::{Pod, Zeroable};
use exchange::service::Input;
use lapwing::Sequence;

/// The number by which both ends know the form of these messages.
pub const SCHEMA: u32 = 1;

/// A message of the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FromLeader {
    /// [`COMMAND`], [`END`], [`NOT_KEPT`] or [`AHEAD`].
    pub kind: u64,
    /// What it is about; its meaning depends on the kind.
    pub sequence: Sequence,
    /// The command, otherwise zero.
    pub input: Input,
}

/// The command with this sequence.
pub const COMMAND: u64 = 1;
/// The end of what a follower has asked for: all commands below this sequence were sent.
pub const END: u64 = 2;
/// The leader has removed what a follower has asked for, or cannot read it.
pub const NOT_KEPT: u64 = 3;
/// The follower has asked for commands that the leader has not reached. The sequence is the leader's.
pub const AHEAD: u64 = 4;

impl FromLeader {
    /// Returns a command.
    #[must_use]
    pub fn command(sequence: Sequence, input: Input) -> Self {
        Self { kind: COMMAND, sequence, input }
    }

    /// Returns an answer to a follower that has asked for commands.
    #[must_use]
    pub fn answer(kind: u64, sequence: Sequence) -> Self {
        Self { kind, sequence, input: Input::zeroed() }
    }
}

/// A message of the follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FromFollower {
    /// [`CONFIRM`] or [`ASK`].
    pub kind: u64,
    /// What it is about.
    pub sequence: Sequence,
}

/// The journal of the follower has synced all commands below this sequence.
pub const CONFIRM: u64 = 1;
/// The follower lacks the commands from this sequence on.
pub const ASK: u64 = 2;

impl FromFollower {
    /// Returns a confirmation.
    #[must_use]
    pub fn confirm(end: Sequence) -> Self {
        Self { kind: CONFIRM, sequence: end }
    }

    /// Returns a request.
    #[must_use]
    pub fn ask(from: Sequence) -> Self {
        Self { kind: ASK, sequence: from }
    }
}
