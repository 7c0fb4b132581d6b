//! Snapshots of the engine, written by a thread of their own.
//!
//! A snapshot is written after the journal has synced all commands before it. Otherwise a crash could
//! leave a snapshot of commands that the journal has lost.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lapwing::Sequence;
use lapwing_journal::{Journal, Snapshots};

use super::error::ServiceError;
use super::events::Input;
use crate::Exchange;
use crate::engine::Engine;
use crate::state::State;

/// How often the thread asks whether the journal has synced the commands of a snapshot.
const PAUSE: Duration = Duration::from_millis(1);

/// The end of the matching stage: it offers a state every so many commands.
#[derive(Debug)]
pub(super) struct Snapshotting {
    every: u64,
    states: SyncSender<(Sequence, State)>,
}

/// The thread that writes snapshots.
pub(super) type Writing = JoinHandle<Result<(), ServiceError>>;

impl Snapshotting {
    /// Starts the thread. It ends when the value is dropped.
    pub(super) fn start(
        every: u64,
        journal: Arc<Journal<Input>>,
        snapshots: Snapshots,
    ) -> Result<(Self, Writing), ServiceError> {
        let (states, offered) = sync_channel(1);
        let write = move || write_all(&offered, &journal, &snapshots);
        let writing = thread::Builder::new().name("snapshots".into()).spawn(write)?;
        Ok((Self { every, states }, writing))
    }

    /// Offers the state of `engine` after all commands below `sequence`, if it is time for a
    /// snapshot. Skips it if the thread still writes the last one.
    pub(super) fn offer(&mut self, sequence: Sequence, engine: &Engine) {
        if sequence % self.every == 0 {
            // A thread that has failed ends the service at shutdown.
            let _ = self.states.try_send((sequence, engine.state()));
        }
    }
}

fn write_all(
    offered: &Receiver<(Sequence, State)>,
    journal: &Journal<Input>,
    snapshots: &Snapshots,
) -> Result<(), ServiceError> {
    for (sequence, state) in offered {
        while journal.synced() < sequence {
            if journal.is_stopped() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        snapshots.write(sequence, &state.to_bytes())?;
        if let Some(oldest) = snapshots.oldest()? {
            journal.remove_before(oldest)?;
        }
    }
    Ok(())
}
