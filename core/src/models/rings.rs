//! The rings of the models, with their ends and the advice of these. Not here: what an end does
//! (`models`).

use std::ops::Range;

use super::{Multi, Publisher, Single, Taker};
use crate::advice::{ClaimAdvice, ReadAdvice};
use crate::words::Words;
use crate::{Factory, Graph, Ring, Room, Sequence, StageIndex, Waits};

/// Advice that takes each way of the protocol that a model can take.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Advice {
    /// Whether the only producer keeps a count of its claims.
    counts: bool,
    /// Whether one of several producers expects the counter at the end of its last claim.
    expects: bool,
    /// The end of that claim.
    end: Option<Sequence>,
}

impl ClaimAdvice for Advice {
    fn expected_counter(&self) -> Option<Sequence> {
        self.end
    }

    fn claimed(&mut self, claim: &Range<Sequence>) {
        self.end = self.expects.then_some(claim.end);
    }

    fn keeps_count(&mut self, _: &Range<Sequence>, _: impl FnOnce() -> u64) -> bool {
        self.counts
    }
}

impl ReadAdvice for Advice {
    fn wants_lines_of(&mut self, _: Range<Sequence>) -> bool {
        true
    }
}

/// The shape of a ring: for each stage, the stages directly upstream.
pub(super) type Upstream<'a> = &'a [&'a [StageIndex]];

/// One stage.
pub(super) const ONE: Upstream<'static> = &[&[]];
/// Two stages, one after the other.
pub(super) const TWO: Upstream<'static> = &[&[], &[0]];
/// Two stages side by side.
pub(super) const BESIDE: Upstream<'static> = &[&[], &[]];

/// Returns the shape of a ring without dynamic stages.
pub(super) fn graph(upstream: Upstream<'_>) -> Graph {
    Graph::new(upstream.iter().map(|&near| near.into()).collect())
}

/// A ring in which every thread may park.
pub(super) fn ring_of(capacity: usize, is_multi: bool, graph: Graph) -> Ring<u64> {
    ring_with(capacity, is_multi, graph, true)
}

/// A ring in which threads check for parked ones if any thread `parks`.
pub(super) fn ring_with(capacity: usize, is_multi: bool, graph: Graph, parks: bool) -> Ring<u64> {
    let waits = Waits { parks, shares_threads: false };
    Room::reserve(&mut Words::private(), capacity, is_multi).unwrap().into_ring(
        &mut Words::private(),
        Factory::of(|| 0),
        graph,
        0,
        waits,
    )
}

/// A ring with one producer.
pub(super) fn single_ring(
    capacity: usize,
    upstream: Upstream<'_>,
) -> (Publisher<Single>, Ring<u64>) {
    let ring = ring_of(capacity, false, graph(upstream));
    (Publisher::only(&ring, Advice::default()), ring)
}

/// A ring with several producers, of which this is the first.
pub(super) fn multi_ring(capacity: usize, upstream: Upstream<'_>) -> (Publisher<Multi>, Ring<u64>) {
    let ring = ring_of(capacity, true, graph(upstream));
    (Publisher::one_more(&ring), ring)
}

/// A ring with one producer and one stage.
pub(super) fn single(capacity: usize) -> (Publisher<Single>, Taker) {
    let (publisher, ring) = single_ring(capacity, ONE);
    (publisher, Taker::of_stage(&ring, 0))
}

/// The same with a producer that keeps a count of its claims.
pub(super) fn counting(capacity: usize) -> (Publisher<Single>, Taker) {
    let ring = ring_of(capacity, false, graph(ONE));
    (
        Publisher::only(&ring, Advice { counts: true, ..Advice::default() }),
        Taker::of_stage(&ring, 0),
    )
}

/// A ring with one producer, and a stage that gets one event at a time.
pub(super) fn in_parts(capacity: usize) -> (Publisher<Single>, Taker) {
    let (publisher, ring) = single_ring(capacity, ONE);
    (publisher, Taker::in_parts(&ring, 0))
}

/// A ring with several producers and one stage.
pub(super) fn multi(capacity: usize) -> (Publisher<Multi>, Taker) {
    let (publisher, ring) = multi_ring(capacity, ONE);
    (publisher, Taker::of_stage(&ring, 0))
}

/// The same with a producer that expects the counter at the end of its last claim.
pub(super) fn expecting(capacity: usize) -> (Publisher<Multi>, Taker) {
    let ring = ring_of(capacity, true, graph(ONE));
    let advice = Advice { expects: true, ..Advice::default() };
    (Publisher::advised(&ring, advice), Taker::of_stage(&ring, 0))
}

/// A ring of one slot with two stages side by side.
pub(super) fn parallel() -> (Publisher<Single>, Taker, Taker) {
    let (publisher, ring) = single_ring(1, BESIDE);
    (publisher, Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1))
}

/// A ring with one producer, a stage whose events count as finished once they are acknowledged, and
/// a stage downstream of it. Returns the words of the acknowledgement too.
pub(super) fn acknowledged(capacity: usize) -> (Publisher<Single>, Taker, Taker, StageIndex) {
    let mut graph = graph(TWO);
    let acknowledgement = graph.acknowledge(0);
    let ring = ring_of(capacity, false, graph);
    let publisher = Publisher::only(&ring, Advice::default());
    (publisher, Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1), acknowledgement)
}
