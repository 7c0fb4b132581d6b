//! Finds the seats whose processes live, by their pipes (M3). The caller has the lock of the folder, so
//! that no process takes a seat meanwhile.

use std::io;

use crate::directory::{Directory, pipe};
use crate::evidence::Watched;
use crate::memory::Memory;
use crate::protocol::Shared;
use crate::protocol::seats::{Side, Tenure};

/// Whether a process holds a pipe; `None` if somebody has removed it, as programs do that clean up.
///
/// # Errors
///
/// What the system says.
pub(crate) fn is_held(directory: &Directory, name: &str) -> io::Result<Option<bool>> {
    match Watched::open(directory, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        watched => Ok(Some(watched?.is_some())),
    }
}

/// Whether the process on a seat lives, or may live.
pub(crate) fn is_alive(directory: &Directory, side: Side, index: usize) -> bool {
    !matches!(is_held(directory, &pipe(side, index)), Ok(Some(false)))
}

/// Returns the seats whose processes are dead.
fn dead(shared: Shared<'_>, directory: &Directory, side: Side) -> io::Result<Vec<Tenure>> {
    let mut dead = Vec::new();
    for tenure in shared.tenures(side) {
        if is_held(directory, &pipe(side, tenure.index))? == Some(false) {
            dead.push(tenure);
        }
    }
    Ok(dead)
}

/// Frees the seats of dead processes. The watches of living ones do this too, but there may be none.
///
/// # Errors
///
/// What the system says.
pub(crate) fn clear_the_dead(memory: &Memory, directory: &Directory) -> io::Result<()> {
    let shared = memory.shared();
    let readers = dead(shared, directory, Side::Readers)?;
    let writers = dead(shared, directory, Side::Writers)?;
    readers.iter().for_each(|&tenure| _ = shared.clear(tenure));
    // If a living writer may have one of their claims, the watches repeat it.
    shared.repair(&writers);
    if !readers.is_empty() || !writers.is_empty() {
        shared.words.slots.0.wake_all();
        shared.words.events.0.wake_all();
    }
    Ok(())
}

/// Returns a seat that is free and whose pipe nobody holds: a process that is about to leave has given
/// up its seat, and still holds the pipe.
///
/// # Errors
///
/// What the system says.
pub(crate) fn free_seat(
    memory: &Memory,
    directory: &Directory,
    side: Side,
) -> io::Result<Option<usize>> {
    for index in memory.shared().free_seats(side) {
        if is_held(directory, &pipe(side, index))? == Some(false) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
