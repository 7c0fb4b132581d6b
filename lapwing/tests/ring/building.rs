//! Tests which rings are refused by `build`, what the messages say, and that nothing of such a ring
//! remains.

use crate::common::{Kind, Ledger};
use lapwing::error::BuildError;
use lapwing::graph::Graph;
use lapwing::producer::Sequencer;
use lapwing::{Builder, Stage};

crate::common::for_both_producers! {
    names_must_be_unique,
    names_must_not_be_empty_or_have_a_nul,
    a_ring_without_consumers_is_refused,
    a_longest_batch_of_no_events_is_refused,
    a_capacity_must_be_a_power_of_two_in_bounds,
    failed_allocation_is_an_error,
    a_refused_ring_has_made_no_event,
}

fn error<'env, E: Send + 'env, S: Sequencer>(ring: Builder<'env, E, S>) -> BuildError {
    ring.build().err().unwrap()
}

fn names_must_be_unique<K: Kind>() {
    let duplicate = BuildError::DuplicateName { stage: "twice".to_owned() };
    let ring = K::ring(4, || 0_u64).stage("twice").read(|_, _, _| {}).stage("twice").poller();
    assert_eq!(error(ring), duplicate);
    let mut graph = Graph::new();
    graph.stage("twice").read(|_, _, _| {});
    let ring = K::ring(4, || 0_u64).stage("once").read(|_, _, _| {}).graph(graph);
    assert_eq!(
        error(ring.parallel(|parallel| parallel.stage("twice").read(|_, _, _| {}))),
        duplicate
    );
}

fn names_must_not_be_empty_or_have_a_nul<K: Kind>() {
    for name in ["", "\0", "a\0b"] {
        let ring = K::ring(4, || 0_u64).stage(name).read(|_, _, _| {});
        assert_eq!(error(ring), BuildError::InvalidName { stage: name.to_owned() });
        let ring = K::ring(4, || 0_u64).stage(name.to_owned()).poller();
        assert_eq!(error(ring), BuildError::InvalidName { stage: name.to_owned() });
    }
}

fn a_ring_without_consumers_is_refused<K: Kind>() {
    assert_eq!(error(K::ring(4, || 0_u64)), BuildError::NoConsumers);
    let empty =
        K::ring(4, || 0_u64).graph(Graph::new()).parallel(|parallel| parallel.chain(|chain| chain));
    assert_eq!(error(empty), BuildError::NoConsumers);
}

fn a_longest_batch_of_no_events_is_refused<K: Kind>() {
    let refused = BuildError::ZeroMaxBatch { stage: "none".to_owned() };
    let none = || Stage::new("none").max_batch(0);
    assert_eq!(error(K::ring(4, || 0_u64).stage(none()).read(|_, _, _| {})), refused);
    assert_eq!(error(K::ring(4, || 0_u64).stage(none()).poller()), refused);
}

fn a_capacity_must_be_a_power_of_two_in_bounds<K: Kind>() {
    for requested in [0, 3, 6, 1000, (1 << 30) + 1, 1 << 31, usize::MAX / 2 + 1, usize::MAX] {
        let refused = error(K::ring(requested, || ()).stage("a").read(|_, _, _| {}));
        assert_eq!(refused, BuildError::Capacity { requested });
        assert!(refused.to_string().ends_with(&format!("requested={requested}")), "{refused}");
    }
    for capacity in [1, 2, 4, 1 << 12] {
        assert!(K::ring(capacity, || ()).stage("a").read(|_, _, _| {}).build().is_ok());
    }
}

/// A pebibyte, more than the address space of a process: refused before the factory is called. One
/// event has only a mebibyte, because an instrumented build puts events of any size on the stack.
fn failed_allocation_is_an_error<K: Kind>() {
    type Huge = [u64; 1 << 17];
    let ring = K::ring(1 << 30, || -> Huge { unreachable!() }).stage("a").read(|_, _, _| {});
    let expected = BuildError::OutOfMemory { capacity: 1 << 30, bytes_per_slot: 1 << 20 };
    assert_eq!(error(ring), expected);
}

fn a_refused_ring_has_made_no_event<K: Kind>() {
    let ledger = Ledger::default();
    let ring = || K::ring(4, || ledger.token());
    assert_eq!(error(ring()), BuildError::NoConsumers);
    let twice = ring().stage("twice").write(|_, _, _| {}).stage("twice").write(|_, _, _| {});
    assert!(matches!(error(twice), BuildError::DuplicateName { .. }));
    let odd = K::ring(3, || ledger.token()).stage("a").write(|_, _, _| {});
    assert!(matches!(error(odd), BuildError::Capacity { .. }));
    assert_eq!(ledger.made(), 0);
    drop(ring().stage("a").write(|_, _, _| {}).build().unwrap());
    assert_eq!((ledger.made(), ledger.dropped()), (4, 4));
}

#[test]
fn messages_about_stages_name_the_stage() {
    let stage = || "a".to_owned();
    let messages = [
        (BuildError::DuplicateName { stage: stage() }, "two stages share a name: stage=\"a\""),
        (
            BuildError::InvalidName { stage: stage() },
            "the name of a stage or a thread must not be empty or contain a NUL: name=\"a\"",
        ),
        (
            BuildError::UnknownStage { stage: stage() },
            "a stage depends on a stage of another graph: stage=\"a\"",
        ),
        (
            BuildError::Overlap { exclusive: stage(), other: "b".to_owned() },
            "a stage with exclusive access must run before or after each other stage: exclusive=\"a\" and other=\"b\" could run at the same time",
        ),
        (BuildError::ZeroMaxBatch { stage: stage() }, "max_batch must be at least 1: stage=\"a\""),
        (
            BuildError::UnusedSetting { stage: stage(), setting: "pin", needs: "a handler" },
            "the setting has no effect, because it needs a handler: stage=\"a\", setting=pin",
        ),
        (
            BuildError::Workers { stage: stage(), requested: 9, max: 8 },
            "a group must have 1..=8 workers: stage=\"a\", requested=9",
        ),
    ];
    for (error, message) in messages {
        assert_eq!(error.to_string(), message);
    }
}
