//! Every topology over every contender of the registry, with rings small enough to wrap often, and the loss of a peer.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::thread;

use super::registry::CONTENDERS;
use super::{Contender, ContenderName, Setting, WaitName};
use crate::load::exchange::Exchange;
use crate::load::paced::{Between, Pace};
use crate::load::queue::Queue;
use crate::load::sharing::{Crowd, Sharing};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::machine::placement::Placement;
use crate::measure::crew::{Crew, Disconnected, RunError};

/// Events of one test run: many laps of the rings below.
const EVENTS: u32 = 1_000;

/// Runs `contender` in every topology and asserts its answers.
fn assert_right(contender: &dyn Contender, workload: Workload) {
    for topology in Topology::ALL {
        let pass = contender.run(topology, &workload).unwrap();
        let expected = topology.expected(&workload);
        let name = contender.name();
        assert_eq!(pass.answers, expected, "{topology:?} {name} {workload:?}");
        assert!(pass.events_per_batch >= 1.0, "{topology:?} {name} {workload:?}");
    }
}

/// Runs `check` on a thread with the name `name`, so that a failure says which contender it is about.
fn on_thread_of(name: &str, check: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(check).unwrap();
    assert!(thread.join().is_ok(), "{name} failed: the message of its thread says why");
}

/// Runs `check` for each contender that is a program in another language, or for each that is not.
fn each(is_process: bool, check: fn(ContenderName)) {
    let names = ContenderName::shown().into_iter();
    for name in names.filter(|name| name.is_process() == is_process) {
        on_thread_of(name.name(), move || check(name));
    }
}

/// Returns every setting of `name`, or none with a message if its tools are missing.
fn present(name: ContenderName, settings: &[Setting]) -> Vec<Box<dyn Contender>> {
    let entries = name.enlist(settings).unwrap_or_else(|reason| {
        eprintln!("skipped: {name:?}: {reason}");
        Vec::new()
    });
    let candidates = entries.into_iter().flat_map(|entry| entry.candidates).collect::<Vec<_>>();
    candidates.iter().for_each(|candidate| assert_eq!(candidate.name(), name.name()));
    candidates
}

/// Returns the fewest slots with which `contender` takes part in every topology.
fn fewest_slots(contender: &dyn Contender) -> usize {
    Topology::ALL.map(|topology| contender.fewest_slots(topology)).into_iter().max().unwrap_or(1)
}

/// Returns a workload of [`EVENTS`].
fn workload(ring: usize, event_bytes: EventBytes, publish: Publish) -> Workload {
    Workload { events: EVENTS, ring, event_bytes, publish, placement: Placement::Free }
}

/// Returns a batch of `size` events.
fn batch(size: usize) -> Publish {
    Publish::Batch(NonZeroUsize::new(size).unwrap())
}

/// Runs `contender` under a load, over a ring that wraps, and asserts its answers and its delays.
fn assert_right_under_a_load(contender: &dyn Contender) {
    let pace = Pace {
        interval_ns: 500.0,
        events: EVENTS,
        ring: 64,
        placement: Placement::Free,
        between: Between::Awake,
    };
    let paced = contender.paced(&pace).unwrap();
    let name = contender.name();
    assert_eq!(paced.answers, pace.expected(), "{name}");
    for segment in &paced.delays.segments {
        assert_eq!(segment.len(), u64::from(EVENTS), "{name}");
    }
    let longest_hop = paced.delays.segments.iter().take(3).map(|hop| hop.max()).max();
    let end_to_end = paced.delays.end_to_end().max();
    assert!(Some(end_to_end) >= longest_hop, "{name} {end_to_end} {longest_hop:?}");
}

/// Runs `contender` over the smallest ring and a larger one, with small and large events.
fn assert_right_at_every_size(contender: &dyn Contender) {
    let fewest = fewest_slots(contender);
    for ring in [fewest, 64.max(2 * fewest)] {
        for event_bytes in [EventBytes::B8, EventBytes::B256] {
            assert_right(contender, workload(ring, event_bytes, Publish::One));
        }
    }
    assert_right_under_a_load(contender);
}

#[test]
fn a_name_is_registered_once() {
    let names = CONTENDERS.iter().map(|contender| contender.name).collect::<BTreeSet<_>>();
    assert_eq!(names.len(), CONTENDERS.len());
}

#[test]
fn every_contender_with_one_setting_is_right_at_every_size() {
    each(false, |name| {
        if let [contender] = &present(name, &[Setting::default()])[..] {
            assert_right_at_every_size(&**contender);
        }
    });
}

/// All settings run over one ring that wraps a few times, because spinning threads that outnumber the CPUs need a time
/// slice per lap. Those that yield the CPU run over smaller rings as well.
#[test]
fn every_contender_with_several_settings_is_right_in_each() {
    each(false, |name| {
        let candidates = present(name, &[Setting::default()]);
        let several = if candidates.len() > 1 { &candidates[..] } else { &[] };
        for contender in several {
            assert_right(&**contender, workload(256, EventBytes::B32, Publish::One));
            assert_right(&**contender, workload(256, EventBytes::B64, batch(7)));
            if contender.wait().ends_with("yield") {
                assert_right_at_every_size(&**contender);
            }
        }
    });
}

#[test]
fn lapwing_channel_is_right_at_every_size_unless_it_spins() {
    let candidates = present(ContenderName::of("lapwing-channel"), &[]);
    let leave_the_cpu = candidates.iter().filter(|candidate| candidate.wait() != "busy-spin");
    leave_the_cpu.for_each(|candidate| assert_right_at_every_size(&**candidate));
}

#[test]
fn lapwing_is_right_with_every_wait_strategy() {
    for contender in present(ContenderName::of("lapwing"), &WaitName::ALL.map(Setting::from)) {
        assert_right(&*contender, workload(64, EventBytes::B32, Publish::One));
        assert_right_under_a_load(&*contender);
    }
}

/// Returns every placement that is meaningful on a machine of any size: a thread per consumer, one
/// thread, two threads of which one is shared, and the automatic placement.
fn placements() -> Vec<Setting> {
    let placements = ["own", "auto", "1", "2"].map(|text| text.parse().unwrap());
    Setting::each(&[WaitName::Adaptive, WaitName::Blocking], &placements)
}

#[test]
fn lapwing_is_right_wherever_its_consumers_run() {
    for contender in present(ContenderName::of("lapwing"), &placements()) {
        for (ring, publish) in [(2, Publish::One), (64, Publish::One), (64, batch(7))] {
            assert_right(&*contender, workload(ring, EventBytes::B32, publish));
        }
        assert_right_under_a_load(&*contender);
    }
}

#[test]
fn lapwing_shares_events_wherever_its_workers_run() {
    let crowd = Crowd { producers: 3, consumers: 5 };
    let sharing = Sharing { crowd, events: EVENTS, ring: 64, placement: Placement::Free };
    for contender in present(ContenderName::of("lapwing"), &placements()) {
        let pass = contender.sharing().unwrap().share(&sharing).unwrap();
        assert_eq!(pass.answers, sharing.expected(), "{}", contender.name());
    }
}

#[test]
fn lapwing_is_right_with_batches_that_do_not_divide_the_events() {
    for contender in present(ContenderName::of("lapwing"), &[Setting::default()]) {
        for size in [1, 7, 16] {
            assert_right(&*contender, workload(16, EventBytes::B64, batch(size)));
        }
    }
}

#[test]
fn fewer_events_than_producers_are_right() {
    // Processes have their own test, because they take seconds to start.
    each(false, |name| {
        for contender in present(name, &[Setting::default()]) {
            let ring = fewest_slots(&*contender);
            let single = Workload { events: 1, ..workload(ring, EventBytes::B8, Publish::One) };
            assert_right(&*contender, single);
        }
    });
}

/// Asserts that `contender`, which is a process, is right with events of every size, single and in
/// batches, with free and pinned threads, and over the smallest rings.
fn assert_right_as_a_process(contender: &dyn Contender) {
    assert_right(contender, workload(64, EventBytes::B8, Publish::One));
    for ring in [1, 2] {
        let few = Workload {
            events: ring as u32 * 2 - 1,
            ..workload(ring, EventBytes::B8, Publish::One)
        };
        assert_right(contender, few);
    }
    assert_right(contender, workload(16, EventBytes::B32, batch(10)));
    let pinned =
        Workload { placement: Placement::Pinned, ..workload(64, EventBytes::B64, batch(10)) };
    assert_right(contender, pinned);
    assert_right(contender, workload(64, EventBytes::B256, Publish::One));
    assert_right_elsewhere(contender);
}

/// Asserts that `contender` is right under a load and returns every number.
fn assert_right_elsewhere(contender: &dyn Contender) {
    assert_right_under_a_load(contender);
    let exchange = Exchange { exchanges: 500, placement: Placement::Free, pause_ns: 0 };
    let pass = contender.ping_pong(64, exchange).unwrap();
    assert_eq!(pass.answers, [500 * 501 / 2], "{}", contender.name());
}

#[test]
fn every_process_is_right() {
    each(true, |name| {
        let candidates = present(name, &[]);
        let has_several = candidates.len() > 1;
        for candidate in candidates {
            if has_several && candidate.wait() != "yielding" {
                let workload = workload(512, EventBytes::B32, Publish::One);
                let pass = candidate.run(Topology::Diamond, &workload).unwrap();
                let expected = Topology::Diamond.expected(&workload);
                assert_eq!(pass.answers, expected, "{name:?} {}", candidate.wait());
            } else {
                assert_right_as_a_process(&*candidate);
            }
        }
    });
}

#[test]
fn lmax_has_every_wait_strategy() {
    let candidates = present(ContenderName::of("lmax"), &[]);
    let waits = candidates.iter().map(|candidate| candidate.wait()).collect::<Vec<_>>();
    assert!(waits.is_empty() || waits == ["busy-spin", "yielding", "sleeping", "blocking"]);
}

/// Runs a crew whose consumer panics after one message while its producer still sends.
fn run_with_a_panicking_consumer<Q: Queue>(queue: Q) -> RunError {
    let (mut sender, mut receiver) = queue.one_to_one::<u64>(2);
    let mut crew = Crew::new(Placement::Free);
    crew.enlist("producer", move || {
        loop {
            Q::send(&mut sender, 1)?;
        }
    });
    crew.enlist("consumer", move || {
        Q::receive(&mut receiver)?;
        panic!("on purpose");
    });
    crew.run().unwrap_err()
}

/// Runs a crew whose producer panics after one message while its consumer still receives.
fn run_with_a_panicking_producer<Q: Queue>(queue: Q) -> RunError {
    let (mut sender, mut receiver) = queue.one_to_one::<u64>(2);
    let mut crew = Crew::new(Placement::Free);
    crew.enlist("consumer", move || {
        loop {
            Q::receive(&mut receiver)?;
        }
    });
    crew.enlist("producer", move || {
        Q::send(&mut sender, 1)?;
        panic!("on purpose");
    });
    crew.run().unwrap_err()
}

/// Asserts that `error` is the panic of the worker `culprit`.
fn assert_panicked(error: &RunError, culprit: &str, queue: &str) {
    let is_reported = matches!(error, RunError::Panicked { worker, .. } if worker == culprit);
    assert!(is_reported, "queue={queue} error={error}");
}

/// Asserts that a queue reports the panic of either end instead of a hang.
fn assert_panics_are_reported<Q: Queue + Default>() {
    let lost_consumer = run_with_a_panicking_consumer(Q::default());
    assert_panicked(&lost_consumer, "consumer", Q::NAME);

    let lost_producer = run_with_a_panicking_producer(Q::default());
    assert_panicked(&lost_producer, "producer", Q::NAME);
}

/// Asserts that the last message arrives after its sender is gone, and then that the sender is gone.
fn assert_last_message_arrives<Q: Queue + Default>() {
    let (mut sender, mut receiver) = Q::default().one_to_one::<u64>(2);
    Q::send(&mut sender, 7).unwrap();
    drop(sender);
    let received = [Q::receive(&mut receiver), Q::receive(&mut receiver)];
    assert_eq!(received, [Ok(7), Err(Disconnected)], "{}", Q::NAME);
}

/// Asserts that the ends of both kinds of queue report that the other end is gone, unless a kind says that they do not.
pub(super) fn assert_ends<Single: Queue + Default, Multi: Queue + Default>() {
    fn assert_of<Q: Queue + Default>() {
        if Q::REPORTS_ENDS {
            assert_panics_are_reported::<Q>();
            assert_last_message_arrives::<Q>();
        }
    }
    assert_of::<Single>();
    assert_of::<Multi>();
}

#[test]
fn the_ends_of_every_queue_report_that_the_other_end_is_gone() {
    for contender in CONTENDERS {
        if let Some(assert_ends) = contender.assert_ends {
            on_thread_of(contender.name, assert_ends);
        }
    }
}
