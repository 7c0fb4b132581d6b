//! The source that fills a ring from a stream.
//!
//! ```text
//! Subscriber ──> Link: opens the subscription, and opens it again after a failure
//!     │
//!     └──> Intake: a message ──> Known: what is new in it ──> Unpack: into claimed slots
//! ```

mod images; // how a subscription is opened
mod known; // what is new in a message
mod unpack; // messages as events

mod intake; // a message into the ring
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytemuck::AnyBitPattern;
use lapwing::producer::{Producer, Sequencer};
use rusteron_client::{
    AeronControlledFragmentClosureAssembler, AeronHeader, AeronSubscription,
    bindings::aeron_controlled_fragment_handler_action_en as AfterFragment,
};

use self::images::Subscriptions;
use self::intake::{Intake, Kept, Unfinished};
use self::unpack::{BoxError, Encoded, Plain, Unpack};
use crate::back_off::{BackOff, Idle, LONGEST_PAUSE};
use crate::client::{Client, text};
use crate::error::{OpenError, ReceiveError};
use crate::link::Link;
use crate::movable::Movable;
use crate::notice::Notice;
use crate::stream::Stream;

/// Fragments of one poll. Aeron tells the publisher about the progress at the end of a poll.
const FRAGMENTS: usize = 32;

/// How long [`Subscriber::run`] waits for a free slot before it looks at its stop flag.
const PATIENCE: Duration = Duration::from_millis(1);

/// Receives an Aeron stream into a ring.
///
/// ```no_run
/// use std::sync::atomic::AtomicBool;
/// use lapwing::Disruptor;
/// use lapwing_aeron::{Client, Stream, Subscriber};
///
/// let client = Client::new("/dev/shm/aeron");
/// let mut subscriber = Subscriber::<u64>::plain(&client, Stream::udp("192.0.2.1:40123", 7)?);
/// let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .stage("print").read(|event, _, _| println!("{event}"))
///     .build()?;
/// let running = consumers.start()?;
/// let stop = AtomicBool::new(false); // another thread sets it
/// subscriber.run(&mut producer, &stop, |notice| eprintln!("{notice}"))?;
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # A full ring
///
/// A message that does not fit stays in the stream, and its rest is delivered later. So a full ring
/// is back-pressure for the publisher, and no event is lost. A ring may be smaller than a message.
///
/// # Once, in order, or with a gap
///
/// The events of one publisher arrive in its order, each once, also when the subscriber opens the
/// stream again. Events that were sent meanwhile are missing, and a [`Notice::Gap`] names them. The
/// events of several publishers are mixed.
///
/// A new subscriber begins with what is sent after it has connected.
pub struct Subscriber<E> {
    link: Link<Subscriptions>,
    kept: Kept<E>,
    /// Puts the fragments of long messages together. `None` while no subscription is open.
    assembler: Option<Movable<AeronControlledFragmentClosureAssembler>>,
    longest_pause: Duration,
}

/// What a poll has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Polled {
    /// Number of events that the ring has accepted.
    pub events: usize,
    /// Whether the poll has ended because the ring is full.
    pub ring_is_full: bool,
}

impl<E> Subscriber<E> {
    /// Creates a subscriber for events that are plain data, such as a
    /// [`Publisher::plain`](crate::Publisher::plain) sends. It opens the subscription at the first
    /// call of [`open`](Self::open), [`poll_into`](Self::poll_into) or [`run`](Self::run).
    #[must_use]
    pub fn plain(client: &Client, stream: Stream) -> Self
    where
        E: AnyBitPattern,
    {
        Self::new(client, stream, Box::new(Plain::new()))
    }

    /// Creates a subscriber for events that `decode` makes of bytes. It writes into the slot, which
    /// holds an older event.
    ///
    /// An event that it refuses is skipped, with a [`Notice::Undecodable`]. It may be asked again
    /// for events of the same message.
    ///
    /// ```
    /// use lapwing_aeron::{Client, Stream, Subscriber};
    ///
    /// let client = Client::new("/dev/shm/aeron");
    /// let subscriber = Subscriber::decoding(&client, Stream::ipc(7), |bytes, line: &mut String| {
    ///     line.clear();
    ///     line.push_str(std::str::from_utf8(bytes)?);
    ///     Ok(())
    /// });
    /// # drop(subscriber);
    /// ```
    #[must_use]
    pub fn decoding(
        client: &Client,
        stream: Stream,
        decode: impl FnMut(&[u8], &mut E) -> Result<(), BoxError> + Send + 'static,
    ) -> Self
    where
        E: 'static,
    {
        Self::new(client, stream, Box::new(Encoded(decode)))
    }

    fn new(client: &Client, stream: Stream, unpack: Box<dyn Unpack<E>>) -> Self {
        Self {
            link: Link::new(client, stream, Subscriptions::new()),
            kept: Kept::new(unpack),
            assembler: None,
            longest_pause: LONGEST_PAUSE,
        }
    }

    /// Sets the number for the form of the events, 0 by default. Messages with another number are
    /// [rejected](Notice::Rejected).
    #[must_use]
    pub fn schema(mut self, schema: u32) -> Self {
        self.kept.set_schema(schema);
        self
    }

    /// Sets the longest pause of [`run`](Self::run) while nothing arrives, 1 ms by default. With
    /// zero, it polls and yields.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }

    /// Opens the subscription, if it is not open. Without this call, the first poll does so.
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

    /// Publishes what has arrived, up to the free slots of the ring. Passes what else has happened
    /// to `on_notice`. Does not wait.
    ///
    /// # Errors
    ///
    /// [`ReceiveError`]. After it, the next call opens the subscription again, if it is not open.
    pub fn poll_into<S: Sequencer>(
        &mut self,
        producer: &mut Producer<E, S>,
        mut on_notice: impl FnMut(Notice),
    ) -> Result<Polled, ReceiveError> {
        self.poll(producer, &mut on_notice, Duration::ZERO)
    }

    /// Polls until `stop` is true.
    ///
    /// # Errors
    ///
    /// [`ReceiveError`]. The subscriber can run again, for example after a pause until the driver
    /// is back.
    ///
    /// # Blocking
    ///
    /// Returns within about 1 ms and the longest pause once `stop` is true. A full ring does not
    /// prevent it.
    pub fn run<S: Sequencer>(
        &mut self,
        producer: &mut Producer<E, S>,
        stop: &AtomicBool,
        mut on_notice: impl FnMut(Notice),
    ) -> Result<(), ReceiveError> {
        let mut back_off = BackOff::new(self.longest_pause);
        // Acquire: what the other thread did before it set the flag is visible afterwards.
        while !stop.load(Ordering::Acquire) {
            let polled = self.poll(producer, &mut on_notice, PATIENCE)?;
            if polled.events > 0 || polled.ring_is_full {
                back_off.reset();
            } else if let Idle::Pause(pause) = back_off.idle()
                && !pause.is_zero()
            {
                thread::sleep(pause);
            }
        }
        Ok(())
    }

    fn poll<S: Sequencer>(
        &mut self,
        producer: &mut Producer<E, S>,
        on_notice: &mut dyn FnMut(Notice),
        patience: Duration,
    ) -> Result<Polled, ReceiveError> {
        let opened = self.link.opened().map(|open| open.is_some());
        for notice in self.link.resource().notices.try_iter() {
            if let Notice::ImageLost { session } = notice {
                self.kept.lose(session);
            }
            on_notice(notice);
        }
        if !opened? {
            return Ok(Polled::default());
        }
        if !self.link.is_served() {
            return Err(self.driver_gone());
        }
        let mut intake = Intake::new(&mut self.kept, producer, on_notice, patience);
        let Some(subscription) = self.link.opened()? else { return Ok(Polled::default()) };
        let polled = poll_subscription(subscription, &mut self.assembler, &mut intake);
        let events = intake.accepted();
        match polled {
            Ok(None) => Ok(Polled { events, ring_is_full: false }),
            Ok(Some(Unfinished::Full)) => Ok(Polled { events, ring_is_full: true }),
            Ok(Some(Unfinished::Stopped(error))) => Err(ReceiveError::Ring(error)),
            Ok(Some(Unfinished::Early)) => Ok(Polled { events, ring_is_full: false }),
            Err(reason) => {
                self.lose();
                Err(ReceiveError::Other { stream: self.link.stream().to_string(), reason })
            }
        }
    }

    #[cold]
    fn driver_gone(&mut self) -> ReceiveError {
        let reason = self.lose();
        ReceiveError::DriverGone { stream: self.link.stream().to_string(), reason }
    }

    /// Closes the subscription. The next poll opens it again, and a [`Notice::Gap`] names the
    /// events that were sent meanwhile.
    pub fn close(&mut self) {
        self.lose();
    }

    /// Drops the subscription, and with it the fragments of its unfinished messages. Returns why
    /// the connection has ended, as far as Aeron says.
    fn lose(&mut self) -> String {
        self.assembler = None;
        self.kept.lose_all();
        self.link.close()
    }
}

/// Passes messages to the intake. Returns why it has stopped early, if it has.
fn poll_subscription<E, S: Sequencer>(
    subscription: &AeronSubscription,
    assembler: &mut Option<Movable<AeronControlledFragmentClosureAssembler>>,
    intake: &mut Intake<'_, E, S>,
) -> Result<Option<Unfinished>, String> {
    if assembler.is_none() {
        let made = AeronControlledFragmentClosureAssembler::new();
        *assembler = Some(Movable(made.map_err(|error| text(&error))?));
    }
    let Some(Movable(assembler)) = assembler else { return Ok(None) };
    let mut poll = (intake, None);
    let polled = assembler.poll(subscription, &mut poll, on_message, FRAGMENTS);
    polled.map_err(|error| text(&error))?;
    Ok(poll.1)
}

/// Takes a whole message. A message that is not finished stays in the stream.
fn on_message<E, S: Sequencer>(
    (intake, unfinished): &mut (&mut Intake<'_, E, S>, Option<Unfinished>),
    message: &[u8],
    header: AeronHeader,
) -> AfterFragment {
    if unfinished.is_none() {
        let session = header.session_id().unwrap_or_default();
        match intake.take(session, message) {
            Ok(()) => return AfterFragment::AERON_ACTION_CONTINUE,
            // The other images are polled as before.
            Err(Unfinished::Early) => {}
            Err(why) => *unfinished = Some(why),
        }
    }
    // Also for the other images of this poll: the ring is still full.
    AfterFragment::AERON_ACTION_ABORT
}

impl<E> fmt::Debug for Subscriber<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("stream", self.link.stream()).finish_non_exhaustive()
    }
}
