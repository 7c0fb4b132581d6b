//! The results of handlers after the last event, and the time of that event. The crate joins its
//! threads when the producer is dropped. The clock stops earlier, at the end of the last handler.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use disruptor::Sequence;

use super::outlet::PATIENCE;
use crate::machine::cpu_time;
use crate::measure::crew::{Disconnected, Finish, RunError};

/// The finish line of the handlers.
pub(super) struct FinishLine {
    /// The sequence of the last event.
    last: Sequence,
    /// Handlers that are to report.
    handlers: usize,
    sender: Sender<End>,
    receiver: Receiver<End>,
}

/// The end of a handler.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    at: Instant,
    /// CPU time of the process until then, or `None` if the system does not report it.
    cpu_used: Option<Duration>,
}

impl End {
    /// Returns `finish` with the end of the last handler. The laboratory's thread that waits for it
    /// wakes up later, while handlers spin. Call it as soon as the crew has returned.
    pub(super) fn of(self, finish: Finish) -> Finish {
        let spent_after = cpu_time::since(self.cpu_used).unwrap_or_default();
        Finish {
            elapsed: self.at.duration_since(finish.started_at),
            cpu_time: finish.cpu_time.map(|time| time.saturating_sub(spent_after)),
            ..finish
        }
    }
}

/// The state of a handler. It moves onto the stack of the handler's thread, so handlers have no
/// false sharing.
pub(super) struct HandlerState<T> {
    state: T,
    /// Batches that have ended.
    batches: u64,
    last: Sequence,
    end: Sender<End>,
    seen: Arc<OnceLock<Seen<T>>>,
}

/// The result of a handler over all events.
#[derive(Clone, Debug)]
pub(super) struct Seen<T> {
    /// Its answer.
    pub(super) state: T,
    /// Batches that it received.
    pub(super) batches: u64,
}

/// The place of one handler's result.
pub(super) struct Receipt<T>(Arc<OnceLock<Seen<T>>>);

impl FinishLine {
    /// Creates the finish of a run of `events`, at least 1.
    pub(super) fn after(events: u32) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { last: Sequence::from(events) - 1, handlers: 0, sender, receiver }
    }

    /// Creates the state of another handler, and the place of its result.
    pub(super) fn handler_state<T>(&mut self, state: T) -> (HandlerState<T>, Receipt<T>) {
        self.handlers += 1;
        let seen = Arc::new(OnceLock::new());
        let (last, end) = (self.last, self.sender.clone());
        (HandlerState { state, batches: 0, last, end, seen: Arc::clone(&seen) }, Receipt(seen))
    }

    /// Waits for the end of all handlers, and returns that of the last one.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if a handler does not complete.
    ///
    /// # Blocking
    ///
    /// Blocks the thread until the last handler has seen the last event.
    pub(super) fn wait(&self) -> Result<End, Disconnected> {
        let ends = (0..self.handlers).map(|_| self.receiver.recv_timeout(PATIENCE));
        let ends = ends.collect::<Result<Vec<_>, _>>().map_err(|_| Disconnected)?;
        ends.into_iter().max_by_key(|end| end.at).ok_or(Disconnected)
    }
}

impl<T: Clone + Send + Sync + 'static> HandlerState<T> {
    /// Returns a handler that does `work` on every event.
    pub(super) fn handler<E>(
        mut self,
        mut work: impl FnMut(&mut T, &E) + Send + 'static,
    ) -> impl FnMut(&E, Sequence, bool) + Send + 'static {
        move |event, sequence, end_of_batch| {
            work(&mut self.state, event);
            if end_of_batch {
                self.batches += 1;
                if sequence == self.last {
                    self.report();
                }
            }
        }
    }

    /// Reports the result over all events.
    #[cold]
    fn report(&self) {
        let end = End { at: Instant::now(), cpu_used: cpu_time::used() };
        // Only the first report counts, and the waiting thread can have given up.
        let _ = self.seen.set(Seen { state: self.state.clone(), batches: self.batches });
        let _ = self.end.send(end);
    }
}

impl<T: Clone> Receipt<T> {
    /// Returns the result of the handler.
    ///
    /// # Errors
    ///
    /// [`RunError::Disconnected`] if the handler has not completed.
    pub(super) fn take(&self) -> Result<Seen<T>, RunError> {
        let lost = || RunError::Disconnected { worker: "handler".to_owned() };
        self.0.get().cloned().ok_or_else(lost)
    }
}
