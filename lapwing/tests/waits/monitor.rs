//! Tests what a monitor shows of each state of a ring and its stages, and the texts that it prints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Ledger, Many, One, ProducerOf, Turnstile, repeats, wait_until, watched};
use lapwing::consumer::{Outcome, Shared};
use lapwing::error::{HaltCause, PollError};
use lapwing::graph::{Graph, StartAt};
use lapwing::monitor::{Monitor, RingState, Snapshot, StageSnapshot, StageState};
use lapwing::producer::WhenFull;
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Action, Consumers, Disruptor, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    a_new_ring_shows_no_progress,
    a_ring_without_a_name_is_called_ring,
    a_handler_that_does_not_return_shows_in_its_handler,
    every_method_of_a_handler_shows_as_its_handler,
    the_call_after_a_release_shows_as_the_handler_and_its_panic_loses_no_batch,
    a_batch_that_was_released_early_is_counted,
    a_batch_of_a_poller_counts_when_it_is_dropped,
    a_stage_that_sleeps_shows_parked_and_counts_its_wakes,
    a_stage_that_yields_shows_waiting,
    a_stage_that_is_to_try_again_shows_pausing,
    a_stage_that_stopped_shows_left,
    a_stage_whose_handler_returned_an_error_shows_failed,
    stages_that_share_a_thread_show_parked_together,
    acknowledged_and_finished_sequences_are_both_shown,
    events_that_were_dropped_are_counted,
    a_ring_that_begins_elsewhere_shows_its_own_sequences,
    a_stage_that_panicked_shows_failed,
    a_consumer_that_was_dropped_shows_failed,
    a_stage_that_has_drained_shows_drained,
    a_stage_that_was_halted_shows_halted,
    a_poller_shows_its_states,
    miri_a_poller_that_left_shows_what_those_before_it_have_finished,
    a_consumer_in_a_seat_hides_no_worker_that_stands_still,
    a_consumer_in_a_seat_shows_its_own_name_and_figures,
    a_consumer_that_stopped_in_its_seat_wrote_the_state_of_the_next_one,
    a_consumer_that_drained_the_ring_in_its_seat_wrote_the_state_of_the_next_one,
    a_producer_that_waits_on_a_full_ring_is_counted_while_it_waits,
    a_closed_ring_shows_closed_and_a_halted_one_halted,
    the_relations_of_a_snapshot_hold_while_the_ring_runs,
    miri_a_monitor_outlives_its_ring_and_keeps_no_event,
    the_table_has_a_line_for_each_stage,
    a_diamond_is_drawn_in_the_direction_of_the_events,
}

/// Returns the figures of the stage `name`.
fn stage<'a>(snapshot: &'a Snapshot, name: &str) -> &'a StageSnapshot {
    snapshot.stages.iter().find(|stage| stage.name == name).expect("the stage exists")
}

fn state(monitor: &Monitor, name: &str) -> StageState {
    stage(&monitor.snapshot(), name).state
}

/// Two parallel stages, and a third one after both. All are pollers.
fn diamond<K: Kind>(names: [&str; 3]) -> (ProducerOf<u64, K>, Consumers<'static, u64>) {
    let [left, right, join] = names;
    K::ring(8, || 0)
        .name("orders")
        .side_by_side(|side| side.stage(left).poller().stage(right).poller())
        .stage(join)
        .poller()
        .build()
        .unwrap()
}

fn a_new_ring_shows_no_progress<K: Kind>() {
    let (producer, consumers) = K::ring(8, || 0_u64)
        .name("orders")
        .stage("decode")
        .read(|_, _, _| {})
        .side_by_side(|side| side.stage("journal").read(|_, _, _| {}).stage("ticks").poller())
        .build()
        .unwrap();
    let snapshot = producer.monitor().snapshot();
    assert_eq!((snapshot.ring.as_str(), snapshot.state), ("orders", RingState::Open));
    assert_eq!((snapshot.capacity, snapshot.free_slots, snapshot.held_slots()), (8, 8, 0));
    assert_eq!((snapshot.published, snapshot.claimed, snapshot.waiting_producers), (0, 0, 0));
    let names: Vec<_> = snapshot.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, consumers.names().collect::<Vec<_>>());
    for stage in &snapshot.stages {
        assert_eq!((stage.sequence, stage.lag, stage.available), (0, 0, 0));
        assert_eq!((stage.batches, stage.parks, stage.wakes), (0, 0, 0));
        let is_poller = stage.name == "ticks";
        let state = if is_poller { StageState::NotAsked } else { StageState::NotStarted };
        assert_eq!(stage.state, state);
    }
    let upstream: Vec<_> = snapshot.stages.iter().map(|stage| stage.upstream.join("+")).collect();
    assert_eq!(upstream, ["", "decode", "decode"]);
}

fn a_ring_without_a_name_is_called_ring<K: Kind>() {
    let (producer, _consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    assert_eq!(producer.monitor().snapshot().ring, "ring");
}

fn a_handler_that_does_not_return_shows_in_its_handler<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("slow")
        .read(move |_, sequence, _| pass(sequence))
        .stage("behind")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    producer.publish_batch(2, |_| {}).unwrap();
    turnstile.wait_for(0);
    let snapshot = monitor.snapshot();
    let (slow, behind) = (stage(&snapshot, "slow"), stage(&snapshot, "behind"));
    assert_eq!((slow.state, slow.sequence, slow.lag), (StageState::InHandler, 0, 2));
    assert_eq!((slow.available, behind.available, behind.lag), (2, 0, 2));
    assert_eq!(snapshot.free_slots, 6);
    drop(turnstile);
    running.shutdown().unwrap();
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages.iter().all(|stage| stage.sequence == 2 && stage.batches >= 1));
}

/// Blocks in each of its calls.
struct Slow<F>(F);

impl<F: FnMut(u64)> EventHandler<u64> for Slow<F> {
    fn on_start(&mut self) {
        self.0(0);
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        self.0(1);
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.0(2);
    }

    fn on_shutdown(&mut self) {
        self.0(3);
    }
}

fn every_method_of_a_handler_shows_as_its_handler<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let stage = Stage::new("slow").timeout(crate::common::MOMENT);
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage(stage).read_handler(Slow(pass)).build().unwrap();
    producer.publish(|_| {}).unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    for step in 0..3 {
        turnstile.wait_for(step);
        assert_eq!(state(&monitor, "slow"), StageState::InHandler, "step {step}");
        turnstile.let_go();
    }
    running.close();
    turnstile.wait_for(3);
    assert_eq!(state(&monitor, "slow"), StageState::InHandler);
    drop(turnstile);
    running.join().unwrap();
    assert_eq!(state(&monitor, "slow"), StageState::Drained);
}

/// Blocks, and then panics, after each release.
struct SlowlyReleased<F>(F);

impl<F: FnMut(u64)> EventHandler<u64> for SlowlyReleased<F> {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_released(&mut self, next_sequence: Sequence) {
        self.0(next_sequence);
        panic!("{}", crate::common::ON_PURPOSE);
    }
}

fn the_call_after_a_release_shows_as_the_handler_and_its_panic_loses_no_batch<K: Kind>() {
    crate::common::quiet_panics();
    let (turnstile, pass) = Turnstile::new();
    let slow = Stage::new("slow").max_batch(2).on_panic(Action::Continue);
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage(slow).read_handler(SlowlyReleased(pass)).build().unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(4, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    for (batches, released) in [2, 4].into_iter().enumerate() {
        turnstile.wait_for(released);
        let snapshot = monitor.snapshot();
        let slow = stage(&snapshot, "slow");
        assert_eq!((slow.state, slow.sequence), (StageState::InHandler, released));
        assert_eq!((slow.batches, slow.available), (batches as u64, 4 - released));
        turnstile.let_go();
    }
    running.shutdown().unwrap();
    assert_eq!(stage(&monitor.snapshot(), "slow").batches, 2);
}

/// A stage that releases each event early also finishes batches.
fn a_batch_that_was_released_early_is_counted<K: Kind>() {
    let release = |at: Sequence| if at == 1 { Action::ReleaseNow } else { Action::Continue };
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .stage("early")
        .max_batch(4)
        .read(move |_, at, _| release(at))
        .stage("whole")
        .max_batch(4)
        .read_batch(|_, _| Action::ReleaseNow)
        .stage("fails")
        .max_batch(4)
        .read(|_, at, _| if at == 1 { Action::Skip } else { Action::Continue })
        .build()
        .unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(8, |_| {}).unwrap();
    drop(producer);
    consumers.into_iter().for_each(|consumer| drop(consumer.run()));
    let snapshot = monitor.snapshot();
    let batches: Vec<_> = snapshot.stages.iter().map(|stage| stage.batches).collect();
    // 0..2, 2..6, 6..8; 0..4, 4..8; and without the part that failed, 2..6, 6..8.
    assert_eq!(batches, [3, 2, 2], "{snapshot}");
}

fn a_batch_of_a_poller_counts_when_it_is_dropped<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    for (consumed, sequence) in [(0, 0), (1, 1), (2, 3)] {
        let before = stage(&monitor.snapshot(), "all").batches;
        let mut batch = all.poll().unwrap();
        assert_eq!(stage(&monitor.snapshot(), "all").batches, before);
        batch.consume(consumed);
        drop(batch);
        let snapshot = monitor.snapshot();
        let all = stage(&snapshot, "all");
        assert_eq!((all.batches, all.sequence), (before + 1, sequence));
    }
}

fn a_stage_that_sleeps_shows_parked_and_counts_its_wakes<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(Blocking { yields: 0 })
        .stage("sleeper")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    let mut published = 0;
    // It shows as parked a moment before it sleeps. An event in that moment needs no wake-up.
    while stage(&monitor.snapshot(), "sleeper").wakes == 0 {
        wait_until(|| state(&monitor, "sleeper") == StageState::Parked);
        producer.publish(|_| {}).unwrap();
        published += 1;
        wait_until(|| stage(&monitor.snapshot(), "sleeper").batches == published);
    }
    let snapshot = monitor.snapshot();
    let sleeper = stage(&snapshot, "sleeper");
    assert!(sleeper.parks >= sleeper.wakes && sleeper.wakes >= 1, "{snapshot}");
    running.shutdown().unwrap();
}

fn a_stage_that_yields_shows_waiting<K: Kind>() {
    let (producer, consumers) = K::ring(8, || 0_u64)
        .wait(Yielding::default())
        .stage("awake")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = producer.monitor();
    wait_until(|| state(&monitor, "awake") == StageState::Waiting);
    assert_eq!(stage(&monitor.snapshot(), "awake").parks, 0);
    running.shutdown().unwrap();
}

fn a_stage_that_is_to_try_again_shows_pausing<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("retries")
        .read(|_, _, _| Action::Retry(Duration::from_secs(3_600)))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    producer.publish(|_| {}).unwrap();
    wait_until(|| state(&monitor, "retries") == StageState::Pausing);
    assert_eq!(monitor.snapshot().stages[0].batches, 0);
    running.halt();
    assert!(running.join().is_err());
    assert_eq!(state(&monitor, "retries"), StageState::Halted);
}

fn a_stage_that_stopped_shows_left<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("stops")
        .read(|_, _, _| Action::Stop)
        .stage("goes on")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    wait_until(|| stage(&monitor.snapshot(), "goes on").sequence == 3);
    let snapshot = monitor.snapshot();
    let stops = stage(&snapshot, "stops");
    assert_eq!((stops.state, stops.sequence, stops.lag), (StageState::Left, 3, 0));
    running.close();
    let _ = running.join();
    assert_eq!(state(&monitor, "goes on"), StageState::Drained);
}

fn a_stage_whose_handler_returned_an_error_shows_failed<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("fails")
        .read(|_, _, _| Err::<(), _>(std::io::Error::other("on purpose")))
        .build()
        .unwrap();
    let monitor = producer.monitor();
    producer.publish(|_| {}).unwrap();
    assert!(consumers.start().unwrap().join().is_err());
    assert_eq!(state(&monitor, "fails"), StageState::Failed);
}

fn stages_that_share_a_thread_show_parked_together<K: Kind>() {
    let on_thread = |name| Stage::new(name).on_thread("both");
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(Blocking { yields: 0 })
        .stage(on_thread("first"))
        .read(|_, _, _| {})
        .stage(on_thread("second"))
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    let are_parked = |snapshot: &Snapshot| {
        snapshot.stages.iter().all(|stage| stage.state == StageState::Parked && stage.parks > 0)
    };
    wait_until(|| are_parked(&monitor.snapshot()));
    assert_eq!(monitor.snapshot().stages[1].thread.as_deref(), Some("both"));
    producer.publish(|_| {}).unwrap();
    wait_until(|| {
        let snapshot = monitor.snapshot();
        are_parked(&snapshot) && snapshot.stages[1].sequence == 1
    });
    running.shutdown().unwrap();
}

fn acknowledged_and_finished_sequences_are_both_shown<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .name("orders")
        .stage("journal")
        .acknowledged()
        .poller()
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let mut journal = consumers.take_poller("journal").unwrap();
    let mut reply = consumers.take_poller("reply").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    disk.acknowledge(4).unwrap(); // too early
    journal.poll_max(3).unwrap().consume_all();
    assert_eq!(stage(&monitor.snapshot(), "journal").acknowledged, Some(3));
    reply.poll_max(1).unwrap().consume_all();
    let text = "\
ring \"orders\": open, 5 of 8 slots free, 4 published
stage    after      sequence  acknowledged  lag  available  state       for at least  batches  parks  wakes
journal  producers         3             3    1          1  not polled          0 ms        1      0      0
reply    journal           1                  3          2  not polled          0 ms        1      0      0";
    let snapshot = producer.monitor().snapshot();
    assert_eq!(snapshot.to_string(), text);
    assert!(snapshot.to_dot().contains("label=\"journal\\nsequence 3, lag 1, acknowledged 3\\n"));
    assert_eq!(snapshot.stages.len(), 2);
    drop(journal);
    assert_eq!(stage(&monitor.snapshot(), "journal").acknowledged, None);
}

fn events_that_were_dropped_are_counted<K: Kind>() {
    let (mut producer, _consumers) = K::ring(2, || 0_u64).stage("all").poller().build().unwrap();
    for _ in 0..5 {
        producer.publish_or(WhenFull::DropNew, |_| {}).unwrap();
    }
    let snapshot = producer.monitor().snapshot();
    assert_eq!((snapshot.dropped, snapshot.published, snapshot.free_slots), (3, 2, 0));
    let head = "ring \"ring\": open, 0 of 2 slots free, 2 published, 3 dropped\n";
    assert!(snapshot.to_string().starts_with(head), "{snapshot}");
    assert!(snapshot.to_dot().contains("published 2\\ndropped 3"));
}

fn a_ring_that_begins_elsewhere_shows_its_own_sequences<K: Kind>() {
    for first in [3, 8, 1_000_003] {
        let (mut producer, mut consumers) =
            K::ring(8, || 0_u64).first_sequence(first).stage("all").poller().build().unwrap();
        let mut all = consumers.take_poller("all").unwrap();
        let monitor = producer.monitor();
        let check = |published, sequence, free_slots| {
            let snapshot = monitor.snapshot();
            assert_eq!((snapshot.published, snapshot.claimed), (published, published));
            assert_eq!((snapshot.stages[0].sequence, snapshot.free_slots), (sequence, free_slots));
        };
        check(first, first, 8);
        producer.publish_batch(7, |_| {}).unwrap();
        check(first + 7, first, 1);
        all.poll_max(2).unwrap().consume_all();
        let sequence = all.sequence();
        check(first + 7, sequence, 1 + (sequence - first) as usize);
        drop(all); // also drops every consumer that has a sequence
        check(first + 7, first + 7, 8);
    }
}

fn a_stage_that_panicked_shows_failed<K: Kind>() {
    crate::common::quiet_panics();
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("panics")
        .read(|_, sequence, _| assert!(sequence < 1, "on purpose"))
        .stage("behind")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(2, |_| {}).unwrap();
    assert!(consumers.start().unwrap().join().is_err());
    let snapshot = monitor.snapshot();
    assert_eq!(snapshot.state, RingState::Halted);
    assert_eq!(stage(&snapshot, "panics").state, StageState::Failed);
    assert_eq!(stage(&snapshot, "behind").state, StageState::Halted);
}

fn a_consumer_that_was_dropped_shows_failed<K: Kind>() {
    let (producer, consumers) =
        K::ring(8, || 0_u64).stage("lost").read(|_, _, _| {}).build().unwrap();
    drop(consumers);
    let snapshot = producer.monitor().snapshot();
    assert_eq!((snapshot.state, snapshot.stages[0].state), (RingState::Halted, StageState::Failed));
}

fn a_stage_that_has_drained_shows_drained<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| side.stage("sum").read(|_, _, _| {}).stage("ticks").poller())
        .build()
        .unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    consumers.start().unwrap().shutdown().unwrap();
    assert_eq!(state(&monitor, "sum"), StageState::Drained);
    assert_eq!(state(&monitor, "ticks"), StageState::NotAsked);
    ticks.poll().unwrap().consume_all();
    assert_eq!(ticks.poll().err(), Some(PollError::Closed));
    let snapshot = monitor.snapshot();
    let ticks = stage(&snapshot, "ticks");
    assert_eq!((ticks.state, ticks.lag, snapshot.free_slots), (StageState::Drained, 0, 8));
}

fn a_stage_that_was_halted_shows_halted<K: Kind>() {
    let (producer, mut consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| side.stage("sum").read(|_, _, _| {}).stage("ticks").poller())
        .build()
        .unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    running.halt();
    assert!(running.join().is_err());
    assert_eq!(ticks.poll().err(), Some(PollError::Halted(HaltCause::Requested)));
    assert_eq!(state(&monitor, "sum"), StageState::Halted);
    assert_eq!(state(&monitor, "ticks"), StageState::Halted);
}

fn a_poller_shows_its_states<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).stage("ticks").poller().build().unwrap();
    let monitor = producer.monitor();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    assert_eq!(ticks.poll().err(), Some(PollError::Empty));
    assert_eq!(state(&monitor, "ticks"), StageState::NotAsked);
    assert!(ticks.wait_timeout(crate::common::MOMENT).is_err());
    assert_eq!(state(&monitor, "ticks"), StageState::NotAsked);
    producer.publish_batch(2, |_| {}).unwrap();
    let mut batch = ticks.poll().unwrap();
    assert_eq!(state(&monitor, "ticks"), StageState::HasBatch);
    batch.consume(1);
    batch.release();
    let snapshot = monitor.snapshot();
    assert_eq!((stage(&snapshot, "ticks").sequence, stage(&snapshot, "ticks").batches), (1, 0));
    drop(batch);
    let snapshot = monitor.snapshot();
    let ticks = stage(&snapshot, "ticks");
    assert_eq!((ticks.state, ticks.sequence, ticks.batches), (StageState::NotAsked, 1, 1));
}

fn miri_a_poller_that_left_shows_what_those_before_it_have_finished<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .stage("first")
        .poller()
        .stage("leaves")
        .poller()
        .stage("last")
        .poller()
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let mut first = consumers.take_poller("first").unwrap();
    drop(consumers.take_poller("leaves").unwrap());
    producer.publish_batch(3, |_| {}).unwrap();
    first.poll_max(2).unwrap().consume_all();
    let snapshot = monitor.snapshot();
    let leaves = stage(&snapshot, "leaves");
    assert_eq!((leaves.state, leaves.sequence, leaves.available), (StageState::Left, 2, 0));
    assert_eq!((stage(&snapshot, "last").available, snapshot.free_slots), (2, 5));
    // Without upstream stages, the limit is what is published.
    drop((first, consumers.take_poller("last").unwrap()));
    let snapshot = monitor.snapshot();
    assert_eq!(snapshot.state, RingState::Halted);
    assert!(snapshot.stages.iter().all(|stage| (stage.sequence, stage.lag) == (3, 0)));
}

fn a_consumer_in_a_seat_shows_its_own_name_and_figures<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).seats(2).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let (seats, monitor) = (consumers.seats(), producer.monitor());
    let names =
        || -> Vec<_> { monitor.snapshot().stages.into_iter().map(|stage| stage.name).collect() };
    for name in ["early", "late"] {
        let other = seats.take("other", StartAt::Now).unwrap();
        let mut poller = seats.take(name, StartAt::Now).unwrap().poller();
        assert_eq!(names(), ["all", "other", name]);
        assert_eq!(stage(&monitor.snapshot(), name).batches, 0, "those of the one before");
        drop(other);
        producer.publish(|_| {}).unwrap();
        all.poll().unwrap().consume_all();
        poller.poll().unwrap().consume_all();
        let seen = monitor.snapshot();
        assert_eq!((stage(&seen, name).batches, stage(&seen, name).sequence), (1, all.sequence()));
        assert_eq!(names(), ["all", name]);
    }
    let late = seats.take("late", StartAt::Now).unwrap().read(|_, _, _| {});
    assert_eq!(state(&monitor, "late"), StageState::NotStarted, "it is no poller");
    drop(late);
    assert_eq!(names(), ["all"]);
}

/// A consumer that joins has not finished earlier events, and does not change what others show.
/// A consumer that stops leaves its seat before the last call of its handler, which may take long.
fn a_consumer_that_stopped_in_its_seat_wrote_the_state_of_the_next_one<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).seats(1).stage("all").poller().build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let (seats, monitor) = (consumers.seats(), producer.monitor());
    let first = seats.take("first", StartAt::Now).unwrap().read_handler(StopsSlowly(pass));
    producer.publish(|_| {}).unwrap();
    let thread = thread::spawn(move || first.run());
    turnstile.wait_for(1);
    let mut second = seats.take("second", StartAt::Oldest).unwrap().poller();
    let batch = second.poll().unwrap();
    turnstile.let_go();
    assert_eq!(*thread.join().unwrap().outcome(), Outcome::Stopped);
    assert_eq!(state(&monitor, "second"), StageState::HasBatch);
    drop(batch);
}

/// Stops at its first event, and blocks in its last call.
struct StopsSlowly<F>(F);

impl<F: FnMut(u64)> EventHandler<u64, Shared, Action> for StopsSlowly<F> {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Action {
        Action::Stop
    }

    fn on_shutdown(&mut self) {
        self.0(1);
    }
}

/// A consumer that has drained the ring frees its seat when its source is dropped, which may take
/// long, since its wait strategy is user code.
fn a_consumer_that_drained_the_ring_in_its_seat_wrote_the_state_of_the_next_one<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).seats(1).stage("all").poller().build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let (seats, monitor) = (consumers.seats(), producer.monitor());
    let strategy = DroppedSlowly(Some(Arc::new(Mutex::new(Box::new(pass)))));
    let stage = Stage::new("first").wait(strategy);
    let first = seats.take(stage, StartAt::Now).unwrap().read(|_, _, _| {});
    producer.publish(|_| {}).unwrap();
    producer.close();
    let thread = thread::spawn(move || first.run());
    turnstile.wait_for(1);
    let mut second = seats.take("second", StartAt::Oldest).unwrap().poller();
    let batch = second.poll().unwrap();
    turnstile.let_go();
    assert_eq!(*thread.join().unwrap().outcome(), Outcome::Drained);
    assert_eq!(state(&monitor, "second"), StageState::HasBatch);
    drop(batch);
}

/// A strategy whose last copy blocks when it is dropped.
#[derive(Clone)]
struct DroppedSlowly(Option<Arc<Mutex<Pass>>>);

type Pass = Box<dyn FnMut(u64) + Send>;

impl WaitStrategy for DroppedSlowly {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Yield
    }
}

impl Drop for DroppedSlowly {
    fn drop(&mut self) {
        if let Some(pass) = self.0.take().and_then(Arc::into_inner) {
            pass.into_inner().unwrap()(1);
        }
    }
}

fn a_consumer_in_a_seat_hides_no_worker_that_stands_still<K: Kind>() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .seats(1)
        .stage("work")
        .workers(2)
        .read(|_| {
            let gate = &gate;
            move |_: &u64, _, _| {
                assert!(gate.lock().unwrap().recv().is_err(), "the sender sends nothing")
            }
        })
        .build()
        .unwrap();
    let (seats, monitor) = (consumers.seats(), producer.monitor());
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        (0..8).try_for_each(|_| producer.publish(|_| {}).map(|_| ())).unwrap();
        wait_until(|| state(&monitor, "work") == StageState::InHandler);
        let _late = seats.take("late", StartAt::Now).unwrap();
        let seen = monitor.snapshot();
        let work = stage(&seen, "work");
        assert_eq!((work.sequence, work.lag, work.available), (0, 8, 8));
        assert_eq!(stage(&seen, "late").sequence, 8);
        drop(go);
        running.shutdown().unwrap();
    });
}

fn a_producer_that_waits_on_a_full_ring_is_counted_while_it_waits<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(2, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(2, |_| {}).unwrap();
    assert_eq!(monitor.snapshot().waiting_producers, 0);
    assert!(producer.publish_or(WhenFull::Timeout(crate::common::MOMENT), |_| {}).is_err());
    assert_eq!(monitor.snapshot().waiting_producers, 0);
    let thread = thread::spawn(move || {
        producer.publish(|_| {}).unwrap();
        producer
    });
    wait_until(|| monitor.snapshot().waiting_producers == 1);
    assert_eq!(monitor.snapshot().free_slots, 0);
    all.poll().unwrap().consume_all();
    drop(thread.join().unwrap());
    let snapshot = monitor.snapshot();
    assert_eq!((snapshot.waiting_producers, snapshot.published, snapshot.free_slots), (0, 3, 1));
}

fn a_closed_ring_shows_closed_and_a_halted_one_halted<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    producer.close();
    let snapshot = monitor.snapshot();
    assert_eq!((snapshot.state, snapshot.published, snapshot.claimed), (RingState::Closed, 3, 3));
    drop(consumers.take_poller("all").unwrap());
    assert_eq!(monitor.snapshot().state, RingState::Halted);
}

/// What holds in every snapshot, at any time.
fn check(snapshot: &Snapshot, before: &Snapshot) {
    assert!(snapshot.free_slots <= snapshot.capacity, "{snapshot}");
    assert!(snapshot.published <= snapshot.claimed, "{snapshot}");
    assert!(snapshot.published >= before.published, "{before}\n{snapshot}");
    for (stage, before) in snapshot.stages.iter().zip(&before.stages) {
        assert_eq!(stage.sequence + stage.lag, snapshot.published, "{snapshot}");
        assert!(stage.available <= stage.lag, "{snapshot}");
        assert!(stage.sequence >= before.sequence && stage.batches >= before.batches);
        for upstream in &stage.upstream {
            let upstream = snapshot.stages.iter().find(|other| other.name == *upstream).unwrap();
            assert!(stage.sequence <= upstream.sequence, "{snapshot}");
        }
    }
}

fn the_relations_of_a_snapshot_hold_while_the_ring_runs<K: Kind>() {
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .stage("first")
        .write(|event, _, _| *event += 1)
        .side_by_side(|side| {
            side.stage("left").read(|_, _, _| {}).chain(|chain| {
                chain.stage("right").read(|_, _, _| {}).stage("after right").read(|_, _, _| {})
            })
        })
        .stage("last")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looker = scope.spawn(|| {
            let mut before = monitor.snapshot();
            let mut looks = 0_u64;
            while !is_done.load(Ordering::Relaxed) {
                let snapshot = monitor.snapshot();
                check(&snapshot, &before);
                before = snapshot;
                looks += 1;
                thread::yield_now();
            }
            looks
        });
        for number in 0..repeats(20_000) {
            match number % 3 {
                0 => drop(producer.claim().unwrap()),
                1 => drop(producer.publish_batch(3, |_| {}).unwrap()),
                _ => drop(producer.publish(|_| {}).unwrap()),
            }
        }
        running.shutdown().unwrap();
        is_done.store(true, Ordering::Relaxed);
        assert!(looker.join().unwrap() > 0);
    });
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages.iter().all(|stage| stage.lag == 0), "{snapshot}");
    assert_eq!((snapshot.free_slots, snapshot.published), (16, snapshot.claimed));
}

fn miri_a_monitor_outlives_its_ring_and_keeps_no_event<K: Kind>() {
    let ledger = Ledger::default();
    let (mut producer, mut consumers) =
        K::ring(4, || ledger.token()).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(2, |_| {}).unwrap();
    drop(producer);
    all.poll().unwrap().consume_all();
    drop((all, consumers));
    assert_eq!((ledger.made(), ledger.dropped()), (4, 4));
    let snapshot = monitor.clone().snapshot();
    assert_eq!((snapshot.state, snapshot.published), (RingState::Closed, 2));
}

#[test]
fn a_monitor_may_go_to_other_threads() {
    fn check<T: Clone + Send + Sync + 'static>(_: &T) {}
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).stage("all").poller().build().unwrap();
    check(&producer.monitor());
}

/// A held claim, after an event that is published and before one that is published.
#[test]
fn miri_what_is_published_ends_at_the_first_claim_that_is_held() {
    let (mut producer, mut consumers) =
        Many::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    let (mut second, mut third) = (producer.clone(), producer.clone());
    for _ in 0..3 {
        producer.publish(|_| {}).unwrap();
        drop(second.claim().unwrap());
        let published = monitor.snapshot().published;
        let claim = producer.claim_batch(2).unwrap();
        third.publish(|_| {}).unwrap();
        let snapshot = monitor.snapshot();
        assert_eq!((snapshot.published, snapshot.claimed), (published, published + 3));
        assert_eq!(snapshot.free_slots, 3);
        claim.publish().unwrap();
        assert_eq!(monitor.snapshot().published, published + 3);
        while let Ok(mut batch) = all.poll() {
            batch.consume_all();
        }
        assert_eq!(monitor.snapshot().free_slots, 8);
    }
}

#[test]
fn a_claim_that_was_given_up_counts_as_published_and_as_finished() {
    let (mut producer, mut consumers) =
        Many::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    drop(producer.claim_batch(2).unwrap());
    producer.publish(|_| {}).unwrap();
    let figures = || {
        let snapshot = monitor.snapshot();
        let stage = &snapshot.stages[0];
        (snapshot.published, stage.sequence, stage.lag, stage.available, stage.batches)
    };
    assert_eq!(figures(), (3, 0, 3, 3, 0));
    all.poll().unwrap().consume_all(); // one event
    assert_eq!(figures(), (3, 3, 0, 0, 1));
}

/// The claim of a single producer is private, and its event may come too late for a close.
#[test]
fn an_event_that_came_too_late_is_not_published() {
    let (mut producer, mut consumers) =
        One::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let monitor = producer.monitor();
    let claim = producer.claim().unwrap();
    let snapshot = monitor.snapshot();
    assert_eq!((snapshot.published, snapshot.claimed, snapshot.free_slots), (0, 0, 8));
    let running = {
        let _all = consumers.take_poller("all").unwrap();
        consumers.start().unwrap() // has no stage, so it starts no thread
    };
    running.close();
    assert!(claim.publish().is_err());
    let snapshot = monitor.snapshot();
    assert_eq!((snapshot.published, snapshot.claimed), (0, 0));
}

// ---- the texts ----

fn the_table_has_a_line_for_each_stage<K: Kind>() {
    let (mut producer, mut consumers) = diamond::<K>(["left", "right", "join\nboth"]);
    producer.publish_batch(3, |_| {}).unwrap();
    consumers.take_poller("left").unwrap().poll().unwrap().consume_all();
    let text = "\
ring \"orders\": open, 5 of 8 slots free, 3 published
stage       after        sequence  lag  available  state       for at least  batches  parks  wakes
left        producers           3    0          0  left                0 ms        1      0      0
right       producers           0    3          3  not polled          0 ms        0      0      0
join\\nboth  left, right         0    3          0  not polled          0 ms        0      0      0";
    assert_eq!(producer.monitor().snapshot().to_string(), text);
}

fn a_diamond_is_drawn_in_the_direction_of_the_events<K: Kind>() {
    let (mut producer, mut consumers) = diamond::<K>(["left", "right", "join"]);
    let mut left = consumers.take_poller("left").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    left.poll_max(2).unwrap().consume_all();
    let snapshot = producer.monitor().snapshot();
    let dot = r#"digraph lapwing {
    label="orders: open, 5 of 8 slots free";
    rankdir=LR;
    node [shape=box];
    producers [shape=ellipse, label="producers\npublished 3"];
    stage0 [label="left\nsequence 2, lag 1\nnot polled"];
    stage1 [label="right\nsequence 0, lag 3\nnot polled"];
    stage2 [label="join\nsequence 0, lag 3\nnot polled"];
    producers -> stage0;
    producers -> stage1;
    stage0 -> stage2;
    stage1 -> stage2;
}
"#;
    assert_eq!(snapshot.to_dot(), dot);
    let mermaid = r#"flowchart LR
    producers(["producers<br/>published 3"])
    stage0["left<br/>sequence 2, lag 1<br/>not polled"]
    stage1["right<br/>sequence 0, lag 3<br/>not polled"]
    stage2["join<br/>sequence 0, lag 3<br/>not polled"]
    producers --> stage0
    producers --> stage1
    stage0 --> stage2
    stage1 --> stage2
"#;
    assert_eq!(snapshot.to_mermaid(), mermaid);
}

#[test]
fn a_claim_that_is_held_is_in_the_table_and_in_the_drawings() {
    let (mut producer, _consumers) = Many::ring(4, || 0_u64).stage("all").poller().build().unwrap();
    let monitor = producer.monitor();
    let _claim = producer.claim_batch(3).unwrap();
    let snapshot = monitor.snapshot();
    let head = "ring \"ring\": open, 1 of 4 slots free, 0 published, 3 claimed\n";
    assert!(snapshot.to_string().starts_with(head));
    assert!(snapshot.to_dot().contains("label=\"producers\\npublished 0\\nclaimed 3\""));
    assert!(snapshot.to_mermaid().contains("[\"producers<br/>published 0<br/>claimed 3\"]"));
}

/// Names that contain the ends of strings, lines, labels and comments, or syntax of either
/// language.
#[test]
fn any_name_gives_a_valid_drawing() {
    let mut graph = Graph::new();
    let first = graph.stage("\"]; evil -> x [label=\"").poller();
    graph.stage("a\\").after(first).poller();
    graph.stage("two\nlines\r\t").poller();
    graph.stage("&lt;b>%%{init}%% `x` #quot; end").poller();
    graph.stage("1. Überblick_ → 價格").poller();
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).name("\"\\\n\0").graph(graph).build().unwrap();
    let snapshot = producer.monitor().snapshot();
    let dot = r#"digraph lapwing {
    label="\"\\\\n\\0: open, 8 of 8 slots free";
    rankdir=LR;
    node [shape=box];
    producers [shape=ellipse, label="producers\npublished 0"];
    stage0 [label="\"]; evil -> x [label=\"\nsequence 0, lag 0\nnot polled"];
    stage1 [label="a\\\nsequence 0, lag 0\nnot polled"];
    stage2 [label="two\\nlines\\r\\t\nsequence 0, lag 0\nnot polled"];
    stage3 [label="&amp;lt;b>%%{init}%% `x` #quot; end\nsequence 0, lag 0\nnot polled"];
    stage4 [label="1. Überblick_ → 價格\nsequence 0, lag 0\nnot polled"];
    producers -> stage0;
    stage0 -> stage1;
    producers -> stage2;
    producers -> stage3;
    producers -> stage4;
}
"#;
    assert_eq!(snapshot.to_dot(), dot);
    let mermaid = "flowchart LR
    producers([\"producers<br/>published 0\"])
    stage0[\"#34;#93;#59; evil #45;#62; x #91;label#61;#34;<br/>sequence 0, lag 0<br/>not polled\"]
    stage1[\"a#92;<br/>sequence 0, lag 0<br/>not polled\"]
    stage2[\"two#92;nlines#92;r#92;t<br/>sequence 0, lag 0<br/>not polled\"]
    stage3[\"#38;lt#59;b#62;#37;#37;#123;init#125;#37;#37; #96;x#96; #35;quot#59; end<br/>\
sequence 0, lag 0<br/>not polled\"]
    stage4[\"1#46; Überblick#95; #8594; 價格<br/>sequence 0, lag 0<br/>not polled\"]
    producers --> stage0
    stage0 --> stage1
    producers --> stage2
    producers --> stage3
    producers --> stage4
";
    assert_eq!(snapshot.to_mermaid(), mermaid);
    let head = "ring \"\\\"\\\\\\n\\0\": open, 8 of 8 slots free, 0 published\n";
    assert!(snapshot.to_string().starts_with(head), "{snapshot}");
    assert_eq!(snapshot.to_string().lines().count(), 7);
}

/// If nothing waits at the gate, the watchdog reports nothing.
#[test]
fn a_snapshot_never_waits() {
    watched(|| {
        let (turnstile, mut pass) = Turnstile::new();
        let (mut producer, consumers) = Disruptor::single_producer(1, || 0_u64)
            .stage("stuck")
            .read(move |_, sequence, _| pass(sequence))
            .build()
            .unwrap();
        let monitor = producer.monitor();
        let running = consumers.start().unwrap();
        producer.publish(|_| {}).unwrap();
        turnstile.wait_for(0);
        let thread = thread::spawn(move || producer.publish(|_| {}).map(|_| producer));
        wait_until(|| monitor.snapshot().waiting_producers == 1);
        let looks = [monitor.clone(), monitor.clone()].map(|monitor| {
            thread::spawn(move || (monitor.snapshot().free_slots, monitor.stall().is_some()))
        });
        for look in looks {
            assert_eq!(look.join().unwrap(), (0, true));
        }
        drop(turnstile);
        drop(thread.join().unwrap().unwrap());
        running.join().unwrap();
    });
}
