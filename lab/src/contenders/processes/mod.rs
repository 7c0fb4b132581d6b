//! Contenders whose ends can be in different processes. A process of a run is this program with a
//! hidden subcommand, which makes its ends and does what it is told (`serve`); `crew` starts the
//! processes of a run, and removes what they leave behind (`place`).
//!
//! ```text
//! crew  -- lines -->  serve: writer    Transport::create    Outlet  \
//!       -- lines -->  serve: reader 0  Transport::open      Inlet    } memory, socket or pipe
//!       -- lines -->  serve: reader 1  Transport::open      Inlet   /
//! ```
//!
//! Each run has its own processes: a rival that polls would otherwise take CPUs from the next row.
//! A further rival implements [`Transport`], and has its lines in [`Across`] and in `serve`. One in
//! another language has a program of its own, which obeys the same orders as `words`.
//!
//! - `aeron-ipc`: ends in Java, and a media driver. The writer retries until there is room.
//! - `iceoryx2`: publish-subscribe without overflow; its publisher retries until an event is
//!   delivered. It has no way to send several samples together.
//! - `ringfire`: a ring in its lossless mode.
//! - `disruptor-mp`: both ends poll. Its consumers yield in what it calls sleeping.
//! - A socket and a pipe for each reader; the writer writes each event to each.

mod aeron_ipc; // Aeron, in Java
mod crew; // the processes of a run, from outside
mod disruptor_mp; // the Disruptor for processes
mod iceoryx2; // publish-subscribe
mod kernel; // sockets and pipes
mod lapwing_shared; // what this repository has
mod order; // what a process must do, and what it answers
mod place; // where the memory of a run is
mod ringfire; // a ring in shared memory
mod serve; // a process of a run, from inside
mod threads; // Lapwing's threads, for comparison
mod words; // orders and replies for other programs
mod wrong_answer; // proves that a wrong answer is refused

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub(crate) use self::crew::{Crew, Streamed};
pub(crate) use self::place::Place;
pub(crate) use self::serve::serve;
use super::WaitName;
use crate::foreign::Program;
use crate::load::processes::{Inlet, Outlet};
use crate::record::OWN;

/// A contender whose ends can be in different processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
pub(crate) enum Across {
    /// lapwing-shared
    LapwingShared,
    /// Lapwing's ring between threads of one process, for comparison
    Lapwing,
    /// iceoryx2, publish-subscribe
    Iceoryx2,
    /// disruptor-mp
    DisruptorMp,
    /// ringfire, lossless
    Ringfire,
    /// Aeron's IPC, in Java
    AeronIpc,
    /// A Unix socket for each reader
    UnixSocket,
    /// A named pipe for each reader
    Pipe,
    /// A contender with wrong answers
    #[value(hide = true)]
    WrongAnswer,
}

/// A contender that can run here.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    contender: Across,
    /// The program of its processes, if they are not this one.
    program: Option<Arc<Program>>,
}

/// How an end waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum EndWait {
    /// By a strategy of Lapwing.
    Own(WaitName),
    /// Polls with a hint to the CPU.
    Spin,
    /// Polls, and yields the CPU in between.
    Yield,
    /// Sleeps in the kernel.
    Sleep,
}

/// What all processes of a run must agree on.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Setup {
    pub(crate) contender: Across,
    pub(crate) wait: EndWait,
    /// Words of an event.
    pub(crate) words: usize,
    /// Slots of the ring, or what comes closest to it.
    pub(crate) slots: usize,
    /// Readers, each of which gets each event.
    pub(crate) readers: usize,
    /// The CPU of each process or thread, the writer's first; empty if the system chooses.
    pub(crate) cpus: Vec<usize>,
    /// The folder of the run, and what the names of its memory begin with.
    pub(crate) folder: PathBuf,
    pub(crate) prefix: String,
}

/// A direction of events in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
enum Way {
    There,
    Back,
}

/// A contender: how it makes its ends.
trait Transport<const N: usize> {
    type Outlet: Outlet;
    type Inlet: Inlet<N>;

    /// Makes the writing end. No reader is there yet.
    fn create(setup: &Setup, way: Way) -> io::Result<Self::Outlet>;

    /// Makes the end of a reader, by its number from 0. The writing end is there.
    fn open(setup: &Setup, way: Way, reader: usize) -> io::Result<Self::Inlet>;
}

impl Across {
    /// Those of a full comparison.
    pub(crate) const ALL: [Self; 8] = [
        Self::LapwingShared,
        Self::Lapwing,
        Self::Iceoryx2,
        Self::DisruptorMp,
        Self::Ringfire,
        Self::AeronIpc,
        Self::UnixSocket,
        Self::Pipe,
    ];

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LapwingShared => "lapwing-shared",
            Self::Lapwing => OWN,
            Self::Iceoryx2 => "iceoryx2",
            Self::DisruptorMp => "disruptor-mp",
            Self::Ringfire => "ringfire",
            Self::AeronIpc => "aeron-ipc",
            Self::UnixSocket => "unix-socket",
            Self::Pipe => "pipe",
            Self::WrongAnswer => "wrong-answer",
        }
    }

    /// Returns its ways to wait. `own` are those of Lapwing.
    pub(crate) fn waits(self, own: &[WaitName]) -> Vec<EndWait> {
        match self {
            Self::LapwingShared | Self::Lapwing => {
                own.iter().map(|wait| EndWait::Own(*wait)).collect()
            }
            Self::Iceoryx2 | Self::Ringfire | Self::AeronIpc => {
                vec![EndWait::Spin, EndWait::Yield, EndWait::Sleep]
            }
            Self::DisruptorMp => vec![EndWait::Spin, EndWait::Yield],
            Self::UnixSocket | Self::Pipe | Self::WrongAnswer => vec![EndWait::Sleep],
        }
    }

    /// Returns whether its ends are threads of one process.
    pub(crate) fn is_threads(self) -> bool {
        self == Self::Lapwing
    }
}

impl Entry {
    /// Prepares a contender.
    ///
    /// # Errors
    ///
    /// The missing tool, in a few words.
    pub(crate) fn of(contender: Across) -> Result<Self, String> {
        let program = match contender {
            Across::AeronIpc => {
                let program = aeron_ipc::build().map_err(|error| error.to_string())?;
                Some(Arc::new(program))
            }
            _ => None,
        };
        Ok(Self { contender, program })
    }

    /// Returns which contender it is.
    pub(crate) const fn contender(&self) -> Across {
        self.contender
    }

    /// Returns whether its processes compile their code while they run, so that they are slow at
    /// first.
    pub(crate) const fn compiles_late(&self) -> bool {
        self.program.is_some()
    }
}

impl EndWait {
    /// Returns the name in a report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Own(wait) => wait.name(),
            Self::Spin => "spin",
            Self::Yield => "yield",
            Self::Sleep => "sleep",
        }
    }

    /// Returns whether a reader that waits for long takes a whole CPU.
    pub(crate) const fn polls(self) -> bool {
        match self {
            Self::Own(wait) => matches!(wait, WaitName::BusySpin | WaitName::Yielding),
            Self::Spin | Self::Yield => true,
            Self::Sleep => false,
        }
    }

    /// Waits for a moment between two polls. One that sleeps does so elsewhere.
    #[inline]
    fn idle(self) {
        match self {
            Self::Yield => std::thread::yield_now(),
            _ => std::hint::spin_loop(),
        }
    }
}

impl Way {
    /// Returns a name for the memory of this direction.
    const fn name(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Back => "back",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for contender in Across::value_variants() {
            let name = contender.to_possible_value().unwrap().get_name().to_owned();
            assert_eq!(name, contender.name());
        }
    }
}
