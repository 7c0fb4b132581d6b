//! The five configurations of the Disruptor paper: their graphs, the work of their stages, their
//! expected answers, and their arcs over any queue. Each contender with a ring wires its own graph
//! (`contenders::lapwing`) and calls the same work on the same events.
//!
//! ```text
//! P: producer   EP: consumer   -->: an arc, which is one queue or one barrier of the ring
//! ```

mod arcs; // the ends of a worker's queues
pub(crate) mod diamond; // two parallel stages and one that joins them
pub(crate) mod multicast; // three parallel consumers
pub(crate) mod pipeline; // three in a row
pub(crate) mod sequencer; // three producers
pub(crate) mod unicast; // one to one

use clap::ValueEnum;
use serde::Serialize;

use crate::load::event::{PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::queue::Queue;
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::{Answers, Finish, RunError};

/// A configuration from section 5 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Topology {
    /// One producer, one consumer.
    Unicast,
    /// One producer, three steps in a row.
    Pipeline,
    /// Three producers, one consumer.
    Sequencer,
    /// One producer, three consumers of every event.
    Multicast,
    /// One producer, two parallel consumers, and a third consumer that joins them.
    Diamond,
}

impl Topology {
    /// All configurations, in the order of the paper.
    pub(crate) const ALL: [Self; 5] =
        [Self::Unicast, Self::Pipeline, Self::Sequencer, Self::Multicast, Self::Diamond];

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unicast => "unicast",
            Self::Pipeline => "pipeline",
            Self::Sequencer => "sequencer",
            Self::Multicast => "multicast",
            Self::Diamond => "diamond",
        }
    }

    /// Returns the numbers of producers and consumers, as in the paper.
    pub(crate) const fn shape(self) -> &'static str {
        match self {
            Self::Unicast => "1P-1C",
            Self::Pipeline | Self::Multicast | Self::Diamond => "1P-3C",
            Self::Sequencer => "3P-1C",
        }
    }

    /// Returns the number of producers. Each publishes its share of the events.
    pub(crate) const fn producers(self) -> usize {
        match self {
            Self::Sequencer => 3,
            Self::Unicast | Self::Pipeline | Self::Multicast | Self::Diamond => 1,
        }
    }

    /// Returns the number of consumers. Each receives every event.
    pub(crate) const fn consumers(self) -> usize {
        match self {
            Self::Unicast | Self::Sequencer => 1,
            Self::Pipeline | Self::Multicast | Self::Diamond => 3,
        }
    }

    /// Returns the threads of one run with one thread per producer and consumer.
    pub(crate) const fn threads(self) -> usize {
        self.producers() + self.consumers()
    }

    /// Returns the answers that every contender must give, computed by a plain loop on one thread.
    pub(crate) fn expected(self, workload: &Workload) -> Answers {
        let events = workload.events;
        match workload.event_bytes {
            EventBytes::B8 => self.expected_of::<PAD_8>(events),
            EventBytes::B32 => self.expected_of::<PAD_32>(events),
            EventBytes::B64 => self.expected_of::<PAD_64>(events),
            EventBytes::B256 => self.expected_of::<PAD_256>(events),
        }
    }

    /// Computes [`expected`](Self::expected) for one size of event.
    fn expected_of<const PAD: usize>(self, events: u32) -> Answers {
        match self {
            Self::Unicast => unicast::expected::<PAD>(events),
            Self::Pipeline => pipeline::expected::<PAD>(events),
            Self::Sequencer => sequencer::expected::<PAD>(events),
            Self::Multicast => multicast::expected::<PAD>(events),
            Self::Diamond => diamond::expected::<PAD>(events),
        }
    }

    /// Runs the topology with one `queue` for each arc.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    pub(crate) fn over_queues(
        self,
        queue: impl Queue,
        workload: &Workload,
    ) -> Result<Finish, RunError> {
        match workload.event_bytes {
            EventBytes::B8 => self.over_queues_of::<_, PAD_8>(queue, workload),
            EventBytes::B32 => self.over_queues_of::<_, PAD_32>(queue, workload),
            EventBytes::B64 => self.over_queues_of::<_, PAD_64>(queue, workload),
            EventBytes::B256 => self.over_queues_of::<_, PAD_256>(queue, workload),
        }
    }

    /// Runs [`over_queues`](Self::over_queues) for one size of event.
    fn over_queues_of<Q: Queue, const PAD: usize>(
        self,
        queue: Q,
        workload: &Workload,
    ) -> Result<Finish, RunError> {
        match self {
            Self::Unicast => unicast::over_queues::<Q, PAD>(queue, workload),
            Self::Pipeline => pipeline::over_queues::<Q, PAD>(queue, workload),
            Self::Sequencer => sequencer::over_queues::<Q, PAD>(queue, workload),
            Self::Multicast => multicast::over_queues::<Q, PAD>(queue, workload),
            Self::Diamond => diamond::over_queues::<Q, PAD>(queue, workload),
        }
    }
}
