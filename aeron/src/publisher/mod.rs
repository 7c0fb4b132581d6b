//! The stage that sends the events of a ring.
//!
//! ```text
//! Publisher ──> Link: opens the publication, and opens it again after a failure
//!     │
//!     └──> Sender: what is left of the batch ──> Pack: events to messages ──> Outlet: the publication
//! ```

mod figures; // what a publisher has done
mod outlet; // where messages go
mod when_not_connected; // what it does without a subscriber

mod pack; // events as messages

mod sender; // what is left of a batch
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use bytemuck::NoUninit;
use lapwing::consumer::{BatchHandler, Done, Shared};
use lapwing::{Action, Sequence};

pub use figures::PublisherFigures;
pub use when_not_connected::WhenNotConnected;

use self::outlet::{OpenPublication, Outlet, Publications, Refused};
use self::pack::{Encoded, Pack, Plain};
use self::sender::{Failure, Sender};
use crate::client::Client;
use crate::error::{OpenError, SendError};
use crate::link::Link;
use crate::stream::Stream;

/// How often `wait_for_subscriber` polls.
const POLL: Duration = Duration::from_millis(1);

/// Sends the events of a ring to an Aeron stream. It is the handler of a stage, and the report of
/// the ring hands it back.
///
/// ```no_run
/// use lapwing::Disruptor;
/// use lapwing_aeron::{Client, Publisher, Stream};
///
/// let client = Client::new("/dev/shm/aeron");
/// let publisher = Publisher::<u64>::plain(&client, Stream::udp("192.0.2.1:40123", 7)?);
/// let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .stage("send").read_batch_handler(publisher)
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 7)?;
/// running.shutdown()?; // returns once Aeron has accepted every event
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Messages
///
/// A message has as many events as fit into one frame of the channel (its `mtu`, 1,408 bytes by
/// default). An event that exceeds a frame is sent as a message of its own. Such a message is
/// limited to an eighth of the term length, and to 16 MiB.
///
/// # Back-pressure and failures
///
/// A call never blocks. If Aeron does not accept the whole batch, the stage releases what is
/// accepted, and tries the rest again after a short pause. The rest keeps its slots, so the ring
/// fills up, and its producers wait. A halt of the ring ends the pause and the stage.
///
/// [`WhenNotConnected`] says what happens without a subscriber. A [`SendError`] goes to the error
/// policy of the stage, which halts the ring by default. This one waits for a driver to come back:
///
/// ```no_run
/// use std::time::Duration;
/// use lapwing::{Disruptor, Stage, consumer::Retries};
/// use lapwing_aeron::{Client, Publisher, Stream};
///
/// let client = Client::new("/dev/shm/aeron");
/// let publisher = Publisher::<u64>::plain(&client, Stream::ipc(7));
/// let again = Retries::of_event().pause(Duration::from_millis(100)).attempts(100);
/// let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .stage(Stage::new("send").on_error(again))
///     .read_batch_handler(publisher)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The stage releases an event once Aeron has accepted it, or once a policy has dropped it. An
/// accepted event may still be lost: if a driver dies, the events in flight are lost, and the
/// subscriber gets a [gap](crate::Notice::Gap).
pub struct Publisher<E> {
    link: Link<Publications>,
    sender: Sender<E>,
}

impl<E> Publisher<E> {
    /// Creates a publisher of events that are plain data: their bytes are copied into the message.
    /// It opens the publication at the first call of [`open`](Self::open) or [`send`](Self::send).
    ///
    /// Both ends must have the same layout of the event, such as `repr(C)` gives, and the same byte
    /// order.
    #[must_use]
    pub fn plain(client: &Client, stream: Stream) -> Self
    where
        E: NoUninit,
    {
        Self::new(client, stream, Box::new(Plain::new()))
    }

    /// Creates a publisher of events that `encode` turns into bytes. It appends them to the vector.
    ///
    /// ```
    /// use lapwing_aeron::{Client, Publisher, Stream};
    ///
    /// let client = Client::new("/dev/shm/aeron");
    /// let publisher = Publisher::encoding(&client, Stream::ipc(7), |line: &String, bytes| {
    ///     bytes.extend_from_slice(line.as_bytes());
    /// });
    /// assert_eq!(publisher.figures().sent(), 0);
    /// ```
    #[must_use]
    pub fn encoding(
        client: &Client,
        stream: Stream,
        encode: impl FnMut(&E, &mut Vec<u8>) + Send + 'static,
    ) -> Self {
        Self::new(client, stream, Box::new(Encoded::new(encode)))
    }

    fn new(client: &Client, stream: Stream, pack: Box<dyn Pack<E>>) -> Self {
        // A hasher of the standard library begins with random keys.
        let random = RandomState::new().build_hasher().finish();
        Self { link: Link::new(client, stream, Publications), sender: Sender::new(pack, random) }
    }

    /// Sets a number for the form of the events, 0 by default. Subscribers with another number
    /// [reject](crate::Notice::Rejected) the messages.
    #[must_use]
    pub fn schema(mut self, schema: u32) -> Self {
        self.sender.set_schema(schema);
        self
    }

    /// Sets what happens to events while no subscriber is connected.
    #[must_use]
    pub fn when_not_connected(mut self, policy: WhenNotConnected) -> Self {
        self.sender.set_when_not_connected(policy);
        self
    }

    /// Sets the longest pause between two attempts, 1 ms by default. With zero, the stage polls and
    /// yields.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.sender.set_longest_pause(pause);
        self
    }

    /// Returns the figures, which other threads can read while a stage owns the publisher.
    #[must_use]
    pub fn figures(&self) -> PublisherFigures {
        self.sender.figures().clone()
    }

    /// Returns the random number by which subscribers distinguish publishers.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.sender.publisher()
    }

    /// Opens the publication, if it is not open. Without this call, the first [`send`](Self::send)
    /// does so.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is no driver in time, or it refuses the stream, or does not answer.
    ///
    /// # Blocking
    ///
    /// Waits for a driver and for its answer, at most for `timeout`.
    pub fn open(&mut self, timeout: Duration) -> Result<(), OpenError> {
        self.link.open(timeout)
    }

    /// Opens the publication, and waits for a subscriber. Returns whether one is connected.
    ///
    /// # Errors
    ///
    /// [`OpenError`] as for [`open`](Self::open).
    ///
    /// # Blocking
    ///
    /// Waits at most for `timeout`.
    pub fn wait_for_subscriber(&mut self, timeout: Duration) -> Result<bool, OpenError> {
        let start = Instant::now();
        self.open(timeout)?;
        loop {
            let is_connected = self.link.opened()?.is_some_and(|open| open.is_connected());
            if is_connected || start.elapsed() >= timeout {
                return Ok(is_connected);
            }
            thread::sleep(POLL);
        }
    }

    /// Sends the events of a batch, whose first one has the sequence `first`. Does not block. A stage
    /// calls it; a program without a ring may.
    ///
    /// Returns [`Action::Continue`] once Aeron has accepted all of them, or the policy has dropped
    /// them. Returns [`Action::Retry`] if a part is left. The next call with the same `first`
    /// continues there.
    ///
    /// # Errors
    ///
    /// [`SendError`], also if a part of the batch is sent. The next call with the same `first`
    /// continues.
    pub fn send(&mut self, events: &[E], first: Sequence) -> Result<Action, SendError> {
        self.sender.begin(first, events.len());
        let Some(outlet) = self.link.opened()? else { return Ok(self.sender.pause()) };
        match self.sender.send(outlet, events) {
            Ok(action) => Ok(action),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// Puts a failure into words. Drops the publication if it cannot send again.
    #[cold]
    fn failed(&mut self, failure: Failure) -> SendError {
        let stream = self.link.stream().to_string();
        match failure {
            Failure::NotConnected(waited) => SendError::NotConnected { stream, waited },
            Failure::Refused(Refused::TooLarge { bytes }) => {
                SendError::TooLarge { stream, bytes, longest: self.longest_message() }
            }
            Failure::Refused(Refused::AtLimit) => {
                self.link.close();
                SendError::AtLimit { stream }
            }
            Failure::Refused(Refused::Closed) if !self.link.is_served() => {
                SendError::DriverGone { stream, reason: self.link.close() }
            }
            Failure::Refused(Refused::Other { reason }) => {
                self.link.close();
                SendError::Other { stream, reason }
            }
            Failure::Refused(refused) => {
                self.link.close();
                SendError::Other { stream, reason: format!("{refused:?}") }
            }
        }
    }

    fn longest_message(&mut self) -> usize {
        let open = self.link.opened();
        open.ok().flatten().map_or(0, |open: &mut OpenPublication| open.longest_message())
    }
}

/// Does not send events that an upstream stage has [skipped](Action::Skip), unless its stage is set to
/// get them [like any other](lapwing::Stage::with_failed_events).
impl<E> BatchHandler<E, Shared, Result<Action, SendError>> for Publisher<E> {
    fn on_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        mut done: Done<'_>,
    ) -> Result<Action, SendError> {
        let result = self.send(events, first);
        done.set(self.sender.finished(first));
        result
    }
}

impl<E> fmt::Debug for Publisher<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("stream", self.link.stream())
            .field("figures", self.sender.figures())
            .finish_non_exhaustive()
    }
}
