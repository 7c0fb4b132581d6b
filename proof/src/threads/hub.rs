//! The threads of a run: each sends what it did when it ends, also if it panics. Tells a run that
//! hangs from a slow one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::StopHandle;

use super::consumers::{Ended, Visit};
use super::producers::Feed;

/// What a thread did, or asks for.
pub(super) enum Message {
    Fed(usize, Feed),
    Visited(Visit),
    Ran(Vec<Ended>),
    Done,
    Panicked(String),
    /// The stages are to be shut down, or halted.
    Shutdown,
    Halt,
    /// A guest can be stopped.
    MayStop(StopHandle),
}

/// The threads of a run.
#[derive(Clone)]
pub(super) struct Hub {
    sender: Sender<Message>,
    alive: Arc<AtomicUsize>,
    pub(super) is_over: Arc<AtomicBool>,
}

impl Hub {
    pub(super) fn new() -> (Self, Receiver<Message>) {
        let (sender, receiver) = mpsc::channel();
        let (alive, is_over) = Default::default();
        (Self { sender, alive, is_over }, receiver)
    }

    /// Starts a thread, whose last message is the result of `body`.
    pub(super) fn spawn(&self, body: impl FnOnce() -> Message + Send + 'static) {
        self.alive.fetch_add(1, Ordering::SeqCst);
        let hub = self.clone();
        thread::spawn(move || {
            let message = catch_unwind(AssertUnwindSafe(body))
                .unwrap_or_else(|panic| Message::Panicked(text(&*panic)));
            hub.send(message);
            hub.alive.fetch_sub(1, Ordering::SeqCst);
        });
    }

    pub(super) fn send(&self, message: Message) {
        // Without a receiver, the run has failed already.
        _ = self.sender.send(message);
    }

    /// Whether a thread has not ended.
    pub(super) fn is_busy(&self) -> bool {
        self.alive.load(Ordering::SeqCst) > 0
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Watches the progress of a run.
pub(super) struct Watch<F> {
    /// A number that grows with each step.
    progress: F,
    patience: Duration,
    steps: u64,
    since: Instant,
}

impl<F: Fn() -> u64> Watch<F> {
    pub(super) fn new(progress: F, patience: Duration) -> Self {
        Self { progress, patience, steps: 0, since: Instant::now() }
    }

    /// The next message, if one comes within a moment.
    ///
    /// # Errors
    ///
    /// If the run has made no progress for too long.
    pub(super) fn next(
        &mut self,
        messages: &Receiver<Message>,
        moment: Duration,
    ) -> Result<Option<Message>, String> {
        let message = match messages.recv_timeout(moment) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the hub has a sender"),
        };
        let steps = (self.progress)();
        if message.is_some() || steps != self.steps {
            (self.steps, self.since) = (steps, Instant::now());
        }
        if self.since.elapsed() > self.patience {
            return Err(format!(
                "it hangs: no progress for {:?}, after {steps} steps",
                self.patience
            ));
        }
        Ok(message)
    }
}
