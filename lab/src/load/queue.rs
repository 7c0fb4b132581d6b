//! The interface of a rival queue: a bounded FIFO with sending ends and a receiving end. It carries the arcs of a graph,
//! the events that consumers share, and values under load. Dispatch is static, so this trait has no cost.
//!
//! No rival hands over several messages with one synchronisation (an iterator such as `try_iter`
//! synchronises for each). So a batch of a queue is one event.

use crate::measure::crew::Disconnected;

/// A kind of bounded queue.
pub(crate) trait Queue: Copy + Send + 'static {
    /// The name on the command line and in every report.
    const NAME: &'static str;
    /// How a full sender and an empty receiver wait, in one word.
    const WAIT: &'static str;
    /// Whether each end reports that the other side is gone. A graph needs it, because its threads would otherwise
    /// wait forever for one that failed.
    const REPORTS_ENDS: bool = true;

    /// A sending end.
    type Sender<T: Payload>: Send;
    /// The receiving end.
    type Receiver<T: Payload>: Send;

    /// Creates an empty queue with this many `slots` and sending ends, and no further clone of an end, so that the
    /// other side learns when they are gone.
    fn bounded<T: Payload>(
        self,
        slots: usize,
        senders: usize,
    ) -> (Vec<Self::Sender<T>>, Self::Receiver<T>);

    /// Sends `message`. Waits while the queue is full.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the receiver is gone and the queue [reports](Self::REPORTS_ENDS) it.
    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected>;

    /// Receives the oldest message. Waits while the queue is empty.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the queue is empty, every sender is gone and the queue [reports](Self::REPORTS_ENDS) it.
    fn receive<T: Payload>(receiver: &mut Self::Receiver<T>) -> Result<T, Disconnected>;

    /// Returns a further receiving end, so that several consumers share the messages, or `None` if there can only be
    /// one.
    fn share<T: Payload>(_receiver: &Self::Receiver<T>) -> Option<Self::Receiver<T>> {
        None
    }

    /// Creates an empty queue with one sending end.
    fn one_to_one<T: Payload>(self, slots: usize) -> (Self::Sender<T>, Self::Receiver<T>) {
        let (mut senders, receiver) = self.bounded(slots, 1);
        (senders.remove(0), receiver)
    }
}

/// A message of a queue.
pub(crate) trait Payload: Clone + Default + Send + Sync + Unpin + 'static {}

impl<T: Clone + Default + Send + Sync + Unpin + 'static> Payload for T {}
