//! How the two rings end, with or without a failure.

use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::lifecycle::{Report, RunError, Running, ShutdownError};
use lapwing::monitor::RingState;

/// How often a shutdown checks whether the input ring has halted.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether a stage has failed and halted its ring.
pub(super) fn is_halted(ring: &Running<'_>) -> bool {
    ring.monitor().snapshot().state == RingState::Halted
}

/// Ends the input ring and then the output ring. Returns the report of the input ring, or the error
/// of the ring that has failed first.
pub(super) fn stop(input: Running<'static>, output: Running<'static>) -> Result<Report, RunError> {
    let input = stop_input(input, &output);
    if input.is_err() {
        // Reports of commands that the journal does not have wait in it.
        output.halt();
    }
    match (input, output.shutdown()) {
        // The stage of matching fails if the output ring has halted.
        (_, Err(error)) if has_failed_stage(&error) => Err(error),
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(report), Ok(_)) => Ok(report),
    }
}

/// Waits until the input ring has ended. If the journal has failed, nothing empties the output ring.
/// The stage of matching may wait for space in it, and only a halt of that ring ends this wait.
fn stop_input(mut input: Running<'static>, output: &Running<'static>) -> Result<Report, RunError> {
    loop {
        match input.shutdown_timeout(PAUSE) {
            Ok(report) => return Ok(report),
            Err(ShutdownError::Failed(error)) => return Err(error),
            Err(_) if is_halted(&input) => output.halt(),
            Err(_) => {}
        }
    }
}

/// Whether a stage has failed, and not only been halted.
fn has_failed_stage(error: &RunError) -> bool {
    let has_failed =
        |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Panicked { .. });
    error.report().stages().any(|stage| has_failed(stage.outcome()))
}
