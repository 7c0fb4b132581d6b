//! What monitors show of a ring in addition to its words: the names of the ring and its stages,
//! which never change, and the names of consumers that join and leave. Not here: the dependencies
//! between stages (`control`).

use std::collections::{BTreeMap, BTreeSet};
// Always the standard library's types: no model depends on a name.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dynamic_names::DynamicNames;

/// Index of a stage in its ring. The stages of the graph come first, then the words of
/// acknowledgements, then those of workers, then the dynamic stages.
pub(crate) type StageIndex = usize;

/// Returns the name of a worker, which is also the name of its thread.
pub(crate) fn worker_name(group: &str, worker: usize) -> String {
    format!("{group}-{worker}")
}

/// A handle to what monitors show of one ring in addition to its words. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Description(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    ring: String,
    /// By index of the stage in the ring.
    stages: Box<[StageDescription]>,
    /// Consumers that joined, by name.
    guests: Mutex<BTreeMap<String, JoinedConsumer>>,
    /// The same for other processes, in an observable ring.
    names: DynamicNames,
}

/// A consumer that joined or is about to.
#[derive(Debug, Default)]
struct JoinedConsumer {
    /// Its dynamic stage; `None` until it has one.
    dynamic_stage: Option<StageIndex>,
    /// Whether it has a handler, and so a thread that runs it.
    has_handler: bool,
}

/// The properties of a stage that are known before it runs.
#[derive(Debug)]
pub(crate) struct StageDescription {
    pub(crate) name: String,
    /// Names of its threads, which other stages may share: one, or up to one per worker; none for a
    /// poller.
    pub(crate) threads: Vec<String>,
    /// Names of its workers, if it is a group.
    pub(crate) workers: Vec<String>,
}

impl StageDescription {
    fn has(&self, name: &str) -> bool {
        self.name == name || self.workers.iter().any(|worker| worker == name)
    }
}

impl Description {
    /// Describes a ring, of which `names` shows the consumers in dynamic stages to other processes.
    pub(crate) fn new(
        ring: String,
        stages: impl Iterator<Item = StageDescription>,
        names: DynamicNames,
    ) -> Self {
        let (stages, guests) = (stages.collect(), Mutex::default());
        Self(Arc::new(Contents { ring, stages, guests, names }))
    }

    /// Returns the name of the ring.
    pub(crate) fn ring(&self) -> &str {
        &self.0.ring
    }

    /// Returns the names of the consumers in dynamic stages, as other processes read them.
    pub(crate) fn names(&self) -> &DynamicNames {
        &self.0.names
    }

    /// Returns the number of stages that the ring was built with.
    pub(crate) fn stages(&self) -> usize {
        self.0.stages.len()
    }

    /// Returns the number of threads that run the stages which the ring was built with. Each poller
    /// counts as one.
    pub(crate) fn threads(&self) -> usize {
        let names: BTreeSet<&String> =
            self.0.stages.iter().flat_map(|stage| &stage.threads).collect();
        let pollers = self.0.stages.iter().filter(|stage| stage.threads.is_empty());
        names.len() + pollers.count()
    }

    /// Returns the stage at `index`; `None` beyond the stages that the ring was built with.
    pub(crate) fn stage(&self, index: StageIndex) -> Option<&StageDescription> {
        self.0.stages.get(index)
    }

    /// Returns the names of the consumer at `index` (a stage, or the consumer in that dynamic
    /// stage) and of its threads.
    pub(crate) fn consumer(&self, index: StageIndex) -> (String, Vec<String>) {
        if let Some(stage) = self.stage(index) {
            return (stage.name.clone(), stage.threads.clone());
        }
        match self.guest(index).or_else(|| self.0.names.get(index)) {
            Some((name, has_handler)) => {
                let threads = has_handler.then(|| name.clone());
                (name, threads.into_iter().collect())
            }
            // The consumer in this dynamic stage has just left.
            None => (format!("dynamic stage {index}"), Vec::new()),
        }
    }

    /// Returns the name of the consumer of this process in a dynamic stage, and whether it has a
    /// handler.
    fn guest(&self, dynamic_stage: StageIndex) -> Option<(String, bool)> {
        let guests = self.guests();
        let is_there =
            |(_, guest): &(&String, &JoinedConsumer)| guest.dynamic_stage == Some(dynamic_stage);
        guests.iter().find(is_there).map(|(name, guest)| (name.clone(), guest.has_handler))
    }

    /// Reserves `name` for a consumer that joins, unless a stage or another consumer has it.
    pub(crate) fn take_name(&self, name: &str) -> Option<TakenName> {
        let is_of_a_stage = self.0.stages.iter().any(|stage| stage.has(name));
        let mut guests = self.guests();
        if is_of_a_stage || guests.contains_key(name) {
            return None;
        }
        guests.insert(name.to_owned(), JoinedConsumer::default());
        Some(TakenName { description: self.clone(), name: name.to_owned() })
    }

    fn guests(&self) -> MutexGuard<'_, BTreeMap<String, JoinedConsumer>> {
        // Nothing panics under this lock.
        self.0.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reserved name. Dropping it frees the name.
#[derive(Debug)]
pub(crate) struct TakenName {
    description: Description,
    name: String,
}

impl TakenName {
    /// Records the dynamic stage of the consumer.
    pub(crate) fn sits_at(&self, dynamic_stage: StageIndex) {
        self.change(|guest| guest.dynamic_stage = Some(dynamic_stage));
    }

    /// Records that the consumer has a handler.
    pub(crate) fn has_handler(&self) {
        self.change(|guest| guest.has_handler = true);
    }

    fn change(&self, change: impl FnOnce(&mut JoinedConsumer)) {
        let mut guests = self.description.guests();
        if let Some(guest) = guests.get_mut(&self.name) {
            change(guest);
            if let Some(dynamic_stage) = guest.dynamic_stage {
                self.description.0.names.set(dynamic_stage, &self.name, guest.has_handler);
            }
        }
    }
}

impl Drop for TakenName {
    fn drop(&mut self) {
        let mut guests = self.description.guests();
        let left = guests.remove(&self.name).and_then(|guest| guest.dynamic_stage);
        let is_taken = |stage| guests.values().any(|guest| guest.dynamic_stage == Some(stage));
        // The next consumer of the dynamic stage may have recorded its name.
        if let Some(stage) = left.filter(|&stage| !is_taken(stage)) {
            self.description.0.names.set(stage, "", false);
        }
    }
}
