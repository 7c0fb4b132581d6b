//! The engine as it was before the service ended: the latest snapshot, then the journal after it.

use std::path::PathBuf;

use lapwing::Sequence;
use lapwing_journal::{Journal, Latest};

use super::error::{NotApplied, ServiceError};
use super::events::Input;
use crate::engine::Engine;
use crate::state::State;

/// What the service found when it started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The sequence of the snapshot with which the engine began; 0 without one.
    pub snapshot: Sequence,
    /// The number of commands of the journal that the engine carried out again.
    pub replayed: u64,
    /// Bytes of commands that were never synced and not complete, and never answered.
    pub cut_bytes: u64,
    /// Snapshots that are damaged, which were left out.
    pub damaged: Vec<PathBuf>,
}

/// Carries out a command that was answered before.
fn replay(engine: &mut Engine, input: &Input) -> Result<(), NotApplied> {
    let command = input.command.unpack()?;
    let applied = engine.try_apply(&command, &mut |_| {});
    applied.map_err(|error| NotApplied::OutOfMemory(command, error))
}

/// Returns the engine after all commands of the journal, of which `latest` is the latest snapshot.
pub(super) fn recover(
    journal: &Journal<Input>,
    latest: Latest,
) -> Result<(Engine, Recovery), ServiceError> {
    let (snapshot, mut engine) = match latest.snapshot {
        Some(found) => {
            let state = State::from_bytes(&found.state)?;
            (found.sequence, Engine::from_state(&state)?)
        }
        None => (0, Engine::default()),
    };
    let (mut replayed, mut failed) = (0, None);
    journal.read(snapshot)?.for_each(Input::empty(), |sequence, input| {
        if failed.is_none() {
            failed = replay(&mut engine, input).err().map(|why| (sequence, why));
        }
        replayed += 1;
    })?;
    if let Some((sequence, why)) = failed {
        return Err(ServiceError::Replay { sequence, why });
    }
    let cut_bytes = journal.recovered().cut_bytes;
    Ok((engine, Recovery { snapshot, replayed, cut_bytes, damaged: latest.damaged }))
}
