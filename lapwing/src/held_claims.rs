//! The claims that this thread holds in rings with several producers, so that none of its producers waits for them.
//!
//! ```text
//! claim a of ring R ── hold ──> (R, a)
//!   └─ publish to R, full ───── is a below the wrap point? then no consumer gets past it, and only this thread could
//!                               publish it
//! ```
//!
//! A ring with one producer needs no such list: its claim borrows the only producer.
//!
//! The list is thread-local memory that needs neither an allocation nor a destructor. A claim writes two words there, and
//! its end one. Only a producer that waits reads the list.

use std::cell::Cell;
use std::ptr;

use crate::Sequence;
use crate::control::Control;
use crate::sync::constant_thread_local;

/// Most claims of one thread that are known. Further ones are not: a producer that waits for one of them waits forever.
const KNOWN: usize = 8;

constant_thread_local! {
    /// The claims that this thread holds, in no order.
    static HELD: [Cell<Held>; KNOWN] = [const { Cell::new(Held::NONE) }; KNOWN];
}

/// A claim, by the address of its ring's words and its first sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    ring: *const Control,
    first: Sequence,
}

impl Held {
    const NONE: Self = Self { ring: ptr::null(), first: 0 };
}

/// Notes that this thread holds the claim from `first` on.
#[inline(always)]
pub(crate) fn hold(control: &Control, first: Sequence) {
    replace(Held::NONE, Held { ring: control, first });
}

/// Notes that the claim from `first` on is published or abandoned.
#[inline(always)]
pub(crate) fn settle(control: &Control, first: Sequence) {
    replace(Held { ring: control, first }, Held::NONE);
}

/// The first sequence of the oldest claim of this ring that this thread holds.
pub(crate) fn oldest(control: &Control) -> Option<Sequence> {
    HELD.with(|held| {
        let claims = held.iter().map(Cell::get);
        claims.filter(|claim| ptr::eq(claim.ring, control)).map(|claim| claim.first).min()
    })
}

/// Puts `new` in the place of `old`, if that is in the list. Mostly it is in the first place.
#[inline(always)]
fn replace(old: Held, new: Held) {
    HELD.with(|held| {
        if held[0].get() == old { held[0].set(new) } else { replace_further(&held[1..], old, new) }
    });
}

#[cold]
#[inline(never)]
fn replace_further(held: &[Cell<Held>], old: Held, new: Held) {
    if let Some(place) = held.iter().find(|place| place.get() == old) {
        place.set(new);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn control() -> Control {
        Control::of_graph(8, None, &[&[]])
    }

    #[test]
    fn the_oldest_claim_of_a_ring_is_known_until_it_is_settled() {
        let (ring, other) = (control(), control());
        assert_eq!(oldest(&ring), None);
        hold(&ring, 7);
        hold(&other, 1);
        hold(&ring, 5);
        assert_eq!((oldest(&ring), oldest(&other)), (Some(5), Some(1)));
        settle(&ring, 5);
        assert_eq!(oldest(&ring), Some(7));
        settle(&ring, 7);
        settle(&other, 1);
        assert_eq!((oldest(&ring), oldest(&other)), (None, None));
    }

    #[test]
    fn claims_beyond_those_that_are_known_come_and_go_without_a_trace() {
        let ring = control();
        (0..20).for_each(|first| hold(&ring, first));
        assert_eq!(oldest(&ring), Some(0));
        (0..20).rev().for_each(|first| settle(&ring, first));
        assert_eq!(oldest(&ring), None);
        (0..20).for_each(|first| hold(&ring, first));
        (0..20).for_each(|first| settle(&ring, first));
        assert_eq!(oldest(&ring), None);
    }

    #[test]
    fn claims_of_other_threads_are_not_in_the_list() {
        let ring = control();
        hold(&ring, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(oldest(&ring), None));
        });
        settle(&ring, 0);
    }
}
