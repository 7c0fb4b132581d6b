//! A stream of clones of the events of a ring.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use lapwing::Poller;
use lapwing::consumer::{Access, Shared};
use lapwing::error::RingError;

/// The events of a [`Poller`] as a [`Stream`] of clones.
///
/// The stream ends when the ring is closed and every event has been read. If the ring is halted, the stream
/// yields [`RingError::Halted`] once and then ends, even if events are left.
///
/// ```
/// use futures::TryStreamExt;
/// use lapwing::{Disruptor, error::RingError};
/// use lapwing_stream::PollerStream;
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("double").write(|event, _, _| *event *= 2)
///     .stage("out").poller()
///     .build()?;
/// let stream = PollerStream::new(consumers.take_poller("out")?);
/// let running = consumers.start()?;
/// for number in [1, 2, 3] {
///     producer.publish(|event| *event = number)?;
/// }
/// drop(producer); // closes the ring
/// let events: Result<Vec<u64>, RingError> = pollster::block_on(stream.try_collect());
/// assert_eq!(events?, [2, 4, 6]);
/// running.join()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each event is cloned, and its slot is released at once. To read events in place, or a batch of them with
/// one release, await [`Poller::wait_async`]. If `clone` panics, the panic is passed on and the event counts
/// as consumed. An event that an upstream stage has skipped as failed is yielded too;
/// [`Batch::is_failed`](lapwing::consumer::Batch::is_failed) tells it from others.
#[must_use = "a stream does nothing unless it is polled"]
pub struct PollerStream<E, A: Access = Shared> {
    poller: Poller<E, A>,
    has_ended: bool,
}

impl<E, A: Access> PollerStream<E, A> {
    /// Makes a stream of the events of `poller`.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing::Disruptor;
    /// use lapwing_stream::PollerStream;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut stream = PollerStream::new(consumers.take_poller("all")?);
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(pollster::block_on(stream.next()), Some(Ok(7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(poller: Poller<E, A>) -> Self {
        Self { poller, has_ended: false }
    }

    /// Returns the poller, which goes on with the first event that the stream has not yielded.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing::Disruptor;
    /// use lapwing_stream::PollerStream;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut stream = PollerStream::new(consumers.take_poller("all")?);
    /// for number in [1, 2, 3] {
    ///     producer.publish(|event| *event = number)?;
    /// }
    /// assert_eq!(pollster::block_on(stream.next()), Some(Ok(1)));
    /// assert_eq!(stream.into_inner().poll()?.as_slice(), [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a poller that is dropped leaves the ring"]
    pub fn into_inner(self) -> Poller<E, A> {
        self.poller
    }

    /// Returns the poller.
    ///
    /// ```
    /// use lapwing::Disruptor;
    /// use lapwing_stream::PollerStream;
    ///
    /// let (_producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let stream = PollerStream::new(consumers.take_poller("all")?);
    /// assert_eq!(stream.poller().sequence(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn poller(&self) -> &Poller<E, A> {
        &self.poller
    }

    /// Returns the poller, for example to consume a batch in place. The stream goes on with the next event.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing::Disruptor;
    /// use lapwing_stream::PollerStream;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut stream = PollerStream::new(consumers.take_poller("all")?);
    /// for number in [1, 2, 3] {
    ///     producer.publish(|event| *event = number)?;
    /// }
    /// stream.poller_mut().poll_max(2)?.consume_all();
    /// assert_eq!(pollster::block_on(stream.next()), Some(Ok(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller_mut(&mut self) -> &mut Poller<E, A> {
        &mut self.poller
    }
}

/// Events are cloned, and none is pinned.
impl<E, A: Access> Unpin for PollerStream<E, A> {}

impl<E: Clone, A: Access> Stream for PollerStream<E, A> {
    type Item = Result<E, RingError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let end = loop {
            match ready!(self.poller.poll_wait(context)) {
                Ok(mut batch) => {
                    // A batch has an event. If it had none, the next poll would register the task.
                    if let Some((_, event)) = batch.iter().next() {
                        return Poll::Ready(Some(Ok(event.clone())));
                    }
                }
                Err(RingError::Closed) => break None,
                Err(halted) => break Some(Err(halted)),
            }
        };
        self.has_ended = true;
        Poll::Ready(end)
    }
}

impl<E: Clone, A: Access> FusedStream for PollerStream<E, A> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

impl<E, A: Access> fmt::Debug for PollerStream<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollerStream").field("poller", &self.poller).finish_non_exhaustive()
    }
}
