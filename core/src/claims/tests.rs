//! Claims and publications on one thread. Each case in `for_both!` runs with one producer and with
//! several.

use std::ops::Range;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::steps::Steps;
use super::{Claims, MultiClaims, SingleClaims};
use crate::Sequence;
use crate::advice::{ClaimAdvice, Plain};
use crate::control::Control;
use crate::error::{Cause, ClaimError, Ended};
use crate::memory::Reserved;
use crate::parking::Waits;
use crate::parking::event_count::ENDED;
use crate::publication::{Span, Stamps};
use crate::reading::barrier::Barrier;
use crate::stages::{DETACHED, Graph, StageIndex};
use crate::sync::Arc;

type Single = SingleClaims<Plain>;
type Multi = MultiClaims<Plain>;

/// The shared words of a ring with one stage, which gates the producers.
fn control<S: Tested>(capacity: u64) -> Control {
    graph::<S>(capacity, &[&[]])
}

/// The shared words of a ring with one producer and one stage.
pub(super) fn control_of_one_producer(capacity: u64) -> Control {
    control::<Single>(capacity)
}

/// The claims of both kinds, in a form that these tests can create.
trait Tested: Claims {
    /// Creates the claims of a new producer of the ring of `control`.
    fn of(control: &Control) -> Self;
}

impl<A: ClaimAdvice + Default> Tested for SingleClaims<A> {
    fn of(control: &Control) -> Self {
        Self::new(control, A::default())
    }
}

impl<A: ClaimAdvice + Default> Tested for MultiClaims<A> {
    fn of(_: &Control) -> Self {
        Self::new(A::default())
    }
}

/// The shared words of a ring, and the claims of its producer.
fn ring<S: Tested>(capacity: u64) -> (S, Control) {
    let control = control::<S>(capacity);
    (S::of(&control), control)
}

/// The shared words of a ring with this graph. `upstream` has, for each stage, the stages directly
/// upstream.
fn graph<S: Tested>(capacity: u64, upstream: &[&[StageIndex]]) -> Control {
    let stamps = S::IS_MULTI.then(|| Stamps::new(Reserved::reserve(capacity as usize).unwrap(), 0));
    Control::of_graph(capacity, stamps, upstream)
}

/// The barrier of a stage that depends on `upstream`, in a ring without published marks.
fn barrier_after(upstream: &[StageIndex]) -> Barrier {
    Barrier::new(upstream.into(), None)
}

/// What a first stage finds from `next` on.
fn seen(control: &Control, next: Sequence) -> Span {
    barrier_after(&[]).span(control, next, next + control.capacity())
}

fn claim_and_publish<S: Tested>(sequencer: &mut S, control: &Control, count: u64) -> Sequence {
    let first = sequencer.try_claim(control, count).unwrap();
    sequencer.publish(control, first, count).unwrap();
    first
}

fn claims_are_numbered_from_zero_without_gaps<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(16);
    assert_eq!(claim_and_publish(&mut sequencer, &control, 1), 0);
    assert_eq!(claim_and_publish(&mut sequencer, &control, 4), 1);
    assert_eq!(claim_and_publish(&mut sequencer, &control, 1), 5);
    assert_eq!(seen(&control, 0), Span::Events(6));
}

fn nothing_is_claimed_beyond_a_lap<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    claim_and_publish(&mut sequencer, &control, 4);
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Full));
    assert!(!control.is_claimable(1));
    control.advance_for_test(0, 1);
    assert!(control.is_claimable(1));
    assert_eq!(sequencer.try_claim(&control, 2), Err(ClaimError::Full), "one slot is free");
    assert_eq!(claim_and_publish(&mut sequencer, &control, 1), 4);
    assert_eq!(control.claimed(), 5, "a refused claim has moved nothing");
}

fn trap_11_the_first_lap_overwrites_nothing<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(1);
    assert_eq!(claim_and_publish(&mut sequencer, &control, 1), 0);
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Full));
}

fn trap_10_the_first_event_alone_is_seen<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(8);
    assert_eq!(seen(&control, 0), Span::Empty);
    claim_and_publish(&mut sequencer, &control, 1);
    assert_eq!(seen(&control, 0), Span::Events(1));
}

fn a_claim_is_invisible_until_published<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    let first = sequencer.try_claim(&control, 2).unwrap();
    assert_eq!(seen(&control, 0), Span::Empty);
    sequencer.publish(&control, first, 2).unwrap();
    assert_eq!(seen(&control, 0), Span::Events(2));
}

fn the_slots_of_the_last_lap_are_not_seen_again<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(2);
    for lap in 0..10 {
        assert_eq!(seen(&control, 2 * lap), Span::Empty);
        claim_and_publish(&mut sequencer, &control, 2);
        assert_eq!(seen(&control, 2 * lap), Span::Events(2 * lap + 2));
        control.advance_for_test(0, 2 * lap + 2);
    }
}

fn a_closed_ring_grants_nothing<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    claim_and_publish(&mut sequencer, &control, 3);
    control.close();
    control.close();
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Closed));
    assert_eq!(control.end(), Some(3));
    assert_eq!(seen(&control, 0), Span::Events(3));
}

fn a_halted_ring_grants_nothing<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    control.halt(Cause::new(1));
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Halted(Cause::new(1))));
    assert!(control.is_claimable(4), "a wait for slots is over");
}

fn a_ring_whose_consumers_left_grants_nothing<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    control.detach(0);
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Halted(Cause::NO_CONSUMERS)));
}

/// Runs each case with one producer and with several.
macro_rules! for_both {
    ($($case:ident),* $(,)?) => {
        mod single { $(#[test] fn $case() { super::$case::<super::Single>(); })* }
        mod multi { $(#[test] fn $case() { super::$case::<super::Multi>(); })* }
    };
}

for_both!(
    claims_are_numbered_from_zero_without_gaps,
    nothing_is_claimed_beyond_a_lap,
    trap_11_the_first_lap_overwrites_nothing,
    trap_10_the_first_event_alone_is_seen,
    a_claim_is_invisible_until_published,
    the_slots_of_the_last_lap_are_not_seen_again,
    a_closed_ring_grants_nothing,
    a_halted_ring_grants_nothing,
    a_ring_whose_consumers_left_grants_nothing,
    a_claim_that_a_close_refused_is_the_last_one,
    a_claim_without_a_consumer_is_the_last_one,
    a_second_close_waited_for_the_first,
);

/// A thread that ends a ring first says so, and then stops the grants. A producer that was refused
/// in between was granted its next claim.
fn a_claim_that_a_close_refused_is_the_last_one<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    claim_and_publish(&mut sequencer, &control, 1);
    control.life().begin_close();
    assert_eq!(sequencer.try_claim(&control, 4), Err(ClaimError::Closed));
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Closed));
    assert_eq!(sequencer.try_claim_up_to(&control, 1), Err(ClaimError::Closed));
}

/// The same while the last consumer leaves and has not halted the ring yet.
fn a_claim_without_a_consumer_is_the_last_one<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    claim_and_publish(&mut sequencer, &control, 1);
    assert!(control.stages().dynamic().remove_consumer());
    control.advance_for_test(0, DETACHED);
    let halted = ClaimError::Halted(Cause::NO_CONSUMERS);
    assert_eq!(sequencer.try_claim(&control, 4), Err(halted));
    assert_eq!(sequencer.try_claim(&control, 1), Err(halted));
    assert_eq!(sequencer.try_claim_up_to(&control, 1), Err(halted));
}

/// The flag of the end comes before the end of the window.
#[test]
fn a_claim_that_saw_the_end_is_the_last_one() {
    let (mut sequencer, control) = ring::<Single>(4);
    claim_and_publish(&mut sequencer, &control, 1);
    control.life().begin_close();
    control.parking().published().raise(ENDED);
    assert_eq!(sequencer.try_claim_up_to(&control, 1), Err(ClaimError::Closed));
    assert_eq!(sequencer.try_claim(&control, 1), Err(ClaimError::Closed));
}

/// Runs `call` on a thread of its own, which must not wait for the thread that closes the ring.
fn returns_while_a_closer_stands_still<R: Send + 'static>(
    call: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(call()));
    result.recv_timeout(Duration::from_secs(60)).expect("it waits for the closer")
}

/// The thread that closes the ring has said so and loses its CPU. A producer of real-time priority
/// on the same CPU would have spun forever.
#[test]
fn a_publication_spun_behind_a_closer_that_was_not_running() {
    let (mut sequencer, control) = ring::<Single>(4);
    let control = Arc::new(control);
    let first = sequencer.try_claim(&control, 2).unwrap();
    control.life().begin_close();
    control.parking().published().raise(ENDED);
    let shared = Arc::clone(&control);
    let publish = move || (sequencer.publish(&shared, first, 2), sequencer.try_claim(&shared, 1));
    let (published, claimed) = returns_while_a_closer_stands_still(publish);
    assert_eq!((published, claimed), (Ok(()), Err(ClaimError::Closed)));
    control.close(); // the closer runs again
    assert_eq!(control.end(), Some(2), "the accepted events count");
}

fn a_second_close_waited_for_the_first<S: Tested>() {
    let (mut sequencer, control) = ring::<S>(4);
    claim_and_publish(&mut sequencer, &control, 3);
    let control = Arc::new(control);
    control.life().begin_close();
    let shared = Arc::clone(&control);
    returns_while_a_closer_stands_still(move || shared.close());
    assert_eq!(control.end(), Some(3));
    let shared = Arc::clone(&control);
    returns_while_a_closer_stands_still(move || shared.halt(Cause::new(1)));
    assert_eq!(control.end(), Some(3), "the first end counts");
}

#[test]
fn a_single_claim_that_is_given_up_is_claimed_again() {
    let (mut sequencer, control) = ring::<Single>(4);
    let first = sequencer.try_claim(&control, 2).unwrap();
    sequencer.abandon(&control, first, 2);
    assert_eq!(claim_and_publish(&mut sequencer, &control, 1), first);
    assert_eq!(seen(&control, 0), Span::Events(1));
}

#[test]
fn a_single_publication_after_the_close_is_refused_and_not_counted() {
    let (mut sequencer, control) = ring::<Single>(4);
    claim_and_publish(&mut sequencer, &control, 1);
    let first = sequencer.try_claim(&control, 1).unwrap();
    control.close();
    assert_eq!(sequencer.publish(&control, first, 1), Err(Ended::Closed));
    assert_eq!(control.end(), Some(1));
}

#[test]
fn a_multi_claim_that_is_given_up_is_a_tombstone() {
    let (mut sequencer, control) = ring::<Multi>(8);
    claim_and_publish(&mut sequencer, &control, 1);
    let given_up = sequencer.try_claim(&control, 2).unwrap();
    claim_and_publish(&mut sequencer, &control, 1);
    assert_eq!(seen(&control, 0), Span::Events(1), "1 and 2 are claimed");
    sequencer.abandon(&control, given_up, 2);
    assert_eq!(seen(&control, 0), Span::Events(1), "a batch ends at a tombstone");
    assert_eq!(seen(&control, 1), Span::Tombstones(3));
    assert_eq!(seen(&control, 3), Span::Events(4));
}

#[test]
fn a_stage_downstream_sees_tombstones_too() {
    let control = graph::<Multi>(8, &[&[], &[0]]);
    let mut sequencer = Multi::of(&control);
    let second = barrier_after(&[0]);
    claim_and_publish(&mut sequencer, &control, 1);
    control.advance_for_test(0, 1);
    assert_eq!(second.span(&control, 0, 8), Span::Events(1));
    let given_up = sequencer.try_claim(&control, 1).unwrap();
    sequencer.abandon(&control, given_up, 1);
    control.advance_for_test(0, 2);
    assert_eq!(second.span(&control, 1, 8), Span::Tombstones(2));
}

#[test]
fn a_stalled_producer_holds_back_later_events() {
    let control = control::<Multi>(8);
    let [mut slow, mut fast] = [0; 2].map(|_| Multi::of(&control));
    claim_and_publish(&mut fast, &control, 1);
    let held = slow.try_claim(&control, 1).unwrap();
    claim_and_publish(&mut fast, &control, 2);
    assert_eq!(seen(&control, 0), Span::Events(1));
    slow.publish(&control, held, 1).unwrap();
    assert_eq!(seen(&control, 0), Span::Events(4));
}

/// Advice that always expects the counter at the end of the last claim.
#[derive(Debug, Default)]
struct LastEnd(Option<Sequence>);

impl ClaimAdvice for LastEnd {
    fn expected_counter(&self) -> Option<Sequence> {
        self.0
    }

    fn claimed(&mut self, claim: &Range<Sequence>) {
        self.0 = Some(claim.end);
    }
}

type Expecting = MultiClaims<LastEnd>;

/// A ring of `capacity` slots, and a producer that has claimed and published 24 events, so that it
/// expects no other producer. Returns also the next sequence.
fn alone(capacity: u64) -> (Control, Expecting, Sequence) {
    let ((mut sequencer, control), events) = (ring::<Expecting>(capacity), 24);
    (0..events).for_each(|next| assert_eq!(claim_and_publish(&mut sequencer, &control, 1), next));
    (control, sequencer, events)
}

#[test]
fn a_producer_that_expects_to_be_alone_notices_another() {
    let (control, mut first, mut next) = alone(1 << 10);
    let mut second = Multi::of(&control);
    for others in [1, 3, 20, 5] {
        for count in (0..others).map(|_| 1).chain([2]) {
            assert_eq!(claim_and_publish(&mut second, &control, count), next);
            next += count;
        }
        for count in (0..20).map(|_| 1).chain([4]) {
            assert_eq!(claim_and_publish(&mut first, &control, count), next);
            next += count;
        }
    }
    assert_eq!((seen(&control, 0), control.claimed()), (Span::Events(next), next));
}

#[test]
fn a_producer_that_expects_to_be_alone_learns_that_the_ring_is_full_closed_or_halted() {
    let (control, mut first, next) = alone(32);
    assert_eq!(first.try_claim(&control, 9), Err(ClaimError::Full));
    assert_eq!(claim_and_publish(&mut Multi::of(&control), &control, 8), next);
    assert_eq!(first.try_claim(&control, 1), Err(ClaimError::Full));
    assert_eq!(control.claimed(), 32, "a refused claim has moved nothing");

    let (control, mut first, next) = alone(1 << 10);
    control.close();
    assert_eq!(first.try_claim(&control, 1), Err(ClaimError::Closed));
    assert_eq!(first.try_claim_up_to(&control, 8), Err(ClaimError::Closed));
    assert_eq!(control.end(), Some(next));

    let (control, mut first, _) = alone(1 << 10);
    control.halt(Cause::new(1));
    assert_eq!(first.try_claim(&control, 1), Err(ClaimError::Halted(Cause::new(1))));
}

/// Advice that alternates between three claims with a count and three without.
#[derive(Debug, Default)]
struct CountsByTurns;

impl ClaimAdvice for CountsByTurns {
    fn window(&mut self, claim: &Range<Sequence>, _: Sequence) -> Sequence {
        claim.end
    }

    fn keeps_count(&mut self, claim: &Range<Sequence>, _: impl FnOnce() -> u64) -> bool {
        claim.start / 3 % 2 == 1
    }
}

#[test]
fn a_claim_that_is_given_up_is_claimed_again_with_and_without_a_count() {
    let (mut single, control) = ring::<SingleClaims<CountsByTurns>>(1 << 10);
    for next in (0..100).map(|round| 4 * round) {
        let first = single.try_claim(&control, 1).unwrap();
        single.abandon(&control, first, 1);
        assert_eq!(single.try_claim_up_to(&control, 3), Ok(next..next + 3));
        single.publish(&control, next, 3).unwrap();
        // A claim that is neither published nor abandoned is claimed again too.
        single.try_claim(&control, 1).unwrap();
        assert_eq!(claim_and_publish(&mut single, &control, 1), next + 3);
    }
    control.close();
    assert_eq!(single.try_claim(&control, 1), Err(ClaimError::Closed));
}

#[test]
fn laps_beyond_32_bits_are_told_apart() {
    let control = control::<Multi>(1);
    let mut sequencer = Multi::of(&control);
    // Around the laps at which the 31-bit lap of the stamps wraps to 0.
    let around = (1_u64 << 31) - 3..(1 << 31) + 3;
    control.publication().set(around.start);
    control.advance_for_test(0, around.start);
    for sequence in around {
        assert_eq!(seen(&control, sequence), Span::Empty, "sequence={sequence}");
        assert_eq!(claim_and_publish(&mut sequencer, &control, 1), sequence);
        assert_eq!(seen(&control, sequence), Span::Events(sequence + 1));
        control.advance_for_test(0, sequence + 1);
    }
}

#[test]
fn stages_wait_for_the_stages_upstream_of_one_that_left() {
    let control = graph::<Single>(8, &[&[], &[0], &[1]]);
    let mut sequencer = Single::of(&control);
    let last = barrier_after(&[1]);
    claim_and_publish(&mut sequencer, &control, 4);
    control.advance_for_test(0, 3);
    control.advance_for_test(1, 1);
    assert_eq!(last.span(&control, 0, 8), Span::Events(1));
    control.detach(1);
    assert_eq!(last.span(&control, 0, 8), Span::Events(3), "as far as the first stage has got");
    control.detach(0);
    assert_eq!(last.span(&control, 0, 8), Span::Events(4), "as far as is published");
    control.detach(2);
    assert!(control.is_halted(), "no consumer is left");
}

#[test]
fn closing_keeps_the_claims_of_several_producers() {
    let control = control::<Multi>(8);
    let mut sequencer = Multi::of(&control);
    let held = sequencer.try_claim(&control, 1).unwrap();
    control.close();
    assert_eq!(control.end(), Some(1), "the close waits for the claim");
    sequencer.publish(&control, held, 1).unwrap();
    assert_eq!(seen(&control, 0), Span::Events(1));
    assert!(control.publication().counter() > Sequence::MAX / 2, "beyond every sequence");
}

#[test]
fn many_layers_that_left_are_searched_once_each() {
    // Two stages per layer give 2^40 paths.
    let layers: Vec<[StageIndex; 2]> = (0..40).map(|layer| [2 * layer, 2 * layer + 1]).collect();
    let mut upstream: Vec<&[StageIndex]> = vec![&[], &[]];
    upstream.extend(layers.iter().flat_map(|layer| [&layer[..]; 2]));
    let control = graph::<Single>(8, &upstream);
    let mut sequencer = Single::of(&control);
    claim_and_publish(&mut sequencer, &control, 4);
    control.advance_for_test(0, 2);
    control.advance_for_test(1, 3);
    (2..80).for_each(|stage| control.detach(stage));
    assert_eq!(control.finished_by(79), 2);
    assert!(std::ptr::eq(control.behind(&[79], 2).unwrap(), control.released(0)));
}

#[test]
fn the_stages_that_gate_beside_one_are_all_others_without_a_stage_downstream() {
    let beside = |upstream: &[&[StageIndex]]| {
        let control = graph::<Single>(4, upstream);
        let beside = (0..upstream.len()).map(|stage| control.stages().gating_beside(stage));
        beside.map(|stages| stages.map(Vec::from)).collect::<Vec<_>>()
    };
    assert_eq!(beside(&[&[]]), [Some(vec![])]);
    assert_eq!(beside(&[&[], &[0], &[1]]), [None, None, Some(vec![])], "a pipeline");
    assert_eq!(beside(&[&[], &[], &[0, 1]]), [None, None, Some(vec![])], "a diamond");
    assert_eq!(beside(&[&[], &[]]), [Some(vec![1]), Some(vec![0])], "side by side");
    let after_another = beside(&[&[], &[0], &[0], &[0]]);
    assert_eq!(after_another, [None, Some(vec![2, 3]), Some(vec![1, 3]), Some(vec![1, 2])]);

    let with = |change: fn(Graph) -> Graph| {
        let graph = change(Graph::new(vec![Box::default(), [0].into()]));
        let control = Control::for_test((4, None), graph, Waits::default());
        control.stages().gating_beside(1).is_some()
    };
    assert!(with(|graph| graph));
    assert!(!with(|mut graph| {
        graph.acknowledge(1);
        graph
    }));
    assert!(!with(|mut graph| {
        graph.share(1, 1);
        graph
    }));
    assert!(!with(|graph| graph.with_dynamic_stages(1, None)));
}

/// Such a stage must not yield its CPU to producers. With that yield, three producers reached three
/// quarters of their throughput in a ring of 1 Ki slots.
#[test]
fn a_stage_with_all_others_upstream_delays_none() {
    let may_delay = |upstream: &[&[StageIndex]]| {
        let control = graph::<Single>(8, upstream);
        (0..upstream.len()).map(|stage| control.may_delay_others(stage)).collect::<Vec<_>>()
    };
    assert_eq!(may_delay(&[&[]]), [false], "alone");
    assert_eq!(may_delay(&[&[], &[0], &[1]]), [true, true, false], "in a row");
    assert_eq!(may_delay(&[&[], &[]]), [true, true], "side by side");
    assert_eq!(may_delay(&[&[], &[], &[0, 1]]), [true, true, false], "joined");
}

#[test]
fn a_halt_counts_what_was_published_before_it_and_refuses_the_rest() {
    for closes_first in [false, true] {
        let control = control::<Single>(4);
        let mut single = Single::of(&control);
        claim_and_publish(&mut single, &control, 1);
        let late = single.try_claim(&control, 1).unwrap();
        if closes_first {
            control.close();
        }
        control.halt(Cause::new(1));
        assert_eq!(control.end(), Some(1), "closes_first={closes_first}");
        let refused = single.publish(&control, late, 1);
        assert_eq!(refused, Err(Ended::Halted(Cause::new(1))));
        assert_eq!(control.end(), Some(1), "closes_first={closes_first}");
    }
}

#[test]
fn a_claim_of_several_producers_that_a_halt_overtakes_is_not_published() {
    let control = control::<Multi>(4);
    let mut multi = Multi::of(&control);
    let late = multi.try_claim(&control, 1).unwrap();
    control.halt(Cause::new(2));
    let refused = multi.publish(&control, late, 1);
    assert_eq!(refused, Err(Ended::Halted(Cause::new(2))));
    assert_eq!(seen(&control, 0), Span::Empty, "it is still a claim");
    multi.abandon(&control, late, 1);
    assert_eq!(seen(&control, 0), Span::Tombstones(1));
}

#[test]
fn the_cause_of_a_halt_is_that_of_the_first() {
    let control = control::<Single>(4);
    control.halt(Cause::NO_CONSUMERS);
    control.halt(Cause::new(1));
    assert_eq!(control.halt_cause(), Some(Cause::NO_CONSUMERS));
}

#[test]
fn releases_take_the_slow_path_where_threads_are_shared() {
    for is_signalled in [true, false] {
        let waits = Waits { parks: is_signalled, shares_threads: true };
        let control = Control::for_test((8, None), Graph::new(vec![Box::default()]), waits);
        assert_eq!(control.stages().of(0).released().flags() != 0, is_signalled);
    }
}

/// Without overflow checks, the sum wrapped, and a claim of any length seemed possible.
#[test]
fn a_claim_beyond_the_last_sequence_is_not_claimable() {
    let control = control::<Multi>(8);
    claim_and_publish(&mut Multi::of(&control), &control, 1);
    assert!(!control.is_claimable(u64::MAX));
    assert_eq!(control.wrap_point(u64::MAX), u64::MAX - 8);
}

#[test]
fn a_claim_is_held_until_it_is_settled() {
    let control = control::<Multi>(8);
    let (mut first, mut second) = (Multi::of(&control), Multi::of(&control));
    let one = first.try_claim(&control, 1).unwrap();
    let two = second.try_claim(&control, 2).unwrap();
    assert!(control.is_claim_held(one) && control.is_claim_held(two));
    first.publish(&control, one, 1).unwrap();
    second.abandon(&control, two, 2);
    assert!(!control.is_claim_held(one) && !control.is_claim_held(two));
}

#[test]
fn a_claim_whose_slot_was_claimed_again_is_not_held() {
    let control = control::<Multi>(1);
    let mut sequencer = Multi::of(&control);
    for sequence in 0..4 {
        assert_eq!(sequencer.try_claim(&control, 1), Ok(sequence));
        assert!(control.is_claim_held(sequence));
        sequencer.publish(&control, sequence, 1).unwrap();
        assert!((0..=sequence).all(|claim| !control.is_claim_held(claim)));
        control.advance_for_test(0, sequence + 1);
    }
}

/// A worker that was stopped before it stored the start of its claim lowers the gate. The producer
/// then believed that it still held a claim of a lap ago, and was refused with `WouldDeadlock`.
#[test]
fn a_claim_that_has_ended_is_not_held_when_a_worker_lowers_the_gate() {
    let control = graph::<Multi>(4, &[&[]]);
    let mut sequencer = Multi::of(&control);
    claim_and_publish(&mut sequencer, &control, 1);
    control.advance_for_test(0, 1);
    (0..4).for_each(|_| _ = claim_and_publish(&mut sequencer, &control, 1));
    control.advance_for_test(0, 0);
    assert!(!control.is_claim_held(0), "its slot has the event of the next lap");
}
