//! The place of a reader in the graph: each has at most one reader, except that of a group.

use crate::control::{Control, Joined};
use crate::stages::{ONLY_GENERATION, StageIndex};
use crate::words::Placed;

/// The place of a reader in the graph.
#[derive(Debug)]
pub enum Place {
    /// The only reader of a stage.
    Stage(StageIndex),
    /// The reader of a consumer that joined.
    DynamicStage(Joined),
    /// A worker of the group with this word. It finds events; the layer that shares them decides
    /// which worker may access them, and moves the words.
    Group(StageIndex),
}

impl Place {
    /// Returns the index of its words.
    #[must_use]
    pub fn stage(&self) -> StageIndex {
        match self {
            Self::Stage(stage) | Self::Group(stage) => *stage,
            Self::DynamicStage(joined) => joined.dynamic_stage(),
        }
    }

    /// Returns which consumer of its stage it is.
    pub(super) fn generation(&self) -> u64 {
        match self {
            Self::Stage(_) | Self::Group(_) => ONLY_GENERATION,
            Self::DynamicStage(joined) => joined.generation(),
        }
    }

    /// Checks that no other reader has this place.
    pub(super) fn take(&self, control: &Placed<Control>) {
        let stages = control.stages();
        match self {
            Self::Stage(stage) => {
                let is_stage = stages.is_of_graph(*stage) && !stages.of(*stage).is_group();
                assert!(is_stage, "these are not the words of one reader: stage={stage}");
                assert!(stages.of(*stage).take_reader(), "a stage has one reader: stage={stage}");
            }
            Self::DynamicStage(joined) => {
                assert!(joined.is_of(control), "the dynamic stage is of another ring")
            }
            Self::Group(stage) => {
                let is_group = stages.is_of_graph(*stage) && stages.of(*stage).is_group();
                assert!(is_group, "the stage has no workers: stage={stage}");
            }
        }
    }
}
