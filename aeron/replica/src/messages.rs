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
    /// A random number of this run of the leader.
    pub leader: u64,
    /// The command. An answer has the number of the follower as its session, and that of the question
    /// as its tag.
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
    pub fn command(leader: u64, sequence: Sequence, input: Input) -> Self {
        Self { kind: COMMAND, sequence, leader, input }
    }

    /// Returns an answer to a follower that has asked for commands.
    #[must_use]
    pub fn answer(leader: u64, kind: u64, sequence: Sequence, asked: &FromFollower) -> Self {
        let FromFollower { follower, question, .. } = *asked;
        let input = Input { session: follower, tag: question, ..Input::zeroed() };
        Self { kind, sequence, leader, input }
    }

    /// Whether this is an answer to a question with a higher number.
    #[must_use]
    pub fn answers_after(&self, question: u64) -> bool {
        self.kind != COMMAND && self.input.tag > question
    }

    /// Whether this is an answer, to another follower: one that is gone, and whose question waited
    /// in its stream.
    #[must_use]
    pub fn is_for_another(&self, follower: u64) -> bool {
        self.kind != COMMAND && self.input.session != follower
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
    /// A random number of this run of the follower.
    pub follower: u64,
    /// The number of the question: 1, 2 and so on. 0 if this is none.
    pub question: u64,
}

impl FromFollower {
    /// Returns a confirmation.
    #[must_use]
    pub fn confirm(follower: u64, sequence: Sequence) -> Self {
        Self { kind: CONFIRM, sequence, follower, question: 0 }
    }

    /// Returns a question.
    #[must_use]
    pub fn ask(follower: u64, sequence: Sequence, question: u64) -> Self {
        Self { kind: ASK, sequence, follower, question }
    }
}

/// The journal of the follower has synced all commands below this sequence.
pub const CONFIRM: u64 = 1;
/// The follower lacks the commands from this sequence on.
pub const ASK: u64 = 2;
