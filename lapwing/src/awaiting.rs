//! How a task waits at an end of a ring. Not here: where it is woken (`lapwing_core::Control::poll_wait`),
//! and what it waits for (`consumer::stage_reader`, `producer::awaited`).

use std::task::{Context, Poll};

/// The budget of a task.
const EVENTS: u64 = 1024;

/// How many events a task may take or publish without a wait until it lets other tasks of its thread
/// run. A runtime cannot do that for it: an `.await` that is ready at once does not return to the
/// runtime.
#[derive(Debug)]
pub(crate) struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Self(EVENTS)
    }
}

impl Budget {
    /// Spends it for this number of events.
    pub(crate) fn spend(&mut self, events: u64) {
        self.0 = self.0.saturating_sub(events);
    }

    /// Lets other tasks run, once, if nothing is left.
    pub(crate) fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.0 > 0 {
            return Poll::Ready(());
        }
        self.refill();
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Begins anew: the task waits, so others run.
    pub(crate) fn refill(&mut self) {
        *self = Self::default();
    }
}
