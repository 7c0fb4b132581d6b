//! Snapshots of the engine, written by a thread of their own.
//!
//! A snapshot is written after the journal has synced all commands before it. Otherwise a crash could
//! leave a snapshot of commands that the journal has lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lapwing::Sequence;
use lapwing_journal::error::FileError;
use lapwing_journal::{Journal, Snapshots};

use super::error::ServiceError;
use super::events::Input;
use crate::engine::{Engine, Image};

/// Longest wait for the journal at a time.
const PAUSE: Duration = Duration::from_millis(100);

/// The end of the matching stage: it offers a copy of the engine every so many commands.
#[derive(Debug)]
pub(super) struct Snapshotting {
    every: u64,
    images: Sender<(Sequence, Image)>,
    shared: Arc<Shared>,
}

/// What both ends set. Relaxed is enough: the channel carries the image, and the flags carry nothing.
#[derive(Debug, Default)]
struct Shared {
    /// An image is on its way into a file. There is one at a time, since it takes memory.
    is_writing: AtomicBool,
    has_ended: AtomicBool,
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
        let (images, offered) = channel();
        let shared = Arc::new(Shared::default());
        let thread = Thread { journal, snapshots, shared: Arc::clone(&shared) };
        let write = move || thread.write_all(&offered);
        let writing = thread::Builder::new().name("snapshots".into()).spawn(write)?;
        Ok((Self { every, images, shared }, writing))
    }

    /// Offers a copy of `engine` after all commands below `sequence`, if it is time for a
    /// snapshot. Skips it if the thread still writes the last one.
    pub(super) fn offer(&mut self, sequence: Sequence, engine: &Engine) {
        let is_due = sequence.is_multiple_of(self.every);
        if is_due && !self.shared.is_writing.swap(true, Ordering::Relaxed) {
            // If the thread has failed, the shutdown returns its error.
            let _ = self.images.send((sequence, engine.image()));
        }
    }
}

impl Drop for Snapshotting {
    fn drop(&mut self) {
        // Relaxed: the thread checks it again and again, and it carries nothing.
        self.shared.has_ended.store(true, Ordering::Relaxed);
    }
}

/// What the thread has.
struct Thread {
    journal: Arc<Journal<Input>>,
    snapshots: Snapshots,
    shared: Arc<Shared>,
}

impl Thread {
    fn write_all(&self, offered: &Receiver<(Sequence, Image)>) -> Result<(), ServiceError> {
        for (sequence, image) in offered {
            if !self.wait_until_synced(sequence) {
                break;
            }
            match self.write(sequence, &image.into_state().to_bytes()) {
                // The journal has all that the snapshot would have. The next one may find space, or
                // a file descriptor.
                Err(error) if error.is_shortage() => {}
                written => written?,
            }
            self.shared.is_writing.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes a snapshot, and removes the segments before the oldest one.
    fn write(&self, sequence: Sequence, state: &[u8]) -> Result<(), FileError> {
        self.snapshots.write(sequence, state)?;
        if let Some(oldest) = self.snapshots.oldest()? {
            self.journal.remove_before(oldest)?;
        }
        Ok(())
    }

    /// Returns false if the commands below `sequence` will not be synced: a sync has failed, or the
    /// stages have ended.
    fn wait_until_synced(&self, sequence: Sequence) -> bool {
        loop {
            // Loaded first: the stages sync before they end.
            let is_last_time = self.shared.has_ended.load(Ordering::Relaxed);
            match self.journal.wait_synced(sequence, PAUSE) {
                Ok(synced) if synced >= sequence => return true,
                Ok(_) if !is_last_time => {}
                _ => return false,
            }
        }
    }
}
