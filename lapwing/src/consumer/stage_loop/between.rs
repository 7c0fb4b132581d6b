//! What a stage does between two batches, apart from waits: it reports a timeout, and hands over
//! the state of keys. Not here: reports of a release (`releasing`), pauses (`pausing`).

use std::time::Instant;

use super::StageLoop;
use crate::activity::Doing;
use crate::catch::catch;
use crate::consumer::Outcome;
use crate::consumer::access::Access;
use crate::consumer::source::Source;
use crate::consumer::work::Work;
use crate::group::KeyTransfer;
use crate::sync::now;

impl<E, A: Access, S: Source<E>, H: Work<E, A>, B> StageLoop<E, A, S, H, B> {
    /// Notifies the handler that no event has come within the timeout.
    pub(super) fn expire(&mut self) {
        self.source.activity().set(Doing::Handling);
        self.work.on_timeout(self.source.next());
        self.source.activity().set(Doing::Between);
    }

    pub(super) fn timeout_from_now(&self) -> Option<Instant> {
        self.timeout.and_then(|timeout| now().checked_add(timeout))
    }

    /// Hands over the state of keys that change owner. Returns how the stage ends, if it does.
    #[cold]
    pub(super) fn hand_over(&mut self) -> Option<Outcome> {
        with_transfer::<E, A, S, H>(&mut self.source, &mut self.work, |source, transfer| {
            source.hand_over(transfer, false);
        })
    }
}

/// Runs `step` with the object that hands over state of keys, if the handler has one. Returns how
/// the stage ends, if `step` panicked.
pub(super) fn with_transfer<E, A: Access, S: Source<E>, H: Work<E, A>>(
    source: &mut S,
    work: &mut H,
    step: impl FnOnce(&mut S, &mut dyn KeyTransfer),
) -> Option<Outcome> {
    let transfer = work.transfer()?;
    source.activity().set(Doing::Handling);
    let result = catch(|| step(source, transfer));
    source.activity().set(Doing::Between);
    result.err().map(|message| Outcome::Panicked { message, sequence: source.next() })
}
