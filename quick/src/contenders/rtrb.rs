//! `rtrb::RingBuffer`, wait-free for one producer and one consumer. A stage takes all available events as one chunk. With
//! several producers, the consumer reads the ring of each one in turn. Both ends spin, or spin for a moment and yield.

use std::hint;

use crossbeam_utils::Backoff;
use rtrb::{Consumer, Producer, RingBuffer};

use super::arcs::{Arcs, Receiver, Sender};
use crate::graphs::Event;

/// How both ends of a ring wait: the crate has no way of its own.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Spin,
    Yield,
}

impl Wait {
    /// Waits once.
    fn once(self, backoff: &Backoff) {
        match self {
            Self::Spin => hint::spin_loop(),
            Self::Yield => backoff.snooze(),
        }
    }
}

/// The sending end of a ring.
pub(super) struct SendEnd(Producer<Event>, Wait);

/// The receiving ends of all producers.
pub(super) struct ReceiveEnd(Vec<Consumer<Event>>, Wait);

impl Arcs for Wait {
    type Sender = SendEnd;
    type Receiver = ReceiveEnd;

    fn arc(self, slots: usize, producers: usize) -> (Vec<SendEnd>, ReceiveEnd) {
        let rings = (0..producers).map(|_| {
            let (mut producer, mut consumer) = RingBuffer::new(slots);
            // Touches the memory.
            while producer.push(Event::default()).is_ok() {}
            while consumer.pop().is_ok() {}
            (SendEnd(producer, self), consumer)
        });
        let (senders, consumers) = rings.unzip();
        (senders, ReceiveEnd(consumers, self))
    }
}

impl Sender for SendEnd {
    fn send(&mut self, event: Event) {
        let backoff = Backoff::new();
        while self.0.push(event).is_err() {
            self.1.once(&backoff);
        }
    }
}

impl Receiver for ReceiveEnd {
    fn take(&mut self) -> Event {
        let backoff = Backoff::new();
        loop {
            if let Some(event) = self.0.iter_mut().find_map(|consumer| consumer.pop().ok()) {
                return event;
            }
            self.1.once(&backoff);
        }
    }

    fn receive(&mut self, mut each: impl FnMut(Event)) -> usize {
        let backoff = Backoff::new();
        loop {
            let mut received = 0;
            for consumer in &mut self.0 {
                let available = consumer.slots();
                if let Ok(chunk) = consumer.read_chunk(available) {
                    let (first, wrapped) = chunk.as_slices();
                    first.iter().chain(wrapped).for_each(|event| each(*event));
                    chunk.commit_all();
                    received += available;
                }
            }
            if received > 0 {
                return received;
            }
            self.1.once(&backoff);
        }
    }
}
