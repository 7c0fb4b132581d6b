//! One ring: what its ends share. That is the ring of the core, with its events and its words, and
//! what exists beside the protocol: figures, failures, turns and the load of the CPUs.

use std::fmt;
use std::sync::Arc as SharedArc;
use std::time::Instant;

use lapwing_core::{Control, Padded, Placed, StageIndex};

use crate::Sequence;
use crate::activity::Activity;
use crate::failures::Failures;
use crate::open_claim::OpenClaims;
use crate::sync::{Figure, now};
use crate::turns::Turns;
use crate::watched::Watched;

/// What the ends of one ring share beside its events.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The words of the protocol.
    pub(crate) control: Placed<Control>,
    /// What monitors know of the ring.
    pub(crate) watched: SharedArc<Watched>,
    /// Number of threads that run the stages of the graph.
    stage_threads: u64,
    /// Whether several consumers of the graph wait for the same event: stages side by side, or
    /// workers.
    has_siblings: bool,
    /// When the ring was created.
    pub(crate) made_at: Instant,
    /// What waiting threads record about their yields (`wait`). Advice only.
    pub(crate) cpu_load: Padded<[Figure; 3]>,
    /// How several producers take turns on a full ring. Advice only.
    pub(crate) turns: Padded<Turns>,
    /// For each of several producers, its last claim and the thread that made it.
    pub(crate) open_claims: OpenClaims,
    /// For each stage, which events it skipped; `None` for a stage that never skips any.
    failures: Box<[Option<Failures>]>,
}

impl Shared {
    /// Creates what the ends of the ring of `control` share. `failures` has the marks of each stage
    /// of the graph that may skip events.
    pub(crate) fn new(
        control: Placed<Control>,
        watched: Watched,
        failures: Vec<Option<Failures>>,
    ) -> Self {
        let turns = Turns::new(control.places().len());
        let stage_threads = watched.description.threads() as u64;
        let has_siblings = has_siblings(&control, watched.description.stages());
        Self {
            control,
            watched: SharedArc::new(watched),
            stage_threads,
            has_siblings,
            made_at: now(),
            cpu_load: Padded::default(),
            turns: Padded(turns),
            open_claims: OpenClaims::default(),
            failures: failures.into(),
        }
    }

    /// Creates what the ends of a ring with one producer and this graph share, for a test.
    /// `upstream` lists, for each stage, the stages directly upstream.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_graph(capacity: usize, upstream: &[&[StageIndex]]) -> Self {
        let upstream = upstream.iter().map(|&stages| stages.into()).collect();
        Self::of_shape(capacity, false, lapwing_core::Graph::new(upstream))
    }

    /// The same for a ring with several producers and one stage.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_several(capacity: usize) -> Self {
        Self::of_shape(capacity, true, lapwing_core::Graph::new(vec![Box::default()]))
    }

    /// The same for a graph of any shape.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_shape(capacity: usize, is_multi: bool, shape: lapwing_core::Graph) -> Self {
        use lapwing_core::{Factory, Room, View, Waits, Words};

        use crate::description::Description;
        use crate::ring_file::MonitorWords;

        let mut words = Words::private();
        let (of_monitors, names) = MonitorWords::place(&mut words, &shape);
        let room = Room::reserve(&mut words, capacity, is_multi).unwrap();
        let ring = room.into_ring(&mut words, Factory::of(|| ()), shape, 0, Waits::default());
        let description = Description::new(String::new(), [].into_iter(), names);
        let control = ring.control().clone();
        let watched = Watched::new(View::of(&control), description, of_monitors, None);
        Self::new(control, watched, Vec::new())
    }

    /// Returns the first sequence of the oldest claim that the calling thread holds, in a ring with
    /// several producers.
    pub(crate) fn oldest_own_claim(&self) -> Option<Sequence> {
        let is_held = |first| self.control.is_claim_held(first);
        self.control.is_multi().then(|| self.open_claims.oldest_of_this_thread(is_held))?
    }

    /// Whether the calling thread holds a claim below `end`, in a ring with several producers.
    /// `end` is at most one lap ahead of the slowest consumer.
    ///
    /// No consumer passes an open claim, so such a claim is between the slowest consumer and `end`.
    /// If every stamp there is set, there is none. Otherwise, or if there are fewer producers than
    /// stamps, the records of the producers say which thread holds the claim.
    pub(crate) fn holds_claim_below(&self, end: Sequence) -> bool {
        let control = &self.control;
        if !control.is_multi() {
            return false;
        }
        // If no consumer is left, the next claim is refused for good.
        let Some(finished) = control.finished() else { return false };
        let is_short = end.saturating_sub(finished) <= control.producers();
        if is_short && control.settled_prefix(finished, end) >= end {
            return false;
        }
        self.oldest_own_claim().is_some_and(|held| held < end)
    }

    /// Returns the number of threads that work at the ring: a snapshot, in which each producer,
    /// each poller and each dynamic consumer counts as a thread.
    pub(crate) fn threads(&self) -> u64 {
        self.control.producers() + self.stage_threads + self.guests()
    }

    /// Returns the number of dynamic consumers; a snapshot.
    fn guests(&self) -> u64 {
        (self.control.dynamic_stages().len() - self.control.free_dynamic_stages()) as u64
    }

    /// Whether an event may wake several consumers at once: stages side by side, workers, or a
    /// dynamic consumer beside others.
    pub(crate) fn has_siblings(&self) -> bool {
        self.has_siblings || self.guests() > 0
    }

    /// Returns the record of what the consumer of `stage` is doing.
    pub(crate) fn activity(&self, stage: StageIndex) -> &Activity {
        self.watched.activity(stage)
    }

    /// Returns the marks of the events that `stage` skipped, if it may skip any. A dynamic stage
    /// has none.
    pub(crate) fn failures(&self, stage: StageIndex) -> Option<&Failures> {
        self.failures.get(stage)?.as_ref()
    }
}

/// Whether two of the first `stages` wait for the same stages, or one of them is a group of
/// workers.
fn has_siblings(control: &Control, stages: usize) -> bool {
    let upstream = |stage| control.upstream_of(stage);
    (0..stages).any(|stage| {
        let has_twin = (0..stage).any(|other| upstream(other) == upstream(stage));
        has_twin || control.workers_of(stage).len() > 1
    })
}

/// The events of a ring and what its ends share. A clone is the same ring.
pub(crate) struct Ring<E> {
    pub(crate) core: lapwing_core::Ring<E>,
    pub(crate) shared: SharedArc<Shared>,
}

impl<E> Ring<E> {
    pub(crate) fn new(core: lapwing_core::Ring<E>, shared: Shared) -> Self {
        Self { core, shared: SharedArc::new(shared) }
    }

    pub(crate) fn control(&self) -> &Placed<Control> {
        self.core.control()
    }
}

impl<E> Clone for Ring<E> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), shared: SharedArc::clone(&self.shared) }
    }
}

impl<E> fmt::Debug for Ring<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("core", &self.core).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Disruptor;
    use crate::graph::Placement;

    #[test]
    fn consumers_of_one_event_are_siblings() {
        let are_siblings = |upstream: &[&[StageIndex]]| {
            has_siblings(&Shared::of_graph(8, upstream).control, upstream.len())
        };
        assert!(!are_siblings(&[&[]]));
        assert!(!are_siblings(&[&[], &[0], &[1]]));
        assert!(are_siblings(&[&[], &[]]));
        assert!(are_siblings(&[&[], &[0], &[0]]));
    }

    #[test]
    fn threads_are_those_of_producers_stages_and_pollers() {
        let ring = || Disruptor::multi_producer(8, || 0_u64).stage("a").read(|_, _, _| {});
        let (one, _consumers) = ring().stage("b").poller().build().unwrap();
        assert_eq!(one.shared.threads(), 3);
        let other = one.clone();
        assert_eq!(other.shared.threads(), 4);
        drop(one);
        assert_eq!(other.shared.threads(), 3);

        let shared = ring().stage("b").read(|_, _, _| {}).placement(Placement::threads(1));
        let (producer, _consumers) = shared.build().unwrap();
        assert_eq!(producer.shared.threads(), 2);
    }

    #[test]
    fn workers_are_siblings() {
        let ring = |workers| {
            let ring = Disruptor::single_producer(8, || 0_u64).stage("a").workers(workers);
            ring.read(|_| |_: &u64, _, _| {}).build().unwrap()
        };
        assert!(!ring(1).0.shared.has_siblings());
        assert!(ring(2).0.shared.has_siblings());
    }
}
