//! A consumer that has taken a dynamic stage, with its name. Not here: where it may start so that
//! it reads every event before it is overwritten (`lapwing_core`), and which consumers may join
//! (`dynamic_stages`).

use std::fmt;

use lapwing_core::{Joined, Place};

use crate::Sequence;
use crate::description::TakenName;
use crate::error::DynamicStageError;
use crate::ring::Shared;

/// Where a consumer that joins a running ring starts.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(3).stage("all").poller().build()?;
/// let _all = consumers.take_poller("all")?;
/// producer.publish_batch(5, |_| {})?;
/// let dynamic_stages = consumers.dynamic_stages();
/// assert_eq!(dynamic_stages.join("late", StartAt::Now)?.sequence(), 5);
/// assert_eq!(dynamic_stages.join("replay", StartAt::Oldest)?.sequence(), 0);
/// assert_eq!(dynamic_stages.join("resume", StartAt::Sequence(3))?.sequence(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// At the first event that is not published yet. The consumer gets each event published after
    /// the call.
    Now,
    /// At the oldest event that the ring is certain to hold. That includes each event that some
    /// consumer has not finished, unless a producer was about to overwrite the event when that
    /// consumer joined.
    Oldest,
    /// At this sequence, if the ring is certain to hold it. It must not be beyond that of
    /// [`Now`](Self::Now).
    Sequence(Sequence),
}

impl StartAt {
    fn core(self) -> lapwing_core::StartAt {
        match self {
            Self::Now => lapwing_core::StartAt::Now,
            Self::Oldest => lapwing_core::StartAt::Oldest,
            Self::Sequence(sequence) => lapwing_core::StartAt::Sequence(sequence),
        }
    }
}

/// A consumer that took a dynamic stage. When dropped, it stops holding producers back, and frees
/// its dynamic stage and its name.
pub(super) struct Guest {
    joined: Joined,
    /// The consumer's name, freed after the dynamic stage.
    name: TakenName,
}

impl Guest {
    /// Takes a dynamic stage of the ring.
    ///
    /// # Errors
    ///
    /// [`DynamicStageError`] if there is no free dynamic stage, if the ring does not hold the
    /// sequence `start`, or if the ring is halted.
    pub(super) fn join(
        shared: &Shared,
        name: TakenName,
        start: StartAt,
    ) -> Result<Self, DynamicStageError> {
        let dynamic_stages = shared.control.dynamic_stages().len();
        let joined = Joined::new(&shared.control, start.core());
        let joined =
            joined.map_err(|error| DynamicStageError::of(error, dynamic_stages, start.core()))?;
        // Clears the activity of the last consumer in this dynamic stage, before monitors find this
        // one there.
        shared.activity(joined.dynamic_stage()).reset();
        name.sits_at(joined.dynamic_stage());
        Ok(Self { joined, name })
    }

    /// Records that it has a handler and is not a poller, for monitors.
    pub(super) fn has_handler(&self) {
        self.name.has_handler();
    }

    /// Returns its first sequence.
    pub(super) fn start(&self) -> Sequence {
        self.joined.start()
    }

    /// Returns its place and its name.
    pub(super) fn into_parts(self) -> (Place, TakenName) {
        (Place::DynamicStage(self.joined), self.name)
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guest")
            .field(&self.joined.dynamic_stage())
            .field(&self.joined.start())
            .finish()
    }
}
