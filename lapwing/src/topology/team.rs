//! The settings of a worker group, apart from those of its stage: how many workers, by which keys,
//! and on which CPUs.

use std::fmt;

use super::settings::Settings;
use crate::consumer::SharedKeys;
use crate::description::worker_name;
use crate::group::MAX_WORKERS;
use crate::unshared::Unshared;

/// The workers of a stage, as the graph keeps them.
pub(crate) struct Team<E> {
    pub(super) size: usize,
    pub(super) max: Option<usize>,
    pub(super) cpus: Vec<usize>,
    /// Which events go to the same worker, if the workers have keys.
    pub(super) keys: Option<SharedKeys<E>>,
    /// Whether their handlers hand over the state of a key.
    pub(super) hands_over: bool,
}

impl<E> Team<E> {
    pub(super) fn new(size: usize) -> Self {
        Self { size, max: None, cpus: Vec::new(), keys: None, hands_over: false }
    }

    /// Most workers; `None` if the numbers are not possible.
    pub(super) fn max(&self) -> Option<usize> {
        let max = self.max.unwrap_or(self.size);
        let is_possible = 0 < self.size && self.size <= max && max <= MAX_WORKERS;
        is_possible.then_some(max)
    }

    /// Names of the workers of `stage`; none if the numbers are not possible.
    pub(super) fn names(&self, stage: &str) -> impl Iterator<Item = String> {
        (0..self.max().unwrap_or(0)).map(move |worker| worker_name(stage, worker))
    }

    /// The number that is not possible, and the greatest possible one.
    pub(super) fn out_of_range(&self) -> (usize, usize) {
        let most = self.max.unwrap_or(self.size);
        let limit = self.max.unwrap_or(MAX_WORKERS).min(MAX_WORKERS);
        let is_size = self.size == 0 || self.size > limit;
        (if is_size { self.size } else { most }, limit)
    }

    /// The CPU that `worker` of `stage` is to be pinned to.
    pub(super) fn pin_of(&self, stage: &Settings, worker: usize) -> Option<usize> {
        let only_of_first = stage.pin.filter(|_| worker == 0);
        self.cpus.get(worker).copied().or(only_of_first)
    }

    /// The settings of each worker of `stage`, apart from its thread.
    pub(super) fn stages(&self, stage: &mut Settings) -> Vec<Settings> {
        let on_error = stage.on_error.take().map(Unshared::into_inner);
        let on_panic = stage.on_panic.take().map(Unshared::into_inner);
        let of_worker = |name: String| {
            let mut own = Settings::new(name);
            own.timeout = stage.timeout;
            own.takes_failed = stage.takes_failed;
            own.on_error = on_error.clone().map(Unshared::new);
            own.on_panic = on_panic.clone().map(Unshared::new);
            own
        };
        self.names(&stage.name).map(of_worker).collect()
    }
}

impl<E> fmt::Debug for Team<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("size", &self.size)
            .field("max", &self.max)
            .field("cpus", &self.cpus)
            .field("is_by_key", &self.keys.is_some())
            .finish_non_exhaustive()
    }
}
