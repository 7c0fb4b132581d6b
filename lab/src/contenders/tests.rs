//! Every topology over every contender, with rings small enough to wrap often, and the loss of a
//! peer.

use std::num::NonZeroUsize;

use super::bounded_queue::BoundedQueue;
use super::crossbeam_array_queue::CrossbeamArrayQueue;
use super::queues::{CrossbeamChannel, Flume, Kanal, StdMpsc};
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

/// Returns every setting of `name`, or none with a message if its tools are missing.
fn present(name: ContenderName, settings: &[Setting]) -> Vec<Box<dyn Contender>> {
    let entries = name.enlist(settings).unwrap_or_else(|reason| {
        eprintln!("skipped: {name:?}: {reason}");
        Vec::new()
    });
    entries.into_iter().flat_map(|entry| entry.candidates).collect()
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

/// Runs every contender of `name` over small and larger rings and events.
fn assert_right_at_every_size(name: ContenderName) {
    for contender in present(name, &[Setting::default()]) {
        assert_right_over_rings_of(&*contender, [2, 64]);
    }
}

/// Runs `contender` over these rings, with small and large events.
fn assert_right_over_rings_of(contender: &dyn Contender, rings: [usize; 2]) {
    for ring in rings {
        for event_bytes in [EventBytes::B8, EventBytes::B256] {
            assert_right(contender, workload(ring, event_bytes, Publish::One));
        }
    }
    assert_right_under_a_load(contender);
}

/// Runs the settings of `name` that yield the CPU over these rings. All settings run over one ring
/// that wraps a few times, because spinning threads that outnumber the CPUs need a time slice per
/// lap.
fn assert_right_in_every_setting(name: ContenderName, rings: [usize; 2]) {
    for contender in present(name, &[]) {
        assert_right(&*contender, workload(256, EventBytes::B32, Publish::One));
        assert_right(&*contender, workload(256, EventBytes::B64, batch(7)));
        if contender.wait().ends_with("yield") {
            assert_right_over_rings_of(&*contender, rings);
        }
    }
}

#[test]
fn lapwing_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::Lapwing);
}

#[test]
fn lapwing_plain_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::LapwingPlain);
}

#[test]
fn bounded_queue_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::BoundedQueue);
}

#[test]
fn std_mpsc_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::StdMpsc);
}

#[test]
fn crossbeam_channel_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::CrossbeamChannel);
}

#[test]
fn crossbeam_array_queue_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::CrossbeamArrayQueue);
}

#[test]
fn flume_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::Flume);
}

#[test]
fn kanal_is_right_at_every_size() {
    assert_right_at_every_size(ContenderName::Kanal);
}

#[test]
fn disruptor_is_right_in_every_setting() {
    assert_right_in_every_setting(ContenderName::Disruptor, [64, 128]);
}

#[test]
fn photon_ring_is_right_in_every_setting() {
    assert_right_in_every_setting(ContenderName::PhotonRing, [2, 64]);
}

#[test]
fn rtrb_is_right_in_every_setting() {
    assert_right_in_every_setting(ContenderName::Rtrb, [1, 64]);
}

#[test]
fn lapwing_channel_is_right_in_every_setting() {
    assert_right_in_every_setting(ContenderName::LapwingChannel, [1, 64]);
    let candidates = present(ContenderName::LapwingChannel, &[]);
    let leave_the_cpu = candidates.iter().filter(|candidate| candidate.wait() != "busy-spin");
    leave_the_cpu.for_each(|candidate| assert_right_over_rings_of(&**candidate, [1, 64]));
}

#[test]
fn lapwing_is_right_with_every_wait_strategy() {
    for contender in present(ContenderName::Lapwing, &WaitName::ALL.map(Setting::from)) {
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
    for contender in present(ContenderName::Lapwing, &placements()) {
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
    for contender in present(ContenderName::Lapwing, &placements()) {
        let pass = contender.sharing().unwrap().share(&sharing).unwrap();
        assert_eq!(pass.answers, sharing.expected(), "{}", contender.name());
    }
}

#[test]
fn lapwing_is_right_with_batches_that_do_not_divide_the_events() {
    for contender in present(ContenderName::Lapwing, &[Setting::default()]) {
        for size in [1, 7, 16] {
            assert_right(&*contender, workload(16, EventBytes::B64, batch(size)));
        }
    }
}

#[test]
fn fewer_events_than_producers_are_right() {
    // Processes have their own test, because they take seconds to start.
    let threads = ContenderName::ALL.into_iter().filter(|name| !name.is_process());
    for name in threads {
        for contender in present(name, &[Setting::default()]) {
            let fewest = Topology::ALL.map(|topology| contender.fewest_slots(topology));
            let ring = fewest.into_iter().max().unwrap_or(1);
            let mut single = workload(ring, EventBytes::B8, Publish::One);
            single.events = 1;
            assert_right(&*contender, single);
        }
    }
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
fn lmax_is_right_with_every_wait_strategy() {
    let candidates = present(ContenderName::Lmax, &[]);
    let waits = candidates.iter().map(|candidate| candidate.wait()).collect::<Vec<_>>();
    assert!(waits.is_empty() || waits == ["busy-spin", "yielding", "sleeping", "blocking"]);
    for candidate in candidates {
        if candidate.wait() == "yielding" {
            assert_right_as_a_process(&*candidate);
            continue;
        }
        let workload = workload(512, EventBytes::B32, Publish::One);
        let pass = candidate.run(Topology::Diamond, &workload).unwrap();
        assert_eq!(pass.answers, Topology::Diamond.expected(&workload), "{}", candidate.wait());
    }
}

#[test]
fn array_blocking_queue_is_right_as_a_process() {
    for contender in present(ContenderName::ArrayBlockingQueue, &[]) {
        assert_right_as_a_process(&*contender);
    }
}

#[test]
fn cpp_mutex_queue_is_right_as_a_process() {
    for contender in present(ContenderName::CppMutexQueue, &[]) {
        assert_right_as_a_process(&*contender);
    }
}

#[test]
fn boost_lockfree_is_right_as_a_process() {
    for contender in present(ContenderName::BoostLockfree, &[]) {
        assert_right_as_a_process(&*contender);
    }
}

#[test]
fn moodycamel_is_right_as_a_process() {
    for contender in present(ContenderName::Moodycamel, &[]) {
        assert_right_as_a_process(&*contender);
    }
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

/// Asserts that a queue of kind `Q` reports either end's panic instead of hanging.
fn assert_panics_are_reported<Q: Queue>(queue: Q) {
    let lost_consumer = run_with_a_panicking_consumer(queue);
    assert_panicked(&lost_consumer, "consumer", Q::NAME);

    let lost_producer = run_with_a_panicking_producer(queue);
    assert_panicked(&lost_producer, "producer", Q::NAME);
}

#[test]
fn panic_at_either_end_of_a_queue_is_reported() {
    assert_panics_are_reported(BoundedQueue);
    assert_panics_are_reported(StdMpsc);
    assert_panics_are_reported(Flume);
    assert_panics_are_reported(Kanal);
    assert_panics_are_reported(CrossbeamChannel);
    assert_panics_are_reported(CrossbeamArrayQueue);
}

#[test]
fn last_message_arrives_after_its_sender_is_gone() {
    /// Sends one message, drops the sender, and receives twice.
    fn receive_twice<Q: Queue>(queue: Q) -> [Result<u64, Disconnected>; 2] {
        let (mut sender, mut receiver) = queue.one_to_one::<u64>(2);
        Q::send(&mut sender, 7).unwrap();
        drop(sender);
        [Q::receive(&mut receiver), Q::receive(&mut receiver)]
    }

    let expected = [Ok(7), Err(Disconnected)];
    assert_eq!(receive_twice(BoundedQueue), expected);
    assert_eq!(receive_twice(StdMpsc), expected);
    assert_eq!(receive_twice(Flume), expected);
    assert_eq!(receive_twice(Kanal), expected);
    assert_eq!(receive_twice(CrossbeamChannel), expected);
    assert_eq!(receive_twice(CrossbeamArrayQueue), expected);
}
