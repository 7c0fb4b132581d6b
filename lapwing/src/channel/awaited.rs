//! The ends of a channel at which a task waits. Not here: those at which a thread waits (`receiver`,
//! `broadcast`, `sender`).
//!
//! A call that ends in `_async` is a future around the poll of the same end.

use std::task::{Context, Poll, ready};

use super::broadcast::{BroadcastReceiver, clone_first};
use super::error::{RecvError, SendError, TrySendError};
use super::receiver::Receiver;
use super::send_batch::Unsent;
use super::sender::Sender;
use super::values::{SharedValues, Values};
use crate::awaiting::{ReadyEnd, TaskEnd, polled};
use crate::producer::Sequencer;

impl<T> Receiver<T> {
    /// Receives the next value, waiting for it as a task.
    ///
    /// Other tasks run on this thread meanwhile. A future that is dropped has received nothing; see
    /// [Tasks](super#tasks).
    /// [`recv`](Self::recv) waits as a thread.
    ///
    /// ```
    /// use lapwing::channel::{self, RecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let thread = std::thread::spawn(move || sender.send(7));
    /// let both = pollster::block_on(async {
    ///     (receiver.recv_async().await, receiver.recv_async().await)
    /// });
    /// assert_eq!(both, (Ok(7), Err(RecvError))); // no sender is left
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    pub async fn recv_async(&mut self) -> Result<T, RecvError> {
        polled(self, Self::poll_recv).await
    }

    /// Polls for the next value as a task. If there is none, the task is woken when there may be.
    ///
    /// This is [`recv_async`](Self::recv_async) without a future, for code that is polled itself: a
    /// `Stream`, a future that is written by hand, or a loop that waits for several things.
    ///
    /// - `Poll::Ready(Ok(value))`: the next value.
    /// - `Poll::Ready(Err(RecvError))`: the channel has ended.
    /// - `Poll::Pending`: the channel is empty. The waker of `context` is registered, and is called when a
    ///   value is sent or no sender is left.
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    /// use lapwing::channel::{self, RecvError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(8)?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(receiver.poll_recv(&mut context), Poll::Pending);
    /// sender.send(7)?; // calls the waker
    /// assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(Ok(7)));
    /// drop(sender);
    /// assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(Err(RecvError)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Cancellation
    ///
    /// A receiver has one registration. Only the waker of the last poll is called, and a poll that is
    /// ready leaves none. If you do not poll again after `Pending`, the waker stays registered until it is
    /// called, until the next call of this method or of one that ends in `_async`, or until the receiver
    /// is dropped. Calls that block, or do not wait, leave it registered, except for
    /// [`select`](crate::select::select). No value is lost by a poll that
    /// is not repeated.
    ///
    /// # Fairness
    ///
    /// After 1,024 values without a wait, the call returns `Pending` once and calls the waker at once.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        ready!(self.inbox.poll_budget(context));
        loop {
            if let Some(value) = self.take_known() {
                return Poll::Ready(Ok(value));
            }
            ready!(self.inbox.poll_wait_known(context))?;
        }
    }

    /// Receives the available values as a batch, waiting as a task for at least one.
    ///
    /// Other tasks run on this thread meanwhile. A future that is dropped has received nothing; see
    /// [Tasks](super#tasks).
    /// [`recv_batch`](Self::recv_batch) waits as a thread, and says where a batch ends.
    ///
    /// ```
    /// let (mut sender, mut receiver) = lapwing::channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// assert_eq!(pollster::block_on(receiver.recv_batch_async())?.sum::<u64>(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    pub async fn recv_batch_async(&mut self) -> Result<Values<'_, T>, RecvError> {
        let capacity = self.capacity();
        Ok(Values::new(self.inbox.wait_batch_async().await?, &mut self.taken, capacity))
    }
}

impl<T> ReadyEnd for Receiver<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.inbox.poll_ready(context)
    }
}

impl<T> TaskEnd for Receiver<T> {
    fn leave_place(&mut self) {
        self.inbox.leave_place();
    }
}

impl<T> BroadcastReceiver<T> {
    /// Receives the available values as a batch that lends them, waiting as a task for at least one.
    ///
    /// Other tasks run on this thread meanwhile. A future that is dropped has received nothing; see
    /// [Tasks](super#tasks).
    /// [`recv_batch`](Self::recv_batch) waits as a thread, and says where a batch ends.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 2)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// for receiver in &mut receivers {
    ///     assert_eq!(pollster::block_on(receiver.recv_batch_async())?.iter().sum::<u64>(), 6);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    pub async fn recv_batch_async(&mut self) -> Result<SharedValues<'_, T>, RecvError> {
        Ok(SharedValues::new(self.inbox.wait_batch_async().await?))
    }
}

impl<T: Clone> BroadcastReceiver<T> {
    /// Receives a clone of the next value, waiting for it as a task.
    ///
    /// Other tasks run on this thread meanwhile. A future that is dropped has received nothing; see
    /// [Tasks](super#tasks).
    /// [`recv`](Self::recv) waits as a thread.
    /// [`recv_batch_async`](Self::recv_batch_async) lends values instead of cloning them. If `clone` panics,
    /// the panic is passed on and the value counts as received.
    ///
    /// ```
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 2)?;
    /// sender.send(7)?;
    /// for receiver in &mut receivers {
    ///     assert_eq!(pollster::block_on(receiver.recv_async()), Ok(7));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    pub async fn recv_async(&mut self) -> Result<T, RecvError> {
        polled(self, Self::poll_recv).await
    }

    /// Polls for a clone of the next value as a task. If there is none, the task is woken when there may
    /// be.
    ///
    /// This is [`recv_async`](Self::recv_async) without a future, for code that is polled itself: a
    /// `Stream`, a future that is written by hand, or a loop that waits for several things. If `clone`
    /// panics, the panic is passed on and the value counts as received.
    ///
    /// - `Poll::Ready(Ok(value))`: a clone of the next value.
    /// - `Poll::Ready(Err(RecvError))`: the channel has ended.
    /// - `Poll::Pending`: this receiver has got every value so far. The waker of `context` is registered,
    ///   and is called when a value is sent or no sender is left.
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    /// use lapwing::channel::{self, RecvError};
    ///
    /// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(receivers[0].poll_recv(&mut context), Poll::Pending);
    /// sender.send(7)?; // calls the waker
    /// for receiver in &mut receivers {
    ///     assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(Ok(7)));
    /// }
    /// drop(sender);
    /// assert_eq!(receivers[1].poll_recv(&mut context), Poll::Ready(Err(RecvError)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no sender is left and everything has been received.
    ///
    /// # Cancellation
    ///
    /// A receiver has one registration. Only the waker of the last poll is called, and a poll that is
    /// ready leaves none. If you do not poll again after `Pending`, the waker stays registered until it is
    /// called, until the next call of this method or of one that ends in `_async`, or until the receiver
    /// is dropped. Calls that block, or do not wait, leave it registered, except for
    /// [`select`](crate::select::select). No value is lost by a poll that
    /// is not repeated.
    ///
    /// # Fairness
    ///
    /// After 1,024 values without a wait, the call returns `Pending` once and calls the waker at once.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let batch = ready!(self.inbox.poll_wait_first(context))?;
        Poll::Ready(Ok(clone_first(batch)))
    }
}

impl<T> ReadyEnd for BroadcastReceiver<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.inbox.poll_ready(context)
    }
}

impl<T> TaskEnd for BroadcastReceiver<T> {
    fn leave_place(&mut self) {
        self.inbox.leave_place();
    }
}

impl<T, S: Sequencer> Sender<T, S> {
    /// Sends a value, waiting as a task while the channel is full.
    ///
    /// Other tasks run on this thread meanwhile. If the future is dropped, the value is dropped with it
    /// and not sent; see [Tasks](super#tasks).
    /// [`send`](Self::send) waits as a thread.
    ///
    /// ```
    /// use lapwing::channel;
    ///
    /// let (mut sender, receiver) = channel::spsc(2)?;
    /// let thread = std::thread::spawn(|| receiver.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         sender.send_async(number).await?;
    ///     }
    ///     Ok::<(), channel::SendError<u64>>(())
    /// })?;
    /// drop(sender);
    /// assert_eq!(thread.join().unwrap(), 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] with the value, if no receiver is left or the last one is dropped while the
    /// call waits.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. `value` is sent
    /// nevertheless.
    pub async fn send_async(&mut self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(value);
        polled(self, |sender, context| sender.poll_send(context, &mut value)).await
    }

    /// Polls for a free slot as a task, and sends the value that `value` holds. If the channel is full, the
    /// task is woken when a slot may be free.
    ///
    /// This is [`send_async`](Self::send_async) without a future, for code that is polled itself: a
    /// `Sink`, a future that is written by hand, or a loop that waits for several things.
    ///
    /// - `Poll::Ready(Ok(()))`: the value was taken out of `value` and sent.
    /// - `Poll::Ready(Err(SendError(_)))`: the value was taken out of `value`, and is in the error.
    /// - `Poll::Pending`: the channel is full, and the value is still in `value`. The waker of `context` is
    ///   registered, and is called when a slot may be free or no receiver is left.
    ///
    /// With `None` there is nothing to send, so the call gives up the registration and returns
    /// `Poll::Ready(Ok(()))`, even if no receiver is left. A caller can thus call it until it is ready, as
    /// the flush of a `Sink` does, and a caller that has taken the value back leaves no waker behind.
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    /// use lapwing::channel::{self, SendError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(1)?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(sender.poll_send(&mut context, &mut Some(7)), Poll::Ready(Ok(())));
    ///
    /// let mut value = Some(8);
    /// assert_eq!(sender.poll_send(&mut context, &mut value), Poll::Pending);
    /// assert_eq!(value, Some(8)); // the only slot is taken
    /// assert_eq!(receiver.recv(), Ok(7)); // calls the waker
    /// assert_eq!(sender.poll_send(&mut context, &mut value), Poll::Ready(Ok(())));
    /// assert_eq!(value, None);
    ///
    /// drop(receiver);
    /// let refused = sender.poll_send(&mut context, &mut Some(9));
    /// assert_eq!(refused, Poll::Ready(Err(SendError(9))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] with the value, if no receiver is left. Also if only this thread could free a slot
    /// and the call would therefore wait forever.
    ///
    /// # Cancellation
    ///
    /// A sender has one registration, and a clone begins without one. Only the waker of the last poll is
    /// called, and a poll that is ready leaves none. If you do not poll again after `Pending`, the waker
    /// stays registered until it is called, until the next call of this method or of
    /// [`send_async`](Self::send_async), or until the sender is dropped. Until then, a
    /// [monitor](crate::monitor) may count the sender as waiting. Calls that block, or do not wait, leave
    /// the registration as it is. The value is never in the channel while the call is pending, so you may
    /// keep it, change it or drop it.
    ///
    /// # Fairness
    ///
    /// After 1,024 values without a wait, the call returns `Pending` once and calls the waker at once.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of the value that was in the slot panics. The value is sent
    /// nevertheless.
    pub fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        value: &mut Option<T>,
    ) -> Poll<Result<(), SendError<T>>> {
        let polled = self.poll_put(context, value);
        if polled.is_ready() {
            self.leave_place();
        }
        polled
    }

    /// Sends all of `values` in order, waiting as a task while the channel is full. Afterwards the
    /// vector is empty and keeps its memory.
    ///
    /// Other tasks run on this thread meanwhile. Values are sent in runs of as many as there are free
    /// slots, up to a quarter of the channel. If there are several senders, values of another sender
    /// may come between two runs. With an empty vector, the call returns `Ok` even if no receiver is
    /// left. [`send_batch`](Self::send_batch) waits as a thread.
    ///
    /// ```
    /// let (mut sender, receiver) = lapwing::channel::spsc(4)?;
    /// let thread = std::thread::spawn(|| receiver.into_iter().sum::<u64>());
    /// let mut values: Vec<u64> = (1..=100).collect();
    /// pollster::block_on(sender.send_batch_async(&mut values))?;
    /// assert!(values.is_empty());
    /// drop(sender);
    /// assert_eq!(thread.join().unwrap(), 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] if no receiver is left, or the last one is dropped while the call waits. Also if
    /// only this thread could free a slot and the call would therefore wait forever. The values that
    /// were not sent are still in `values`, in order.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped before it is ready, the values that were not sent are in `values`, in
    /// order, and the others have been sent. So the next call goes on where this one stopped. While the
    /// future exists it has borrowed the vector; if it is forgotten (`mem::forget`), the vector stays
    /// empty and the values that were not sent are leaked.
    ///
    /// # Fairness
    ///
    /// After 1,024 values without a wait, the call lets other tasks of the thread run once.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of a value that was in a slot panics. The values that were not
    /// sent are still in `values`.
    pub async fn send_batch_async(&mut self, values: &mut Vec<T>) -> Result<(), SendError<()>> {
        let mut unsent = Unsent::new(values);
        polled(self, |sender, context| sender.poll_rest(context, &mut unsent)).await
    }

    /// Polls until all of `unsent` is sent.
    fn poll_rest(
        &mut self,
        context: &mut Context<'_>,
        unsent: &mut Unsent<'_, T>,
    ) -> Poll<Result<(), SendError<()>>> {
        loop {
            ready!(self.poll_budget(context));
            let before = unsent.len();
            let sent = self.try_send_rest(unsent);
            self.producer.spend((before - unsent.len()) as u64);
            match sent {
                Err(TrySendError::Full(())) => {}
                Ok(()) => return Poll::Ready(Ok(())),
                Err(TrySendError::Disconnected(())) => return Poll::Ready(Err(SendError(()))),
            }
            if ready!(self.producer.poll_slots(&mut self.wait, 1, context)).is_err() {
                return Poll::Ready(Err(SendError(())));
            }
        }
    }

    /// Lets other tasks run if nothing of the budget is left.
    fn poll_budget(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let polled = self.producer.poll_budget(context);
        if polled.is_pending() {
            self.leave_place(); // of an earlier poll: this one is woken already
        }
        polled
    }

    fn poll_put(
        &mut self,
        context: &mut Context<'_>,
        value: &mut Option<T>,
    ) -> Poll<Result<(), SendError<T>>> {
        if value.is_some() {
            ready!(self.poll_budget(context));
        }
        while let Some(taken) = value.take() {
            match self.try_send(taken) {
                Ok(()) => {
                    self.producer.spend(1);
                    break;
                }
                Err(TrySendError::Disconnected(taken)) => return Err(SendError(taken)).into(),
                // Before the waker is cloned, which is code of a runtime and may panic.
                Err(TrySendError::Full(taken)) => *value = Some(taken),
            }
            if ready!(self.producer.poll_slots(&mut self.wait, 1, context)).is_err() {
                return value.take().map_or(Ok(()), |taken| Err(SendError(taken))).into();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<T, S: Sequencer> TaskEnd for Sender<T, S> {
    #[inline]
    fn leave_place(&mut self) {
        self.wait.leave();
    }
}
