//! The operations of a ring that contain the fences. A mark here is that of a thread which parks;
//! it finds its wait over, and so does not sleep.

use super::check;
use super::race::{Load, Outcomes, on_two_cpus, race};
use crate::Sequence;
use crate::advice::Plain;
use crate::claims::steps::Steps;
use crate::claims::{MultiClaims, SingleClaims};
use crate::control::Control;
use crate::memory::Reserved;
use crate::padded::Padded;
use crate::parking::EventCount;
use crate::parking::asymmetric::AsymmetricFence;
use crate::publication::Stamps;
use crate::sync::{AtomicU64, Ordering};

/// More sequences than a race has trials. A ring without stamps has no slots here.
const ENDLESS: u64 = 1 << 40;

/// Marks `place` unless the last mark is still there, and returns what `load` returns after the
/// fence.
fn mark(
    place: &EventCount,
    marks: &mut u32,
    fence: AsymmetricFence,
    load: impl FnOnce() -> Sequence,
) -> Option<Sequence> {
    if place.epochs() < *marks {
        return None;
    }
    *marks += 1;
    let mut seen = None;
    place.park(
        fence,
        || None,
        || {
            seen = Some(load());
            true
        },
    );
    seen
}

fn publications_of_one(fence: AsymmetricFence, load: Load) -> Outcomes {
    let control = Control::with_fence(ENDLESS, None, fence);
    let mut claims = SingleClaims::new(&control, Plain);
    let (place, mut marks) = (control.parking().published(), 0);
    let publish = |trial| {
        claims.publish(&control, trial - 1, 1).expect("the ring is open");
        place.epochs().into()
    };
    race(load, publish, || mark(place, &mut marks, fence, || control.claimed()))
}

fn publications_of_several(fence: AsymmetricFence, load: Load) -> Outcomes {
    let stamps = Stamps::new(Reserved::reserve(1).expect("a stamp is small"), 0);
    let control = Control::with_fence(1, Some(stamps), fence);
    let mut claims = MultiClaims::new(Plain);
    let (place, mut marks) = (control.parking().published(), 0);
    let publish = |trial| {
        claims.publish(&control, trial - 1, 1).expect("the ring is open");
        place.epochs().into()
    };
    let stamps = control.publication().stamps().expect("there are several producers");
    race(load, publish, || mark(place, &mut marks, fence, || stamps.laps_of_first_slot()))
}

fn releases(fence: AsymmetricFence, load: Load) -> Outcomes {
    let control = Control::with_fence(ENDLESS, None, fence);
    let (place, mut marks) = (control.released(0), 0);
    let release = |trial| {
        control.advance_for_test(0, trial);
        place.epochs().into()
    };
    race(load, release, || mark(place, &mut marks, fence, || control.sequence_of(0)))
}

/// Rings that one thread closes while the other one claims and publishes.
fn closes(fence: AsymmetricFence, load: Load) -> Outcomes {
    const RINGS: usize = 512;
    let make = || Control::with_fence(ENDLESS, None, fence);
    let rings: Vec<_> = std::iter::repeat_with(make).take(RINGS).collect();
    let turn = Padded(AtomicU64::new(0));
    let (published, ends) = on_two_cpus(
        || {
            let mut between_trials = load.between_trials();
            let publish = |(number, ring)| {
                // O13, Relaxed: the order of the rings.
                while turn.load(Ordering::Relaxed) < number {}
                publish_until_closed(ring, &mut between_trials)
            };
            (0..).zip(&rings).map(publish).collect::<Vec<_>>()
        },
        || {
            let close = |(number, ring)| {
                // O13, Relaxed: the order of the rings.
                turn.store(number, Ordering::Relaxed);
                close_after(ring, number * 37 % 500)
            };
            (0..).zip(&rings).map(close).collect::<Vec<_>>()
        },
    );
    let mut outcomes = Outcomes::default();
    for ((accepted, published), end) in published.into_iter().zip(ends) {
        assert!(accepted >= end, "refused, but counted: accepted={accepted}, end={end}");
        outcomes.trials += published;
        outcomes.marks += 1;
        match published {
            _ if end < accepted => outcomes.neither += 1, // accepted, and not counted
            _ if accepted < published => outcomes.one += 1, // the producer alone saw the other side
            _ => outcomes.both += 1,
        }
    }
    outcomes
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_publication_of_one_and_a_thread_that_parks() {
    check("O6: publications of one", publications_of_one);
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_publication_of_several_and_a_thread_that_parks() {
    check("O6: publications of several", publications_of_several);
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_release_and_a_thread_that_parks() {
    check("O6: releases", releases);
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_publication_and_a_close() {
    check("O8, O33: closes", closes);
}

/// Returns the number of events that were accepted, and of those that were published.
fn publish_until_closed(
    control: &Control,
    between_trials: &mut impl FnMut(u64),
) -> (Sequence, Sequence) {
    let mut claims = SingleClaims::new(control, Plain);
    let mut accepted = 0;
    while let Ok(claim) = claims.try_claim(control, 1) {
        between_trials(accepted);
        if claims.publish(control, claim, 1).is_err() {
            break;
        }
        accepted += 1;
    }
    (accepted, control.claimed())
}

/// Closes the ring after some events. Returns its end.
fn close_after(control: &Control, events: Sequence) -> Sequence {
    while control.claimed() < events {}
    control.close();
    control.end().expect("the ring is closed")
}
