//! What a stage does with its events: the public handler trait. Not here: closures, and how a
//! processor calls either (`work`).

use super::access::{Access, Shared};
#[cfg(doc)]
use super::action::{Action, IntoAction};
use crate::Sequence;

/// A stage with its whole life cycle. Everything runs on the stage's thread.
///
/// `A` is [`Shared`], and events come as `&E`, or [`Exclusive`](crate::consumer::Exclusive), and they come as
/// `&mut E`. `R` is what `on_event` returns: nothing, an [`Action`], or a `Result` whose error goes to
/// the stage's [policy](crate::Stage::on_error); see [`IntoAction`].
///
/// # Several handlers in one stage
///
/// A pair of handlers and a `Vec` of them are a handler: each event goes to all of them, in their
/// order, and so does every other call. If the first of a pair says that the event is not
/// [done](IntoAction::is_done), that is the pair's word, and the second does not get the event. The
/// handlers of a `Vec` return nothing. A `Box` is the handler in it, so a `Vec<Box<dyn EventHandler<E> + Send>>`
/// can be made as the program runs.
///
/// # Examples
///
/// ```
/// use lapwing::{Disruptor, EventHandler, Sequence};
///
/// /// Collects what comes and counts batches.
/// #[derive(Default)]
/// struct Journal {
///     written: Vec<u64>,
///     flushes: u64,
/// }
///
/// impl EventHandler<u64> for Journal {
///     fn on_event(&mut self, event: &u64, _sequence: Sequence, end_of_batch: bool) {
///         self.written.push(*event);
///         self.flushes += u64::from(end_of_batch);
///     }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
///     .stage("journal").read_handler(Journal::default())
///     .build()?;
/// let running = consumers.start()?;
/// for price in [7, 8, 9] {
///     producer.publish(|event| *event = price)?;
/// }
/// let journal: Journal = running.shutdown()?.take("journal")?;
/// assert_eq!(journal.written, [7, 8, 9]);
/// assert!((1..=3).contains(&journal.flushes));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler for this verb",
    label = "does not implement `EventHandler<{E}, {A}, _>`",
    note = "pass a closure to `read` or `write`, or to `read_batch` or `write_batch`",
    note = "a handler of `write_handler` implements `EventHandler<E, Exclusive>`, one of `read_handler` `EventHandler<E>`"
)]
pub trait EventHandler<E, A: Access = Shared, R = ()> {
    /// Called once, before the first event.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Greeter(Vec<String>);
    /// # impl EventHandler<u64> for Greeter {
    /// fn on_start(&mut self) {
    ///     // The stage's own thread, which has its name.
    ///     self.0.extend(std::thread::current().name().map(String::from));
    /// }
    /// #     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// # }
    /// # let (_producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).stage("hi").read_handler(Greeter::default()).build()?;
    /// # let running = consumers.start()?;
    /// let Greeter(names) = running.shutdown()?.take("hi")?;
    /// assert_eq!(names, ["hi"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_start(&mut self) {}

    /// Called before each batch. `batch_size` events follow, at least 1, unless an [`Action`] leaves
    /// the batch before its end; `queue_depth` events, at least `batch_size`, were there: with one
    /// producer, and not for a worker, at the stage's last look, maybe before an earlier batch; otherwise
    /// it is looked for anew. If this call panics and the stage's [policy](crate::Stage::on_panic) goes on
    /// without giving anything again, the batch comes without it.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Depth { announced: u64, deepest: u64 }
    /// # impl EventHandler<u64> for Depth {
    /// fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
    ///     self.announced += batch_size;
    ///     self.deepest = self.deepest.max(queue_depth); // the most that one look has shown
    /// }
    /// #     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// # }
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).stage("depth").read_handler(Depth::default()).build()?;
    /// # producer.claim_batch(8)?.publish()?;
    /// # let running = consumers.start()?;
    /// // Eight events were there when the stage began.
    /// let depth: Depth = running.shutdown()?.take("depth")?;
    /// assert_eq!((depth.announced, depth.deepest), (8, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        let _ = (batch_size, queue_depth);
    }

    /// Called for each event, in the order of sequences. `end_of_batch` is true for the last one of
    /// a batch: nothing more was there, or the batch ended at the end of the ring or at its
    /// longest; the time to flush.
    ///
    /// The stage still holds the slots of the batch during this call, also at `end_of_batch`: a
    /// `try_publish` may fail with `Full`. A handler that tells another thread that there is room does
    /// so in [`on_released`](Self::on_released).
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Journal { buffer: Vec<u64>, written: Vec<u64> }
    /// # impl EventHandler<u64> for Journal {
    /// fn on_event(&mut self, event: &u64, _sequence: Sequence, end_of_batch: bool) {
    ///     self.buffer.push(*event);
    ///     if end_of_batch {
    ///         self.written.append(&mut self.buffer);
    ///     }
    /// }
    /// # }
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 7).stage("log").read_handler(Journal::default()).build()?;
    /// # producer.claim_batch(3)?.publish()?;
    /// # let running = consumers.start()?;
    /// let journal: Journal = running.shutdown()?.take("log")?; // of three events
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_event(&mut self, event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool) -> R;

    /// Called in place of [`on_event`](Self::on_event) for an event that a stage before this one has
    /// [skipped](Action::Skip) as failed. What it does by itself: the same as for any event.
    ///
    /// ```
    /// # use lapwing::{Action, Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Book { accepted: u64, rejected: Vec<Sequence> }
    /// # impl EventHandler<u64> for Book {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.accepted += event;
    /// #     }
    /// fn on_failed_event(&mut self, _event: &u64, sequence: Sequence, _end_of_batch: bool) {
    ///     self.rejected.push(sequence);
    /// }
    /// # }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .stage("book").read_handler(Book::default())
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// let book: Book = running.shutdown()?.take("book")?;
    /// assert_eq!((book.accepted, book.rejected), (15, vec![1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_failed_event(
        &mut self,
        event: A::Ref<'_, E>,
        sequence: Sequence,
        end_of_batch: bool,
    ) -> R {
        self.on_event(event, sequence, end_of_batch)
    }

    /// Called after the stage has released events. Its sequence is stored by then, and is
    /// `next_sequence`: this stage holds no slot of an event below that. Does nothing by default.
    ///
    /// This is the place to notify a publisher that waits outside of the ring, on a channel for
    /// instance. Producers that [`publish`](crate::Producer::publish) need no such call.
    ///
    /// The stage calls this method once for each release:
    ///
    /// - at the end of each batch, after the last [`on_event`](Self::on_event);
    /// - after an event of which the handler or a policy said [`ReleaseNow`](Action::ReleaseNow) or
    ///   [`Skip`](Action::Skip), and after a failure that a policy [continues](Action::Continue);
    /// - before the pause of a [`Retry`](Action::Retry) or [`Restart`](Action::Restart), if the batch
    ///   had events before the one that comes again;
    /// - after a poll that found no event and went past claims that were given up.
    ///
    /// A [`Rewind`](Action::Rewind) releases nothing. When the stage stops or the ring halts,
    /// [`on_shutdown`](Self::on_shutdown) comes instead, after the stage has left. After a panic that
    /// ended the stage, neither comes.
    ///
    /// A slot is free once every stage has released it. So each stage that may be the last one has to
    /// notify:
    ///
    /// - Of stages side by side, each one; of a chain, the last stage.
    /// - Of a worker group, each worker. `next_sequence` is where this worker is, and others may be
    ///   behind it. A worker also calls after it went past events of others, and after an attempt to
    ///   claim events that another worker got.
    /// - An [acknowledged](crate::Stage::acknowledged) stage keeps its slots until the
    ///   [`Acknowledger`](crate::consumer::Acknowledger) is past them too. Here this method says that the
    ///   handler has finished the events. The thread that acknowledges them notifies.
    ///
    /// A panic in this method is one between batches. The stage's [policy](crate::Stage::on_panic)
    /// decides about it, and no event that was released is given again.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use lapwing::{Disruptor, EventHandler, Sequence, error::TryPublishError};
    ///
    /// /// Tells the publisher that there is room.
    /// struct Bell(mpsc::Sender<Sequence>);
    ///
    /// impl EventHandler<u64> for Bell {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {} // too early to tell it here
    ///
    ///     fn on_released(&mut self, next_sequence: Sequence) {
    ///         let _ = self.0.send(next_sequence);
    ///     }
    /// }
    ///
    /// let (bell, rings) = mpsc::channel();
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("bell").read_handler(Bell(bell)).build()?;
    /// let running = consumers.start()?;
    /// for price in 0..100 {
    ///     while producer.try_publish(|event| *event = price) == Err(TryPublishError::Full) {
    ///         rings.recv()?; // the ring itself does not wake this thread
    ///     }
    /// }
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_released(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called when nothing came for the [timeout](crate::Stage::timeout) of the stage.
    /// `next_sequence` is what it waits for.
    ///
    /// ```
    /// # use std::{sync::mpsc, time::Duration};
    /// # use lapwing::{Disruptor, EventHandler, Sequence, Stage};
    /// # struct Watchdog(mpsc::Sender<Sequence>);
    /// # impl EventHandler<u64> for Watchdog {
    /// #     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// fn on_timeout(&mut self, next_sequence: Sequence) {
    ///     let _ = self.0.send(next_sequence); // somebody should know that nothing comes
    /// }
    /// # }
    /// # let (alarm, alarms) = mpsc::channel();
    /// # let watchdog = Stage::new("watchdog").timeout(Duration::from_millis(1));
    /// # let (_producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).stage(watchdog).read_handler(Watchdog(alarm)).build()?;
    /// # let running = consumers.start()?;
    /// assert_eq!(alarms.recv()?, 0); // what it sent
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called before an event is given again with [`Action::Restart`], so that the handler puts in
    /// order what a panic or an error left half done, when the pause is over. What it does by itself:
    /// `on_start`. A panic here halts the ring.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Action, Disruptor, EventHandler, Sequence, Stage};
    /// # #[derive(Default)]
    /// # struct Sender { is_connected: bool, connections: u32 }
    /// # impl EventHandler<u64> for Sender {
    /// #     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
    /// #         assert!(self.is_connected, "not connected");
    /// #     }
    /// fn on_restart(&mut self) {
    ///     self.is_connected = true;
    ///     self.connections += 1;
    /// }
    /// # }
    /// let stage = Stage::new("send").on_panic(Action::Restart(Duration::ZERO));
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).stage(stage).read_handler(Sender::default()).build()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # let running = consumers.start()?;
    /// let sender: Sender = running.shutdown()?.take("send")?; // it panicked once, and went on
    /// assert_eq!(sender.connections, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_restart(&mut self) {
        self.on_start();
    }

    /// Called once, at the end: the ring is closed and drained, or halted, or the stage has stopped.
    /// Not after a panic that ended the stage.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Journal { buffer: Vec<u64>, written: Vec<u64> }
    /// # impl EventHandler<u64> for Journal {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.buffer.push(*event);
    /// #     }
    /// fn on_shutdown(&mut self) {
    ///     self.written.append(&mut self.buffer); // what is left
    /// }
    /// # }
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 7).stage("log").read_handler(Journal::default()).build()?;
    /// # producer.claim_batch(3)?.publish()?;
    /// # let running = consumers.start()?;
    /// let journal: Journal = running.shutdown()?.take("log")?; // of three events
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_shutdown(&mut self) {}
}
