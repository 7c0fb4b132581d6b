//! When a handler is notified of a release. This always follows the store of the stage's sequence.
//!
//! ```text
//! at the end of a batch              caught with the batch: a panic counts as one between batches
//! after a failure                    caught on its own: the action for the failure is still applied
//! after a poll that found nothing    for what the poll itself has released
//! ```
//!
//! Not here: the end of a stage, at which `on_shutdown` is called (`ending`).

use std::ops::Range;

use super::StageLoop;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::catch::catch;
use crate::consumer::Outcome;
use crate::consumer::access::Access;
use crate::consumer::source::Source;
use crate::consumer::work::Work;
use crate::error::PollError;

/// Counts a batch when dropped, also during a panic: its events are finished.
struct CountedBatch<'a>(&'a Activity);

impl Drop for CountedBatch<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.end_batch();
    }
}

impl<E, A: Access, S: Source<E>, H: Work<E, A>, B> StageLoop<E, A, S, H, B> {
    /// Ends the batch whose events below `sequence` were just released, and notifies the handler.
    #[inline]
    pub(super) fn end_batch(&mut self, sequence: Sequence) {
        let _counted = CountedBatch(self.source.activity());
        self.work.on_released(sequence);
    }

    /// Releases everything below `sequence` after a failure, and notifies the handler if that is
    /// any event. Returns how the stage ends, if that call panics and the policy ends the stage.
    #[cold]
    pub(super) fn let_go(&mut self, sequence: Sequence) -> Option<Outcome> {
        let is_anything = sequence > self.source.next();
        self.source.release(sequence);
        if H::HEARS_RELEASES && is_anything {
            self.source.activity().set(Doing::Handling);
            if let Err(message) = catch(|| self.work.on_released(sequence)) {
                // Counts as a panic between batches: it releases nothing more, and the recursion
                // ends.
                self.recover(message);
            }
        }
        let ended = self.outcome.take();
        if ended.is_none() {
            self.source.activity().set(Doing::Between);
        }
        ended
    }

    /// Waits for a batch.
    #[inline]
    pub(super) fn wait(&mut self) -> Result<Range<Sequence>, PollError> {
        let deadline = self.timeout_from_now();
        let Self { source, work, .. } = self;
        source.wait_with(deadline, |source| tell_of_passed(source, work))
    }

    /// The next batch, if there is one.
    #[inline]
    pub(super) fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        let polled = self.source.poll();
        if matches!(polled, Err(PollError::Empty)) {
            tell_of_passed(&mut self.source, &mut self.work);
        }
        polled
    }
}

/// Notifies the handler of what a poll that found nothing has released.
#[inline(always)]
fn tell_of_passed<E, A: Access, S: Source<E>, H: Work<E, A>>(source: &mut S, work: &mut H) {
    if H::HEARS_RELEASES
        && let Some(next) = source.take_passed()
    {
        source.activity().set(Doing::Handling);
        work.on_released(next);
        source.activity().set(Doing::Between);
    }
}
