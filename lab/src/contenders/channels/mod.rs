//! Bounded channels under load: Lapwing's and their alternatives. Every channel has its default
//! settings. A second kind of channel in the same crate is another contender.
//!
//! The channels themselves are in `queues`; as the arcs of a graph, they are in `over_queues`. Which of them take part
//! is in `registry`.

pub(crate) mod wrong_answer; // a channel that loses a value

use clap::ValueEnum;

use super::{WaitName, lapwing};
use crate::load::queue::Queue;
use crate::load::traffic::{self, Timing, Traffic};
use crate::load::value::Value;
use crate::measure::crew::RunError;

/// The loads in which a channel does not take part, each with the reason.
pub(crate) type Refusal = fn(Shape, usize) -> Option<&'static str>;

/// A kind of channel, whatever the types of its ends are.
#[derive(Clone, Copy)]
pub(crate) struct ChannelKind {
    /// What it is, for the help.
    pub(super) help: &'static str,
    /// Returns the wait of its ends, in one word. Only Lapwing's channel has the choice that it takes.
    pub(super) wait: fn(WaitName) -> &'static str,
    /// Runs a load once.
    pub(super) run: fn(WaitName, &Load) -> Result<Traffic, RunError>,
    /// Returns the reason why it does not take part in a shape over this many slots, if there is one.
    pub(super) refusal: Refusal,
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

impl ChannelKind {
    /// Creates the kind of a rival: a queue for a single sender, and one for several, which can be the same.
    pub(super) const fn of<Single: Queue + Default, Multi: Queue + Default>(
        help: &'static str,
    ) -> Self {
        Self {
            help,
            wait: |_| Multi::WAIT,
            run: |_, load| run(Single::default(), Multi::default(), load),
            refusal: |_, _| None,
        }
    }

    /// Creates the kind of Lapwing's channel.
    pub(super) const fn lapwing(help: &'static str) -> Self {
        Self {
            help,
            wait: WaitName::name,
            run: |wait, load| {
                run(lapwing::bounded::Single(wait), lapwing::bounded::Multi(wait), load)
            },
            refusal: |_, _| None,
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
    use crate::contenders::{Channel, ChannelName};

    const TIMING: Timing = Timing { run_time: Duration::from_millis(2), times_sends: false };

    #[test]
    fn names_of_payloads_are_those_of_the_command_line() {
        for payload in Payload::ALL {
            assert_eq!(payload.to_possible_value().unwrap().get_name(), payload.name());
        }
    }

    /// Runs `channel` with every payload and shape that it supports.
    fn assert_delivers_every_value(channel: Channel) {
        for shape in [Shape::OneWay(1), Shape::OneWay(3), Shape::RoundTrips] {
            for (capacity, payload) in
                [(1, Payload::Word), (4, Payload::Line), (16, Payload::String)]
            {
                if channel.refusal(shape, capacity).is_none() {
                    let load = Load { shape, capacity, payload, timing: TIMING };
                    let traffic = channel.run(&load);
                    let traffic = traffic.unwrap_or_else(|error| panic!("{channel:?} {error}"));
                    assert_eq!(traffic.sent, traffic.received, "{channel:?} {load:?}");
                }
            }
        }
    }

    #[test]
    fn every_channel_delivers_every_value() {
        for name in ChannelName::shown() {
            assert_delivers_every_value(Channel { name, wait: WaitName::Adaptive });
        }
    }

    #[test]
    fn a_lost_value_does_not_end_in_a_hang() {
        let liar = Channel { name: ChannelName::of("wrong-answer"), wait: WaitName::Adaptive };
        assert!(liar.refusal(Shape::RoundTrips, 4).is_some());
        assert_eq!(liar.refusal(Shape::OneWay(2), 1), None);
    }

    #[test]
    fn every_strategy_of_lapwing_delivers_every_value() {
        for wait in WaitName::ALL {
            for shape in [Shape::OneWay(1), Shape::OneWay(2)] {
                let channel = Channel { name: ChannelName::of("lapwing"), wait };
                let load = Load { shape, capacity: 4, payload: Payload::Word, timing: TIMING };
                let traffic = channel.run(&load).unwrap();
                assert_eq!(traffic.sent, traffic.received, "{wait:?}");
            }
        }
    }
}
