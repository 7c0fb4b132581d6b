//! What a monitor reads of a ring: its own, or that of another process, of which it has the words in a
//! mapping. A view only loads.

use std::ops::Range;
// The standard library's in a model too: no model depends on how long memory lives.
use std::sync::Arc;

use crate::Sequence;
use crate::control::Control;
use crate::life::{LifeWords, State, end_of, state_of};
use crate::mapping::Mapping;
use crate::parking::asymmetric::AsymmetricFence;
use crate::publication::{Stamps, claimed_by, settled_prefix};
use crate::stages::{Graph, StageIndex, Stages, sequence_of};
use crate::sync::{AtomicU32, AtomicU64};
use crate::words::{Placed, Words};

/// The words of a ring that monitors read, and its shape.
#[derive(Debug)]
pub struct View {
    shape: Shape,
    cursor: Placed<AtomicU64>,
    life: Placed<LifeWords>,
    /// The stamps of a ring with several producers.
    stamps: Option<Placed<[AtomicU32]>>,
    sequences: Box<[Placed<AtomicU64>]>,
    fence: AsymmetricFence,
}

/// Which stages follow which, and what else has words.
#[derive(Debug)]
struct Shape {
    capacity: u64,
    upstream: Box<[Box<[StageIndex]>]>,
    acknowledgements: Box<[Option<StageIndex>]>,
    workers: Box<[Box<[StageIndex]>]>,
    dynamic_stages: Range<StageIndex>,
}

/// Where the words of a ring lie in a mapping: offsets in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    /// The cursor.
    pub cursor: u64,
    /// The three words of its life.
    pub life: u64,
    /// The first stamp of a ring with several producers.
    pub stamps: Option<u64>,
    /// The sequence of each stage, acknowledgement, worker and dynamic stage.
    pub sequences: Vec<u64>,
}

impl Shape {
    fn of(stages: &Stages, capacity: u64) -> Self {
        let words = || stages.all().iter();
        Self {
            capacity,
            upstream: words().map(|words| words.upstream().into()).collect(),
            acknowledgements: words().map(|words| words.acknowledgement()).collect(),
            workers: words().map(|words| words.workers().into()).collect(),
            dynamic_stages: stages.dynamic().indices(),
        }
    }
}

impl View {
    /// Returns the view of a ring of this process.
    #[must_use]
    pub fn of(control: &Placed<Control>) -> Self {
        let stamps = control.publication().stamps().is_some();
        let sequence = |stage| control.part(|control| control.stages().of(stage).word());
        Self {
            shape: Shape::of(control.stages(), control.capacity()),
            cursor: control.part(|control| control.publication().word()),
            life: control.part(|control| control.life().words()),
            stamps: stamps.then(|| control.part(stamps_of)),
            sequences: (0..control.words()).map(sequence).collect(),
            fence: control.fence(),
        }
    }

    /// Returns the view of a ring of another process, which has this graph and number of slots, and its
    /// words in `mapping`. `None` if they cannot lie there.
    #[must_use]
    pub fn observed(
        mapping: &Arc<Mapping>,
        offsets: &Offsets,
        graph: Graph,
        capacity: usize,
    ) -> Option<Self> {
        let like = Stages::new(&mut Words::private(), graph, 0);
        let at = |offset: u64| usize::try_from(offset).ok();
        let sequence = |&offset: &u64| Placed::observed(mapping, at(offset)?);
        let sequences = offsets.sequences.iter().map(sequence).collect::<Option<Box<[_]>>>()?;
        let stamps = match offsets.stamps {
            Some(offset) => Some(Placed::all_observed(mapping, at(offset)?, capacity)?),
            None => None,
        };
        let is_complete = sequences.len() == like.all().len() && capacity.is_power_of_two();
        let view = Self {
            shape: Shape::of(&like, capacity as u64),
            cursor: Placed::observed(mapping, at(offsets.cursor)?)?,
            life: Placed::observed(mapping, at(offsets.life)?)?,
            stamps,
            sequences,
            // O8: the heavy fence of another process runs on its own CPUs only.
            fence: AsymmetricFence::Full,
        };
        is_complete.then_some(view)
    }

    /// Returns where the words of a ring of this process lie in the mapping of `words`. `None` if they
    /// lie elsewhere.
    #[must_use]
    pub fn offsets(&self, words: &Words) -> Option<Offsets> {
        let at = |offset: usize| offset as u64;
        let stamps = match &self.stamps {
            Some(stamps) => Some(at(words.offset_of(&**stamps)?)),
            None => None,
        };
        let sequence = |word: &Placed<AtomicU64>| words.offset_of(&**word).map(at);
        Some(Offsets {
            cursor: at(words.offset_of(&*self.cursor)?),
            life: at(words.offset_of(&*self.life)?),
            stamps,
            sequences: self.sequences.iter().map(sequence).collect::<Option<_>>()?,
        })
    }
}

fn stamps_of(control: &Control) -> &[AtomicU32] {
    control.publication().stamps().map_or(&[], Stamps::words)
}

/// What the words say.
impl View {
    /// Returns the number of slots, a power of two.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shape.capacity
    }

    /// Whether the ring has several producers.
    #[must_use]
    pub fn is_multi(&self) -> bool {
        self.stamps.is_some()
    }

    /// Returns the end of the published events; with several producers, of the claims. A snapshot.
    #[must_use]
    pub fn claimed(&self) -> Sequence {
        claimed_by(&self.cursor)
    }

    /// Returns the first sequence from `next` on, at most `limit`, whose claim is open. A snapshot. The
    /// caller may be a lap behind. With one producer it is `limit`.
    #[must_use]
    pub fn settled_prefix(&self, next: Sequence, limit: Sequence) -> Sequence {
        self.stamps.as_ref().map_or(limit, |stamps| settled_prefix(stamps, next, limit))
    }

    /// Returns the state of the ring, as a thread sees it that has loaded
    /// [`claimed`](Self::claimed) before.
    #[must_use]
    pub fn state(&self) -> State {
        // O8: between the load of the cursor and the load of the close.
        self.fence.light();
        state_of(&self.life)
    }

    /// Returns the first sequence that the ring does not accept, once it is closed or halted.
    #[must_use]
    pub fn end(&self) -> Option<Sequence> {
        end_of(&self.life)
    }

    /// Returns the value of the word of `stage`.
    #[must_use]
    pub fn sequence_of(&self, stage: StageIndex) -> Sequence {
        sequence_of(&self.sequences[stage])
    }
}

/// Its shape.
impl View {
    /// Returns the number of words: those of stages, acknowledgements, workers and dynamic stages.
    #[must_use]
    pub fn words(&self) -> usize {
        self.sequences.len()
    }

    /// Returns the indices of the dynamic stages, which follow those of all other words.
    #[must_use]
    pub fn dynamic_stages(&self) -> Range<StageIndex> {
        self.shape.dynamic_stages.clone()
    }

    /// Returns the stages directly upstream of `stage`, with the words of their workers and
    /// acknowledgements.
    #[must_use]
    pub fn upstream_of(&self, stage: StageIndex) -> &[StageIndex] {
        &self.shape.upstream[stage]
    }

    /// Returns the words of the party that acknowledges the events of `stage`, if there is one.
    #[must_use]
    pub fn acknowledgement_of(&self, stage: StageIndex) -> Option<StageIndex> {
        self.shape.acknowledgements[stage]
    }

    /// Returns the words of the workers of `stage`, if it is a group.
    #[must_use]
    pub fn workers_of(&self, stage: StageIndex) -> &[StageIndex] {
        &self.shape.workers[stage]
    }
}
