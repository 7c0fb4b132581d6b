//! What a monitor shows of each state of a ring and its stages, and the texts that it prints.
//!
//! A ring of pollers is moved by a script, and a row of text says all that a snapshot then shows
//! (see `rig`). [`ENDED`] has a row for each end of a stage.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, Ledger, MOMENT, Many, ON_PURPOSE, One, Turnstile, quiet_panics, repeats, wait_until,
};
use crate::rig::{
    Call, Calls, Rig, blocks_in, calls, events, nothing, orders, row, seen, stage, state, until,
    until_state,
};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PollError};
use lapwing::graph::{Graph, StartAt};
use lapwing::monitor::{RingState, Snapshot, StageState};
use lapwing::producer::WhenFull;
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Action, Disruptor, Sequence, Stage};

crate::common::for_both_producers! {
    a_new_ring_shows_no_progress,
    a_poller_shows_its_states_and_counts_a_batch_when_it_is_dropped,
    miri_a_poller_that_left_shows_what_those_before_it_have_finished,
    acknowledged_and_finished_sequences_are_both_shown,
    a_ring_that_begins_elsewhere_shows_its_own_sequences,
    a_stage_shows_how_it_ended,
    a_stage_shows_what_it_does_until_something_happens,
    the_call_after_a_release_shows_as_the_handler_and_its_panic_loses_no_batch,
    a_batch_that_was_released_early_is_counted,
    a_stage_that_sleeps_shows_parked_and_counts_its_wakes,
    stages_that_share_a_thread_show_parked_together,
    a_dynamic_consumer_hides_no_worker_that_stands_still,
    a_dynamic_consumer_shows_its_own_name_and_figures,
    a_consumer_that_left_its_dynamic_stage_leaves_the_state_of_the_next_one_alone,
    a_producer_that_waits_on_a_full_ring_is_counted_while_it_waits,
    the_relations_of_a_snapshot_hold_while_the_ring_runs,
    miri_a_monitor_outlives_its_ring_and_keeps_no_event,
    the_table_has_a_line_for_each_stage,
    events_that_were_dropped_are_counted,
    a_diamond_is_drawn_in_the_direction_of_the_events,
}

// ---- rings of pollers ----

fn a_new_ring_shows_no_progress<K: Kind>() {
    let ring = orders::<K>(8).stage("decode").read_handler(nothing());
    let rig = Rig::<K>::of(row::<K>(ring, "journal+ticks"));
    let snapshot = rig.monitor.snapshot();
    let expected = [
        "open, 8 free, 0 published, 0 claimed",
        "decode: not started at 0, 0 of 0 ready, 0 done",
        "journal: not polled at 0, 0 of 0 ready, 0 done",
        "ticks: not polled at 0, 0 of 0 ready, 0 done",
    ];
    assert_eq!(seen(&snapshot), expected);
    assert_eq!(
        (snapshot.ring.as_str(), snapshot.capacity, snapshot.held_slots()),
        ("orders", 8, 0)
    );
    let upstream: Vec<_> = snapshot.stages.iter().map(|stage| stage.upstream.join("+")).collect();
    assert_eq!(upstream, ["", "decode", "decode"]);
    assert!(snapshot.stages.iter().all(|stage| (stage.parks, stage.wakes) == (0, 0)));
    let names = rig.consumers.as_ref().unwrap().names();
    assert!(snapshot.stages.iter().map(|stage| stage.name.as_str()).eq(names));
}

fn a_poller_shows_its_states_and_counts_a_batch_when_it_is_dropped<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "ticks");
    let mut ticks = rig.take_poller("ticks");
    let monitor = rig.monitor.clone();
    let shows = |expected: &str| assert_eq!(seen(&monitor.snapshot())[1], expected);
    assert_eq!(ticks.poll().err(), Some(PollError::Empty));
    shows("ticks: not polled at 0, 0 of 0 ready, 0 done");
    assert!(ticks.wait_timeout(MOMENT).is_err());
    shows("ticks: not polled at 0, 0 of 0 ready, 0 done");
    rig.does("publish 4");
    let mut batch = ticks.poll().unwrap();
    shows("ticks: has a batch at 0, 4 of 4 ready, 0 done");
    batch.consume(1);
    batch.release();
    shows("ticks: has a batch at 1, 3 of 3 ready, 0 done");
    drop(batch);
    shows("ticks: not polled at 1, 3 of 3 ready, 1 done");
    drop(ticks.poll().unwrap());
    shows("ticks: not polled at 1, 3 of 3 ready, 2 done");
    ticks.poll().unwrap().consume_all();
    shows("ticks: not polled at 4, 0 of 0 ready, 3 done");
    rig.does("close");
    assert_eq!(ticks.poll().err(), Some(PollError::Closed));
    shows("ticks: drained at 4, 0 of 0 ready, 3 done");
    assert_eq!(rig.seen()[0], "closed, 8 free, 4 published, 4 claimed");
}

fn miri_a_poller_that_left_shows_what_those_before_it_have_finished<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "first leaves last");
    let expected = [
        "open, 5 free, 3 published, 3 claimed",
        "first: not polled at 2, 1 of 1 ready, 1 done",
        "leaves: left at 2, 0 of 1 ready, 0 done",
        "last: not polled at 0, 2 of 3 ready, 0 done",
    ];
    assert_eq!(rig.does("leaves leaves, publish 3, first 2").seen(), expected);
    // Without upstream stages, the limit is what is published.
    let expected = [
        "halted, 8 free, 3 published, 3 claimed",
        "first: left at 3, 0 of 0 ready, 1 done",
        "leaves: left at 3, 0 of 0 ready, 0 done",
        "last: left at 3, 0 of 0 ready, 0 done",
    ];
    assert_eq!(rig.does("first leaves, last leaves").seen(), expected);
}

fn acknowledged_and_finished_sequences_are_both_shown<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "journal! reply");
    let acknowledged = |rig: &Rig<K>| stage(&rig.monitor.snapshot(), "journal").acknowledged;
    rig.does("publish 4, journal acked 4"); // too early
    assert_eq!(acknowledged(rig.does("journal 3")), Some(3));
    let text = "\
ring \"orders\": open, 5 of 8 slots free, 4 published
stage    after      sequence  acknowledged  lag  available  state       for at least  batches  parks  wakes
journal  producers         3             3    1          1  not polled          0 ms        1      0      0
reply    journal           1                  3          2  not polled          0 ms        1      0      0";
    let snapshot = rig.does("reply 1").producer.monitor().snapshot();
    assert_eq!(snapshot.to_string(), text);
    assert!(snapshot.to_dot().contains("label=\"journal\\nsequence 3, lag 1, acknowledged 3\\n"));
    assert_eq!(snapshot.stages.len(), 2);
    assert_eq!(acknowledged(rig.does("journal leaves")), None);
}

fn a_ring_that_begins_elsewhere_shows_its_own_sequences<K: Kind>() {
    for first in [3, 8, 1_000_003] {
        let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).first_sequence(first), "all"));
        for (script, published, sequence, free) in [
            ("", first, first, 8),
            ("publish 7", first + 7, first, 1),
            ("all 2", first + 7, first + 2, 3),
            ("all leaves", first + 7, first + 7, 8), // no consumer has a sequence
        ] {
            let snapshot = rig.does(script).monitor.snapshot();
            assert_eq!((snapshot.published, snapshot.claimed), (published, published));
            assert_eq!((snapshot.stages[0].sequence, snapshot.free_slots), (sequence, free));
        }
    }
}

// ---- the states of a stage that has a thread ----

/// What a handler answers at each event, and what it and a stage "behind" show at the end, after
/// two events and a shutdown.
type Ended = (fn(Sequence) -> Action, [&'static str; 3]);

const ENDED: [Ended; 4] = [
    (
        |_| Action::Continue,
        [
            "closed, 8 free, 2 published, 2 claimed",
            "stage: drained at 2, 0 of 0 ready, 1 done",
            "behind: drained at 2, 0 of 0 ready, 1 done",
        ],
    ),
    (
        |_| Action::Stop,
        [
            "closed, 8 free, 2 published, 2 claimed",
            "stage: left at 2, 0 of 0 ready, 0 done",
            "behind: drained at 2, 0 of 0 ready, 1 done",
        ],
    ),
    (
        |_| Action::Halt,
        [
            "halted, 6 free, 2 published, 2 claimed",
            "stage: halted at 0, 2 of 2 ready, 0 done",
            "behind: halted at 0, 0 of 2 ready, 0 done",
        ],
    ),
    (
        |_| panic!("{ON_PURPOSE}"),
        [
            "halted, 6 free, 2 published, 2 claimed",
            "stage: failed at 0, 2 of 2 ready, 0 done",
            "behind: halted at 0, 0 of 2 ready, 0 done",
        ],
    ),
];

/// Two stages in a row, with two events.
fn two_stages<K: Kind>(stage: Stage, handler: Calls) -> Rig<K> {
    let ring = orders::<K>(8).stage(stage).read_handler(handler);
    let mut rig = Rig::of(ring.stage("behind").read_handler(nothing()));
    rig.does("publish 2");
    rig
}

fn a_stage_shows_how_it_ended<K: Kind>() {
    quiet_panics();
    for (answer, expected) in ENDED {
        let mut rig = two_stages::<K>(Stage::new("stage"), events(answer));
        let _ = rig.start().shutdown();
        assert_eq!(rig.seen(), expected);
    }
    let mut rig = two_stages::<K>(Stage::new("dropped"), nothing());
    drop(rig.consumers.take());
    let states = ["dropped", "behind"].map(|name| state(&rig.monitor, name));
    assert_eq!(states, [StageState::Failed; 2]);
    let ring = orders::<K>(8).stage("fails").read(|_, _, _| Err::<(), _>("on purpose"));
    let mut rig = Rig::<K>::of(ring);
    assert!(rig.does("publish 1").start().shutdown().is_err());
    assert_eq!(rig.seen()[1], "fails: failed at 0, 1 of 1 ready, 0 done");
    // A poller shows the halt when it polls.
    let ring = orders::<K>(8).stage("stage").read_handler(nothing());
    let mut rig = Rig::<K>::of(row::<K>(ring, "ticks"));
    let running = rig.start();
    running.halt();
    assert!(running.join().is_err());
    assert_eq!(state(&rig.monitor, "ticks"), StageState::NotAsked);
    let end = rig.poller("ticks").poll().err();
    assert_eq!(end, Some(PollError::Halted(HaltCause::Requested)));
    assert_eq!(state(&rig.monitor, "ticks"), StageState::Halted);
}

fn a_stage_shows_what_it_does_until_something_happens<K: Kind>() {
    let retries = events(|_| Action::Retry(Duration::from_secs(3_600)));
    let mut rig = two_stages::<K>(Stage::new("stage"), retries);
    let running = rig.start();
    let snapshot = until_state(&rig.monitor, "stage", StageState::Pausing);
    assert_eq!(seen(&snapshot)[1], "stage: pausing at 0, 2 of 2 ready, 0 done");
    running.halt();
    assert!(running.join().is_err());
    assert_eq!(state(&rig.monitor, "stage"), StageState::Halted);

    let yields = Stage::new("stage").wait_strategy(Yielding::default());
    let mut rig = two_stages::<K>(yields, nothing());
    let running = rig.start();
    let snapshot = until_state(&rig.monitor, "stage", StageState::Waiting);
    assert_eq!((stage(&snapshot, "stage").sequence, stage(&snapshot, "stage").parks), (2, 0));
    running.shutdown().unwrap();

    let (turnstile, handler) = blocks_in(Call::Event(1));
    let mut rig = two_stages::<K>(Stage::new("stage"), handler);
    let running = rig.start();
    turnstile.wait_for(0);
    assert_eq!(rig.seen()[1], "stage: in its handler at 0, 2 of 2 ready, 0 done");
    drop(turnstile);
    running.shutdown().unwrap();
}

fn the_call_after_a_release_shows_as_the_handler_and_its_panic_loses_no_batch<K: Kind>() {
    quiet_panics();
    let (turnstile, mut pass) = Turnstile::new();
    let handler = calls(move |call| {
        if let Call::Released(next_sequence) = call {
            pass(next_sequence);
            panic!("{ON_PURPOSE}");
        }
        Action::Continue
    });
    let slow = Stage::new("slow").max_batch(2).on_panic(Action::Continue);
    let mut rig = Rig::<K>::of(orders::<K>(8).stage(slow).read_handler(handler));
    rig.does("publish 4");
    let running = rig.start();
    turnstile.wait_for(2);
    assert_eq!(rig.seen()[1], "slow: in its handler at 2, 2 of 2 ready, 0 done");
    turnstile.let_go();
    turnstile.wait_for(4);
    assert_eq!(rig.seen()[1], "slow: in its handler at 4, 0 of 0 ready, 1 done");
    turnstile.let_go();
    running.shutdown().unwrap();
    assert_eq!(rig.seen()[1], "slow: drained at 4, 0 of 0 ready, 2 done");
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

fn a_stage_that_sleeps_shows_parked_and_counts_its_wakes<K: Kind>() {
    let sleeper = Stage::new("sleeper").wait_strategy(Blocking { yields: 0 });
    let mut rig = Rig::<K>::of(orders::<K>(8).stage(sleeper).read_handler(nothing()));
    let running = rig.start();
    let monitor = rig.monitor.clone();
    // It shows as parked a moment before it sleeps. An event in that moment needs no wake-up.
    for published in 1.. {
        until_state(&monitor, "sleeper", StageState::Parked);
        rig.does("publish 1");
        let snapshot = until(&monitor, |seen| stage(seen, "sleeper").batches == published);
        let sleeper = stage(&snapshot, "sleeper");
        assert!(sleeper.parks >= sleeper.wakes, "{snapshot}");
        if sleeper.wakes >= 1 {
            break;
        }
    }
    running.shutdown().unwrap();
}

fn stages_that_share_a_thread_show_parked_together<K: Kind>() {
    let on_thread = |name| Stage::new(name).on_thread("both").wait_strategy(Blocking { yields: 0 });
    let ring = orders::<K>(8).stage(on_thread("first")).read_handler(nothing());
    let mut rig = Rig::<K>::of(ring.stage(on_thread("second")).read_handler(nothing()));
    let running = rig.start();
    let monitor = rig.monitor.clone();
    for sequence in 0..2 {
        let snapshot = until(&monitor, |seen| {
            let is_parked = |name| {
                let stage = stage(seen, name);
                stage.state == StageState::Parked && stage.parks > 0
            };
            is_parked("first") && is_parked("second") && seen.stages[1].sequence == sequence
        });
        assert_eq!(snapshot.stages[1].thread.as_deref(), Some("both"));
        rig.does("publish 1");
    }
    running.shutdown().unwrap();
}

// ---- dynamic consumers ----

fn a_dynamic_consumer_shows_its_own_name_and_figures<K: Kind>() {
    let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).dynamic_stages(2), "all"));
    let (dynamic_stages, monitor) =
        (rig.consumers.as_ref().unwrap().dynamic_stages(), rig.monitor.clone());
    for (name, at) in [("early", 0), ("late", 1)] {
        let other = dynamic_stages.join("other", StartAt::Now).unwrap();
        let mut poller = dynamic_stages.join(name, StartAt::Now).unwrap().poller();
        let expected = [
            format!("all: not polled at {at}, 0 of 0 ready, {at} done"),
            format!("other: not polled at {at}, 0 of 0 ready, 0 done"),
            format!("{name}: not polled at {at}, 0 of 0 ready, 0 done"),
        ];
        assert_eq!(rig.seen()[1..], expected);
        drop(other);
        rig.does("publish 1, all 1");
        poller.poll().unwrap().consume_all();
        let next = at + 1;
        let expected = [
            format!("all: not polled at {next}, 0 of 0 ready, {next} done"),
            format!("{name}: not polled at {next}, 0 of 0 ready, 1 done"),
        ];
        assert_eq!(rig.seen()[1..], expected);
    }
    let late = dynamic_stages.join("late", StartAt::Now).unwrap().read_handler(nothing());
    assert_eq!(state(&monitor, "late"), StageState::NotStarted, "it is no poller");
    drop(late);
    assert_eq!(rig.seen().len(), 2);
}

/// A consumer that stops leaves its dynamic stage before the last call of its handler. One that has
/// drained the ring leaves it when its strategy is dropped. Both are user code, and may take long.
fn a_consumer_that_left_its_dynamic_stage_leaves_the_state_of_the_next_one_alone<K: Kind>() {
    for outcome in [Outcome::Stopped, Outcome::Drained] {
        let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).dynamic_stages(1), "all"));
        let dynamic_stages = rig.consumers.as_ref().unwrap().dynamic_stages();
        let (turnstile, mut pass) = Turnstile::new();
        let (handler, strategy, script) = if outcome == Outcome::Stopped {
            let stops = calls(move |call| match call {
                Call::Event(_) => Action::Stop,
                Call::Shutdown => {
                    pass(1);
                    Action::Continue
                }
                _ => Action::Continue,
            });
            (stops, DroppedSlowly(None), "publish 1")
        } else {
            let strategy = DroppedSlowly(Some(Arc::new(Mutex::new(Box::new(pass)))));
            (nothing(), strategy, "publish 1, close")
        };
        let first =
            dynamic_stages.join(Stage::new("first").wait_strategy(strategy), StartAt::Now).unwrap();
        let first = first.read_handler(handler);
        rig.does(script);
        let thread = thread::spawn(move || first.run());
        turnstile.wait_for(1);
        let mut second = dynamic_stages.join("second", StartAt::Oldest).unwrap().poller();
        let _batch = second.poll().unwrap();
        turnstile.let_go();
        assert_eq!(*thread.join().unwrap().outcome(), outcome);
        assert_eq!(state(&rig.monitor, "second"), StageState::HasBatch);
    }
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

fn a_dynamic_consumer_hides_no_worker_that_stands_still<K: Kind>() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .dynamic_stages(1)
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
    let (dynamic_stages, monitor) = (consumers.dynamic_stages(), producer.monitor());
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        (0..8).try_for_each(|_| producer.publish(|_| {}).map(|_| ())).unwrap();
        wait_until(|| state(&monitor, "work") == StageState::InHandler);
        let _late = dynamic_stages.join("late", StartAt::Now).unwrap();
        let seen = monitor.snapshot();
        let work = stage(&seen, "work");
        assert_eq!((work.sequence, work.lag, work.available), (0, 8, 8));
        assert_eq!(stage(&seen, "late").sequence, 8);
        drop(go);
        running.shutdown().unwrap();
    });
}

// ---- producers, claims and threads ----

fn a_producer_that_waits_on_a_full_ring_is_counted_while_it_waits<K: Kind>() {
    let mut rig = Rig::<K>::row(2, "all");
    rig.does("publish 2");
    assert!(rig.producer.publish_or(WhenFull::Timeout(MOMENT), |_| {}).is_err());
    assert_eq!(rig.seen()[0], "open, 0 free, 2 published, 2 claimed");
    let mut all = rig.take_poller("all");
    let Rig { producer, monitor, .. } = &mut rig;
    thread::scope(|scope| {
        let waiter = scope.spawn(|| producer.publish(|_| {}));
        let snapshot = until(monitor, |seen| seen.waiting_producers == 1);
        assert_eq!(seen(&snapshot)[0], "open, 0 free, 2 published, 2 claimed, 1 waiting");
        all.poll().unwrap().consume_all();
        waiter.join().unwrap().unwrap();
    });
    assert_eq!(rig.seen()[0], "open, 1 free, 3 published, 3 claimed");
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
        .parallel(|parallel| {
            parallel.stage("left").read(|_, _, _| {}).chain(|chain| {
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

/// A held claim, after an event that is published and before one that is published.
#[test]
fn miri_what_is_published_ends_at_the_first_claim_that_is_held() {
    let mut rig = Rig::<Many>::row(8, "all");
    let [mut first, mut second] = [0, 1].map(|_| rig.producer.clone());
    for at in [2, 7, 12] {
        rig.does("publish 1");
        drop(second.claim().unwrap());
        let claim = first.claim_batch(2).unwrap();
        let (held, end) = (at, at + 3);
        let expected = format!("open, 3 free, {held} published, {end} claimed");
        assert_eq!(rig.does("publish 1").seen()[0], expected);
        claim.publish().unwrap();
        assert_eq!(rig.monitor.snapshot().published, end);
        let expected = format!("open, 8 free, {end} published, {end} claimed");
        assert_eq!(rig.does("all 4").seen()[0], expected);
    }
}

#[test]
fn a_claim_that_was_given_up_counts_as_published_and_as_finished() {
    let mut rig = Rig::<Many>::row(8, "all");
    drop(rig.producer.claim_batch(2).unwrap());
    let expected = "all: not polled at 0, 3 of 3 ready, 0 done";
    assert_eq!(rig.does("publish 1").seen()[1], expected);
    assert_eq!(rig.does("all 1").seen()[1], "all: not polled at 3, 0 of 0 ready, 1 done");
}

/// The claim of a single producer is private, and its event may come too late for a close.
#[test]
fn an_event_that_came_too_late_is_not_published() {
    let mut rig = Rig::<One>::row(8, "all");
    let running = rig.start(); // has no stage, so it starts no thread
    let claim = rig.producer.claim().unwrap();
    assert_eq!(seen(&rig.monitor.snapshot())[0], "open, 8 free, 0 published, 0 claimed");
    running.close();
    assert!(claim.publish().is_err());
    assert_eq!(rig.seen()[0], "closed, 8 free, 0 published, 0 claimed");
}

// ---- the texts ----

fn the_table_has_a_line_for_each_stage<K: Kind>() {
    let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8), "left+right").stage("join\nboth").poller());
    rig.does("publish 3, left 3, left leaves");
    let text = "\
ring \"orders\": open, 5 of 8 slots free, 3 published
stage       after        sequence  lag  available  state       for at least  batches  parks  wakes
left        producers           3    0          0  left                0 ms        1      0      0
right       producers           0    3          3  not polled          0 ms        0      0      0
join\\nboth  left, right         0    3          0  not polled          0 ms        0      0      0";
    assert_eq!(rig.monitor.snapshot().to_string(), text);
}

fn events_that_were_dropped_are_counted<K: Kind>() {
    let ring = K::ring(2, || 0_u64).stage("all").poller();
    let mut rig = Rig::<K>::of(ring);
    for _ in 0..5 {
        rig.producer.publish_or(WhenFull::DropNew, |_| {}).unwrap();
    }
    let snapshot = rig.monitor.snapshot();
    assert_eq!(seen(&snapshot)[0], "open, 0 free, 2 published, 2 claimed, 3 dropped");
    let head = "ring \"ring\": open, 0 of 2 slots free, 2 published, 3 dropped\n";
    assert!(snapshot.to_string().starts_with(head), "{snapshot}");
    assert!(snapshot.to_dot().contains("published 2\\ndropped 3"));
}

fn a_diamond_is_drawn_in_the_direction_of_the_events<K: Kind>() {
    let snapshot = Rig::<K>::row(8, "left+right join").does("publish 3, left 2").monitor.snapshot();
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
    let mut rig = Rig::<Many>::row(4, "all");
    let monitor = rig.monitor.clone();
    let _claim = rig.producer.claim_batch(3).unwrap();
    let snapshot = monitor.snapshot();
    let head = "ring \"orders\": open, 1 of 4 slots free, 0 published, 3 claimed\n";
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
