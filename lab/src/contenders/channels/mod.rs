//! Bounded channels under load: Lapwing's and their alternatives. Every channel has its default
//! settings. A second kind of channel in the same crate is another contender.
//!
//! The channels themselves are in `queues`; as the arcs of a graph, they are in `over_queues`.

pub(crate) mod wrong_answer; // a channel that loses a value

use clap::ValueEnum;

use super::{WaitName, lapwing, queues};
use crate::load::queue::Queue;
use crate::load::traffic::{self, Timing, Traffic};
use crate::load::value::Value;
use crate::measure::crew::RunError;

/// A contender on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChannelName {
    /// This project: `lapwing::channel`.
    Lapwing,
    /// `std::sync::mpsc::sync_channel`.
    StdMpsc,
    /// `crossbeam_channel::bounded`.
    CrossbeamChannel,
    /// `kanal::bounded`.
    Kanal,
    /// `flume::bounded`.
    Flume,
    /// `crossfire::spsc::bounded_blocking` and `crossfire::mpsc::bounded_blocking`.
    Crossfire,
    /// `gil::spsc::channel` and `gil::mpsc::channel`, which spin and yield.
    Gil,
    /// `thingbuf::mpsc::blocking::channel`.
    Thingbuf,
    /// Loses a value, to test that the error is found
    #[value(hide = true)]
    WrongAnswer,
}

/// A contender with its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    /// The crate and the kind of the channel.
    pub(crate) name: ChannelName,
    /// The wait of both ends of Lapwing's channel. Other channels have no choice.
    pub(crate) wait: WaitName,
}

/// The payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Payload {
    /// A number of 64 bits.
    Word,
    /// Eight of them: a cache line.
    #[value(name = "64-bytes")]
    Line,
    /// A string that the sender allocates and the receiver frees.
    String,
}

/// The direction of the values, and the number of senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// This many senders to one receiver.
    OneWay(usize),
    /// One value at a time over two channels.
    RoundTrips,
}

/// One run of any channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// The direction of the values, and the number of senders.
    pub(crate) shape: Shape,
    /// Slots of each channel.
    pub(crate) capacity: usize,
    /// The payload.
    pub(crate) payload: Payload,
    /// The run time and whether sends are timed.
    pub(crate) timing: Timing,
}

impl ChannelName {
    /// The channels of a full comparison.
    pub(crate) const ALL: [Self; 8] = [
        Self::Lapwing,
        Self::StdMpsc,
        Self::CrossbeamChannel,
        Self::Kanal,
        Self::Flume,
        Self::Crossfire,
        Self::Gil,
        Self::Thingbuf,
    ];

    /// Returns the name in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lapwing => "lapwing",
            Self::StdMpsc => "std-mpsc",
            Self::CrossbeamChannel => "crossbeam-channel",
            Self::Kanal => "kanal",
            Self::Flume => "flume",
            Self::Crossfire => "crossfire",
            Self::Gil => "gil",
            Self::Thingbuf => "thingbuf",
            Self::WrongAnswer => "wrong-answer",
        }
    }
}

impl Channel {
    /// Returns the wait of its ends, in one word.
    pub(crate) const fn wait(self) -> &'static str {
        match self.name {
            ChannelName::Lapwing => self.wait.name(),
            ChannelName::StdMpsc => queues::StdMpsc::WAIT,
            ChannelName::CrossbeamChannel => queues::CrossbeamChannel::WAIT,
            ChannelName::Kanal => queues::Kanal::WAIT,
            ChannelName::Flume => queues::Flume::WAIT,
            ChannelName::Crossfire => queues::Crossfire::WAIT,
            ChannelName::Gil => queues::Gil::WAIT,
            ChannelName::Thingbuf => queues::Thingbuf::WAIT,
            ChannelName::WrongAnswer => wrong_answer::WrongAnswer::WAIT,
        }
    }

    /// Returns the reason why it does not take part in `shape` over this many slots, if there is
    /// one.
    pub(crate) fn refusal(self, shape: Shape, capacity: usize) -> Option<&'static str> {
        match (self.name, shape) {
            (ChannelName::Gil, Shape::OneWay(2..)) if capacity == 1 => {
                Some("its channel of one slot loses values of several senders")
            }
            (ChannelName::WrongAnswer, Shape::RoundTrips) => {
                Some("both ends would wait for a value that is lost")
            }
            _ => None,
        }
    }

    /// Runs once.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a thread could not start or did not complete.
    pub(crate) fn run(self, load: &Load) -> Result<Traffic, RunError> {
        match self.name {
            ChannelName::Lapwing => {
                run(lapwing::bounded::Single(self.wait), lapwing::bounded::Multi(self.wait), load)
            }
            ChannelName::StdMpsc => run_both(queues::StdMpsc, load),
            ChannelName::CrossbeamChannel => run_both(queues::CrossbeamChannel, load),
            ChannelName::Kanal => run_both(queues::Kanal, load),
            ChannelName::Flume => run_both(queues::Flume, load),
            ChannelName::Crossfire => run(queues::CrossfireSingle, queues::Crossfire, load),
            ChannelName::Gil => run(queues::GilSingle, queues::Gil, load),
            ChannelName::Thingbuf => run_both(queues::Thingbuf, load),
            ChannelName::WrongAnswer => run_both(wrong_answer::WrongAnswer, load),
        }
    }
}

impl Payload {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Word, Self::Line, Self::String];

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Line => "64-bytes",
            Self::String => "string",
        }
    }
}

impl Shape {
    /// Returns the number of threads.
    pub(crate) const fn threads(self) -> usize {
        match self {
            Self::OneWay(senders) => senders + 1,
            Self::RoundTrips => 2,
        }
    }
}

/// Runs `load` over one kind of channel, whatever the number of senders.
fn run_both(channel: impl Queue, load: &Load) -> Result<Traffic, RunError> {
    run(channel, channel, load)
}

/// Runs `load` over channels of kind `single` if they have one sender, else over those of kind `multi`.
fn run(single: impl Queue, multi: impl Queue, load: &Load) -> Result<Traffic, RunError> {
    match load.payload {
        Payload::Word => run_of::<u64>(single, multi, load),
        Payload::Line => run_of::<[u64; 8]>(single, multi, load),
        Payload::String => run_of::<String>(single, multi, load),
    }
}

fn run_of<T: Value>(
    single: impl Queue,
    multi: impl Queue,
    load: &Load,
) -> Result<Traffic, RunError> {
    match load.shape {
        Shape::OneWay(1) => traffic::one_way::<T, _>(single, load.capacity, 1, load.timing),
        Shape::OneWay(senders) => {
            traffic::one_way::<T, _>(multi, load.capacity, senders, load.timing)
        }
        Shape::RoundTrips => traffic::round_trips::<T, _>(single, load.capacity, load.timing),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TIMING: Timing = Timing { run_time: Duration::from_millis(2), times_sends: false };

    #[test]
    fn names_are_those_of_the_command_line() {
        for name in ChannelName::ALL {
            assert_eq!(name.to_possible_value().unwrap().get_name(), name.name());
        }
        for payload in Payload::ALL {
            assert_eq!(payload.to_possible_value().unwrap().get_name(), payload.name());
        }
    }

    #[test]
    fn every_channel_delivers_every_value() {
        for name in ChannelName::ALL {
            for shape in [Shape::OneWay(1), Shape::OneWay(3), Shape::RoundTrips] {
                for (capacity, payload) in
                    [(1, Payload::Word), (4, Payload::Line), (16, Payload::String)]
                {
                    let channel = Channel { name, wait: WaitName::Adaptive };
                    if channel.refusal(shape, capacity).is_none() {
                        let load = Load { shape, capacity, payload, timing: TIMING };
                        let traffic = channel.run(&load).unwrap();
                        assert_eq!(traffic.sent, traffic.received, "{name:?} {load:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_lost_value_does_not_end_in_a_hang() {
        let liar = Channel { name: ChannelName::WrongAnswer, wait: WaitName::Adaptive };
        assert!(liar.refusal(Shape::RoundTrips, 4).is_some());
        assert_eq!(liar.refusal(Shape::OneWay(2), 1), None);
    }

    #[test]
    fn every_strategy_of_lapwing_delivers_every_value() {
        for wait in WaitName::ALL {
            for shape in [Shape::OneWay(1), Shape::OneWay(2)] {
                let channel = Channel { name: ChannelName::Lapwing, wait };
                let load = Load { shape, capacity: 4, payload: Payload::Word, timing: TIMING };
                let traffic = channel.run(&load).unwrap();
                assert_eq!(traffic.sent, traffic.received, "{wait:?}");
            }
        }
    }
}
