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
    images: Images,
    is_driver_gone: bool,
}

/// What a poll has found beside messages.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// A publication has connected.
    pub(crate) has_connected: bool,
    /// A message was skipped, since it has another form.
    pub(crate) rejected: Option<String>,
    /// There is no driver: pause before the next poll.
    pub(crate) is_driver_gone: bool,
}

/// The sessions of the publications that are connected.
#[derive(Debug, Default)]
struct Images(Vec<i32>);

impl Images {
    fn note(&mut self, notice: &Notice) {
        match notice {
            Notice::ImageAvailable { session, .. } => self.0.push(*session),
            Notice::ImageLost { session } => self.0.retain(|connected| connected != session),
            _ => {}
        }
    }
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
            images: Images::default(),
            is_driver_gone: false,
        })
    }

    /// Returns whether a publication is connected, as far as the last poll knows.
    pub(crate) fn is_connected(&self) -> bool {
        !self.images.0.is_empty()
    }

    /// Appends what has arrived to `messages`. Does not wait.
    pub(crate) fn poll(&mut self, messages: &mut impl Extend<E>) -> Result<Found> {
        let found = self.receive()?;
        self.take(messages);
        Ok(found)
    }

    /// Appends what was received to `messages`.
    pub(crate) fn take(&mut self, messages: &mut impl Extend<E>) {
        if let Ok(mut batch) = self.poller.poll() {
            messages.extend(batch.iter().map(|(_, message)| *message));
        }
    }

    /// Receives what has arrived, as far as there are slots. Does not wait.
    ///
    /// A driver that is gone is no error: it may come back.
    pub(crate) fn receive(&mut self) -> Result<Found> {
        let mut found = Found::default();
        let (name, images) = (self.name, &mut self.images);
        let polled = self.subscriber.poll_into(&mut self.producer, |notice| {
            images.note(&notice);
            match notice {
                Notice::ImageAvailable { .. } => found.has_connected = true,
                Notice::ImageLost { .. } | Notice::PublisherSeen { .. } => {}
                Notice::Rejected { .. } => {
                    found.rejected =
                        Some(format!("{name}: {notice}; both ends must be of one version"));
                }
                other => eprintln!("exchange-replica: {name}: {other}"),
            }
        });
        let gone = match polled {
            Ok(_) => None,
            Err(error @ ReceiveError::DriverGone { .. }) => Some(error),
            Err(error @ ReceiveError::Open(OpenError::NoDriver { .. })) => Some(error),
            Err(error @ ReceiveError::Open(OpenError::TimedOut { .. })) => Some(error),
            Err(error) => return Err(error.into()),
        };
        found.is_driver_gone = gone.is_some();
        if found.is_driver_gone {
            self.images.0.clear();
        }
        if let Some(error) = gone.filter(|_| !self.is_driver_gone) {
            eprintln!("exchange-replica: {name}: {error}");
        }
        self.is_driver_gone = found.is_driver_gone;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_leaders_that_have_gone_between_two_polls_leave_the_third_one() {
        let mut images = Images::default();
        let available = |session| Notice::ImageAvailable { session, source: "aeron:ipc".into() };
        for notice in [
            available(1),
            Notice::ImageLost { session: 1 },
            available(2),
            Notice::ImageLost { session: 2 },
            available(3),
        ] {
            images.note(&notice);
        }
        assert_eq!(images.0, [3]);
        images.note(&Notice::ImageLost { session: 1 });
        assert_eq!(images.0, [3], "of a driver that was gone");
    }
}
