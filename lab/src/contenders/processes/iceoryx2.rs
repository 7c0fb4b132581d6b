//! `iceoryx2`: a publish-subscribe service whose subscribers have room for as many samples as there
//! are slots. It does not overflow, and the publisher retries until a sample is delivered. A sample
//! is written and read in place.
//!
//! A subscriber polls, because publish-subscribe cannot wake it. To sleep, it waits for an event of
//! a second service, as the examples of the project do, and the writer sends one after each sample.

use std::io;

use ::iceoryx2::port::listener::Listener;
use ::iceoryx2::port::notifier::Notifier;
use ::iceoryx2::port::publisher::Publisher;
use ::iceoryx2::port::subscriber::Subscriber;
use ::iceoryx2::port::update_connections::UpdateConnections;
use ::iceoryx2::prelude::*;
use ::iceoryx2::service::port_factory::event;
use ::iceoryx2::service::port_factory::publish_subscribe;

use super::{EndWait, Inlet, Outlet, Setup, Transport, Way};

pub(super) struct Iceoryx2;

pub(super) struct WriteEnd<const N: usize> {
    publisher: Publisher<ipc::Service, [u64; N], ()>,
    notifier: Option<Notifier<ipc::Service>>,
    _node: Node<ipc::Service>,
}

pub(super) struct ReadEnd<const N: usize> {
    subscriber: Subscriber<ipc::Service, [u64; N], ()>,
    listener: Option<Listener<ipc::Service>>,
    wait: EndWait,
    _node: Node<ipc::Service>,
}

/// Returns a node whose files are in the folder of the run, and whose memory has the prefix of the run.
fn node(setup: &Setup) -> io::Result<Node<ipc::Service>> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    let folder = setup.folder.as_os_str().as_encoded_bytes();
    config.global.set_root_path(&Path::new(folder).map_err(io::Error::other)?);
    let prefix = format!("{}-", setup.prefix);
    config.global.prefix = FileName::new(prefix.as_bytes()).map_err(io::Error::other)?;
    let builder = NodeBuilder::new().config(&config);
    let builder = builder.signal_handling_mode(SignalHandlingMode::Disabled);
    builder.create().map_err(io::Error::other)
}

/// Opens the service of the samples.
fn samples<const N: usize>(
    node: &Node<ipc::Service>,
    setup: &Setup,
    way: Way,
) -> io::Result<publish_subscribe::PortFactory<ipc::Service, [u64; N], ()>> {
    let name = way.name().try_into().map_err(io::Error::other)?;
    let builder = node.service_builder(&name).publish_subscribe::<[u64; N]>();
    let builder = builder
        .enable_safe_overflow(false)
        .history_size(0)
        .subscriber_max_buffer_size(setup.slots)
        .subscriber_max_borrowed_samples(1)
        .max_subscribers(setup.readers)
        .max_publishers(1)
        .max_nodes(1 + setup.readers);
    builder.open_or_create().map_err(io::Error::other)
}

/// Opens the service of the events, if readers sleep.
fn wakes(
    node: &Node<ipc::Service>,
    setup: &Setup,
    way: Way,
) -> io::Result<Option<event::PortFactory<ipc::Service>>> {
    if setup.wait != EndWait::Sleep {
        return Ok(None);
    }
    let name = format!("{}-wake", way.name());
    let name = name.as_str().try_into().map_err(io::Error::other)?;
    let builder = node.service_builder(&name).event().max_listeners(setup.readers);
    builder.open_or_create().map(Some).map_err(io::Error::other)
}

impl<const N: usize> Transport<N> for Iceoryx2 {
    type Outlet = WriteEnd<N>;
    type Inlet = ReadEnd<N>;

    fn create(setup: &Setup, way: Way) -> io::Result<WriteEnd<N>> {
        let node = node(setup)?;
        let samples = samples(&node, setup, way)?;
        let builder = samples.publisher_builder();
        let builder = builder.backpressure_strategy(BackpressureStrategy::RetryUntilDelivered);
        let publisher = builder.max_loaned_samples(1).create().map_err(io::Error::other)?;
        let notifier = wakes(&node, setup, way)?.map(|wakes| wakes.notifier_builder().create());
        let notifier = notifier.transpose().map_err(io::Error::other)?;
        Ok(WriteEnd { publisher, notifier, _node: node })
    }

    fn open(setup: &Setup, way: Way, _: usize) -> io::Result<ReadEnd<N>> {
        let node = node(setup)?;
        let samples = samples(&node, setup, way)?;
        let subscriber = samples.subscriber_builder().create().map_err(io::Error::other)?;
        let listener = wakes(&node, setup, way)?.map(|wakes| wakes.listener_builder().create());
        let listener = listener.transpose().map_err(io::Error::other)?;
        Ok(ReadEnd { subscriber, listener, wait: setup.wait, _node: node })
    }
}

impl<const N: usize> Outlet for WriteEnd<N> {
    fn connect(&mut self) -> io::Result<()> {
        self.publisher.update_connections().map_err(io::Error::other)
    }

    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        let sample = self.publisher.loan_uninit().map_err(io::Error::other)?;
        sample.write_payload([number; N]).send().map_err(io::Error::other)?;
        if let Some(notifier) = &self.notifier {
            notifier.notify().map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl<const N: usize> Inlet<N> for ReadEnd<N> {
    #[inline]
    fn receive(&mut self, mut take: impl FnMut(&[u64; N])) -> io::Result<()> {
        let mut has_received = false;
        loop {
            while let Some(sample) = self.subscriber.receive().map_err(io::Error::other)? {
                take(sample.payload());
                has_received = true;
            }
            if has_received {
                return Ok(());
            }
            match &self.listener {
                Some(listener) => {
                    listener.blocking_wait(|_| {}).map_err(io::Error::other)?;
                }
                None => self.wait.idle(),
            }
        }
    }
}
