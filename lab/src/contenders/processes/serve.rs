//! A process of a run, from inside: it makes the ends that it is told to, and sends or receives
//! over them. It reads an order from each line of its standard input, and writes a line with the
//! outcome.

use std::io::{self, BufRead, Write};

use core_affinity::CoreId;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::disruptor_mp::DisruptorMp;
use super::iceoryx2::Iceoryx2;
use super::kernel::{Pipe, Socket};
use super::lapwing_shared::Shared;
use super::order::{Obeys, Order, Reply, Report};
use super::ringfire::Ringfire;
use super::threads::Threads;
use super::wrong_answer::WrongAnswer;
use super::{Across, Setup, Transport};
use crate::load::processes::{self, Outlet};
use crate::machine::{cpu_time, placement};

/// In the process: does what its input says, until it ends. `setup` is JSON.
///
/// # Errors
///
/// An order that is none, or an output that is closed.
pub(crate) fn serve(setup: &str) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let setup = serde_json::from_str::<Setup>(setup)?;
    match setup.words {
        1 => with::<1>(&setup),
        4 => with::<4>(&setup),
        8 => with::<8>(&setup),
        32 => with::<32>(&setup),
        words => Err(io::Error::other(format!("an event has 1, 4, 8 or 32 words: words={words}"))),
    }
}

fn with<const N: usize>(setup: &Setup) -> io::Result<()>
where
    [u64; N]: Default,
{
    match setup.contender {
        Across::LapwingShared => obey(Ends::<Shared, N>::new(setup)),
        Across::Lapwing => obey(Threads::<N>::new(setup)),
        Across::Iceoryx2 => obey(Ends::<Iceoryx2, N>::new(setup)),
        Across::DisruptorMp => obey(Ends::<DisruptorMp, N>::new(setup)),
        Across::Ringfire => obey(Ends::<Ringfire, N>::new(setup)),
        Across::UnixSocket => obey(Ends::<Socket, N>::new(setup)),
        Across::Pipe => obey(Ends::<Pipe, N>::new(setup)),
        Across::WrongAnswer => obey(Ends::<WrongAnswer, N>::new(setup)),
        Across::AeronIpc => Err(io::Error::other("its processes are another program")),
    }
}

/// Obeys until the last order, or until the input is closed.
fn obey(mut ends: impl Obeys) -> io::Result<()> {
    let reply = |reply: &Reply| {
        let mut output = io::stdout().lock();
        writeln!(output, "{}", serde_json::to_string(reply)?).and_then(|()| output.flush())
    };
    for line in io::stdin().lock().lines() {
        let order = serde_json::from_str::<Order>(&line?)?;
        if matches!(order, Order::End) {
            break;
        }
        let before = cpu_time::used();
        let outcome = ends.obey(order);
        let cpu = cpu_time::since(before).unwrap_or_default();
        let outcome = outcome.map(|report| Report { cpu, ..report });
        reply(&outcome.map_err(|error| error.to_string()))?;
    }
    drop(ends);
    reply(&Ok(Report::default()))
}

/// The ends of a process: that of one writer, or of one reader, or one of each for round trips.
struct Ends<'a, T: Transport<N>, const N: usize> {
    setup: &'a Setup,
    outlet: Option<T::Outlet>,
    inlet: Option<T::Inlet>,
}

impl<'a, T: Transport<N>, const N: usize> Ends<'a, T, N> {
    const fn new(setup: &'a Setup) -> Self {
        Self { setup, outlet: None, inlet: None }
    }

    fn outlet(&mut self) -> io::Result<&mut T::Outlet> {
        self.outlet.as_mut().ok_or_else(|| io::Error::other("it has no writing end"))
    }

    fn inlet(&mut self) -> io::Result<&mut T::Inlet> {
        self.inlet.as_mut().ok_or_else(|| io::Error::other("it has no reading end"))
    }

    fn both(&mut self) -> io::Result<(&mut T::Outlet, &mut T::Inlet)> {
        let ends = self.outlet.as_mut().zip(self.inlet.as_mut());
        ends.ok_or_else(|| io::Error::other("it has one end only"))
    }
}

impl<T: Transport<N>, const N: usize> Obeys for Ends<'_, T, N> {
    fn obey(&mut self, order: Order) -> io::Result<Report> {
        let mut report = Report::default();
        match order {
            Order::Create(way) => self.outlet = Some(T::create(self.setup, way)?),
            Order::Open(way, reader) => self.inlet = Some(T::open(self.setup, way, reader)?),
            Order::Begin(cpu) => {
                if let Some(outlet) = &mut self.outlet {
                    outlet.connect()?;
                }
                if let Some(id) = cpu {
                    placement::pin(CoreId { id });
                }
            }
            Order::Write(amount) => {
                report.sent = Some(processes::write(self.outlet()?, &amount)?);
            }
            Order::Read => report.got.push(processes::read(self.inlet()?)?),
            Order::Call(amount, pause) => {
                let (outlet, inlet) = self.both()?;
                report.called = Some(processes::call(outlet, inlet, &amount, pause)?);
            }
            Order::Echo => {
                let (outlet, inlet) = self.both()?;
                processes::echo(outlet, inlet)?;
            }
            Order::Stream(_) | Order::Exchange(..) | Order::End => {
                return Err(io::Error::other(format!("not for a process: {order:?}")));
            }
        }
        Ok(report)
    }
}
