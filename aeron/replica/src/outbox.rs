//! Messages that a thread sends outside of a ring.

use std::thread;
use std::time::Duration;

use bytemuck::NoUninit;
use lapwing::{Action, Sequence};
use lapwing_aeron::{Client, Publisher, Stream, WhenNotConnected};

use crate::messages::SCHEMA;

/// How long to wait after an error: the driver may come back.
const ERROR_PAUSE: Duration = Duration::from_millis(50);

/// A publisher that numbers its messages itself.
pub(crate) struct Outbox<E> {
    publisher: Publisher<E>,
    next: Sequence,
}

impl<E: NoUninit> Outbox<E> {
    /// Its messages wait for a subscriber.
    pub(crate) fn new(client: &Client, stream: Stream) -> Self {
        let publisher = Publisher::plain(client, stream)
            .schema(SCHEMA)
            .when_not_connected(WhenNotConnected::Wait);
        Self { publisher, next: 0 }
    }

    /// A random number.
    pub(crate) fn id(&self) -> u64 {
        self.publisher.id()
    }

    /// Tries to send all of `messages`. Returns the pause before the next attempt, which must be with
    /// the same messages, or `None` if they are sent.
    pub(crate) fn try_send(&mut self, messages: &[E]) -> Option<Duration> {
        match self.publisher.send(messages, self.next) {
            Ok(Action::Retry(pause)) => Some(pause),
            Ok(_) => {
                self.next += messages.len() as u64;
                None
            }
            Err(_) => Some(ERROR_PAUSE),
        }
    }

    /// Sends all of `messages`, or gives up once `is_over` is true. Returns whether they are sent.
    pub(crate) fn send(&mut self, messages: &[E], is_over: impl Fn() -> bool) -> bool {
        while let Some(pause) = self.try_send(messages) {
            if is_over() {
                self.next += messages.len() as u64; // the rest is never sent
                return false;
            }
            thread::sleep(pause);
        }
        true
    }
}
