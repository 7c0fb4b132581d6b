//! One cell of the table: its traffic, senders, slots and payload, and the other load of the
//! machine.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::contenders::channels::{Load, Payload, Shape};
use crate::load::traffic::Timing;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) traffic: TrafficName,
    /// Threads that send; 1 in round trips.
    pub(super) senders: usize,
    /// Slots of each channel.
    pub(super) capacity: usize,
    pub(super) payload: Payload,
    pub(super) beside: Beside,
    /// Busy threads of another process: 0 unless the cell runs beside them.
    pub(super) busy_threads: u32,
}

/// The counted traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TrafficName {
    /// Values from senders to one receiver.
    OneWay,
    /// Round trips of values, one at a time.
    RoundTrips,
    /// One way, with the time of each send.
    Tails,
}

/// The other load of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Beside {
    /// Nothing.
    Quiet,
    /// Busy threads of another process.
    Busy,
    /// No other load. All threads of the run share one CPU.
    OneCpu,
}

impl Case {
    /// Returns the load of a run of this length.
    pub(super) fn load(&self, run_time: Duration) -> Load {
        let shape = match self.traffic {
            TrafficName::OneWay | TrafficName::Tails => Shape::OneWay(self.senders),
            TrafficName::RoundTrips => Shape::RoundTrips,
        };
        let times_sends = self.traffic == TrafficName::Tails;
        let timing = Timing { run_time, times_sends };
        Load { shape, capacity: self.capacity, payload: self.payload, timing }
    }
}

impl TrafficName {
    /// Returns the name in a table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::OneWay => "one way",
            Self::RoundTrips => "round trips",
            Self::Tails => "tails",
        }
    }
}

impl Beside {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Quiet, Self::Busy, Self::OneCpu];

    /// Returns the name on the command line and in every report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::OneCpu => "one-cpu",
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traffic, senders, capacity, payload, beside, .. } = self;
        let (traffic, payload, beside) = (traffic.name(), payload.name(), beside.name());
        write!(formatter, "{traffic} {beside} {senders}x{capacity} {payload}")
    }
}
