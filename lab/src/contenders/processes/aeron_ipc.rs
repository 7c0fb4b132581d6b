//! `aeron-ipc`: Aeron through shared memory, with its Java client and its Java media driver, since
//! those in C need a C compiler and libraries. The ends are in `lab/java`, and obey the orders of
//! `words`. They end when their input closes, so they do not outlive this process.
//!
//! An event is claimed, written in place and committed, as in Aeron's samples; there is no way to
//! send several claims together. A reader polls for up to 256 events. A slow reader holds up the
//! writer, which retries.
//!
//! - **Terms.** The writer may be half of a term ahead of the slowest reader. So a term has twice
//!   the bytes of the slots with their headers, rounded up to a power of two.
//! - **Driver.** It is one more process with one thread. The events pass it by, but it is the one
//!   that tells the writer how far the readers are. It waits as the ends do.
//! - **Waits.** `spin` and `yield` are the strategies of these names, and `sleep` is the one that
//!   backs off to sleeps of a millisecond, Aeron's default for its driver.

use std::process::Command;

use super::Setup;
use crate::foreign::{Child, ChildError, JavaRival, Program, ToolError};

/// The bytes of a frame before its event, and what the length of a frame is a multiple of.
const HEADER_BYTES: usize = 32;
const FRAME_ALIGNMENT: usize = 32;
/// The terms that Aeron accepts, in bytes.
const SMALLEST_TERM: usize = 1 << 16;
const LARGEST_TERM: usize = 1 << 30;

/// Compiles the program of the ends and the driver.
///
/// # Errors
///
/// [`ToolError`] if a tool is not installed, or Aeron is not available.
pub(super) fn build() -> Result<Program, ToolError> {
    JavaRival::Aeron.build()
}

/// Starts the media driver of a run.
///
/// # Errors
///
/// [`ChildError::Start`] if the system refuses the process.
pub(super) fn driver(program: &Program, setup: &Setup) -> Result<Child, ChildError> {
    Child::start(&mut command(program, "driver", setup))
}

/// Returns the command of a process of a run.
pub(super) fn end(program: &Program, setup: &Setup) -> Command {
    let event_bytes = event_bytes(setup);
    let term_bytes = term_bytes(setup.slots, event_bytes);
    let mut command = command(program, "end", setup);
    command.args([term_bytes, event_bytes].map(|bytes| bytes.to_string()));
    command
}

fn command(program: &Program, role: &str, setup: &Setup) -> Command {
    let mut command = program.command();
    command.arg(role).arg(setup.folder.join("aeron")).arg(setup.wait.name());
    command
}

const fn event_bytes(setup: &Setup) -> usize {
    setup.words * size_of::<u64>()
}

/// Returns the bytes of a term whose half has room for these events at least, if Aeron has such a
/// term.
fn term_bytes(slots: usize, event_bytes: usize) -> usize {
    let frame = (HEADER_BYTES + event_bytes).next_multiple_of(FRAME_ALIGNMENT);
    (2 * slots * frame).next_power_of_two().clamp(SMALLEST_TERM, LARGEST_TERM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_term_has_room_for_the_slots() {
        assert_eq!(term_bytes(1024, 8), 1 << 17); // frames of 64 bytes
        assert_eq!(term_bytes(1024, 64), 1 << 18); // of 96
        assert_eq!(term_bytes(1024, 256), 1 << 20); // of 288
        assert_eq!(term_bytes(1, 8), SMALLEST_TERM);
        assert_eq!(term_bytes(1 << 25, 8), LARGEST_TERM);
    }
}
