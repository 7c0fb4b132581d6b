//! The public trait of a handler. Not here: closures, and how a processor calls either (`work`).

use super::access::{Access, Shared};
#[cfg(doc)]
use super::action::Action;
use super::action::IntoAction;
use super::failure::Failure;
use crate::Sequence;

/// A handler of events: the callbacks of a stage.
///
/// All calls come from the thread that runs the stage, one at a time, so a handler needs no lock.
/// Only [`on_event`](Self::on_event) is required. The order of the calls:
///
/// ```text
/// on_start
/// ┌─ on_batch_start        before each batch
/// │    on_event            for each event of the batch
/// │    on_failed_event       or this, if an upstream stage has skipped the event as failed
/// │  on_released           after each release of events to the producers and downstream stages
/// └─ on_timeout            when no event has come for the timeout of the stage
/// on_shutdown
/// ```
///
/// If you need `on_event` alone, a closure is shorter: [`Stage::read`](crate::Stage::read).
///
/// # Type parameters
///
/// - `E` is the type of the events.
/// - `A` says how events come: as `&E` with [`Shared`], the default, or as `&mut E` with
///   [`Exclusive`](crate::consumer::Exclusive).
/// - `R` is what `on_event` returns: `()`, an [`Action`], or a `Result`. The error of a `Result`
///   goes to the stage's [error policy](crate::Stage::on_error). See [`IntoAction`].
///
/// Name the parameters that differ from the defaults: `EventHandler<E, Exclusive>` for a handler
/// that takes `&mut E`, `EventHandler<E, Shared, io::Result<()>>` for one that can fail. Without
/// them rustc suggests to change the signature of `on_event` instead.
///
/// # Panics of a handler
///
/// The library catches each panic. The stage's [panic policy](crate::Stage::on_panic) decides what
/// happens next. Without a policy the ring halts.
///
/// If a call between two batches panics, such as [`on_timeout`](Self::on_timeout), no event is
/// skipped or handled again.
///
/// The policy does not decide about [`on_start`](Self::on_start), [`on_restart`](Self::on_restart)
/// and [`on_shutdown`](Self::on_shutdown). A panic in the first two halts the ring. So does a panic
/// in the third, unless the handler has failed before and the stage has left the graph.
///
/// A handler whose panic ends its stage gets no further call. The library drops it on its thread,
/// before the stage ends, and the report does not return it. So what it owns is closed even if no
/// thread takes the report: a receiver sees that its sender is gone, and a file is closed. State
/// that must outlive a panic belongs behind an `Arc`.
///
/// # Several handlers in one stage
///
/// A pair of handlers is a handler, and so is a `Vec` of handlers. Each call goes to all of them,
/// in their order.
///
/// - In a pair, the second handler gets an event only if the first is [done](IntoAction::is_done)
///   with it. The pair then returns the second result, or the first one if the second is
///   [`Action::Continue`]. Otherwise, the pair returns the first result. An event that is handled
///   again goes to the first handler again, too.
/// - The handlers of a `Vec` return `()`.
/// - A `Box` of a handler is a handler too. So the program can build a
///   `Vec<Box<dyn EventHandler<E> + Send>>` at run time.
///
/// # Examples
///
/// ```
/// use lapwing::{Disruptor, EventHandler, Sequence};
///
/// #[derive(Default)]
/// struct Sum { total: u64, batches: u64 }
///
/// impl EventHandler<u64> for Sum {
///     fn on_event(&mut self, event: &u64, _sequence: Sequence, end_of_batch: bool) {
///         self.total += event;
///         self.batches += u64::from(end_of_batch);
///     }
/// }
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum::default()).build()?;
/// let running = consumers.start()?;
/// producer.publish_batch(3, |slots| slots.iter_mut().for_each(|event| *event = 7))?;
/// let sum: Sum = running.shutdown()?.take("sum")?;
/// assert_eq!(sum.total, 21);
/// assert!((1..=3).contains(&sum.batches));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler for this verb",
    label = "does not implement `EventHandler<{E}, {A}, _>`",
    note = "pass a closure to `read` or `write`, or to `read_batch` or `write_batch`",
    note = "a handler of `write_handler` implements `EventHandler<E, Exclusive>`, one of `read_handler` `EventHandler<E>`"
)]
pub trait EventHandler<E, A: Access = Shared, R = ()> {
    /// Called once, before the first event, also if no event follows. Does nothing by default. The
    /// default of [`on_restart`](Self::on_restart) calls it again.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Greeter(Option<String>);
    ///
    /// impl EventHandler<u64> for Greeter {
    ///     fn on_start(&mut self) {
    ///         self.0 = thread::current().name().map(String::from);
    ///     }
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0);
    /// let (_producer, consumers) = ring.stage("hi").read_handler(Greeter(None)).build()?;
    /// let greeter: Greeter = consumers.start()?.shutdown()?.take("hi")?;
    /// assert_eq!(greeter.0.as_deref(), Some("hi")); // the thread has the name of its stage
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_start(&mut self) {}

    /// Called before each batch. Does nothing by default.
    ///
    /// - `batch_size` is the number of events that follow, at least 1. Fewer follow if an
    ///   [`Action`] or a failure ends the batch early.
    /// - `queue_depth` is the number of events that are available, at least `batch_size`. In a ring
    ///   with one producer it is what the last poll of the stage has shown, possibly before an
    ///   earlier batch. With several producers, and for a worker, the stage polls again for it. A
    ///   worker counts from its own batch on, including events that other workers have.
    ///
    /// If this call panics, the stage's [panic policy](crate::Stage::on_panic) decides. After
    /// [`Continue`](Action::Continue), [`ReleaseNow`](Action::ReleaseNow) or
    /// [`Skip`](Action::Skip), the batch follows without another call of this method. After an
    /// action with a pause, the method is called again.
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Depth { events: u64, deepest: u64 }
    ///
    /// impl EventHandler<u64> for Depth {
    ///     fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
    ///         self.events += batch_size;
    ///         self.deepest = self.deepest.max(queue_depth);
    ///     }
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0);
    /// let (mut producer, consumers) = ring.stage("all").read_handler(Depth::default()).build()?;
    /// producer.publish_batch(8, |_| {})?; // before the stage starts
    /// let depth: Depth = consumers.start()?.shutdown()?.take("all")?;
    /// assert_eq!((depth.events, depth.deepest), (8, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        let _ = (batch_size, queue_depth);
    }

    /// Called for each event, in the order of the sequences. When a worker leaves its group, the
    /// worker that takes over its events may get lower sequences than before.
    ///
    /// `end_of_batch` is true for the last event of a batch: this is the time to flush. A batch
    /// ends at the last event that the stage's last poll has shown, or at the last slot of the
    /// ring. It also ends at a claim that was given up, before and after events that an upstream
    /// stage has [skipped](Action::Skip), and at the [longest batch](crate::Stage::max_batch) of
    /// the stage. The batches of workers, and of stages that [share a
    /// thread](crate::Stage::on_thread), may be shorter.
    ///
    /// If this call fails in the middle of a batch, or returns an action other than
    /// [`Continue`](Action::Continue), the events before it are released, although `end_of_batch`
    /// has not come. Only a [`Rewind`](Action::Rewind) keeps them. A stage whose downstream stages
    /// rely on a sync therefore uses [`read_batch`](crate::Stage::read_batch) and syncs in each
    /// call.
    ///
    /// The stage holds the slots of the whole batch during this call, even if `end_of_batch` is
    /// true. So a `try_publish` on another thread may still return `Full`. A handler that tells
    /// another thread about free slots does so in [`on_released`](Self::on_released).
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Journal { buffer: Vec<u64>, written: Vec<u64> }
    ///
    /// impl EventHandler<u64> for Journal {
    ///     fn on_event(&mut self, event: &u64, _sequence: Sequence, end_of_batch: bool) {
    ///         self.buffer.push(*event);
    ///         if end_of_batch {
    ///             self.written.append(&mut self.buffer);
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 7);
    /// let (mut producer, consumers) = ring.stage("log").read_handler(Journal::default()).build()?;
    /// producer.publish_batch(3, |_| {})?; // three times 7
    /// let journal: Journal = consumers.start()?.shutdown()?.take("log")?;
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_event(&mut self, event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool) -> R;

    /// Called instead of [`on_event`](Self::on_event) for an event that an upstream stage has
    /// [skipped](Action::Skip) as failed. Does nothing by default, and the event counts as handled.
    ///
    /// Events that failed and events that did not are never in the same batch, so `end_of_batch` is
    /// true for the last event of either kind. With the setting
    /// [`with_failed_events`](crate::Stage::with_failed_events), the stage calls `on_event`
    /// instead.
    ///
    /// `failure` is what the policy of that stage got: its name, and the error or the message of
    /// the panic. If the handler returned [`Skip`](Action::Skip) itself, the cause is
    /// [`Cause::Action`](crate::consumer::Cause::Action). If several stages have skipped the event,
    /// it is the failure of the one that was added to the graph first.
    ///
    /// Such a failure may be kept for as long as the ring exists, and is freed at the latest when
    /// the ring is. It is freed earlier when a later event of the same stage fails and the slot of
    /// this event was used again. So a stage has at most one error for each slot of the ring. A
    /// stage without downstream stages keeps none. The reference is valid during the call; to keep
    /// more, keep the text. No event that has not failed takes a lock or allocates memory for this.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, EventHandler, Sequence, consumer::Failure};
    ///
    /// #[derive(Default)]
    /// struct DeadLetters(Vec<(u64, String)>);
    ///
    /// impl EventHandler<u64> for DeadLetters {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    ///     fn on_failed_event(&mut self, price: &u64, _: Sequence, _: bool, failure: &Failure<'_>) {
    ///         self.0.push((*price, failure.to_string()));
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk").on_error(Action::Skip)
    ///     .read(|price, _, _| if *price < 9 { Ok(()) } else { Err("too high") })
    ///     .stage("dead letters").read_handler(DeadLetters::default())
    ///     .build()?;
    /// producer.publish(|price| *price = 7)?;
    /// producer.publish(|price| *price = 9)?;
    /// let letters: DeadLetters = consumers.start()?.shutdown()?.take("dead letters")?;
    /// let why = "too high: stage=\"risk\", sequence=1, attempt=1".to_owned();
    /// assert_eq!(letters.0, [(9, why)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_failed_event(
        &mut self,
        event: A::Ref<'_, E>,
        sequence: Sequence,
        end_of_batch: bool,
        failure: &Failure<'_>,
    ) -> R
    where
        R: IntoAction,
    {
        let _ = (event, sequence, end_of_batch, failure);
        R::done()
    }

    /// Called after the stage has released events. Does nothing by default.
    ///
    /// The sequence of the stage is then `next_sequence`: the stage holds no slot of an event below
    /// it. This is the place to notify a publisher that waits outside the ring, on a channel for
    /// instance. Producers that call [`publish`](crate::Producer::publish) need no such
    /// notification.
    ///
    /// The stage calls this method once for each release:
    ///
    /// - at the end of each batch, after the last [`on_event`](Self::on_event);
    /// - after an event for which the handler or a policy returned
    ///   [`ReleaseNow`](Action::ReleaseNow) or [`Skip`](Action::Skip), and after a failure for
    ///   which a policy returned [`Continue`](Action::Continue);
    /// - before the pause of a [`Retry`](Action::Retry) or [`Restart`](Action::Restart), if the
    ///   batch has events before the one that is handled again;
    /// - after a poll that finds no event and skips claims that were given up.
    ///
    /// A [`Rewind`](Action::Rewind) releases nothing. When an action or an error ends the stage,
    /// [`on_shutdown`](Self::on_shutdown) is called instead, after the stage has left or has halted
    /// the ring. After a panic that ends the stage, neither is called.
    ///
    /// A slot is free once every stage has released it. So each stage that may release it last must
    /// notify the publisher:
    ///
    /// - Of stages side by side, each one. Of a chain, the last stage.
    /// - Of a worker group, each worker. `next_sequence` is the position of this worker, and other
    ///   workers may be behind it. A worker also calls this method after it has skipped events of
    ///   other workers, and after it has failed to claim events that another worker got.
    /// - An [acknowledged](crate::Stage::acknowledged) stage keeps its slots until the
    ///   [`Acknowledger`](crate::consumer::Acknowledger) is past them too. There, this method only
    ///   says that the handler has finished the events. The thread that acknowledges them must
    ///   notify.
    ///
    /// A panic in this method counts as a panic between batches. The stage's [panic
    /// policy](crate::Stage::on_panic) decides what happens, and no released event is handled
    /// again.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Notify(mpsc::Sender<Sequence>);
    ///
    /// impl EventHandler<u64> for Notify {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {} // the slot is not free yet
    ///     fn on_released(&mut self, next_sequence: Sequence) {
    ///         let _ = self.0.send(next_sequence);
    ///     }
    /// }
    ///
    /// let (sender, released) = mpsc::channel();
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(1, || 0).stage("all").read_handler(Notify(sender)).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(released.recv()?, 1); // the only slot is free
    /// assert_eq!(producer.try_publish(|event| *event = 8), Ok(1));
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_released(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called when no event has come for the [timeout](crate::Stage::timeout_after) of the stage.
    /// Does nothing by default.
    ///
    /// `next_sequence` is the sequence that the stage waits for. For a worker, it is the next one
    /// that no worker of its group has. The stage calls this method again after each further
    /// timeout. An inactive worker of a group does not call it.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, EventHandler, Sequence, Stage};
    ///
    /// struct Watchdog(mpsc::Sender<Sequence>);
    ///
    /// impl EventHandler<u64> for Watchdog {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    ///     fn on_timeout(&mut self, next_sequence: Sequence) {
    ///         let _ = self.0.send(next_sequence);
    ///     }
    /// }
    ///
    /// let (sender, alarms) = mpsc::channel();
    /// let stage = Stage::new("watchdog").timeout_after(Duration::from_millis(1));
    /// let ring = Disruptor::single_producer(8, || 0);
    /// let (_producer, consumers) = ring.stage(stage).read_handler(Watchdog(sender)).build()?;
    /// let running = consumers.start()?;
    /// assert_eq!(alarms.recv()?, 0); // nothing is published
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called before an event is handled again because of an [`Action::Restart`]. Calls
    /// [`on_start`](Self::on_start) by default.
    ///
    /// This method repairs what a panic or an error has left half done, for instance a connection.
    /// The stage calls it after the pause, unless the ring halts or the stage is stopped meanwhile.
    /// A panic in this method halts the ring.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Action, Disruptor, EventHandler, Sequence, Stage};
    ///
    /// struct Connection { is_open: bool }
    ///
    /// impl EventHandler<u64> for Connection {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) { assert!(self.is_open); }
    ///     fn on_restart(&mut self) { self.is_open = true; }
    /// }
    ///
    /// let stage = Stage::new("send").on_panic(Action::Restart(Duration::ZERO));
    /// let handler = Connection { is_open: false };
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage(stage).read_handler(handler).build()?;
    /// producer.publish(|event| *event = 7)?; // the first attempt panics
    /// let connection: Connection = consumers.start()?.shutdown()?.take("send")?;
    /// assert!(connection.is_open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_restart(&mut self) {
        self.on_start();
    }

    /// Called once, at the end of the stage. Does nothing by default.
    ///
    /// A stage ends when its ring is closed and drained, when the ring halts, or when the stage
    /// stops. This method is also called after an error that ends the stage, but not after a panic
    /// that ends it, which [drops the handler](#panics-of-a-handler) instead.
    ///
    /// The report keeps a handler that did not panic. If another thread waits for the end of
    /// something that the handler owns, such as a sender, close it here.
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Journal { buffer: Vec<u64>, written: Vec<u64> }
    ///
    /// impl EventHandler<u64> for Journal {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) { self.buffer.push(*event); }
    ///     fn on_shutdown(&mut self) { self.written.append(&mut self.buffer); }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 7);
    /// let (mut producer, consumers) = ring.stage("log").read_handler(Journal::default()).build()?;
    /// producer.publish_batch(3, |_| {})?; // three times 7
    /// let journal: Journal = consumers.start()?.shutdown()?.take("log")?;
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_shutdown(&mut self) {}
}
