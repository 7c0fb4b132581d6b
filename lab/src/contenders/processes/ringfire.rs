//! `ringfire`: its ring for one writer and several readers, in the lossless mode. An event is
//! copied in and out. A reader receives batches, and waits by one of the strategies of the crate.
//! The writer has a fixed way to wait: it spins, yields, and then sleeps for 10 µs at a time.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use ringfire::{
    BusySpin, FlowControl, FutexWait, RingConsumer, RingProducer, RingProducerBuilder, YieldBackoff,
};

use super::{EndWait, Inlet, Outlet, Setup, Transport, Way};

/// Events of one call of a reader.
const AT_ONCE: usize = 256;

pub(super) struct Ringfire;

pub(super) struct WriteEnd<const N: usize> {
    producer: RingProducer<[u64; N]>,
    together: Vec<[u64; N]>,
}

pub(super) struct ReadEnd<const N: usize> {
    consumer: RingConsumer<[u64; N]>,
    wait: EndWait,
    events: Vec<[u64; N]>,
}

fn path(setup: &Setup, way: Way) -> PathBuf {
    setup.folder.join(way.name())
}

impl<const N: usize> Transport<N> for Ringfire {
    type Outlet = WriteEnd<N>;
    type Inlet = ReadEnd<N>;

    fn create(setup: &Setup, way: Way) -> io::Result<WriteEnd<N>> {
        let builder = RingProducerBuilder::new(setup.slots as u64)
            .flow_control(FlowControl::LosslessBackpressure)
            .max_readers(setup.readers);
        let producer = builder.build(path(setup, way)).map_err(io::Error::other)?;
        Ok(WriteEnd { producer, together: Vec::new() })
    }

    fn open(setup: &Setup, way: Way, _: usize) -> io::Result<ReadEnd<N>> {
        let consumer = RingConsumer::builder().start_from_oldest().attach(path(setup, way));
        let consumer = consumer.map_err(io::Error::other)?;
        Ok(ReadEnd { consumer, wait: setup.wait, events: vec![[0; N]; AT_ONCE] })
    }
}

impl<const N: usize> Outlet for WriteEnd<N> {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.producer.push(&[number; N]);
        Ok(())
    }

    fn send_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.together.clear();
        self.together.extend(numbers.map(|number| [number; N]));
        self.producer.push_batch(&self.together);
        Ok(())
    }
}

impl<const N: usize> Inlet<N> for ReadEnd<N> {
    #[inline]
    fn receive(&mut self, mut take: impl FnMut(&[u64; N])) -> io::Result<()> {
        let mut count = self.consumer.recv_batch(&mut self.events);
        if count == 0 {
            let first = match self.wait {
                EndWait::Spin => self.consumer.recv_blocking(&mut BusySpin),
                EndWait::Yield => self.consumer.recv_blocking(&mut YieldBackoff::default()),
                EndWait::Sleep | EndWait::Own(_) => {
                    self.consumer.recv_blocking(&mut FutexWait::default())
                }
            };
            take(&first);
            count = self.consumer.recv_batch(&mut self.events);
        }
        self.events[..count].iter().for_each(take);
        match self.consumer.lapped_count() {
            0 => Ok(()),
            lost => Err(io::Error::other(format!("events were lost: lost={lost}"))),
        }
    }
}
