//! Why a recording does not understand a call.

use std::error::Error;
use std::fmt;

/// Characters of a call that an error has.
const LONGEST: usize = 200;

/// A call that a recording does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingError {
    reason: &'static str,
    call: String,
}

impl RecordingError {
    pub(super) fn new(reason: &'static str, call: &str) -> Self {
        Self { reason, call: call.chars().take(LONGEST).collect() }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot follow a recorded call: {}: {}", self.reason, self.call)
    }
}

impl Error for RecordingError {}
