//! The events of the two rings.

use bytemuck::{Pod, Zeroable};

use crate::types::{Command, PackedCommand, PackedReport};

/// An event of the input ring, and a record of the journal: a command and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Input {
    /// The command.
    pub command: PackedCommand,
    /// The number that the client gave to the command. It comes back with each report.
    pub tag: u64,
    /// When the gateway got the command, in nanoseconds of its own clock.
    pub received_ns: u64,
    /// The session that sent it.
    pub session: u64,
}

/// An event of the output ring: a report and the command that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Output {
    /// The report.
    pub report: PackedReport,
    /// The sequence of the command in the input ring and in the journal.
    pub sequence: u64,
    /// The tag of the command.
    pub tag: u64,
    /// When the gateway got the command.
    pub received_ns: u64,
    /// The session that sent the command.
    pub session: u64,
    /// 1 in the last report of a command, otherwise 0.
    pub is_last: u64,
}

impl Input {
    /// Returns a command that no session sends.
    pub(crate) fn of_operator(command: &Command) -> Self {
        Self { command: PackedCommand::from(command), ..Self::empty() }
    }

    /// Returns the content of a slot before its first use.
    pub(super) fn empty() -> Self {
        Self::zeroed()
    }
}

impl Output {
    /// Returns the content of a slot before its first use.
    pub(super) fn empty() -> Self {
        Self::zeroed()
    }

    /// Returns an answer to the command of `input`, the first of several.
    #[must_use]
    pub fn new(input: &Input, sequence: u64, report: PackedReport) -> Self {
        let Input { tag, received_ns, session, .. } = *input;
        Self { report, sequence, tag, received_ns, session, is_last: 0 }
    }
}
