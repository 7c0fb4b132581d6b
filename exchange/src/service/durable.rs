//! The stage that holds reports back until no crash can undo their commands.

use std::sync::Arc;
use std::time::Duration;

use lapwing::Action;
use lapwing_journal::Journal;

use super::confirmed::Confirmed;
use super::events::{Input, Output};
use super::hooks::HookError;

/// Longest wait before the stage checks whether its ring has halted.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// What reports wait for.
#[derive(Debug)]
pub(super) struct Durable {
    pub(super) journal: Option<Arc<Journal<Input>>>,
    pub(super) confirmed: Option<Arc<Confirmed>>,
}

impl Durable {
    /// Holds reports back until the journal has synced the commands that they answer, and the other
    /// process has confirmed them.
    pub(super) fn hold(&self, reports: &[Output]) -> Result<Action, HookError> {
        let Some(last) = reports.last() else { return Ok(Action::Continue) };
        let end = last.sequence + 1;
        // Short waits, since a halt of the ring does not end one.
        let is_synced = match &self.journal {
            Some(journal) => journal.wait_synced(end, LONGEST_WAIT)? >= end,
            None => true,
        };
        let is_durable = match &self.confirmed {
            Some(confirmed) if is_synced => confirmed.wait(end, LONGEST_WAIT)?,
            _ => is_synced,
        };
        Ok(if is_durable { Action::Continue } else { Action::Rewind(Duration::ZERO) })
    }
}
