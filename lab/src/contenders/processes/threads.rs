//! Lapwing's ring between threads of one process: the reference for what the way to another process
//! costs. The writer is the main thread of the process.

use std::time::Duration;
use std::{io, thread};

use lapwing::{Poller, SingleProducer};

use super::order::{Obeys, Order, Report};
use super::{EndWait, Inlet, Outlet, Setup, Way};
use crate::contenders::WaitName;
use crate::contenders::lapwing::ends::ends;
use crate::load::processes::{self, Amount};
use crate::machine::placement;

type Ring<const N: usize> = (WriteEnd<N>, Vec<ReadEnd<N>>);

/// The rings of a run.
pub(super) struct Threads<'a, const N: usize> {
    setup: &'a Setup,
    there: Option<Ring<N>>,
    back: Option<Ring<N>>,
}

struct WriteEnd<const N: usize>(SingleProducer<[u64; N]>);

struct ReadEnd<const N: usize>(Poller<[u64; N]>);

impl<'a, const N: usize> Threads<'a, N> {
    pub(super) fn new(setup: &'a Setup) -> Self {
        Self { setup, there: None, back: None }
    }

    fn ring(&self) -> io::Result<Ring<N>> {
        let wait = match self.setup.wait {
            EndWait::Own(wait) => wait,
            _ => WaitName::Adaptive,
        };
        let (producer, pollers) = ends(wait, self.setup.slots, self.setup.readers)?;
        Ok((WriteEnd(producer), pollers.into_iter().map(ReadEnd).collect()))
    }

    fn pin(&self, thread: usize) {
        if let Some(id) = self.setup.cpus.get(thread) {
            placement::pin(core_affinity::CoreId { id: *id });
        }
    }

    fn stream(&mut self, amount: &Amount) -> io::Result<Report> {
        let (mut outlet, mut inlets) = self.there.take().ok_or_else(no_ring)?;
        let report = thread::scope(|scope| {
            let this = &*self;
            let readers = inlets.iter_mut().enumerate();
            let readers = readers.map(|(reader, inlet)| {
                scope.spawn(move || {
                    this.pin(1 + reader);
                    processes::read(inlet)
                })
            });
            let readers = readers.collect::<Vec<_>>();
            this.pin(0);
            let sent = processes::write(&mut outlet, amount)?;
            let got = readers.into_iter().map(|reader| reader.join().map_err(panicked)?);
            let got = got.collect::<io::Result<_>>()?;
            Ok(Report { sent: Some(sent), got, ..Report::default() })
        });
        self.there = Some((outlet, inlets));
        report
    }

    fn exchange(&mut self, amount: &Amount, pause: Duration) -> io::Result<Report> {
        let (mut there, mut numbers) = self.there.take().ok_or_else(no_ring)?;
        let (mut back, mut answers) = self.back.take().ok_or_else(no_ring)?;
        let (Some(numbers), Some(answers)) = (numbers.first_mut(), answers.first_mut()) else {
            return Err(no_ring());
        };
        thread::scope(|scope| {
            let this = &*self;
            let echo = scope.spawn(move || {
                this.pin(1);
                processes::echo(&mut back, numbers)
            });
            this.pin(0);
            let called = processes::call(&mut there, answers, amount, pause)?;
            echo.join().map_err(panicked)??;
            Ok(Report { called: Some(called), ..Report::default() })
        })
    }
}

fn no_ring() -> io::Error {
    io::Error::other("there is no ring")
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> io::Error {
    io::Error::other("a thread panicked")
}

impl<const N: usize> Obeys for Threads<'_, N> {
    fn obey(&mut self, order: Order) -> io::Result<Report> {
        match order {
            Order::Create(Way::There) => self.there = Some(self.ring()?),
            Order::Create(Way::Back) => self.back = Some(self.ring()?),
            Order::Stream(amount) => return self.stream(&amount),
            Order::Exchange(amount, pause) => return self.exchange(&amount, pause),
            order => return Err(io::Error::other(format!("not for threads: {order:?}"))),
        }
        Ok(Report::default())
    }
}

impl<const N: usize> Outlet for WriteEnd<N> {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.0.publish(|event| *event = [number; N]).map(drop).map_err(io::Error::other)
    }

    fn send_all(&mut self, mut numbers: std::ops::Range<u64>) -> io::Result<()> {
        while !numbers.is_empty() {
            let left = (numbers.end - numbers.start) as usize;
            let published = self.0.publish_batch(left.min(self.0.capacity()), |slots| {
                slots.iter_mut().zip(&mut numbers).for_each(|(slot, number)| *slot = [number; N]);
            });
            published.map_err(io::Error::other)?;
        }
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
