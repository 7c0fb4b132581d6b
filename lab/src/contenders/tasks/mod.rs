//! Channels and rings whose ends are async tasks. Every one has its default settings. A new rival implements
//! [`TaskSender`](crate::load::tasks::TaskSender) and [`TaskReceiver`](crate::load::tasks::TaskReceiver) in
//! `broadcasts` or `channels`, and has a name and its lines here.

mod broadcasts; // each value to each receiver
mod channels; // each value to one receiver
mod own; // Lapwing's channels and rings

use std::time::Duration;

use clap::ValueEnum;
use hdrhistogram::Histogram;

use crate::load::tasks::stream::{self, Streamed, Way};
use crate::load::tasks::{TaskReceiver, TaskSender, idle, wake_up};
use crate::measure::crew::RunError;
use crate::record::OWN;

/// A contender whose ends are awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskEnds {
    /// Lapwing's channels; its ring in batches of a broadcast
    Lapwing,
    /// async-broadcast
    AsyncBroadcast,
    /// Its bounded broadcast
    Asyncband,
    /// Its broadcast, which overwrites what a slow receiver has not received
    TokioBroadcast,
    /// async-channel
    AsyncChannel,
    /// Its channel for one sender, and that for several
    Crossfire,
    /// flume
    Flume,
    /// kanal
    Kanal,
    /// thingbuf
    Thingbuf,
    /// Its bounded channel
    TokioMpsc,
    /// Its bare wake-up
    TokioNotify,
}

/// Ends of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One sender, and this many receivers that get each value.
    Broadcast(usize),
    /// This many senders, and one receiver.
    Channel(usize),
}

/// The slots, the way and the time of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) slots: usize,
    pub(crate) way: Way,
    pub(crate) run_time: Duration,
}

type Stream = Box<dyn Fn(usize, Setting) -> Result<Streamed, RunError>>;
type WakeUps = fn(Duration) -> Result<Histogram<u64>, RunError>;
type Idle = fn(usize, Duration) -> Result<(Option<Duration>, u64), RunError>;

impl TaskEnds {
    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lapwing => OWN,
            Self::AsyncBroadcast => "async-broadcast",
            Self::Asyncband => "asyncband",
            Self::TokioBroadcast => "tokio-broadcast",
            Self::AsyncChannel => "async-channel",
            Self::Crossfire => "crossfire",
            Self::Flume => "flume",
            Self::Kanal => "kanal",
            Self::Thingbuf => "thingbuf",
            Self::TokioMpsc => "tokio-mpsc",
            Self::TokioNotify => "tokio-notify",
        }
    }

    /// Returns how it streams between ends of `kind`, if it does.
    pub(crate) fn stream(self, kind: Kind) -> Option<Stream> {
        match kind {
            Kind::Broadcast(_) => self.broadcast(),
            Kind::Channel(_) => self.channel(),
        }
    }

    fn broadcast(self) -> Option<Stream> {
        Some(match self {
            Self::Lapwing => Box::new(|receivers, Setting { slots, way, run_time }| match way {
                Way::OneByOne => stream::run(own::broadcast(receivers, slots)?, way, run_time),
                Way::Batches(_) => stream::run(own::ring(receivers, slots)?, way, run_time),
            }),
            Self::AsyncBroadcast => over(broadcasts::async_broadcast),
            Self::Asyncband => over(broadcasts::asyncband),
            Self::TokioBroadcast => over(broadcasts::tokio),
            _ => return None,
        })
    }

    fn channel(self) -> Option<Stream> {
        Some(match self {
            Self::Lapwing => Box::new(|senders, Setting { slots, way, run_time }| match senders {
                1 => stream::run(own::spsc(slots)?, way, run_time),
                _ => stream::run(own::mpsc(senders, slots)?, way, run_time),
            }),
            Self::AsyncChannel => over(channels::async_channel),
            Self::Crossfire => {
                Box::new(|senders, Setting { slots, way, run_time }| match senders {
                    1 => stream::run(channels::crossfire_spsc(slots), way, run_time),
                    _ => stream::run(channels::crossfire_mpsc(senders, slots), way, run_time),
                })
            }
            Self::Flume => over(channels::flume),
            Self::Kanal => over(channels::kanal),
            Self::Thingbuf => over(channels::thingbuf),
            Self::TokioMpsc => over(channels::tokio),
            _ => return None,
        })
    }

    /// Returns how a thread wakes a task through it, if it can.
    pub(crate) fn wake_ups(self) -> Option<WakeUps> {
        Some(match self {
            Self::Lapwing => |run_time| wake_up::run(own::bell()?, run_time),
            Self::TokioMpsc => |run_time| wake_up::run(channels::tokio_bell(), run_time),
            Self::TokioNotify => |run_time| wake_up::run(channels::notify(), run_time),
            _ => return None,
        })
    }

    /// Returns how tasks wait at channels of it, one at each.
    pub(crate) fn idle(self) -> Option<Idle> {
        Some(match self {
            Self::Lapwing => |tasks, window| idle::run(own::idle(tasks)?, window),
            Self::TokioMpsc => |tasks, window| idle::run(channels::idle_tokio(tasks), window),
            _ => return None,
        })
    }
}

/// Returns the stream over what `open` returns for a number of ends and of slots.
fn over<S: TaskSender, R: TaskReceiver>(
    open: impl Fn(usize, usize) -> (Vec<S>, Vec<R>) + 'static,
) -> Stream {
    Box::new(move |ends, Setting { slots, way, run_time }| {
        stream::run(open(ends, slots), way, run_time)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for ends in TaskEnds::value_variants() {
            assert_eq!(ends.to_possible_value().unwrap().get_name(), ends.name());
        }
    }

    #[test]
    fn every_contender_hands_over_every_value() {
        let run_time = Duration::from_millis(2);
        for ends in TaskEnds::value_variants() {
            for kind in [1, 3].into_iter().flat_map(|n| [Kind::Broadcast(n), Kind::Channel(n)]) {
                let Some(stream) = ends.stream(kind) else { continue };
                let (Kind::Broadcast(number) | Kind::Channel(number)) = kind;
                for way in [Way::OneByOne, Way::Batches(32)] {
                    let streamed = stream(number, Setting { slots: 64, way, run_time }).unwrap();
                    assert!(streamed.is_complete(), "{ends:?} {kind:?} {way:?} {streamed:?}");
                }
            }
        }
    }

    #[test]
    fn every_wake_up_is_measured_and_every_idle_task_ends() {
        for ends in TaskEnds::value_variants() {
            if let Some(wake_ups) = ends.wake_ups() {
                assert!(!wake_ups(Duration::from_millis(5)).unwrap().is_empty(), "{ends:?}");
            }
            if let Some(idle) = ends.idle() {
                assert_eq!(idle(10, Duration::from_millis(1)).unwrap().1, 10, "{ends:?}");
            }
        }
    }
}
