//! Tests when a monitor calls a ring stalled, what it names as the cause, and the text of the
//! verdict.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Many, One, ProducerOf, Turnstile, wait_until, watched};
use lapwing::monitor::{Monitor, Part, RingState, StageState, Stall};
use lapwing::wait::{Step, WaitStrategy, Waiting};
use lapwing::{Action, Consumers, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    a_handler_that_does_not_return_is_named,
    a_producer_that_waits_on_a_full_ring_is_not_the_culprit,
    a_poller_that_is_not_polled_is_named,
    a_poller_that_keeps_its_batch_is_named,
    a_stage_that_was_not_started_is_named,
    the_stage_of_a_pipeline_that_could_continue_is_named,
    a_backed_up_pipeline_names_its_last_stage,
    a_stage_downstream_of_one_that_left_is_not_held_up_by_it,
    the_furthest_behind_is_named_and_the_others_are_counted,
    a_strategy_that_never_wakes_is_named,
    an_acknowledgement_that_does_not_come_is_named,
    the_stage_that_occupies_a_shared_thread_is_named,
    a_stage_that_pauses_before_it_tries_again_is_named,
    a_ring_that_runs_is_not_stalled,
    an_idle_ring_is_idle_and_not_stalled,
    a_ring_in_which_something_waits_is_not_idle,
    a_stall_is_as_long_as_the_snapshots_show,
    a_clone_remembers_the_snapshots_of_the_original,
    a_closed_ring_is_stalled_by_a_handler_that_does_not_end,
    a_halted_ring_is_stalled_by_a_handler_that_does_not_return,
    a_ring_that_has_ended_is_neither_stalled_nor_idle,
}

/// Returns the verdict of two snapshots.
fn verdict(monitor: &Monitor) -> Option<Stall> {
    let monitor = monitor.clone();
    let _ = monitor.snapshot();
    monitor.stall()
}

/// Returns what the stall names: a part of the ring and, of a stage, its state.
fn blame(stall: &Stall) -> (Part, Option<StageState>) {
    (stall.culprit.clone(), stall.stage_state)
}

fn blamed(name: &str, state: StageState) -> (Part, Option<StageState>) {
    (Part::Stage { name: name.to_owned() }, Some(state))
}

/// Returns the text after the given number of milliseconds.
fn text(stall: Option<Stall>, millis: u64) -> String {
    let mut stall = stall.expect("the ring is stalled");
    stall.at_least = Duration::from_millis(millis);
    stall.to_string()
}

/// A ring of four slots with pollers in a row.
fn pipeline<K: Kind>(names: &[&str]) -> (ProducerOf<u64, K>, Consumers<'static, u64>) {
    let ring = K::ring(4, || 0).name("orders");
    names.iter().fold(ring, |ring, name| ring.stage(*name).poller()).build().unwrap()
}

fn a_handler_that_does_not_return_is_named<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .name("orders")
        .stage("journal")
        .max_batch(1)
        .read(move |_, sequence, _| pass(sequence))
        .stage("behind")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = consumers.monitor();
    let running = consumers.start().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    turnstile.wait_for(1);
    wait_until(|| monitor.snapshot().stages[1].sequence == 1);
    assert_eq!(blame(&verdict(&monitor).unwrap()), blamed("journal", StageState::InHandler));
    let sentence = "ring \"orders\" is held up: stage \"journal\" is in its handler, \
        at sequence 1 for at least 2.1 s, 3 events behind; 3 of 4 slots are held";
    assert_eq!(text(verdict(&monitor), 2_199), sentence);
    turnstile.let_go();
    turnstile.wait_for(2);
    assert!(monitor.stall().is_none(), "it has made progress since");
    drop(turnstile);
    running.shutdown().unwrap();
    assert!(verdict(&monitor).is_none());
}

fn a_producer_that_waits_on_a_full_ring_is_not_the_culprit<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .name("orders")
        .stage("decode")
        .read(|_, _, _| {})
        .stage("journal")
        .read(move |_, sequence, _| pass(sequence))
        .build()
        .unwrap();
    let monitor = consumers.monitor();
    let running = consumers.start().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    turnstile.wait_for(0);
    let waiter = thread::spawn(move || producer.publish(|_| {}).map(|_| producer));
    wait_until(|| {
        let snapshot = monitor.snapshot();
        snapshot.waiting_producers == 1 && snapshot.stages[0].lag == 0
    });
    let sentence = "ring \"orders\" is full: stage \"journal\" is in its handler, \
        at sequence 0 for at least 350 ms, 4 events behind; 4 of 4 slots are held, 1 producer waits";
    assert_eq!(text(verdict(&monitor), 350), sentence);
    drop(turnstile);
    drop(waiter.join().unwrap().unwrap());
    running.join().unwrap();
}

fn a_poller_that_is_not_polled_is_named<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["ticks"]);
    let monitor = producer.monitor();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    producer.publish(|_| {}).unwrap();
    let sentence = "ring \"orders\" is held up: stage \"ticks\" is not polled, \
        at sequence 0 for at least 60.0 s, 1 event behind; 1 of 4 slots are held";
    assert_eq!(text(verdict(&monitor), 60_000), sentence);
    ticks.poll().unwrap().consume_all();
    assert!(verdict(&monitor).is_none());
}

fn a_poller_that_keeps_its_batch_is_named<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["ticks"]);
    let monitor = producer.monitor();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    producer.publish(|_| {}).unwrap();
    let batch = ticks.poll().unwrap();
    let stall = verdict(&monitor).unwrap();
    assert_eq!(blame(&stall), blamed("ticks", StageState::HasBatch));
    assert!(stall.to_string().contains("stage \"ticks\" holds a batch, at sequence 0"));
    drop(batch);
}

fn a_stage_that_was_not_started_is_named<K: Kind>() {
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .stage("decode")
        .read(|_, _, _| {})
        .stage("journal")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    assert!(verdict(&monitor).is_none(), "no stage has events");
    producer.publish(|_| {}).unwrap();
    let sentence = "ring \"ring\" is full: stage \"decode\" has not started, \
        at sequence 0 for at least 0 ms, 1 event behind; 1 of 1 slots are held";
    assert_eq!(text(verdict(&monitor), 0), sentence);
    consumers.start().unwrap().shutdown().unwrap();
    assert!(verdict(&monitor).is_none());
}

fn the_stage_of_a_pipeline_that_could_continue_is_named<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["first", "second", "third"]);
    let monitor = producer.monitor();
    let [mut first, mut second, mut third] =
        ["first", "second", "third"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(4, |_| {}).unwrap();
    first.poll_max(2).unwrap().consume_all();
    second.poll_max(2).unwrap().consume_all();
    third.poll_max(2).unwrap().consume_all();
    // The others are as far behind, and wait for it.
    let stall = verdict(&monitor).unwrap();
    assert_eq!(blame(&stall), blamed("first", StageState::NotAsked));
    assert_eq!((stall.sequence, stall.lag, stall.others), (2, 2, 0));
}

fn a_backed_up_pipeline_names_its_last_stage<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["first", "second", "third"]);
    let monitor = producer.monitor();
    let [mut first, mut second, mut third] =
        ["first", "second", "third"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(4, |_| {}).unwrap();
    first.poll().unwrap().consume_all();
    second.poll().unwrap().consume_all();
    third.poll_max(1).unwrap().consume_all();
    producer.publish(|_| {}).unwrap();
    first.poll().unwrap().consume_all();
    second.poll().unwrap().consume_all();
    let stall = verdict(&monitor).unwrap();
    assert_eq!(blame(&stall), blamed("third", StageState::NotAsked));
    assert_eq!((stall.sequence, stall.lag, stall.free_slots), (1, 4, 0));
    assert!(
        stall.to_string().starts_with("ring \"orders\" is full: stage \"third\" is not polled")
    );
}

fn a_stage_downstream_of_one_that_left_is_not_held_up_by_it<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["first", "second", "third"]);
    let monitor = producer.monitor();
    let [mut first, second, third] =
        ["first", "second", "third"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(2, |_| {}).unwrap();
    drop(second);
    assert_eq!(blame(&verdict(&monitor).unwrap()), blamed("first", StageState::NotAsked));
    first.poll().unwrap().consume_all();
    assert_eq!(blame(&verdict(&monitor).unwrap()), blamed("third", StageState::NotAsked));
    drop(third);
    assert!(verdict(&monitor).is_none());
}

fn the_furthest_behind_is_named_and_the_others_are_counted<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| side.stage("left").poller().stage("right").poller())
        .stage("last")
        .poller()
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let [mut left, mut right] = ["left", "right"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(3, |_| {}).unwrap();
    left.poll_max(2).unwrap().consume_all();
    right.poll_max(1).unwrap().consume_all();
    let sentence = "ring \"ring\" is held up: stage \"last\" is not polled, \
        at sequence 0 for at least 0 ms, 3 events behind, and 2 more; 3 of 8 slots are held";
    assert_eq!(text(verdict(&monitor), 0), sentence);
    consumers.take_poller("last").unwrap().poll().unwrap().consume_all(); // and drops it
    assert_eq!(blame(&verdict(&monitor).unwrap()), blamed("right", StageState::NotAsked));
}

/// Waits for a message in place of an event.
#[derive(Clone)]
struct Deaf(std::sync::Arc<std::sync::Mutex<mpsc::Receiver<()>>>);

impl WaitStrategy for Deaf {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        let _ = self.0.lock().unwrap().recv();
        Step::Yield
    }
}

fn a_strategy_that_never_wakes_is_named<K: Kind>() {
    let (go, gate) = mpsc::channel();
    let deaf = Deaf(std::sync::Arc::new(std::sync::Mutex::new(gate)));
    let (mut producer, consumers) =
        K::ring(4, || 0_u64).stage("deaf").wait(deaf).read(|_, _, _| {}).build().unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    wait_until(|| monitor.snapshot().stages[0].state == StageState::Waiting);
    producer.publish(|_| {}).unwrap();
    let stall = verdict(&monitor).unwrap().to_string();
    assert!(
        stall.contains("stage \"deaf\" waits, though it could go on, at sequence 0"),
        "{stall}"
    );
    drop(go);
    running.shutdown().unwrap();
}

fn an_acknowledgement_that_does_not_come_is_named<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
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
    journal.poll().unwrap().consume_all();
    disk.acknowledge(1).unwrap();
    reply.poll().unwrap().consume_all();
    let culprit = (Part::Acknowledgement { stage: "journal".to_owned() }, None);
    let stall = verdict(&monitor).unwrap();
    assert_eq!((blame(&stall), stall.sequence, stall.others), (culprit, 1, 0));
    let sentence = "ring \"orders\" is held up: stage \"journal\" is not acknowledged, \
        at sequence 1 for at least 2.0 s, 3 events behind; 3 of 4 slots are held";
    assert_eq!(text(verdict(&monitor), 2_000), sentence);
    assert!(monitor.idle_for(Duration::ZERO).is_none());
    disk.acknowledge(4).unwrap();
    assert_eq!(blame(&verdict(&monitor).unwrap()), blamed("reply", StageState::NotAsked));
    reply.poll().unwrap().consume_all();
    assert!(verdict(&monitor).is_none());
    let _ = monitor.snapshot();
    assert!(monitor.idle_for(Duration::ZERO).is_some());
}

fn the_stage_that_occupies_a_shared_thread_is_named<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let on_thread = |name| Stage::new(name).on_thread("both").max_batch(1);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| {
            side.stage(on_thread("waits for its turn"))
                .read(|_, _, _| {})
                .stage(on_thread("stuck"))
                .read(move |_, sequence, _| pass(sequence))
        })
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    turnstile.wait_for(0);
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages.iter().all(|stage| stage.available > 0), "{snapshot}");
    let stall = verdict(&monitor).unwrap();
    assert_eq!((blame(&stall), stall.others), (blamed("stuck", StageState::InHandler), 0));
    drop(turnstile);
    running.shutdown().unwrap();
}

fn a_stage_that_pauses_before_it_tries_again_is_named<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("retries")
        .read(|_, _, _| Action::Retry(Duration::from_secs(3_600)))
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    wait_until(|| monitor.snapshot().stages[0].state == StageState::Pausing);
    let stall = verdict(&monitor).unwrap().to_string();
    let start = "ring \"ring\" is held up: stage \"retries\" pauses before it tries again, at seq";
    assert!(stall.starts_with(start), "{stall}");
    running.halt();
    assert!(running.join().is_err());
}

fn a_ring_that_runs_is_not_stalled<K: Kind>() {
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .stage("first")
        .read(|_, _, _| {})
        .stage("second")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = producer.monitor();
    for _ in 0..crate::common::repeats(10_000) {
        producer.publish(|_| {}).unwrap();
        assert!(monitor.stalled_for(Duration::from_secs(3_600)).is_none());
        assert!(monitor.idle_for(Duration::from_secs(3_600)).is_none());
    }
    running.shutdown().unwrap();
}

fn an_idle_ring_is_idle_and_not_stalled<K: Kind>() {
    let (mut producer, consumers) =
        K::ring(4, || 0_u64).name("quotes").stage("all").read(|_, _, _| {}).build().unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    for _ in 0..7 {
        producer.publish(|_| {}).unwrap();
    }
    wait_until(|| monitor.snapshot().stages[0].lag == 0);
    assert!(verdict(&monitor).is_none());
    let _ = monitor.snapshot();
    assert!(monitor.idle_for(Duration::from_secs(3_600)).is_none());
    let idle = monitor.idle_for(Duration::ZERO);
    assert_eq!(blame(idle.as_ref().unwrap()), (Part::Producers, None));
    let sentence =
        "ring \"quotes\" is empty: waiting for a publication at sequence 7, for at least 3.0 s";
    assert_eq!(text(idle, 3_000), sentence);
    producer.publish(|_| {}).unwrap();
    assert!(monitor.idle_for(Duration::ZERO).is_none());
    running.shutdown().unwrap();
}

fn a_ring_in_which_something_waits_is_not_idle<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["first", "second"]);
    let monitor = producer.monitor();
    producer.publish(|_| {}).unwrap();
    consumers.take_poller("first").unwrap().poll().unwrap().consume_all();
    let _ = monitor.snapshot();
    assert!(monitor.idle_for(Duration::ZERO).is_none());
}

fn a_stall_is_as_long_as_the_snapshots_show<K: Kind>() {
    let (mut producer, mut consumers) = pipeline::<K>(&["ticks"]);
    let monitor = producer.monitor();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    assert!(monitor.stall().is_none(), "the first snapshot");
    thread::sleep(crate::common::MOMENT);
    let stall = monitor.stall().unwrap();
    assert!(stall.at_least >= crate::common::MOMENT);
    let later = monitor.stalled_for(crate::common::MOMENT).unwrap();
    assert!(later.at_least >= stall.at_least);
    assert!(monitor.stalled_for(Duration::from_secs(3_600)).is_none());
    // Any progress restarts the duration.
    ticks.poll_max(1).unwrap().consume_all();
    assert!(monitor.stall().is_none());
    assert_eq!(monitor.stall().unwrap().sequence, 1);
    // The state has its own duration.
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages[0].state_for >= snapshot.stages[0].stuck_for.unwrap());
}

fn a_clone_remembers_the_snapshots_of_the_original<K: Kind>() {
    let (mut producer, _consumers) = pipeline::<K>(&["ticks"]);
    let monitor = producer.monitor();
    producer.publish(|_| {}).unwrap();
    assert!(monitor.stall().is_none());
    assert!(monitor.clone().stall().is_some());
    assert!(producer.monitor().stall().is_none(), "another monitor has no snapshot yet");
}

/// Blocks at the end.
struct SlowEnd<F>(F);

impl<F: FnMut(u64)> EventHandler<u64> for SlowEnd<F> {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_shutdown(&mut self) {
        self.0(0);
    }
}

fn a_closed_ring_is_stalled_by_a_handler_that_does_not_end<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let (mut producer, consumers) =
        K::ring(4, || 0_u64).stage("journal").read_handler(SlowEnd(pass)).build().unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    running.close();
    turnstile.wait_for(0);
    let sentence = "ring \"ring\" is closed: stage \"journal\" is in its handler, \
        at sequence 1 for at least 0 ms, 0 events behind; 0 of 4 slots are held";
    assert_eq!(text(verdict(&monitor), 0), sentence);
    drop(turnstile);
    running.join().unwrap();
}

fn a_halted_ring_is_stalled_by_a_handler_that_does_not_return<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("journal")
        .read(move |_, sequence, _| pass(sequence))
        .stage("behind")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    turnstile.wait_for(0);
    running.halt();
    wait_until(|| monitor.snapshot().stages[1].state == StageState::Halted);
    let stall = verdict(&monitor).unwrap();
    assert_eq!((stall.state, stall.others), (RingState::Halted, 0));
    assert_eq!(blame(&stall), blamed("journal", StageState::InHandler));
    assert!(stall.to_string().starts_with("ring \"ring\" is halted: stage \"journal\""));
    drop(turnstile);
    assert!(running.join().is_err());
    assert!(verdict(&monitor).is_none());
}

fn a_ring_that_has_ended_is_neither_stalled_nor_idle<K: Kind>() {
    let (mut producer, consumers) =
        K::ring(4, || 0_u64).stage("all").read(|_, _, _| {}).build().unwrap();
    let monitor = producer.monitor();
    producer.publish(|_| {}).unwrap();
    drop(producer);
    consumers.start().unwrap().join().unwrap();
    let _ = monitor.snapshot();
    assert!(monitor.stall().is_none() && monitor.idle_for(Duration::ZERO).is_none());
}

// ---- claims ----

#[test]
fn a_claim_that_is_held_is_named() {
    let (mut producer, mut consumers) = pipeline::<Many>(&["ticks"]);
    let monitor = producer.monitor();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let mut other = producer.clone();
    producer.publish(|_| {}).unwrap();
    let claim = producer.claim().unwrap();
    other.publish(|_| {}).unwrap();
    // Every stage that waits for the claim is further behind than the claim.
    let stall = verdict(&monitor).unwrap();
    assert_eq!((blame(&stall), stall.others), (blamed("ticks", StageState::NotAsked), 1));
    ticks.poll().unwrap().consume_all();
    let sentence = "ring \"orders\" is held up: sequence 1 is claimed and not published, \
        for at least 3.0 s; 2 of 4 slots are held";
    assert_eq!(text(verdict(&monitor), 3_000), sentence);
    assert!(monitor.idle_for(Duration::ZERO).is_none());
    other.close();
    assert!(verdict(&monitor).unwrap().to_string().starts_with("ring \"orders\" is closed: seq"));
    drop(claim);
    ticks.poll().unwrap().consume_all();
    assert!(verdict(&monitor).is_none());
}

#[test]
fn a_ring_full_of_claims_names_the_first() {
    watched(|| {
        let (mut producer, consumers) = Many::ring(4, || 0_u64)
            .name("orders")
            .stage("journal")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let monitor = producer.monitor();
        let mut other = producer.clone();
        let running = consumers.start().unwrap();
        let claim = producer.claim_batch(4).unwrap();
        let waiter = thread::spawn(move || other.publish(|_| {}).map(|_| other));
        wait_until(|| monitor.snapshot().waiting_producers == 1);
        let sentence = "ring \"orders\" is full: sequence 0 is claimed and not published, \
            for at least 9.9 s; 4 of 4 slots are held, 1 producer waits";
        assert_eq!(text(verdict(&monitor), 9_999), sentence);
        drop(claim);
        drop((waiter.join().unwrap().unwrap(), producer));
        running.join().unwrap();
    });
}

/// There are fewer free slots than a producer waits for.
#[test]
fn a_ring_with_too_few_free_slots_is_too_full() {
    watched(|| {
        let (mut producer, mut consumers) = pipeline::<One>(&["ticks"]);
        let monitor = producer.monitor();
        let mut ticks = consumers.take_poller("ticks").unwrap();
        producer.publish(|_| {}).unwrap();
        let waiter = thread::spawn(move || producer.publish_batch(4, |_| {}).map(|_| producer));
        wait_until(|| monitor.snapshot().waiting_producers == 1);
        let stall = verdict(&monitor).unwrap().to_string();
        assert!(stall.starts_with("ring \"orders\" is too full: stage \"ticks\" is not polled"));
        assert!(stall.ends_with("1 of 4 slots are held, 1 producer waits"), "{stall}");
        ticks.poll().unwrap().consume_all();
        drop(waiter.join().unwrap().unwrap());
    });
}
