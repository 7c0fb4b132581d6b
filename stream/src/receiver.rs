//! A stream of the values that are moved out of a channel.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use lapwing::channel::Receiver;

/// The values of a [`Receiver`] as a [`Stream`]. It ends when no sender is left and everything has been
/// received.
///
/// ```
/// use futures::StreamExt;
/// use lapwing::channel;
/// use lapwing_stream::ReceiverStream;
///
/// let (mut sender, receiver) = channel::spsc(8)?;
/// sender.send_batch(&mut vec![1, 2, 3])?;
/// drop(sender);
/// let even = ReceiverStream::new(receiver).filter(|number| std::future::ready(number % 2 == 0));
/// assert_eq!(pollster::block_on(even.collect::<Vec<u64>>()), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping the stream drops the receiver, and the values that are left with it. [`into_inner`] returns them
/// instead.
///
/// [`into_inner`]: Self::into_inner
#[must_use = "a stream does nothing unless it is polled"]
pub struct ReceiverStream<T> {
    receiver: Receiver<T>,
    has_ended: bool,
}

impl<T> ReceiverStream<T> {
    /// Makes a stream of the values of `receiver`.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::ReceiverStream;
    ///
    /// let (mut sender, receiver) = lapwing::channel::spsc(8)?;
    /// let mut stream = ReceiverStream::new(receiver);
    /// sender.send(7)?;
    /// assert_eq!(pollster::block_on(stream.next()), Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(receiver: Receiver<T>) -> Self {
        Self { receiver, has_ended: false }
    }

    /// Returns the receiver, with every value that the stream has not yielded.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::ReceiverStream;
    ///
    /// let (mut sender, receiver) = lapwing::channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// let mut stream = ReceiverStream::new(receiver);
    /// assert_eq!(pollster::block_on(stream.next()), Some(1));
    /// assert!(stream.into_inner().try_iter().eq([2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "values that were not yielded are dropped with the receiver"]
    pub fn into_inner(self) -> Receiver<T> {
        self.receiver
    }

    /// Returns the receiver.
    ///
    /// ```
    /// use lapwing_stream::ReceiverStream;
    ///
    /// let (_sender, receiver) = lapwing::channel::spsc::<u64>(5)?;
    /// assert_eq!(ReceiverStream::new(receiver).receiver().capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }

    /// Returns the receiver, for example to receive a batch. The stream goes on with the next value.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::ReceiverStream;
    ///
    /// let (mut sender, receiver) = lapwing::channel::spsc(8)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// let mut stream = ReceiverStream::new(receiver);
    /// assert!(stream.receiver_mut().try_recv_batch()?.take(2).eq([1, 2]));
    /// assert_eq!(pollster::block_on(stream.next()), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn receiver_mut(&mut self) -> &mut Receiver<T> {
        &mut self.receiver
    }
}

/// Values are moved, and none is pinned.
impl<T> Unpin for ReceiverStream<T> {}

impl<T> Stream for ReceiverStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let value = ready!(self.receiver.poll_recv(context)).ok();
        self.has_ended = value.is_none();
        Poll::Ready(value)
    }
}

impl<T> FusedStream for ReceiverStream<T> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

impl<T> fmt::Debug for ReceiverStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverStream").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}
