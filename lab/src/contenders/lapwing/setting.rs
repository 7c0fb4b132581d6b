//! The setting of a row of Lapwing: the wait of its threads, and the consumers that share one.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::ValueEnum;
use lapwing::Disruptor;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::one_ring;

/// The maximum number of threads on the command line. No command has more consumers.
const MAX_THREADS: usize = 64;

/// The setting of a row of Lapwing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// How consumers wait for events and producers for slots.
    pub(crate) wait: WaitName,
    /// The consumers that share a thread.
    pub(crate) placement: PlacementName,
    /// Whether another process can look at the ring.
    pub(crate) is_observable: bool,
}

/// A wait strategy on the command line, for Lapwing's consumers and producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
pub(crate) enum WaitName {
    /// Spins for a moment, yields for a while, then parks.
    Adaptive,
    /// Spins without end.
    BusySpin,
    /// Spins for a moment, then yields the CPU until there is an event.
    Yielding,
    /// Spins, yields, then sleeps for short times.
    Sleeping,
    /// Parks until woken.
    Blocking,
    /// Spins for 5 µs, yields for 50 µs, then parks.
    PhasedBackoff,
}

/// A placement on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlacementName {
    /// A thread for each consumer.
    Own,
    /// As many threads as there are CPUs, minus those of the producers, and at least one.
    Auto,
    /// This many threads, or fewer if there are fewer consumers.
    Threads(NonZeroUsize),
}

/// Error of parsing a [`PlacementName`].
#[derive(Debug, Error)]
#[error("expected `own`, `auto` or a number of threads in 1..={MAX_THREADS}")]
pub(crate) struct PlacementSyntax;

impl WaitName {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Adaptive,
        Self::BusySpin,
        Self::Yielding,
        Self::Sleeping,
        Self::Blocking,
        Self::PhasedBackoff,
    ];

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::BusySpin => "busy-spin",
            Self::Yielding => "yielding",
            Self::Sleeping => "sleeping",
            Self::Blocking => "blocking",
            Self::PhasedBackoff => "phased-backoff",
        }
    }
}

impl Setting {
    /// Returns each of `waits` with each of `placements`.
    pub(crate) fn each(waits: &[WaitName], placements: &[PlacementName]) -> Vec<Self> {
        let of = move |wait, placement| Self { placement, ..Self::from(wait) };
        let with = |&wait| placements.iter().map(move |&placement| of(wait, placement));
        waits.iter().flat_map(with).collect()
    }

    /// Returns the total threads of a run with this many `producers` and `consumers`. The library
    /// computes it for a small ring, because the number depends on nothing else.
    pub(crate) fn threads(self, producers: usize, consumers: usize) -> usize {
        let builder = Disruptor::single_producer(1, u64::default);
        let ring = one_ring::setting::applied(self, builder, producers).parallel(|parallel| {
            let names = (0..consumers).map(|number| format!("stage-{number}"));
            names.fold(parallel, |parallel, name| parallel.stage(name).read(|_, _, _| {}))
        });
        let count = ring.build().map_or(consumers, |(_, consumers)| consumers.threads().count());
        producers + count
    }
}

impl Default for Setting {
    /// Returns the library's defaults.
    fn default() -> Self {
        Self::from(WaitName::Adaptive)
    }
}

impl From<WaitName> for Setting {
    fn from(wait: WaitName) -> Self {
        Self { wait, placement: PlacementName::Own, is_observable: false }
    }
}

impl fmt::Display for PlacementName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => formatter.write_str("own"),
            Self::Auto => formatter.write_str("auto"),
            Self::Threads(count) => count.fmt(formatter),
        }
    }
}

impl FromStr for PlacementName {
    type Err = PlacementSyntax;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "own" => Ok(Self::Own),
            "auto" => Ok(Self::Auto),
            _ => {
                let count = text.parse::<NonZeroUsize>().map_err(|_| PlacementSyntax)?;
                let is_allowed = count.get() <= MAX_THREADS;
                is_allowed.then_some(Self::Threads(count)).ok_or(PlacementSyntax)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::available_parallelism;

    use super::*;

    fn placed(text: &str) -> Setting {
        Setting { placement: text.parse().unwrap(), ..Setting::default() }
    }

    #[test]
    fn placement_reads_what_it_prints() {
        for text in ["own", "auto", "1", "64"] {
            assert_eq!(placed(text).placement.to_string(), text);
        }
    }

    #[test]
    fn placement_refuses_other_words() {
        for text in ["", "owned", "Auto", "0", "-1", "65", "1.5", "99999999999999999999"] {
            let error = text.parse::<PlacementName>().unwrap_err().to_string();
            assert_eq!(error, "expected `own`, `auto` or a number of threads in 1..=64", "{text}");
        }
    }

    #[test]
    fn threads_are_those_of_the_producers_and_of_the_placement() {
        let cpus = available_parallelism().map_or(1, usize::from);
        for (producers, consumers) in [(1, 1), (1, 3), (3, 1), (8, 8)] {
            let threads = |text| placed(text).threads(producers, consumers) - producers;
            assert_eq!(threads("own"), consumers);
            assert_eq!(threads("1"), 1);
            assert_eq!(threads("2"), consumers.min(2));
            assert_eq!(threads("auto"), cpus.saturating_sub(producers).clamp(1, consumers));
        }
    }

    #[test]
    fn there_is_a_setting_for_each_wait_with_each_placement() {
        let placements = ["own", "1"].map(|text| placed(text).placement);
        let settings = Setting::each(&[WaitName::Adaptive, WaitName::Blocking], &placements);
        let names = settings.iter().map(|it| format!("{} {}", it.wait.name(), it.placement));
        assert!(names.eq(["adaptive own", "adaptive 1", "blocking own", "blocking 1"]));
    }
}
