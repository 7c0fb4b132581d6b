//! Segments that are prepared ahead: reserved, filled with zeros and synced, so that a sync of
//! later writes has only data to write.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::format::name;
use crate::storage::{Storage, StorageFile};
use crate::syncing::Syncing;

/// A segment without a header and without its name.
#[derive(Debug)]
pub(crate) struct Spare {
    pub(crate) name: String,
    pub(crate) file: Arc<dyn StorageFile>,
    /// Length of the file.
    pub(crate) bytes: u64,
}

/// Makes segments, ahead or when they are needed.
#[derive(Debug)]
pub(crate) struct Spares {
    storage: Arc<dyn Storage>,
    bytes: u64,
    /// The number in the name of the next spare that the writer makes.
    number: u64,
    ahead: Option<Ahead>,
    is_closed: bool,
}

/// The thread that prepares one segment ahead.
#[derive(Debug)]
struct Ahead {
    /// `None` only while the value is dropped.
    ready: Option<Receiver<io::Result<Spare>>>,
    thread: Option<JoinHandle<()>>,
}

impl Spares {
    /// Makes segments of `bytes` when they are needed.
    pub(crate) fn new(storage: Arc<dyn Storage>, bytes: u64) -> Self {
        Self { storage, bytes, number: 0, ahead: None, is_closed: false }
    }

    /// Starts the thread that prepares one segment ahead.
    pub(crate) fn start(&mut self, syncing: Arc<Syncing>) -> io::Result<()> {
        let (sender, ready) = sync_channel(0);
        let (storage, bytes) = (Arc::clone(&self.storage), self.bytes);
        let prepare = move || prepare(&*storage, bytes, &sender, &syncing);
        let thread = thread::Builder::new().name("journal-spares".into()).spawn(prepare)?;
        self.ahead = Some(Ahead { ready: Some(ready), thread: Some(thread) });
        // The thread uses even numbers.
        self.number = 1;
        Ok(())
    }

    /// Ends the thread and removes its spare. A second call does nothing.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.ahead = None;
            let _ = remove_spares(&*self.storage);
        }
    }

    /// Returns a segment. Waits if the thread is not ready.
    pub(crate) fn take(&mut self) -> io::Result<Spare> {
        let ready = self.ahead.as_ref().and_then(|ahead| ahead.ready.as_ref());
        match ready.map(Receiver::recv) {
            Some(Ok(Ok(spare))) => Ok(spare),
            // The disk may have been full a while ago. The error must be that of now.
            _ => {
                self.number += 2;
                make(&*self.storage, self.bytes, self.number)
            }
        }
    }
}

/// Removes the spares of a process that has ended, or of a journal that is closed.
pub(crate) fn remove_spares(storage: &dyn Storage) -> io::Result<()> {
    for name in storage.names()? {
        if name::is_spare(&name) {
            storage.remove(&name)?;
        }
    }
    Ok(())
}

/// Prepares a segment, hands it over when the writer asks for it, and begins again.
fn prepare(
    storage: &dyn Storage,
    bytes: u64,
    ready: &SyncSender<io::Result<Spare>>,
    syncing: &Syncing,
) {
    for number in (0..).step_by(2) {
        let spare = make(storage, bytes, number);
        if ready.send(spare).is_err() {
            break;
        }
        syncing.sync_if_no_stage_does();
    }
}

fn make(storage: &dyn Storage, bytes: u64, number: u64) -> io::Result<Spare> {
    let name = name::spare(number);
    let file = storage.create_zeros(&name, bytes)?;
    if let Err(error) = file.sync() {
        let _ = storage.remove(&name);
        return Err(error);
    }
    Ok(Spare { name, file, bytes })
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The thread ends when nothing receives what it prepares.
        self.ready = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        self.close();
    }
}
