//! `disruptor-mp`: a ring in shared memory, with events written and read in place. A consumer
//! processes all that is available. In between it spins, or yields as the crate does in its
//! functions `.._with_sleep`. `publish` of the crate spins while the ring is full; here the
//! producer does what the consumers do, because a producer that spins takes the CPU from consumers
//! that yield to it.

use std::io;
use std::ops::Range;
use std::time::Duration;

use disruptor_mp::{
    CoordinationMode, SharedConsumer, SharedProducer, attach_shared_consumer,
    build_shared_single_producer,
};

use super::{EndWait, Inlet, Outlet, Setup, Transport, Way};

/// How long a producer looks for a consumer, which has attached already.
const LONGEST: Duration = Duration::from_secs(10);

pub(super) struct DisruptorMp;

pub(super) struct WriteEnd<const N: usize> {
    producer: SharedProducer<[u64; N]>,
    readers: usize,
    wait: EndWait,
}

pub(super) struct ReadEnd<const N: usize> {
    consumer: SharedConsumer<[u64; N]>,
    wait: EndWait,
}

fn name(setup: &Setup, way: Way) -> String {
    format!("{}-{}", setup.prefix, way.name())
}

fn consumer_name(reader: usize) -> String {
    format!("reader_{reader}")
}

impl<const N: usize> Transport<N> for DisruptorMp
where
    [u64; N]: Default,
{
    type Outlet = WriteEnd<N>;
    type Inlet = ReadEnd<N>;

    fn create(setup: &Setup, way: Way) -> io::Result<WriteEnd<N>> {
        // Its own coordination would print on standard output, which is for replies.
        let builder = build_shared_single_producer(&name(setup, way), setup.slots)
            .disable_discovery()
            .with_coordination(CoordinationMode::Immediate);
        let producer = builder.build_producer(Default::default).map_err(io::Error::other)?;
        Ok(WriteEnd { producer, readers: setup.readers, wait: setup.wait })
    }

    fn open(setup: &Setup, way: Way, reader: usize) -> io::Result<ReadEnd<N>> {
        let builder = attach_shared_consumer(&name(setup, way), setup.slots)
            .with_consumer_id(&consumer_name(reader));
        let consumer = builder.build_consumer().map_err(io::Error::other)?;
        Ok(ReadEnd { consumer, wait: setup.wait })
    }
}

impl<const N: usize> Outlet for WriteEnd<N>
where
    [u64; N]: Default,
{
    fn connect(&mut self) -> io::Result<()> {
        for reader in 0..self.readers {
            if !self.producer.wait_for_consumer_id(&consumer_name(reader), LONGEST) {
                return Err(io::Error::other(format!("a reader is missing: reader={reader}")));
            }
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        while self.producer.try_publish(|event| *event = [number; N]).is_err() {
            self.wait.idle();
        }
        Ok(())
    }

    fn send_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        let (first, count) = (numbers.start, (numbers.end - numbers.start) as usize);
        let write = |event: &mut [u64; N], index: usize| *event = [first + index as u64; N];
        while self.producer.try_batch_publish(count, write).is_err() {
            self.wait.idle();
        }
        Ok(())
    }
}

impl<const N: usize> Inlet<N> for ReadEnd<N>
where
    [u64; N]: Default,
{
    #[inline]
    fn receive(&mut self, mut take: impl FnMut(&[u64; N])) -> io::Result<()> {
        while self.consumer.process_available(|event, _| take(event)) == 0 {
            self.wait.idle();
        }
        Ok(())
    }
}
