//! `crossbeam_queue::ArrayQueue`. It cannot wait, so both ends spin for a moment and then yield (`Backoff::snooze`), as
//! its users do.

use std::sync::Arc;

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::Backoff;

use super::arcs::{Arcs, Receiver, Sender};
use crate::graphs::Event;

/// A queue for each arrow.
#[derive(Clone, Copy)]
pub(super) struct Queues;

impl Arcs for Queues {
    type Sender = Arc<ArrayQueue<Event>>;
    type Receiver = Arc<ArrayQueue<Event>>;

    fn arc(self, slots: usize, producers: usize) -> (Vec<Self::Sender>, Self::Receiver) {
        let queue = Arc::new(ArrayQueue::new(slots));
        (vec![Arc::clone(&queue); producers], queue)
    }
}

impl Sender for Arc<ArrayQueue<Event>> {
    fn send(&mut self, event: Event) {
        let backoff = Backoff::new();
        while self.push(event).is_err() {
            backoff.snooze();
        }
    }
}

impl Receiver for Arc<ArrayQueue<Event>> {
    fn take(&mut self) -> Event {
        let backoff = Backoff::new();
        loop {
            match self.pop() {
                Some(event) => return event,
                None => backoff.snooze(),
            }
        }
    }
}
