//! Messages of a stream, for a thread that polls them itself.

use bytemuck::AnyBitPattern;
use lapwing::{Consumers, Disruptor, Poller, SingleProducer};
use lapwing_aeron::{Client, Notice, OpenError, ReceiveError, Stream, Subscriber};

use crate::Result;
use crate::messages::SCHEMA;

/// Messages that may wait in the process. The others wait in the stream.
const SLOTS: usize = 1024;

/// A subscriber and its ring, on one thread.
pub(crate) struct Inbox<E: 'static> {
    name: &'static str,
    subscriber: Subscriber<E>,
    producer: SingleProducer<E>,
    poller: Poller<E>,
    _consumers: Consumers<'static, E>,
    is_driver_gone: bool,
}

/// What a poll has found beside messages.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// A publication has connected.
    pub(crate) has_connected: bool,
    /// The number of publications that have gone.
    pub(crate) lost: usize,
    /// There is no driver: pause before the next poll.
    pub(crate) is_driver_gone: bool,
}

impl<E: AnyBitPattern + Send + Sync + 'static> Inbox<E> {
    pub(crate) fn new(name: &'static str, client: &Client, stream: Stream) -> Result<Self> {
        let subscriber = Subscriber::plain(client, stream).schema(SCHEMA);
        let ring = Disruptor::single_producer(SLOTS, || E::zeroed()).stage("all").poller();
        let (producer, mut consumers) = ring.build()?;
        let poller = consumers.take_poller("all")?;
        Ok(Self {
            name,
            subscriber,
            producer,
            poller,
            _consumers: consumers,
            is_driver_gone: false,
        })
    }

    /// Appends what has arrived to `messages`. Does not wait.
    ///
    /// A driver that is gone is no error: it may come back.
    pub(crate) fn poll(&mut self, messages: &mut Vec<E>) -> Result<Found> {
        let mut found = Found::default();
        let mut rejected = None;
        let name = self.name;
        let polled = self.subscriber.poll_into(&mut self.producer, |notice| match notice {
            Notice::ImageAvailable { .. } => found.has_connected = true,
            Notice::ImageLost { .. } => found.lost += 1,
            Notice::Rejected { .. } => rejected = Some(notice.to_string()),
            Notice::PublisherSeen { .. } => {}
            other => eprintln!("exchange-replica: {name}: {other}"),
        });
        if let Some(why) = rejected {
            return Err(format!("{name}: {why}; both ends must be of one version").into());
        }
        let gone = match polled {
            Ok(_) => None,
            Err(error @ ReceiveError::DriverGone { .. }) => Some(error),
            Err(error @ ReceiveError::Open(OpenError::NoDriver { .. })) => Some(error),
            Err(error @ ReceiveError::Open(OpenError::TimedOut { .. })) => Some(error),
            Err(error) => return Err(error.into()),
        };
        found.is_driver_gone = gone.is_some();
        if let Some(error) = gone.filter(|_| !self.is_driver_gone) {
            eprintln!("exchange-replica: {name}: {error}");
        }
        self.is_driver_gone = found.is_driver_gone;
        if let Ok(mut batch) = self.poller.poll() {
            messages.extend(batch.iter().map(|(_, message)| *message));
        }
        Ok(found)
    }
}
