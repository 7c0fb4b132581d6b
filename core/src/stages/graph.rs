//! The shape of a ring: its stages, which of them follow which, their workers and acknowledgements,
//! and the dynamic stages. Not here: what a program may ask for (`lapwing::graph`).

use std::collections::BTreeSet;

use super::{DETACHED, DynamicStages, IDLE, StageIndex, StageWords};
use crate::Sequence;

/// The shape of a ring.
#[derive(Debug, Default)]
pub struct Graph {
    /// For each stage of the graph and then for other words, the stages directly upstream, which
    /// have lower indices, and the words of their workers and acknowledgements.
    upstream: Vec<Box<[StageIndex]>>,
    /// Number of stages.
    stages: usize,
    /// A stage, and the words of the party that acknowledges its events.
    acknowledged: Vec<(StageIndex, StageIndex)>,
    /// The word of a group, then those of its workers.
    groups: Vec<Box<[StageIndex]>>,
    dynamic_stages: usize,
}

impl Graph {
    /// Creates a graph of stages. `upstream` lists, for each stage, the stages directly upstream,
    /// all with lower indices.
    ///
    /// # Panics
    ///
    /// If a stage depends on one that does not precede it.
    #[must_use]
    pub fn new(upstream: Vec<Box<[StageIndex]>>) -> Self {
        for (stage, near) in upstream.iter().enumerate() {
            let precede = near.iter().all(|&other| other < stage);
            assert!(
                precede,
                "a stage follows its upstream stages: stage={stage}, upstream={near:?}"
            );
        }
        let stages = upstream.len();
        Self { upstream, stages, ..Self::default() }
    }

    /// Adds the words of a party that acknowledges the events of `stage`, and returns their index.
    /// Stages downstream of `stage` wait for both.
    ///
    /// # Panics
    ///
    /// If there is no such stage, if another party acknowledges its events, or if there are dynamic
    /// stages.
    pub fn acknowledge(&mut self, stage: StageIndex) -> StageIndex {
        self.check_that_no_dynamic_stages_exist();
        assert!(stage < self.stages, "only stages are acknowledged: stage={stage}");
        let is_new = self.acknowledged.iter().all(|&(other, _)| other != stage);
        assert!(is_new, "one party acknowledges the events of a stage: stage={stage}");
        let words = self.upstream.len();
        self.wait_for_all(stage, &[words]);
        self.upstream.push(Box::default());
        self.acknowledged.push((stage, words));
        words
    }

    /// Makes `stage` a group of `count` workers, and returns the group's word and those of the
    /// workers, in the order in which they must be loaded. Stages downstream of `stage` wait for
    /// all of them.
    ///
    /// # Panics
    ///
    /// If there is no such stage, if it is a group already, if `count` is 0, or if there are
    /// dynamic stages.
    pub fn share(&mut self, stage: StageIndex, count: usize) -> Box<[StageIndex]> {
        self.check_that_no_dynamic_stages_exist();
        assert!(count > 0, "a group has workers: stage={stage}");
        assert!(stage < self.stages, "only the events of a stage are shared: stage={stage}");
        let is_new = self.groups.iter().all(|group| group[0] != stage);
        assert!(is_new, "the events of a stage are shared once: stage={stage}");
        let first = self.upstream.len();
        let workers: Vec<StageIndex> = (first..first + count).collect();
        self.wait_for_all(stage, &workers);
        self.upstream.resize_with(first + count, Box::default);
        let group: Box<[StageIndex]> = [stage].into_iter().chain(workers).collect();
        self.groups.push(group.clone());
        group
    }

    /// The dynamic stages are found by their number, from the last words back.
    fn check_that_no_dynamic_stages_exist(&self) {
        assert!(self.dynamic_stages == 0, "no words follow those of the dynamic stages");
    }

    /// Makes the stages downstream of `stage` wait for `words` too.
    fn wait_for_all(&mut self, stage: StageIndex, words: &[StageIndex]) {
        for near in self.upstream.iter_mut().filter(|near| near.contains(&stage)) {
            *near = near.iter().chain(words).copied().collect();
        }
    }

    /// Adds `count` dynamic stages, which follow `last_writer`, if there is one, and everything
    /// that it waits for. The dynamic stages have the highest indices, so no other words can be
    /// added after this.
    ///
    /// # Panics
    ///
    /// If `last_writer` is not a stage, or if there are dynamic stages.
    #[must_use]
    pub fn with_dynamic_stages(mut self, count: usize, last_writer: Option<StageIndex>) -> Self {
        self.check_that_no_dynamic_stages_exist();
        let is_stage = last_writer.is_none_or(|stage| stage < self.stages);
        assert!(is_stage, "a dynamic stage follows a stage: last_writer={last_writer:?}");
        let parts = |writer| {
            let acknowledgement =
                self.acknowledged.iter().filter(move |(stage, _)| *stage == writer);
            let group = self.groups.iter().filter(move |group| group[0] == writer);
            let workers = group.flat_map(|group| &group[1..]);
            acknowledgement.map(|(_, words)| words).chain(workers).copied()
        };
        let near =
            last_writer.into_iter().flat_map(|writer| [writer].into_iter().chain(parts(writer)));
        let near: Box<[StageIndex]> = near.collect();
        let first = self.upstream.len();
        self.upstream.resize(first + count, near);
        self.dynamic_stages = count;
        self
    }

    /// Returns the number of words: those of stages, acknowledgements, workers and dynamic stages.
    #[must_use]
    pub fn words(&self) -> usize {
        self.upstream.len()
    }

    /// Returns the number of dynamic stages.
    #[must_use]
    pub fn dynamic_stages(&self) -> usize {
        self.dynamic_stages
    }

    /// Returns the stages that no other stage follows. Dynamic stages gate producers only while
    /// they are occupied.
    pub(super) fn gating(&self) -> Box<[StageIndex]> {
        let graph = &self.upstream[..self.upstream.len() - self.dynamic_stages];
        let words = 0..graph.len();
        words.filter(|stage| !graph.iter().any(|stages| stages.contains(stage))).collect()
    }

    /// Creates the words of a ring whose first event has the sequence `first`, and the dynamic
    /// stages.
    pub(super) fn into_words(self, first: Sequence) -> (Vec<StageWords>, DynamicStages) {
        let first_dynamic_stage = self.upstream.len() - self.dynamic_stages;
        let dynamic = DynamicStages::new(self.stages, first_dynamic_stage, self.dynamic_stages);
        let is_worker =
            |word: &StageIndex| self.groups.iter().any(|group| group[1..].contains(word));
        let begin = |word: StageIndex| match word {
            _ if word >= first_dynamic_stage => DETACHED,
            _ if is_worker(&word) => IDLE,
            _ => first,
        };
        let ancestors = ancestors(&self.upstream);
        let words = self.upstream.iter().cloned().zip(ancestors).enumerate();
        let mut words: Vec<_> =
            words.map(|(word, (near, all))| StageWords::new(begin(word), near, all)).collect();
        for &(stage, acknowledgement) in &self.acknowledged {
            words[stage].set_acknowledgement(acknowledgement);
            words[acknowledgement].become_acknowledgement();
        }
        for group in &self.groups {
            words[group[0]].become_group(&group[1..]);
            group[1..].iter().for_each(|&word| words[word].become_worker());
        }
        (words, dynamic)
    }
}

/// Returns, for each stage, all stages upstream of it, directly or not. The words of
/// acknowledgements and of workers follow all stages and have no ancestors.
#[must_use]
pub fn ancestors(upstream: &[Box<[StageIndex]>]) -> Vec<Box<[StageIndex]>> {
    let mut all: Vec<Box<[StageIndex]>> = Vec::with_capacity(upstream.len());
    for near in upstream {
        let further = near.iter().filter_map(|&stage| all.get(stage)).flatten().copied();
        let ancestors: BTreeSet<StageIndex> = near.iter().copied().chain(further).collect();
        all.push(ancestors.into_iter().collect());
    }
    all
}
