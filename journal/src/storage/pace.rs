//! How fast a file of zeros is written: slowly beside the syncs of the journal, or as fast as the
//! disk takes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A patient thread writes so little at once that a sync hardly waits for it, and leaves the disk
/// alone for half of the time: E70 in `lab/results/experiments.md`.
const PATIENT_PIECE: u64 = 256 << 10;
const URGENT_PIECE: u64 = 1 << 20;

/// How fast a thread writes. Another thread may change it.
#[derive(Debug)]
pub(crate) struct Pace {
    is_urgent: AtomicBool,
}

impl Pace {
    /// Nothing waits for the file.
    pub(crate) fn patient() -> Self {
        Self { is_urgent: AtomicBool::new(false) }
    }

    /// A thread waits for the file.
    pub(crate) fn urgent() -> Self {
        Self { is_urgent: AtomicBool::new(true) }
    }

    /// Changes the pace. A thread that pauses must be unparked then.
    pub(crate) fn set_urgent(&self, is_urgent: bool) {
        // Relaxed: the flag carries nothing, and a thread that is unparked sees it.
        self.is_urgent.store(is_urgent, Ordering::Relaxed);
    }

    /// Returns how much is written until the next pause.
    pub(crate) fn piece(&self) -> u64 {
        if self.is_urgent() { URGENT_PIECE } else { PATIENT_PIECE }
    }

    /// Waits for as long as the last piece took, unless it is urgent or the thread is unparked.
    pub(crate) fn pause(&self, took: Duration) {
        if !self.is_urgent() {
            thread::park_timeout(took);
        }
    }

    fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn an_urgent_pace_does_not_pause_and_has_larger_pieces() {
        let pace = Pace::patient();
        let patient = pace.piece();
        pace.set_urgent(true);
        pace.pause(Duration::MAX);
        assert!(pace.piece() > patient);
    }

    #[test]
    fn a_thread_that_pauses_goes_on_when_it_is_unparked() {
        let (begins, begun) = channel();
        let thread = thread::spawn(move || {
            begins.send(()).unwrap();
            Pace::patient().pause(Duration::from_secs(1_000));
        });
        begun.recv_timeout(Duration::from_secs(60)).unwrap();
        thread.thread().unpark();
        thread.join().unwrap();
    }
}
