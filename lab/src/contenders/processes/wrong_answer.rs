//! A contender with wrong answers: a pipe whose writer loses an event. It proves that a wrong
//! answer is refused.

use std::io;

use super::kernel::{Pipe, Pipes};
use super::{Outlet, Setup, Transport, Way};

/// The event that is lost.
const LOST: u64 = 7;

pub(super) struct WrongAnswer;

pub(super) struct Loses<const N: usize>(Pipes<N>);

impl<const N: usize> Transport<N> for WrongAnswer {
    type Outlet = Loses<N>;
    type Inlet = <Pipe as Transport<N>>::Inlet;

    fn create(setup: &Setup, way: Way) -> io::Result<Loses<N>> {
        Pipe::create(setup, way).map(Loses)
    }

    fn open(setup: &Setup, way: Way, reader: usize) -> io::Result<Self::Inlet> {
        Pipe::open(setup, way, reader)
    }
}

impl<const N: usize> Outlet for Loses<N> {
    fn connect(&mut self) -> io::Result<()> {
        self.0.connect()
    }

    fn send(&mut self, number: u64) -> io::Result<()> {
        if number == LOST { Ok(()) } else { self.0.send(number) }
    }
}
