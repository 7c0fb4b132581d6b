//! A sink that sends its values through a channel.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink;
use lapwing::channel::{SendError, Sender, TrySendError};
use lapwing::producer::Sequencer;

/// How many values the sink may send without a wait until it lets other tasks of its thread run. A sender
/// has the same number.
const BUDGET: u32 = 1024;

/// A [`Sender`] as a [`Sink`]. It works for the only sender of a channel, and for one that can be cloned.
///
/// A value is sent by `start_send` if a slot is free, and receivers get it without a flush. If the channel is
/// full, the sink holds this one value. `poll_ready`, `poll_flush` and `poll_close` send it and wait for a
/// slot. A flush waits until the value is in the channel, not until it is received.
///
/// `poll_close` then drops the sender. If it was the last one, the channel ends for its receivers.
///
/// ```
/// use futures::{SinkExt, StreamExt, future, stream};
/// use lapwing::channel;
/// use lapwing_stream::{ReceiverStream, SenderSink};
///
/// let (sender, receiver) = channel::spsc(1)?;
/// let numbers = stream::iter(1..=100_u64).map(Ok);
/// let sending = numbers.forward(SenderSink::new(sender)); // closes the sink at the end
/// let adding = ReceiverStream::new(receiver).fold(0, |sum, number| future::ready(sum + number));
/// let (sent, sum) = pollster::block_on(future::join(sending, adding));
/// assert_eq!((sent, sum), (Ok(()), 5050));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Each call of the sink fails with [`SendError`] if no receiver is left. The error has the value that was
/// not sent: the argument of `start_send`, or the value that the sink held. After `poll_close`, `start_send`
/// returns its value in the same way, and the other calls have nothing to do.
///
/// # Dropping a sink
///
/// A value that the sink holds is dropped with it and not sent. [`into_parts`](Self::into_parts) returns it.
///
/// # Panics
///
/// `start_send` panics if the sink still holds a value, because its caller has not waited for `poll_ready`.
#[must_use = "a sink does nothing unless it is polled"]
pub struct SenderSink<T, S: Sequencer> {
    /// `None` once the sink is closed.
    sender: Option<Sender<T, S>>,
    /// The value that found the channel full.
    held: Option<T>,
    /// Number of values that may be sent before other tasks run.
    budget: u32,
}

impl<T, S: Sequencer> SenderSink<T, S> {
    /// Makes a sink of `sender`.
    ///
    /// ```
    /// use futures::SinkExt;
    /// use lapwing_stream::SenderSink;
    ///
    /// let (sender, mut receiver) = lapwing::channel::mpsc(8)?;
    /// let mut sink = SenderSink::new(sender);
    /// pollster::block_on(sink.send(7))?;
    /// assert_eq!(receiver.recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(sender: Sender<T, S>) -> Self {
        Self { sender: Some(sender), held: None, budget: BUDGET }
    }

    /// Returns the sender, and the value that the sink holds because it found the channel full. There is no
    /// sender if the sink is closed.
    ///
    /// ```
    /// use futures::SinkExt;
    /// use lapwing_stream::SenderSink;
    ///
    /// let (sender, mut receiver) = lapwing::channel::spsc(1)?;
    /// let mut sink = SenderSink::new(sender);
    /// pollster::block_on(async {
    ///     sink.feed(1).await?;
    ///     sink.feed(2).await // the only slot is taken, so the sink holds it
    /// })?;
    /// let (sender, held) = sink.into_parts();
    /// assert_eq!(held, Some(2));
    /// assert_eq!(receiver.recv(), Ok(1));
    /// sender.unwrap().send(3)?;
    /// assert_eq!(receiver.recv(), Ok(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the value that the sink holds is dropped with the result"]
    pub fn into_parts(self) -> (Option<Sender<T, S>>, Option<T>) {
        (self.sender, self.held)
    }

    /// Returns the sender, unless the sink is closed.
    ///
    /// ```
    /// use lapwing_stream::SenderSink;
    ///
    /// let (sender, _receiver) = lapwing::channel::spsc::<u64>(5)?;
    /// let sink = SenderSink::new(sender);
    /// assert_eq!(sink.sender().map(|sender| sender.capacity()), Some(8));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<&Sender<T, S>> {
        self.sender.as_ref()
    }

    /// Polls until the sink holds no value.
    fn poll_held(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        match &mut self.sender {
            Some(sender) if self.held.is_some() => {
                let polled = sender.poll_send(context, &mut self.held);
                if polled.is_pending() {
                    self.budget = BUDGET; // other tasks run
                }
                polled
            }
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// Values are moved, and none is pinned.
impl<T, S: Sequencer> Unpin for SenderSink<T, S> {}

impl<T, S: Sequencer> Sink<T> for SenderSink<T, S> {
    type Error = SendError<T>;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        ready!(self.poll_held(context))?;
        if self.budget == 0 {
            self.budget = BUDGET;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(mut self: Pin<&mut Self>, value: T) -> Result<(), SendError<T>> {
        assert!(self.held.is_none(), "`start_send` was called before `poll_ready` was ready");
        self.budget = self.budget.saturating_sub(1);
        let Some(sender) = &mut self.sender else { return Err(SendError(value)) };
        match sender.try_send(value) {
            Ok(()) => {}
            Err(TrySendError::Full(value)) => self.held = Some(value),
            Err(TrySendError::Disconnected(value)) => return Err(SendError(value)),
        }
        Ok(())
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        self.poll_held(context)
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        let sent = ready!(self.poll_held(context));
        self.sender = None;
        Poll::Ready(sent)
    }
}

impl<T, S: Sequencer> fmt::Debug for SenderSink<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderSink")
            .field("sender", &self.sender)
            .field("holds_a_value", &self.held.is_some())
            .finish_non_exhaustive()
    }
}
