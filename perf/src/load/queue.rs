//! The interface of a rival queue that carries the arcs of a topology: a bounded FIFO with a
//! sending and a receiving end. Dispatch is static, so this trait has no cost.
//!
//! No rival hands over several messages with one synchronisation (an iterator such as `try_iter`
//! synchronises for each). So a batch of a queue is one event.

use crate::measure::crew::Disconnected;

/// A kind of bounded queue.
pub(crate) trait Queue: 'static {
    /// The name on the command line and in every report.
    const NAME: &'static str;
    /// How a full sender and an empty receiver wait, in one word.
    const WAIT: &'static str;

    /// The sending end. It is cloned for further producers.
    type Sender<T: Payload>: Sender<T> + Clone;
    /// The receiving end.
    type Receiver<T: Payload>: Receiver<T>;

    /// Creates an empty queue of `capacity` messages, whose memory has been touched.
    fn bounded<T: Payload>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
}

/// A message of a queue.
pub(crate) trait Payload: Copy + Default + Send + 'static {}

impl<T: Copy + Default + Send + 'static> Payload for T {}

/// The sending end of a queue.
pub(crate) trait Sender<T>: Send {
    /// Sends `message`.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the receiver is gone.
    ///
    /// # Blocking
    ///
    /// Waits while the queue is full.
    fn send(&self, message: T) -> Result<(), Disconnected>;
}

/// The receiving end of a queue.
pub(crate) trait Receiver<T>: Send {
    /// Receives the oldest message.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the queue is empty and every sender is gone.
    ///
    /// # Blocking
    ///
    /// Waits while the queue is empty.
    fn receive(&self) -> Result<T, Disconnected>;
}
