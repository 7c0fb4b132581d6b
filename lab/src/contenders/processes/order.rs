//! What a process of a run must do, and what it answers.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Way;
use crate::load::processes::{Amount, Called, Got, Sent};

/// What a process must do.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) enum Order {
    /// Makes the writing end of a direction; threads make all ends of it.
    Create(Way),
    /// Makes the end of the reader of this number.
    Open(Way, usize),
    /// Gets ready, on this CPU if it is given: all ends are there. A process is bound only now,
    /// because ends count the CPUs.
    Begin(Option<usize>),
    /// Sends.
    Write(Amount),
    /// Receives until the end of the stream.
    Read,
    /// Sends events one by one and gets each back, after a pause before each.
    Call(Amount, Duration),
    /// Sends events back.
    Echo,
    /// Writes and reads, between threads.
    Stream(Amount),
    /// Calls and echoes, between threads.
    Exchange(Amount, Duration),
    /// Drops its ends, and ends.
    End,
}

/// The outcome of an order.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Report {
    /// CPU time of the process meanwhile.
    pub(super) cpu: Duration,
    pub(super) sent: Option<Sent>,
    /// One for each reader of this process.
    pub(super) got: Vec<Got>,
    pub(super) called: Option<Called>,
}

/// The line that answers an order: a report, or why there is none.
pub(super) type Reply = Result<Report, String>;

/// The ends of a process.
pub(super) trait Obeys {
    /// Does what `order` says.
    ///
    /// # Errors
    ///
    /// The contender refuses, or the order is not for these ends.
    fn obey(&mut self, order: Order) -> io::Result<Report>;
}
