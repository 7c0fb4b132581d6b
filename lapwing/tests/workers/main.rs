//! Groups of workers: each event goes to one worker, whatever the workers do.
//!
//! A test describes a [`Group`](group::Group): how the workers share, how many there are, the ring,
//! and what a worker says to an event. Each worker enters its events in a [`Book`](book::Book),
//! which checks in every test that each event was handled once, not early and not overwritten, and
//! by key also that the events of a key came in their order, to one worker at a time.
//! `for_each_group!` runs a test for both ways to share and both kinds of producer. A new case is a
//! new value in the loop of such a test, or a new field of the group.

#[path = "../common/mod.rs"]
mod common;

/// Makes four tests of each function: with one and with several producers, and for workers that
/// take any event and for those that share by key.
macro_rules! for_each_group {
    ($($name:ident),+ $(,)?) => {
        mod any_worker { crate::for_each_group!(@ Any, $($name),+); }
        mod by_key { crate::for_each_group!(@ ByKey, $($name),+); }
    };
    (@ $sharing:ident, $($name:ident),+) => {
        mod single_producer { crate::for_each_group!(@ $sharing One, $($name),+); }
        mod multi_producer { crate::for_each_group!(@ $sharing Many, $($name),+); }
    };
    (@ $sharing:ident $kind:ident, $($name:ident),+) => {
        use crate::{common, group::Sharing};
        $(#[test] fn $name() {
            let test = super::super::$name::<common::$kind>;
            common::watched(|| test(Sharing::$sharing));
        })+
    };
}
pub(crate) use for_each_group;

mod book;
mod deadlocks;
mod failing;
mod feed;
mod group;
mod handlers;
mod keys;
mod leaving;
mod refused;
mod resizing;
mod sharing;
mod together;
mod waiting;
