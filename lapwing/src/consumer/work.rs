//! The interface through which a stage calls its closure or its handler, one batch at a time.

use std::marker::PhantomData;
use std::ops::Range;

use super::access::{Access, Exclusive, Shared};
use super::action::{Action, BoxError, IntoAction};
use super::batch_handler::{BatchHandler, Done};
use super::failure::Failure;
use super::handler::EventHandler;
use super::progress::{Noted, Progress};
use crate::Sequence;
use crate::group::KeyTransfer;

/// A batch that was left before its end.
#[derive(Debug)]
pub(crate) struct Interruption {
    /// The events that the verdict applies to.
    pub(crate) events: Range<Sequence>,
    pub(crate) verdict: Result<Action, BoxError>,
}

/// The work of a stage.
pub(crate) trait Work<E, A: Access> {
    /// Whether [`on_batch_start`](Self::on_batch_start) must be called.
    const LOOKS_AT_DEPTH: bool = false;
    /// Whether a failure applies to the rest of the batch, not to one event.
    const IS_BY_BATCH: bool = false;
    /// Whether [`on_released`](Self::on_released) must be called.
    const HEARS_RELEASES: bool = false;

    /// The object that hands over the states of keys, if the handler does so.
    fn transfer(&mut self) -> Option<&mut dyn KeyTransfer> {
        None
    }

    /// Whether [`on_timeout`](Self::on_timeout) must be called.
    const HEARS_TIMEOUTS: bool = false;

    fn on_start(&mut self) {}

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        let _ = (batch_size, queue_depth);
    }

    fn on_batch(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption>;

    /// Handles events that an upstream stage has skipped because of `failure`. A closure is not
    /// called for them.
    fn on_failed(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
        failure: &Failure<'_>,
    ) -> Result<(), Interruption> {
        let _ = (events, first, progress, failure);
        Ok(())
    }

    #[inline]
    fn on_released(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    fn on_restart(&mut self) {}

    fn on_shutdown(&mut self) {}
}

/// Calls `on_event` for each of `events`, until it returns something other than
/// [`Action::Continue`].
#[inline]
fn each<'a, E: 'a, A: Access, R: IntoAction>(
    events: A::Slice<'a, E>,
    first: Sequence,
    progress: &Progress,
    mut on_event: impl FnMut(A::Ref<'a, E>, Sequence, bool) -> R,
) -> Result<(), Interruption> {
    let events = A::events(events);
    let end = first + events.len() as u64;
    let mut noted = Noted { progress, at: first };
    for (sequence, event) in (first..).zip(events) {
        noted.at = sequence;
        match on_event(event, sequence, sequence + 1 == end).into_action() {
            Ok(Action::Continue) => {}
            verdict => return Err(Interruption { events: sequence..sequence + 1, verdict }),
        }
    }
    Ok(())
}

/// The result of a batch for which the handler has returned `returned`. The handler has not said
/// that it has finished any of `unfinished`.
fn settled<R: IntoAction>(unfinished: Range<Sequence>, returned: R) -> Result<(), Interruption> {
    match returned.into_action() {
        Ok(Action::Continue) => Ok(()),
        verdict => Err(Interruption { events: unfinished, verdict }),
    }
}

/// A closure called for each event.
#[derive(Debug)]
pub(crate) struct PerEvent<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> PerEvent<F, R> {
    pub(crate) fn new(on_event: F) -> Self {
        Self(on_event, PhantomData)
    }
}

impl<E, R: IntoAction, F: FnMut(&E, Sequence, bool) -> R> Work<E, Shared> for PerEvent<F, R> {
    #[inline]
    fn on_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption> {
        each::<E, Shared, R>(events, first, progress, &mut self.0)
    }
}

impl<E, R: IntoAction, F: FnMut(&mut E, Sequence, bool) -> R> Work<E, Exclusive>
    for PerEvent<F, R>
{
    #[inline]
    fn on_batch(
        &mut self,
        events: &mut [E],
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption> {
        each::<E, Exclusive, R>(events, first, progress, &mut self.0)
    }
}

/// A closure called for each batch.
#[derive(Debug)]
pub(crate) struct PerBatch<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> PerBatch<F, R> {
    pub(crate) fn new(on_batch: F) -> Self {
        Self(on_batch, PhantomData)
    }
}

impl<E, R: IntoAction, F: FnMut(&[E], Sequence) -> R> Work<E, Shared> for PerBatch<F, R> {
    const IS_BY_BATCH: bool = true;

    #[inline]
    fn on_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        _: &Progress,
    ) -> Result<(), Interruption> {
        settled(first..first + events.len() as u64, (self.0)(events, first))
    }
}

impl<E, R: IntoAction, F: FnMut(&mut [E], Sequence) -> R> Work<E, Exclusive> for PerBatch<F, R> {
    const IS_BY_BATCH: bool = true;

    #[inline]
    fn on_batch(
        &mut self,
        events: &mut [E],
        first: Sequence,
        _: &Progress,
    ) -> Result<(), Interruption> {
        let batch = first..first + events.len() as u64;
        settled(batch, (self.0)(events, first))
    }
}

/// A handler of batches with all of its callbacks.
#[derive(Debug)]
pub(crate) struct BatchLife<H, R>(pub(crate) H, PhantomData<fn() -> R>);

impl<H, R> BatchLife<H, R> {
    pub(crate) fn new(handler: H) -> Self {
        Self(handler, PhantomData)
    }
}

impl<E, A, R, H> Work<E, A> for BatchLife<H, R>
where
    A: Access,
    R: IntoAction,
    H: BatchHandler<E, A, R>,
{
    const IS_BY_BATCH: bool = true;
    const HEARS_RELEASES: bool = true;
    const HEARS_TIMEOUTS: bool = true;

    fn on_start(&mut self) {
        self.0.on_start();
    }

    #[inline]
    fn on_batch(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption> {
        let returned = self.0.on_batch(events, first, Done::new(progress, first));
        let unfinished = progress.within().unwrap_or(first..first);
        settled(unfinished, returned)
    }

    #[cold]
    fn on_failed(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
        failure: &Failure<'_>,
    ) -> Result<(), Interruption> {
        let returned = self.0.on_failed_batch(events, first, Done::new(progress, first), failure);
        let unfinished = progress.within().unwrap_or(first..first);
        settled(unfinished, returned)
    }

    #[inline]
    fn on_released(&mut self, next_sequence: Sequence) {
        self.0.on_released(next_sequence);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.0.on_timeout(next_sequence);
    }

    fn on_restart(&mut self) {
        self.0.on_restart();
    }

    fn on_shutdown(&mut self) {
        self.0.on_shutdown();
    }
}

/// A handler with all of its callbacks.
#[derive(Debug)]
pub(crate) struct WholeLife<H, R>(pub(crate) H, PhantomData<fn() -> R>);

impl<H, R> WholeLife<H, R> {
    pub(crate) fn new(handler: H) -> Self {
        Self(handler, PhantomData)
    }
}

impl<E, A, R, H> Work<E, A> for WholeLife<H, R>
where
    A: Access,
    R: IntoAction,
    H: EventHandler<E, A, R>,
{
    const LOOKS_AT_DEPTH: bool = true;
    const HEARS_RELEASES: bool = true;
    const HEARS_TIMEOUTS: bool = true;

    fn on_start(&mut self) {
        self.0.on_start();
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.0.on_batch_start(batch_size, queue_depth);
    }

    #[inline]
    fn on_batch(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption> {
        each::<E, A, R>(events, first, progress, |event, sequence, end_of_batch| {
            self.0.on_event(event, sequence, end_of_batch)
        })
    }

    #[cold]
    fn on_failed(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
        failure: &Failure<'_>,
    ) -> Result<(), Interruption> {
        each::<E, A, R>(events, first, progress, |event, sequence, end_of_batch| {
            self.0.on_failed_event(event, sequence, end_of_batch, &failure.at(sequence))
        })
    }

    #[inline]
    fn on_released(&mut self, next_sequence: Sequence) {
        self.0.on_released(next_sequence);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.0.on_timeout(next_sequence);
    }

    fn on_restart(&mut self) {
        self.0.on_restart();
    }

    fn on_shutdown(&mut self) {
        self.0.on_shutdown();
    }
}
