//! How a task waits at an end of a ring. Not here: where it is woken
//! (`lapwing_core::Control::poll_wait`), and what it waits for (`consumer::stage_reader`,
//! `producer::awaited`).

use std::future::poll_fn;
use std::task::{Context, Poll};

/// The budget of a task.
const EVENTS: u64 = 1024;

/// How many events a task may take or publish without a wait until it lets other tasks of its
/// thread run. A runtime cannot do that for it: an `.await` that is ready at once does not return
/// to the runtime.
#[derive(Debug)]
pub(crate) struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Self(EVENTS)
    }
}

impl Budget {
    /// Spends it for this number of events.
    #[inline]
    pub(crate) fn spend(&mut self, events: u64) {
        self.0 = self.0.saturating_sub(events);
    }

    /// Lets other tasks run, once, if nothing is left.
    #[inline]
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
        self.refill_up_to(EVENTS);
    }

    /// Begins anew with at most this number of events, at least one.
    pub(crate) fn refill_up_to(&mut self, events: u64) {
        self.0 = events.clamp(1, EVENTS);
    }
}

/// An end of a ring that keeps the place of the task that waits at it. There is one place, so the
/// last poll decides which task is woken.
pub(crate) trait TaskEnd {
    /// Gives the place up. Its waker is not called from then on, unless a thread has begun to.
    fn leave_place(&mut self);
}

/// A receiving end, at which a thread can wait beside others.
pub(crate) trait ReadyEnd: TaskEnd {
    /// Is ready if there is something to receive, or the end of the ring. If not, the waker is
    /// registered. A thread has no budget.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// Awaits what `poll` polls at `end`. A future that is dropped leaves the place.
pub(crate) async fn polled<W: TaskEnd, R>(
    end: &mut W,
    mut poll: impl FnMut(&mut W, &mut Context<'_>) -> Poll<R>,
) -> R {
    let visit = Visit(end);
    poll_fn(|context| poll(visit.0, context)).await
}

/// A future's use of an end.
struct Visit<'a, W: TaskEnd>(&'a mut W);

impl<W: TaskEnd> Drop for Visit<'_, W> {
    fn drop(&mut self) {
        self.0.leave_place();
    }
}
