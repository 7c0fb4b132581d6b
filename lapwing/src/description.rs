//! What monitors show of a ring beside its words: the names of the ring and its stages, which never change,
//! the names of consumers that join and leave, and the A/B tests of its ends. Not here: which stage depends on
//! which (`control`).

use std::collections::BTreeMap;
// The standard library's in a model as well: no model is about a name.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ab_tests::AbTests;

/// Index of a stage among those of its ring: first the stages of the graph, then words of
/// acknowledgements, then those of workers, then the seats.
pub(crate) type StageIndex = usize;

/// Name of a worker, which is also its thread's.
pub(crate) fn worker_name(group: &str, worker: usize) -> String {
    format!("{group}-{worker}")
}

/// What monitors show of one ring beside its words; a clone is the same.
#[derive(Debug, Clone)]
pub(crate) struct Description(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    ring: String,
    /// At the index that the stage has in the ring.
    stages: Box<[StageDescription]>,
    /// Consumers that joined, by their names.
    guests: Mutex<BTreeMap<String, Guest>>,
    ab_tests: AbTests,
}

/// What is known of a consumer that joined, or is about to.
#[derive(Debug, Default)]
struct Guest {
    /// Where it sits, once it does.
    seat: Option<StageIndex>,
    /// Whether it has a handler, and so a thread that runs it.
    has_handler: bool,
}

/// What is known of a stage before it runs.
#[derive(Debug)]
pub(crate) struct StageDescription {
    pub(crate) name: String,
    /// Names of its threads, which it may share: one, or one for each worker; none for a poller.
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
    pub(crate) fn new(
        ring: String,
        stages: impl Iterator<Item = StageDescription>,
        ab_tests: AbTests,
    ) -> Self {
        let (stages, guests) = (stages.collect(), Mutex::default());
        Self(Arc::new(Contents { ring, stages, guests, ab_tests }))
    }

    /// The A/B tests of its ends.
    pub(crate) fn ab_tests(&self) -> &AbTests {
        &self.0.ab_tests
    }

    /// Name of the ring.
    pub(crate) fn ring(&self) -> &str {
        &self.0.ring
    }

    /// What is known of the stage at `index`; `None` beyond the stages that the ring was built
    /// with.
    pub(crate) fn stage(&self, index: StageIndex) -> Option<&StageDescription> {
        self.0.stages.get(index)
    }

    /// Name of the consumer at `index`, a stage or whoever sits there, and of its threads.
    pub(crate) fn consumer(&self, index: StageIndex) -> (String, Vec<String>) {
        if let Some(stage) = self.stage(index) {
            return (stage.name.clone(), stage.threads.clone());
        }
        let guests = self.guests();
        match guests.iter().find(|(_, guest)| guest.seat == Some(index)) {
            Some((name, guest)) => {
                let threads = guest.has_handler.then(|| name.clone());
                (name.clone(), threads.into_iter().collect())
            }
            // Whoever sat there has just left.
            None => (format!("seat {index}"), Vec::new()),
        }
    }

    /// Takes `name` for a consumer that joins, unless a stage or another of them has it.
    pub(crate) fn take_name(&self, name: &str) -> Option<TakenName> {
        let is_of_a_stage = self.0.stages.iter().any(|stage| stage.has(name));
        let mut guests = self.guests();
        if is_of_a_stage || guests.contains_key(name) {
            return None;
        }
        guests.insert(name.to_owned(), Guest::default());
        Some(TakenName { description: self.clone(), name: name.to_owned() })
    }

    fn guests(&self) -> MutexGuard<'_, BTreeMap<String, Guest>> {
        // Nothing panics under this lock.
        self.0.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name that nobody else has until this is dropped.
#[derive(Debug)]
pub(crate) struct TakenName {
    description: Description,
    name: String,
}

impl TakenName {
    /// Says where the consumer of this name sits.
    pub(crate) fn sits_at(&self, seat: StageIndex) {
        self.change(|guest| guest.seat = Some(seat));
    }

    /// Says that it has a handler.
    pub(crate) fn has_handler(&self) {
        self.change(|guest| guest.has_handler = true);
    }

    fn change(&self, change: impl FnOnce(&mut Guest)) {
        if let Some(guest) = self.description.guests().get_mut(&self.name) {
            change(guest);
        }
    }
}

impl Drop for TakenName {
    fn drop(&mut self) {
        self.description.guests().remove(&self.name);
    }
}
