//! What a stage does with its events: the public handler trait, and the closures that stand in for
//! it.

use std::cell::Cell;

use super::access::{Access, Exclusive, Shared};
use crate::Sequence;

/// A stage with its whole life cycle. Everything runs on the stage's thread.
///
/// `A` is [`Shared`], and events come as `&E`, or [`Exclusive`](crate::Exclusive), and they come as
/// `&mut E`.
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
///     .then_handler("journal", Journal::default())
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
pub trait EventHandler<E, A: Access = Shared> {
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
    /// #     Disruptor::single_producer(8, || 0).then_handler("hi", Greeter::default()).build()?;
    /// # let running = consumers.start()?;
    /// let Greeter(names) = running.shutdown()?.take("hi")?;
    /// assert_eq!(names, ["hi"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_start(&mut self) {}

    /// Called before each batch. `batch_size` events follow, at least 1; `queue_depth` events were
    /// available when the batch began, at least `batch_size`.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Depth { announced: u64, deepest: u64 }
    /// # impl EventHandler<u64> for Depth {
    /// fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
    ///     self.announced += batch_size;
    ///     self.deepest = self.deepest.max(queue_depth); // how far this stage lags at most
    /// }
    /// #     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    /// # }
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).then_handler("depth", Depth::default()).build()?;
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
    /// #     Disruptor::single_producer(8, || 7).then_handler("log", Journal::default()).build()?;
    /// # producer.claim_batch(3)?.publish()?;
    /// # let running = consumers.start()?;
    /// let journal: Journal = running.shutdown()?.take("log")?; // of three events
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_event(&mut self, event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool);

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
    /// #     Disruptor::single_producer(8, || 0).then_handler(watchdog, Watchdog(alarm)).build()?;
    /// # let running = consumers.start()?;
    /// assert_eq!(alarms.recv()?, 0); // what it sent
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    /// Called once, after the last event: the ring is closed and drained, or halted. Not after a
    /// panic of this handler.
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
    /// #     Disruptor::single_producer(8, || 7).then_handler("log", Journal::default()).build()?;
    /// # producer.claim_batch(3)?.publish()?;
    /// # let running = consumers.start()?;
    /// let journal: Journal = running.shutdown()?.take("log")?; // of three events
    /// assert_eq!(journal.written, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn on_shutdown(&mut self) {}
}

/// The sequence that a handler is at, for the report if it panics.
#[derive(Debug, Default)]
pub(crate) struct Progress(Cell<Sequence>);

impl Progress {
    #[inline(always)]
    pub(crate) fn set(&self, sequence: Sequence) {
        self.0.set(sequence);
    }

    pub(crate) fn get(&self) -> Sequence {
        self.0.get()
    }
}

/// A stage's work as the processor calls it: by the batch.
pub(crate) trait BatchHandler<E, A: Access> {
    fn on_start(&mut self) {}

    /// Whether [`on_batch_start`](Self::on_batch_start) wants to be called.
    const LOOKS_AT_DEPTH: bool = false;

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        let _ = (batch_size, queue_depth);
    }

    fn on_batch(&mut self, events: A::Slice<'_, E>, first: Sequence, progress: &Progress);

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = next_sequence;
    }

    fn on_shutdown(&mut self) {}
}

/// Calls `on_event` for each of `events`.
#[inline(always)]
fn each<'a, E: 'a, A: Access>(
    events: A::Slice<'a, E>,
    first: Sequence,
    progress: &Progress,
    mut on_event: impl FnMut(A::Ref<'a, E>, Sequence, bool),
) {
    let events = A::events(events);
    let end = first + events.len() as u64;
    for (sequence, event) in (first..).zip(events) {
        progress.set(sequence);
        on_event(event, sequence, sequence + 1 == end);
    }
}

/// A closure that gets event by event.
#[derive(Debug)]
pub(crate) struct PerEvent<F>(pub(crate) F);

impl<E, F: FnMut(&E, Sequence, bool)> BatchHandler<E, Shared> for PerEvent<F> {
    #[inline]
    fn on_batch(&mut self, events: &[E], first: Sequence, progress: &Progress) {
        each::<E, Shared>(events, first, progress, &mut self.0);
    }
}

impl<E, F: FnMut(&mut E, Sequence, bool)> BatchHandler<E, Exclusive> for PerEvent<F> {
    #[inline]
    fn on_batch(&mut self, events: &mut [E], first: Sequence, progress: &Progress) {
        each::<E, Exclusive>(events, first, progress, &mut self.0);
    }
}

/// A closure that gets batch by batch.
#[derive(Debug)]
pub(crate) struct PerBatch<F>(pub(crate) F);

impl<E, F: FnMut(&[E], Sequence)> BatchHandler<E, Shared> for PerBatch<F> {
    #[inline]
    fn on_batch(&mut self, events: &[E], first: Sequence, progress: &Progress) {
        progress.set(first);
        (self.0)(events, first);
    }
}

impl<E, F: FnMut(&mut [E], Sequence)> BatchHandler<E, Exclusive> for PerBatch<F> {
    #[inline]
    fn on_batch(&mut self, events: &mut [E], first: Sequence, progress: &Progress) {
        progress.set(first);
        (self.0)(events, first);
    }
}

/// An [`EventHandler`].
#[derive(Debug)]
pub(crate) struct WholeLife<H>(pub(crate) H);

impl<E, A, H> BatchHandler<E, A> for WholeLife<H>
where
    A: Access,
    H: EventHandler<E, A>,
{
    const LOOKS_AT_DEPTH: bool = true;

    fn on_start(&mut self) {
        self.0.on_start();
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.0.on_batch_start(batch_size, queue_depth);
    }

    #[inline]
    fn on_batch(&mut self, events: A::Slice<'_, E>, first: Sequence, progress: &Progress) {
        each::<E, A>(events, first, progress, |event, sequence, end_of_batch| {
            self.0.on_event(event, sequence, end_of_batch);
        });
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.0.on_timeout(next_sequence);
    }

    fn on_shutdown(&mut self) {
        self.0.on_shutdown();
    }
}
