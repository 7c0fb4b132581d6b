//! What monitors know of a ring: of one of this process, or of another one. Not here: the ring itself
//! (`ring`), and the file of another process (`observe`).

use lapwing_core::{Padded, Placed, StageIndex, View};

use crate::activity::Activity;
use crate::description::Description;
use crate::ring_file::{MonitorWords, RingFile};
use crate::sync::Figure;

/// What monitors know of a ring.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The words of the protocol.
    pub(crate) view: View,
    pub(crate) description: Description,
    /// Number of producers that currently wait for a free slot.
    pub(crate) waiting_producers: Placed<Padded<Figure>>,
    /// Number of events that producers dropped because the ring was full.
    pub(crate) dropped: Placed<Padded<Figure>>,
    /// For each stage, what its consumer is doing.
    activities: Box<[Activity]>,
    /// The file of an observable ring of this process, which is removed after the last monitor.
    _file: Option<RingFile>,
}

impl Watched {
    pub(crate) fn new(
        view: View,
        description: Description,
        words: MonitorWords,
        file: Option<RingFile>,
    ) -> Self {
        let MonitorWords { waiting_producers, dropped, activities } = words;
        Self { view, description, waiting_producers, dropped, activities, _file: file }
    }

    /// Returns the record of what the consumer of `stage` is doing.
    pub(crate) fn activity(&self, stage: StageIndex) -> &Activity {
        &self.activities[stage]
    }
}
