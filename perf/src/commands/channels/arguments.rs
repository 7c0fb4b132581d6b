//! The flags of `lapwing channels`.

use clap::{ArgAction, Args, value_parser};

use super::Plan;
use super::case::{Beside, Case, TrafficName};
use crate::contenders::WaitName;
use crate::contenders::channels::{Channel, ChannelName, Payload};
use crate::flags::{TimedArguments, values};

/// The length of one run without `--quick`, in milliseconds.
const RUN_MS: u32 = 100;
/// Senders of the tails: more than there are CPUs, and many more.
const TAIL_SENDERS: [u32; 2] = [8, 200];
/// Slots of the tails.
const TAIL_CAPACITY: usize = 8;

/// The flags of `lapwing channels`.
#[derive(Args, Debug)]
pub(crate) struct ChannelsArguments {
    /// Slots of the channel, separated by commas; powers of two
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,16,128,1024,16384")]
    #[arg(value_parser = values::ring)]
    capacity: Vec<usize>,

    /// Numbers of senders, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,3,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=256))]
    senders: Vec<u32>,

    /// Payloads, separated by commas. Default: all three
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    payload: Vec<Payload>,

    /// Other load of the machine, separated by commas: none, busy threads of another process, or
    /// none with all threads of the run on one CPU
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "quiet,busy,one-cpu"
    )]
    beside: Vec<Beside>,

    /// Threads of the other process in a busy run
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..=64))]
    busy_threads: u32,

    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ChannelName>,

    /// Wait strategies of both ends of Lapwing's channel, separated by commas; each adds a row
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    wait: Vec<WaitName>,

    /// Whether to measure round trips as well, one value at a time, over two channels of one slot
    #[arg(long, value_name = "true|false", default_value_t = true, action = ArgAction::Set)]
    round_trips: bool,

    /// Times each send instead: 8 and 200 senders on 8 slots. Reports the longest send and how
    /// evenly senders are served
    #[arg(long, conflicts_with_all = ["capacity", "senders", "round_trips"])]
    tails: bool,

    #[command(flatten)]
    pub(super) timed: TimedArguments,
}

impl ChannelsArguments {
    /// Returns the measured cases, and the number of runs.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            cases: self.cases(),
            channels: self.channels(),
            run_time: self.timed.run_time(RUN_MS),
            rounds: self.timed.rounds(),
        }
    }

    /// Returns the requested contenders, each once; Lapwing once for each strategy.
    fn channels(&self) -> Vec<Channel> {
        let waits = values::each_once(&self.wait, &[]);
        let with = |name| {
            let waits = if name == ChannelName::Lapwing { &waits[..] } else { &waits[..1] };
            waits.iter().map(move |&wait| Channel { name, wait })
        };
        values::each_once(&self.contender, &ChannelName::ALL).into_iter().flat_map(with).collect()
    }

    /// Returns the cells, each once.
    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for beside in values::each_once(&self.beside, &Beside::ALL) {
            for payload in values::each_once(&self.payload, &Payload::ALL) {
                cases.extend(self.cases_of(payload, beside));
            }
        }
        cases
    }

    fn cases_of(&self, payload: Payload, beside: Beside) -> Vec<Case> {
        let busy_threads = if beside == Beside::Busy { self.busy_threads } else { 0 };
        let case = |traffic, senders: u32, capacity| Case {
            traffic,
            senders: senders as usize,
            capacity,
            payload,
            beside,
            busy_threads,
        };
        if self.tails {
            return TAIL_SENDERS
                .map(|senders| case(TrafficName::Tails, senders, TAIL_CAPACITY))
                .into();
        }
        let senders = values::each_once(&self.senders, &[]);
        let one_way = values::each_once(&self.capacity, &[]).into_iter().flat_map(|capacity| {
            senders.iter().map(move |&senders| case(TrafficName::OneWay, senders, capacity))
        });
        let round_trips = self.round_trips.then(|| case(TrafficName::RoundTrips, 1, 1));
        one_way.chain(round_trips).collect()
    }
}
