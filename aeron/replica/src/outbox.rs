//! Messages that a thread sends outside of a ring.

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

    /// Tries to send all of `messages`. Returns the pause before the next attempt, or `None` if they are
    /// sent. The next attempt is with the same messages, unless they are [given up](Self::give_up).
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

    /// Gives up `messages`, of which a part may be sent.
    pub(crate) fn give_up(&mut self, messages: &[E]) {
        self.next += messages.len() as u64;
    }

    /// Sends `messages` if Aeron takes them now. Returns whether they are sent.
    ///
    /// They fit into one frame, so that Aeron takes all or none. The next ones replace those that are not
    /// sent.
    pub(crate) fn offer(&mut self, messages: &[E]) -> bool {
        self.try_send(messages).is_none()
    }
}
