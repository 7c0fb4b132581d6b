//! What a handler is told of a release, once its stage's sequence is stored.
//!
//! ```text
//! at the end of a batch              in the net of the batch: a panic is one between batches
//! after a failure                    in a net of its own: what was decided of the failure is still to be done
//! after a poll that found nothing    what the poll itself has let go of
//! ```
//!
//! Not here: the end of a stage, which its handler hears of by `on_shutdown` (`ending`).

use std::ops::Range;

use super::StageLoop;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::consumer::Outcome;
use crate::consumer::access::Access;
use crate::consumer::catch::catch;
use crate::consumer::source::Source;
use crate::consumer::work::Work;
use crate::error::{PollError, WaitTimeoutError};

/// Counts a batch when it is dropped, also by a panic: its events are finished.
struct CountedBatch<'a>(&'a Activity);

impl Drop for CountedBatch<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.end_batch();
    }
}

impl<E, A: Access, S: Source<E>, H: Work<E, A>, B> StageLoop<E, A, S, H, B> {
    /// Ends the batch whose events below `sequence` it has just let go of, and tells the handler.
    #[inline(always)]
    pub(super) fn end_batch(&mut self, sequence: Sequence) {
        let _counted = CountedBatch(self.source.activity());
        self.work.on_released(sequence);
    }

    /// Lets go of everything below `sequence` after a failure, and tells the handler if that is
    /// anything. Returns how the stage ends, if that call panics and the policy ends the stage.
    #[cold]
    pub(super) fn let_go(&mut self, sequence: Sequence) -> Option<Outcome> {
        let is_anything = sequence > self.source.next();
        self.source.release(sequence);
        if H::HEARS_RELEASES && is_anything {
            self.source.activity().set(Doing::Handling);
            if let Err(message) = catch(|| self.work.on_released(sequence)) {
                // Between batches, so that nothing more is let go of: this ends.
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
    #[inline(always)]
    pub(super) fn wait(&mut self) -> Result<Range<Sequence>, WaitTimeoutError> {
        let deadline = self.timeout_from_now();
        let Self { source, work, .. } = self;
        source.wait_with(deadline, |source| tell_of_passed(source, work))
    }

    /// The next batch, if it is there.
    #[inline(always)]
    pub(super) fn poll(&mut self) -> Result<Range<Sequence>, PollError> {
        let polled = self.source.poll();
        if matches!(polled, Err(PollError::Empty)) {
            tell_of_passed(&mut self.source, &mut self.work);
        }
        polled
    }
}

/// Tells the handler of what a poll that found nothing has let go of.
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
