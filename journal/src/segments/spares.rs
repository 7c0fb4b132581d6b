//! Segments that are prepared ahead: reserved, filled with zeros and synced, so that a sync of
//! later writes has only data to write.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::format::name;
use crate::storage::pace::Pace;
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
    pace: Arc<Pace>,
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
        let pace = Arc::new(Pace::patient());
        let paced = Arc::clone(&pace);
        let prepare = move || prepare(&*storage, bytes, &paced, &sender, &syncing);
        let thread = thread::Builder::new().name("journal-spares".into()).spawn(prepare)?;
        self.ahead = Some(Ahead { ready: Some(ready), pace, thread: Some(thread) });
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
        match self.ahead.as_ref().and_then(Ahead::take) {
            Some(Ok(spare)) => Ok(spare),
            // The disk may have been full a while ago. The error must be that of now.
            _ => {
                self.number += 2;
                make(&*self.storage, self.bytes, self.number, &Pace::urgent())
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
    pace: &Pace,
    ready: &SyncSender<io::Result<Spare>>,
    syncing: &Syncing,
) {
    for number in (0..).step_by(2) {
        let spare = make(storage, bytes, number, pace);
        if ready.send(spare).is_err() {
            break;
        }
        syncing.sync_if_no_stage_does();
    }
}

fn make(storage: &dyn Storage, bytes: u64, number: u64, pace: &Pace) -> io::Result<Spare> {
    let name = name::spare(number);
    let file = storage.create_zeros(&name, bytes, pace)?;
    if let Err(error) = file.sync() {
        let _ = storage.remove(&name);
        return Err(error);
    }
    Ok(Spare { name, file, bytes })
}

impl Ahead {
    /// Returns what the thread has prepared, and waits for it if it is not ready. If the writer has to
    /// wait, the thread hurries, also with the segment after this one.
    fn take(&self) -> Option<io::Result<Spare>> {
        let ready = self.ready.as_ref()?;
        let spare = ready.try_recv();
        self.set_urgent(spare.is_err());
        spare.or_else(|_| ready.recv()).ok()
    }

    fn set_urgent(&self, is_urgent: bool) {
        self.pace.set_urgent(is_urgent);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.set_urgent(true);
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const PAUSE: Duration = Duration::from_secs(60);

    /// A thread that pauses once, and then hands over an error.
    fn paused() -> Ahead {
        let (sender, ready) = sync_channel(0);
        let pace = Arc::new(Pace::patient());
        let paced = Arc::clone(&pace);
        let thread = thread::spawn(move || {
            paced.pause(PAUSE);
            let _ = sender.send(Err(io::Error::other("made")));
        });
        Ahead { ready: Some(ready), pace, thread: Some(thread) }
    }

    #[test]
    fn a_writer_that_waits_hurries_the_thread() {
        let begun = Instant::now();
        let made = paused().take().expect("the thread sends");
        assert_eq!(made.unwrap_err().to_string(), "made");
        assert!(begun.elapsed() < PAUSE / 2);
    }

    #[test]
    fn a_journal_that_closes_hurries_the_thread() {
        let begun = Instant::now();
        drop(paused());
        assert!(begun.elapsed() < PAUSE / 2);
    }
}
