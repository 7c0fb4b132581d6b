//! The lock-free ring `crossbeam_queue::ArrayQueue`. It cannot wait, so both ends spin and then
//! yield the CPU (`Backoff::snooze`), as its users do.

use std::sync::{Arc, Weak};

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::Backoff;

use crate::load::queue::{Payload, Queue};
use crate::measure::crew::Disconnected;

/// `crossbeam_queue::ArrayQueue` with yielding ends.
#[derive(Clone, Copy, Default)]
pub(super) struct CrossbeamArrayQueue;

impl Queue for CrossbeamArrayQueue {
    const NAME: &'static str = "crossbeam-arrayqueue";
    const WAIT: &'static str = "yield";

    type Sender<T: Payload> = SendEnd<T>;
    type Receiver<T: Payload> = ReceiveEnd<T>;

    fn bounded<T: Payload>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<SendEnd<T>>, ReceiveEnd<T>) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        let sender = Arc::new(Sign);
        let receiver = Arc::new(Sign);
        let receive_end = ReceiveEnd {
            queue: Arc::clone(&queue),
            senders: Arc::downgrade(&sender),
            _receiver: Arc::clone(&receiver),
        };
        let send_end = SendEnd { queue, receiver: Arc::downgrade(&receiver), _sender: sender };
        (vec![send_end; senders], receive_end)
    }

    #[inline]
    fn send<T: Payload>(sender: &mut SendEnd<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut ReceiveEnd<T>) -> Result<T, Disconnected> {
        receiver.receive()
    }

    fn share<T: Payload>(receiver: &ReceiveEnd<T>) -> Option<ReceiveEnd<T>> {
        Some(ReceiveEnd {
            queue: Arc::clone(&receiver.queue),
            senders: Weak::clone(&receiver.senders),
            _receiver: Arc::clone(&receiver._receiver),
        })
    }
}

/// A liveness token. An end of the queue exists as long as its token does.
struct Sign;

/// The sending end.
pub(super) struct SendEnd<T> {
    /// The messages.
    queue: Arc<ArrayQueue<T>>,
    /// Whether a receiver exists. Read only when the queue is full.
    receiver: Weak<Sign>,
    /// This end's own token, shared with its clones.
    _sender: Arc<Sign>,
}

impl<T> Clone for SendEnd<T> {
    fn clone(&self) -> Self {
        Self {
            queue: Arc::clone(&self.queue),
            receiver: Weak::clone(&self.receiver),
            _sender: Arc::clone(&self._sender),
        }
    }
}

impl<T> SendEnd<T> {
    #[inline]
    fn send(&self, message: T) -> Result<(), Disconnected> {
        let backoff = Backoff::new();
        let mut unsent = message;
        while let Err(returned) = self.queue.push(unsent) {
            if self.receiver.strong_count() == 0 {
                return Err(Disconnected);
            }
            unsent = returned;
            backoff.snooze();
        }
        Ok(())
    }
}

/// The receiving end.
pub(super) struct ReceiveEnd<T> {
    /// The messages.
    queue: Arc<ArrayQueue<T>>,
    /// Whether a sender exists. Read only when the queue is empty.
    senders: Weak<Sign>,
    /// This end's own token, shared with its clones.
    _receiver: Arc<Sign>,
}

impl<T> ReceiveEnd<T> {
    #[inline]
    fn receive(&self) -> Result<T, Disconnected> {
        let backoff = Backoff::new();
        loop {
            if let Some(message) = self.queue.pop() {
                return Ok(message);
            }
            if self.senders.strong_count() == 0 {
                // The last sender can have sent once more since the first poll.
                return self.queue.pop().ok_or(Disconnected);
            }
            backoff.snooze();
        }
    }
}
