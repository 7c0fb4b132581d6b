//! A process of a run, from inside: it makes the ends that it is told to, and sends or receives
//! over them. It reads an order from each line of its standard input, and writes a line with the
//! outcome.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use core_affinity::CoreId;
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

use super::disruptor_mp::DisruptorMp;
use super::iceoryx2::Iceoryx2;
use super::kernel::{Pipe, Socket};
use super::lapwing_shared::Shared;
use super::ringfire::Ringfire;
use super::threads::Threads;
use super::wrong_answer::WrongAnswer;
use super::{Across, Setup, Transport, Way};
use crate::load::processes::{self, Amount, Called, Got, Outlet, Sent};
use crate::machine::{cpu_time, placement};

/// What a process must do.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) enum Order {
    /// Makes the writing end of a direction; threads make all ends of it.
    Create(Way),
    /// Makes the end of the reader of this number.
    Open(Way, usize),
    /// Gets ready, on this CPU if it is given: all ends are there. A process is bound only now,
    /// because ends count the CPUs.
    Begin(Option<usize>),
    /// Sends.
    Write(Amount),
    /// Receives until the end of the stream.
    Read,
    /// Sends events one by one and gets each back, after a pause before each.
    Call(Amount, Duration),
    /// Sends events back.
    Echo,
    /// Writes and reads, between threads.
    Stream(Amount),
    /// Calls and echoes, between threads.
    Exchange(Amount, Duration),
    /// Drops its ends, and ends.
    End,
}

/// The outcome of an order.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Report {
    /// CPU time of the process meanwhile.
    pub(super) cpu: Duration,
    pub(super) sent: Option<Sent>,
    /// One for each reader of this process.
    pub(super) got: Vec<Got>,
    pub(super) called: Option<Called>,
}

/// The line that answers an order: a report, or why there is none.
pub(super) type Reply = Result<Report, String>;

/// The ends of a process.
pub(super) trait Obeys {
    /// Does what `order` says.
    ///
    /// # Errors
    ///
    /// The contender refuses, or the order is not for these ends.
    fn obey(&mut self, order: Order) -> io::Result<Report>;
}

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
