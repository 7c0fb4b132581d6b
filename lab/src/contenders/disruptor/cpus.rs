//! Which CPU each thread of a run has, if threads are placed.

use core_affinity::CoreId;
use disruptor::ProcessorSettings;

use crate::machine::placement::Placement;

/// The CPUs of the threads: producers on the first CPUs, handlers on those after them.
pub(super) struct Cpus {
    /// The placement of the crew's threads.
    pub(super) producers: Placement,
    /// CPUs of handlers that are not assigned yet. It is empty if the threads are free.
    handlers: std::vec::IntoIter<CoreId>,
}

impl Cpus {
    /// Creates the CPUs of `threads`, of which `producers` belong to the crew.
    pub(super) fn of(placement: Placement, producers: usize, threads: usize) -> Self {
        let cpus = placement.cpus(threads);
        let producers_are = if cpus.is_empty() { Placement::Free } else { placement };
        let handlers = cpus.into_iter().skip(producers).collect::<Vec<_>>();
        Self { producers: producers_are, handlers: handlers.into_iter() }
    }

    /// Gives the next handler of `builder` its name and, unless threads are free, its CPU.
    pub(super) fn next<E, W, B: ProcessorSettings<E, W>>(
        &mut self,
        builder: B,
        name: &'static str,
    ) -> B {
        let named = builder.thread_name(name);
        match self.handlers.next() {
            Some(cpu) => named.pin_at_core(cpu.id),
            None => named,
        }
    }
}
