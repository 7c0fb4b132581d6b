//! A stream of clones of the values of a broadcast.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use lapwing::channel::BroadcastReceiver;

/// The values of a [`BroadcastReceiver`] as a [`Stream`] of clones. It ends when no sender is left and
/// everything has been received.
///
/// The slowest receiver holds the senders back, so no value is missed and the items have no error.
///
/// ```
/// use futures::StreamExt;
/// use lapwing::channel;
/// use lapwing_stream::BroadcastStream;
///
/// let (mut sender, receivers) = channel::broadcast(8, 2)?;
/// sender.send_batch(&mut vec!["plover", "lapwing"])?;
/// drop(sender);
/// for receiver in receivers {
///     let birds = pollster::block_on(BroadcastStream::new(receiver).collect::<Vec<_>>());
///     assert_eq!(birds, ["plover", "lapwing"]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If `clone` panics, the panic is passed on and the value counts as received.
#[must_use = "a stream does nothing unless it is polled"]
pub struct BroadcastStream<T> {
    receiver: BroadcastReceiver<T>,
    has_ended: bool,
}

impl<T> BroadcastStream<T> {
    /// Makes a stream of the values of `receiver`.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::BroadcastStream;
    ///
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// let mut stream = BroadcastStream::new(receivers.remove(0));
    /// sender.send(7)?;
    /// assert_eq!(pollster::block_on(stream.next()), Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(receiver: BroadcastReceiver<T>) -> Self {
        Self { receiver, has_ended: false }
    }

    /// Returns the receiver, which goes on with the first value that the stream has not yielded.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::BroadcastStream;
    ///
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// let mut stream = BroadcastStream::new(receivers.remove(0));
    /// assert_eq!(pollster::block_on(stream.next()), Some(1));
    /// assert!(stream.into_inner().try_iter().eq([2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a receiver that is dropped gets no further value"]
    pub fn into_inner(self) -> BroadcastReceiver<T> {
        self.receiver
    }

    /// Returns the receiver.
    ///
    /// ```
    /// use lapwing_stream::BroadcastStream;
    ///
    /// let (_sender, mut receivers) = lapwing::channel::broadcast::<u64>(5, 1)?;
    /// assert_eq!(BroadcastStream::new(receivers.remove(0)).receiver().capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn receiver(&self) -> &BroadcastReceiver<T> {
        &self.receiver
    }

    /// Returns the receiver, for example to read a batch without clones. The stream goes on with the next
    /// value.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use lapwing_stream::BroadcastStream;
    ///
    /// let (mut sender, mut receivers) = lapwing::channel::broadcast(8, 1)?;
    /// sender.send_batch(&mut vec![1, 2, 3])?;
    /// let mut stream = BroadcastStream::new(receivers.remove(0));
    /// assert!(stream.receiver_mut().try_recv_batch()?.iter().take(2).eq(&[1, 2]));
    /// assert_eq!(pollster::block_on(stream.next()), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn receiver_mut(&mut self) -> &mut BroadcastReceiver<T> {
        &mut self.receiver
    }
}

/// Values are cloned, and none is pinned.
impl<T> Unpin for BroadcastStream<T> {}

impl<T: Clone> Stream for BroadcastStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let value = ready!(self.receiver.poll_recv(context)).ok();
        self.has_ended = value.is_none();
        Poll::Ready(value)
    }
}

impl<T: Clone> FusedStream for BroadcastStream<T> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

impl<T> fmt::Debug for BroadcastStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastStream").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}
