//! What monitors know of a ring: of one of this process, or of another one. Not here: the ring itself
//! (`ring`), and the file of another process (`observe`).

use lapwing_core::{StageIndex, View};

use crate::activity::Activity;
use crate::description::Description;
use crate::ring_file::{MonitorWords, OwnFile};

/// What monitors know of a ring.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The words of the protocol.
    pub(crate) view: View,
    pub(crate) description: Description,
    /// The words that only monitors need.
    pub(crate) words: MonitorWords,
    /// The file of an observable ring of this process, which is removed after the last monitor.
    _file: Option<OwnFile>,
}

impl Watched {
    pub(crate) fn new(
        view: View,
        description: Description,
        words: MonitorWords,
        file: Option<OwnFile>,
    ) -> Self {
        Self { view, description, words, _file: file }
    }

    /// Returns the record of what the consumer of `stage` is doing.
    pub(crate) fn activity(&self, stage: StageIndex) -> &Activity {
        &self.words.activities[stage]
    }
}
