//! What a soak refuses: each way in which a ring can break its promise.

use std::time::Duration;

use thiserror::Error;

/// A broken promise.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum Violation {
    /// A consumer got a later event than the next one of a producer.
    #[error("lost: {count} events of producer {lane} before number {found}")]
    Lost {
        /// The producer.
        lane: u32,
        /// Number of events that are missing.
        count: u64,
        /// The event that came in their place.
        found: u64,
    },
    /// A consumer got an event again, or one that is older than the last one.
    #[error("repeated or out of order: number {found} of producer {lane}, expected {expected}")]
    Repeated {
        /// The producer.
        lane: u32,
        /// The next number of this producer.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The words of an event do not belong together.
    #[error("torn event: number={number} lane={lane} seal={seal:x}")]
    Torn {
        /// Its words.
        number: u64,
        /// Its words.
        lane: u32,
        /// Its words.
        seal: u64,
    },
    /// An event in a single-producer ring is not that of its sequence.
    #[error("event of another sequence: number {number} at sequence {sequence}")]
    Misplaced {
        /// The event.
        number: u64,
        /// Where it was found.
        sequence: u64,
    },
    /// A stage got an event before an upstream stage had finished it.
    #[error("too early: sequence {sequence} is not finished by upstream stage {upstream}")]
    TooEarly {
        /// The event.
        sequence: u64,
        /// The stage that had not finished it.
        upstream: usize,
    },
    /// An event lacks the plain stores of the writing stages, or has too many.
    #[error("{found} of {expected} writing stages have finished number {number}")]
    Unwritten {
        /// The event.
        number: u64,
        /// How many stages should have written to it.
        expected: u32,
        /// How many have.
        found: u32,
    },
    /// A stage, or two workers of it, got an event twice.
    #[error("handled twice by one stage: sequence {sequence}")]
    Twice {
        /// The event.
        sequence: u64,
    },
    /// A producer got a slot that a stage has not finished.
    #[error("overwritten: the slot of sequence {sequence} is not finished by stage {stage}")]
    Overwritten {
        /// The claim.
        sequence: u64,
        /// The stage.
        stage: usize,
    },
    /// At the end, a stage has not seen what producers were told is accepted.
    #[error("accepted {accepted} events of producer {lane}, but seen {seen}")]
    Unequal {
        /// The producer.
        lane: usize,
        /// What its calls have returned.
        accepted: u64,
        /// What the stage has handled.
        seen: u64,
    },
    /// A stage has seen the right number of events, but not the right ones.
    #[error("{seen} events of producer {lane}, but not each of them once")]
    WrongSum {
        /// The producer.
        lane: usize,
        /// Number of events.
        seen: u64,
    },
    /// A stage did not end as it was told to.
    #[error("ended as {outcome}")]
    Outcome {
        /// How it ended.
        outcome: String,
    },
    /// A report of the library does not equal what the handlers counted.
    #[error("the report says {what}={reported}, counted: {counted}")]
    Report {
        /// The figure.
        what: &'static str,
        /// Its value in the report.
        reported: u64,
        /// Its true value.
        counted: u64,
    },
    /// A call of the library returned an error that nothing explains.
    #[error("unexpected error: {0}")]
    Refused(String),
    /// Nothing has moved for so long.
    #[error("hang: no progress for {0:?}")]
    Hang(Duration),
}

/// The result of a check.
pub(super) type Checked<T = ()> = Result<T, Violation>;
