//! `lapwing-shared`: segments. Readers read a batch in place.

use std::io;
use std::ops::Range;
use std::time::Duration;

use lapwing::wait::{Blocking, BusySpin, Sleeping, Yielding};
use lapwing_shared::{Reader, Segment, Writer};

use super::{EndWait, Inlet, Outlet, Setup, Transport, Way};
use crate::contenders::WaitName;
use crate::contenders::lapwing::PHASED_BACKOFF;

/// How long a writer waits for its readers, which have opened the segment already.
const LONGEST: Duration = Duration::from_secs(10);

pub(super) struct Shared;

pub(super) struct WriteEnd<const N: usize> {
    writer: Writer<[u64; N]>,
    readers: usize,
    together: Vec<[u64; N]>,
}

pub(super) struct ReadEnd<const N: usize>(Reader<[u64; N]>);

fn segment<const N: usize>(setup: &Setup, way: Way) -> Segment<[u64; N]> {
    let segment = Segment::named(way.name()).folder(&setup.folder).seats(setup.readers);
    let EndWait::Own(wait) = setup.wait else { return segment };
    match wait {
        WaitName::Adaptive => segment, // the default
        WaitName::BusySpin => segment.wait_strategy(BusySpin),
        WaitName::Yielding => segment.wait_strategy(Yielding::default()),
        WaitName::Sleeping => segment.wait_strategy(Sleeping::default()),
        WaitName::Blocking => segment.wait_strategy(Blocking::default()),
        WaitName::PhasedBackoff => segment.wait_strategy(PHASED_BACKOFF),
    }
}

impl<const N: usize> Transport<N> for Shared {
    type Outlet = WriteEnd<N>;
    type Inlet = ReadEnd<N>;

    fn create(setup: &Setup, way: Way) -> io::Result<WriteEnd<N>> {
        let writer = segment(setup, way).create(setup.slots).map_err(io::Error::other)?;
        Ok(WriteEnd { writer, readers: setup.readers, together: Vec::new() })
    }

    fn open(setup: &Setup, way: Way, _: usize) -> io::Result<ReadEnd<N>> {
        segment(setup, way).open().map(ReadEnd).map_err(io::Error::other)
    }
}

impl<const N: usize> Outlet for WriteEnd<N> {
    fn connect(&mut self) -> io::Result<()> {
        let are_there = self.writer.wait_for_readers(self.readers, LONGEST);
        if are_there { Ok(()) } else { Err(io::Error::other("a reader is missing")) }
    }

    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.writer.publish(|event| *event = [number; N]);
        Ok(())
    }

    fn send_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.together.clear();
        self.together.extend(numbers.map(|number| [number; N]));
        self.writer.publish_all(&self.together);
        Ok(())
    }
}

impl<const N: usize> Inlet<N> for ReadEnd<N> {
    #[inline]
    fn receive(&mut self, take: impl FnMut(&[u64; N])) -> io::Result<()> {
        let mut batch = self.0.wait().map_err(io::Error::other)?;
        batch.as_slice().iter().for_each(take);
        batch.consume_all();
        Ok(())
    }
}
