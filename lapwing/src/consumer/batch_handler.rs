//! The public trait of a handler of batches. Not here: closures, and how a processor calls either
//! (`work`).

use super::access::{Access, Shared};
#[cfg(doc)]
use super::action::Action;
use super::action::IntoAction;
use super::failure::Failure;
use super::progress::Progress;
use crate::Sequence;

/// A handler of batches: the callbacks of a stage that handles a batch at a time.
///
/// All calls come from the thread that runs the stage, one at a time, so a handler needs no lock.
/// Only [`on_batch`](Self::on_batch) is required. The order of the calls:
///
/// ```text
/// on_start
/// ┌─ on_batch              for each batch
/// │    on_failed_batch       or this, if an upstream stage has skipped its events as failed
/// │  on_released           after each release of events to the producers and downstream stages
/// └─ on_timeout            when no event has come for the timeout of the stage
/// on_shutdown
/// ```
///
/// - If you need `on_batch` alone, a closure is shorter: [`Stage::read_batch`](crate::Stage::read_batch).
/// - If the work is per event, use an [`EventHandler`](crate::EventHandler).
///
/// # Type parameters
///
/// - `E` is the type of the events.
/// - `A` says how a batch comes: as `&[E]` with [`Shared`], the default, or as `&mut [E]` with
///   [`Exclusive`](crate::consumer::Exclusive).
/// - `R` is what `on_batch` returns: `()`, an [`Action`], or a `Result`. The error of a `Result`
///   goes to the stage's [error policy](crate::Stage::on_error). See [`IntoAction`].
///
/// # A part of a batch
///
/// An action, an error or a panic applies to the whole batch by default. A handler that has
/// finished the first events of the batch reports their number with [`Done`]. The action then
/// applies to the rest:
///
/// - [`Action::Retry`] releases the finished events. After the pause, the next call gets the rest,
///   and possibly more events at its end. [`Action::Restart`] does the same, after
///   [`on_restart`](Self::on_restart).
/// - [`Action::Skip`] marks only the rest as failed.
/// - [`Action::Stop`] and [`Action::Halt`] release the finished events, which count as handled.
/// - [`Action::Rewind`] releases nothing, and the next call gets the whole batch again.
///
/// # Panics of a handler
///
/// The library catches each panic, as it does for an
/// [`EventHandler`](crate::EventHandler#panics-of-a-handler).
///
/// # Examples
///
/// A connection that accepts at most two messages at a time:
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor, Sequence};
/// use lapwing::consumer::{BatchHandler, Done, Shared};
///
/// #[derive(Default)]
/// struct Send { sent: Vec<u64>, is_flushed: bool }
///
/// impl BatchHandler<u64, Shared, Action> for Send {
///     fn on_batch(&mut self, events: &[u64], _first: Sequence, mut done: Done<'_>) -> Action {
///         let accepted = events.len().min(2);
///         self.sent.extend_from_slice(&events[..accepted]);
///         done.set(accepted);
///         if accepted == events.len() { Action::Continue } else { Action::Retry(Duration::ZERO) }
///     }
///     fn on_shutdown(&mut self) {
///         self.is_flushed = true;
///     }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
///     .stage("send").read_batch_handler(Send::default())
///     .build()?;
/// producer.publish_batch(5, |slots| slots.iter_mut().for_each(|event| *event = 7))?;
/// let sent: Send = consumers.start()?.shutdown()?.take("send")?;
/// assert_eq!((sent.sent, sent.is_flushed), (vec![7; 5], true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler of batches for this verb",
    label = "does not implement `BatchHandler<{E}, {A}, _>`",
    note = "pass a closure to `read_batch` or `write_batch`",
    note = "a handler of `write_batch_handler` implements `BatchHandler<E, Exclusive>`, one of `read_batch_handler` `BatchHandler<E>`"
)]
pub trait BatchHandler<E, A: Access = Shared, R = ()> {
    /// Called once, before the first batch, also if no event follows. Does nothing by default. The
    /// default of [`on_restart`](Self::on_restart) calls it again.
    fn on_start(&mut self) {}

    /// Called for each batch, the first event of which has the sequence `first`.
    ///
    /// A batch is a slice, so it ends at the last slot of the ring at the latest.
    /// [`Stage::max_batch`](crate::Stage::max_batch) limits it. It has no events that an upstream
    /// stage has [skipped](Action::Skip) as failed, unless the stage is set to get them
    /// [like any other](crate::Stage::with_failed_events).
    ///
    /// The stage releases the whole batch if the call returns `()`, `Ok(())`, [`Action::Continue`]
    /// or [`Action::ReleaseNow`].
    fn on_batch(&mut self, events: A::Slice<'_, E>, first: Sequence, done: Done<'_>) -> R;

    /// Called instead of [`on_batch`](Self::on_batch) for events that an upstream stage has
    /// [skipped](Action::Skip) as failed. Does nothing by default, and the events count as handled.
    ///
    /// `failure` says [why](crate::EventHandler::on_failed_event). Events that failed in different
    /// calls come in different batches, so each batch has one failure. A handler on which later
    /// stages rely for every event, such as a journal, handles them here.
    /// With the setting [`with_failed_events`](crate::Stage::with_failed_events), the stage calls
    /// `on_batch` instead.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, Sequence, consumer::{BatchHandler, Done, Failure}};
    ///
    /// #[derive(Default)]
    /// struct Orders { sent: Vec<u64>, refused: Vec<(Vec<u64>, String)> }
    ///
    /// impl BatchHandler<u64> for Orders {
    ///     fn on_batch(&mut self, orders: &[u64], _: Sequence, _: Done<'_>) {
    ///         self.sent.extend_from_slice(orders);
    ///     }
    ///     fn on_failed_batch(
    ///         &mut self, orders: &[u64], _: Sequence, _: Done<'_>, failure: &Failure<'_>,
    ///     ) {
    ///         self.refused.push((orders.to_vec(), failure.cause().to_string()));
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("risk").on_error(Action::Skip)
    ///     .read(|price, _, _| if *price < 9 { Ok(()) } else { Err("too high") })
    ///     .stage("orders").read_batch_handler(Orders::default())
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// let orders: Orders = consumers.start()?.shutdown()?.take("orders")?;
    /// assert_eq!((orders.sent, orders.refused), (vec![7, 8], vec![(vec![9], "too high".into())]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_failed_batch(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        done: Done<'_>,
        failure: &Failure<'_>,
    ) -> R
    where
        R: IntoAction,
    {
        let _ = (events, first, done, failure);
        R::done()
    }

    /// Called after the stage has released events, as
    /// [`EventHandler::on_released`](crate::EventHandler::on_released) is. Does nothing by default.
    fn on_released(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called when no event has come for the [timeout](crate::Stage::timeout_after) of the stage, as
    /// [`EventHandler::on_timeout`](crate::EventHandler::on_timeout) is. Does nothing by default.
    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called before a batch is handled again because of an [`Action::Restart`]. Calls
    /// [`on_start`](Self::on_start) by default.
    fn on_restart(&mut self) {
        self.on_start();
    }

    /// Called once, at the end of the stage, as
    /// [`EventHandler::on_shutdown`](crate::EventHandler::on_shutdown) is. Does nothing by default.
    fn on_shutdown(&mut self) {}
}

/// How many events of its batch a [`BatchHandler`] has finished, in case the call does not finish
/// all of them.
///
/// It has no effect if the call finishes the batch.
///
/// ```
/// use lapwing::{Disruptor, Sequence, consumer::{BatchHandler, Done, Outcome, Shared}};
///
/// struct Parse(Vec<u64>);
///
/// type Parsed = Result<(), std::num::ParseIntError>;
///
/// impl BatchHandler<String, Shared, Parsed> for Parse {
///     fn on_batch(&mut self, lines: &[String], _: Sequence, mut done: Done<'_>) -> Parsed {
///         for (index, line) in lines.iter().enumerate() {
///             done.set(index); // the lines before this one
///             self.0.push(line.parse()?);
///         }
///         Ok(())
///     }
/// }
///
/// let ring = Disruptor::single_producer(8, String::new);
/// let (mut producer, consumers) = ring.stage("parse").read_batch_handler(Parse(vec![])).build()?;
/// for line in ["7", "8", "12a"] {
///     producer.publish(|event| event.push_str(line))?;
/// }
/// let finished = consumers.into_iter().next().unwrap().run(); // the error halts the ring
/// let message = "invalid digit found in string".to_owned();
/// assert_eq!(*finished.outcome(), Outcome::Failed { message, sequence: 2 });
/// assert_eq!(finished.processed(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Done<'a> {
    progress: &'a Progress,
    first: Sequence,
}

impl<'a> Done<'a> {
    /// Of the batch from `first` on, which `progress` has noted. Nothing is finished.
    pub(super) fn new(progress: &'a Progress, first: Sequence) -> Self {
        Self { progress, first }
    }

    /// Sets the number of finished events, which are the first ones of the batch. It replaces the
    /// number of an earlier call. A number above the length of the batch means all of it.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, Sequence};
    /// use lapwing::consumer::{BatchHandler, Done, Shared};
    ///
    /// struct First;
    ///
    /// impl BatchHandler<u64, Shared, Action> for First {
    ///     fn on_batch(&mut self, _: &[u64], _: Sequence, mut done: Done<'_>) -> Action {
    ///         done.set(1);
    ///         Action::Stop
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64);
    /// let (mut producer, consumers) = ring.stage("first").read_batch_handler(First).build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(consumers.into_iter().next().unwrap().run().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set(&mut self, finished: usize) {
        self.progress.finish_below(self.first.saturating_add(finished as u64));
    }
}
