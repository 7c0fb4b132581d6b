//! When a monitor calls a ring stalled, what it names as the cause, and the text of the verdict.
//!
//! A ring of pollers is a row of [`ROWS`]: its shape, and scripts with the verdict after each. What a
//! thread does, or what a script cannot say, is a test of its own below.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, MOMENT, Many, One, repeats, watched};
use crate::rig::{
    Call, Rig, after, blocks_in, events, gated, nothing, orders, said, stage, until, until_state,
    verdict,
};
use lapwing::monitor::{Part, RingState, StageState};
use lapwing::wait::{Step, WaitStrategy, Waiting};
use lapwing::{Action, Stage};

crate::common::for_both_producers! {
    the_stage_that_could_go_on_is_named,
    a_verdict_has_the_figures_of_its_text,
    a_stage_is_named_in_whichever_call_of_its_handler_it_is,
    a_halted_ring_is_stalled_by_a_handler_that_does_not_return,
    a_producer_that_waits_on_a_full_ring_is_not_the_culprit,
    a_poller_that_keeps_its_batch_is_named,
    a_stage_that_was_not_started_is_named,
    a_strategy_that_never_wakes_is_named,
    the_stage_that_occupies_a_shared_thread_is_named,
    a_stage_that_pauses_before_it_tries_again_is_named,
    a_ring_that_runs_is_not_stalled,
    an_idle_ring_is_idle_and_not_stalled,
    a_stall_is_as_long_as_the_snapshots_show,
}

const HOUR: Duration = Duration::from_secs(3_600);

/// Capacity and shape of a ring (none: the same ring goes on), a script, and the verdict after it.
type Row = (Option<(usize, &'static str)>, &'static str, &'static str);

const ROWS: [Row; 15] = [
    (Some((4, "ticks")), "", "-"),
    (None, "publish 1", "held up: ticks is not polled, at 0, 1 event behind; 1 of 4"),
    (None, "ticks 1", "-"),
    (None, "publish 1, close, ticks 1", "-"),
    // All are as far behind as the first, and wait for it.
    (
        Some((4, "first second third")),
        "publish 4, first 2, second 2, third 2",
        "held up: first is not polled, at 2, 2 events behind; 2 of 4",
    ),
    (
        Some((4, "first second third")),
        "publish 4, first 4, second 4, third 1, publish 1, first 1, second 1",
        "full: third is not polled, at 1, 4 events behind; 4 of 4",
    ),
    // A stage that has left holds up no other one.
    (
        Some((4, "first second third")),
        "publish 2, second leaves",
        "held up: first is not polled, at 0, 2 events behind; 2 of 4",
    ),
    (None, "first 2", "held up: third is not polled, at 0, 2 events behind; 2 of 4"),
    (None, "third leaves", "-"),
    // The furthest behind is named, and the others are counted.
    (
        Some((8, "left+right last")),
        "publish 3, left 2, right 1",
        "held up: last is not polled, at 0, 3 events behind, and 2 more; 3 of 8",
    ),
    (
        None,
        "last 1, last leaves",
        "held up: right is not polled, at 1, 2 events behind, and 1 more; 2 of 8",
    ),
    (
        Some((4, "journal! reply")),
        "publish 4, journal 4, journal acked 1, reply 1",
        "held up: journal is not acknowledged, at 1, 3 events behind; 3 of 4",
    ),
    (None, "journal acked 4", "held up: reply is not polled, at 1, 3 events behind; 3 of 4"),
    (None, "reply 3", "-"),
    (None, "publish 1, journal 1, journal leaves, reply 1", "-"),
];

fn the_stage_that_could_go_on_is_named<K: Kind>() {
    let mut rig = Rig::<K>::row(1, "none");
    for (ring, script, verdict) in ROWS {
        if let Some((capacity, shape)) = ring {
            rig = Rig::row(capacity, shape);
        }
        assert_eq!(rig.does(script).said(), verdict, "after {script}");
    }
}

fn a_verdict_has_the_figures_of_its_text<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "journal!+ticks");
    rig.does("publish 3, journal 2, ticks 1, journal acked 1, ticks leaves, publish 3");
    let stall = after(verdict(&rig.monitor).unwrap(), Duration::from_millis(2_199));
    assert_eq!(stall.culprit, Part::Acknowledgement { stage: "journal".to_owned() });
    assert_eq!((stall.ring.as_str(), stall.state), ("orders", RingState::Open));
    assert_eq!((stall.stage_state, stall.others), (None, 1));
    assert_eq!((stall.sequence, stall.lag, stall.waiting_producers), (1, 5, 0));
    assert_eq!((stall.capacity, stall.free_slots), (8, 3));
    let text = "ring \"orders\" is held up: stage \"journal\" is not acknowledged, \
        at sequence 1 for at least 2.1 s, 5 events behind, and 1 more; 5 of 8 slots are held";
    assert_eq!(stall.to_string(), text);
    rig.does("journal acked 2");
    let stall = verdict(&rig.monitor).unwrap();
    assert_eq!(stall.culprit, Part::Stage { name: "journal".to_owned() });
    assert_eq!(stall.stage_state, Some(StageState::NotAsked));
}

// ---- stages that run ----

/// A ring of four slots with the stages "journal", which takes an event at a time, and "behind".
fn journal<K: Kind>(handler: crate::rig::Calls) -> Rig<K> {
    let journal = Stage::new("journal").max_batch(1).timeout_after(MOMENT);
    let ring = orders::<K>(4).stage(journal).read_handler(handler);
    Rig::of(ring.stage("behind").read_handler(nothing()))
}

fn a_stage_is_named_in_whichever_call_of_its_handler_it_is<K: Kind>() {
    for (script, call, then, verdict) in [
        ("", Call::Start, "publish 4", "full: at 0, 4 events behind; 4"),
        ("publish 4", Call::Event(1), "", "held up: at 1, 3 events behind; 3"),
        ("publish 4", Call::Released(1), "", "held up: at 1, 3 events behind; 3"),
        ("", Call::Timeout, "publish 1", "held up: at 0, 1 event behind; 1"),
        ("publish 1, close", Call::Shutdown, "", "closed: at 1, 0 events behind; 0"),
    ] {
        let (turnstile, handler) = blocks_in(call);
        let mut rig = journal::<K>(handler);
        rig.does(script);
        let running = rig.start();
        turnstile.wait_for(0);
        rig.does(then);
        until(&rig.monitor, |seen| {
            let behind = stage(seen, "behind");
            let is_done = call != Call::Shutdown || behind.state == StageState::Drained;
            behind.available == 0 && is_done
        });
        let seen = rig.monitor.snapshot();
        assert_eq!(stage(&seen, "journal").state, StageState::InHandler, "{call:?}");
        let verdict = verdict.replacen("at", "journal is in its handler, at", 1);
        assert_eq!(rig.said(), verdict + " of 4", "{call:?}");
        // Its next progress ends the stall.
        if let Call::Event(_) = call {
            turnstile.let_go();
            until(&rig.monitor, |seen| stage(seen, "behind").sequence == 4);
            assert_eq!(rig.said(), "-");
        }
        drop(turnstile);
        running.shutdown().unwrap();
        assert_eq!(rig.said(), "-");
    }
}

fn a_halted_ring_is_stalled_by_a_handler_that_does_not_return<K: Kind>() {
    let (turnstile, handler) = gated();
    let mut rig = journal::<K>(handler);
    rig.does("publish 2");
    let running = rig.start();
    turnstile.wait_for(0);
    running.halt();
    until_state(&rig.monitor, "behind", StageState::Halted);
    assert_eq!(rig.said(), "halted: journal is in its handler, at 0, 2 events behind; 2 of 4");
    drop(turnstile);
    assert!(running.join().is_err());
    assert_eq!(rig.said(), "-");
}

fn a_producer_that_waits_on_a_full_ring_is_not_the_culprit<K: Kind>() {
    let (turnstile, handler) = gated();
    let ring = orders::<K>(4).stage("decode").read_handler(nothing());
    let mut rig = Rig::<K>::of(ring.stage("journal").read_handler(handler));
    rig.does("publish 4");
    let running = rig.start();
    turnstile.wait_for(0);
    let Rig { producer, monitor, .. } = &mut rig;
    thread::scope(|scope| {
        let waiter = scope.spawn(|| producer.publish(|_| {}));
        until(monitor, |seen| seen.waiting_producers == 1 && seen.stages[0].lag == 0);
        assert_eq!(
            said(monitor),
            "full: journal is in its handler, at 0, 4 events behind; 4 of 4, 1 producer waits"
        );
        drop(turnstile);
        waiter.join().unwrap().unwrap();
    });
    running.shutdown().unwrap();
    assert_eq!(rig.seen()[0], "closed, 4 free, 5 published, 5 claimed");
}

fn a_poller_that_keeps_its_batch_is_named<K: Kind>() {
    let mut rig = Rig::<K>::row(4, "ticks");
    rig.does("publish 1");
    let mut ticks = rig.take_poller("ticks");
    let _batch = ticks.poll().unwrap();
    assert_eq!(rig.said(), "held up: ticks holds a batch, at 0, 1 event behind; 1 of 4");
}

fn a_stage_that_was_not_started_is_named<K: Kind>() {
    let mut rig = journal::<K>(nothing());
    assert_eq!(rig.said(), "-", "no stage has events");
    rig.does("publish 4");
    assert_eq!(rig.said(), "full: journal has not started, at 0, 4 events behind; 4 of 4");
    rig.start().shutdown().unwrap();
    assert_eq!(rig.said(), "-");
}

/// Waits for a message in place of an event.
#[derive(Clone)]
struct Deaf(Arc<Mutex<mpsc::Receiver<()>>>);

impl WaitStrategy for Deaf {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        let _ = self.0.lock().unwrap().recv();
        Step::Yield
    }
}

fn a_strategy_that_never_wakes_is_named<K: Kind>() {
    let (go, gate) = mpsc::channel();
    let deaf = Stage::new("deaf").wait_strategy(Deaf(Arc::new(Mutex::new(gate))));
    let mut rig = Rig::<K>::of(orders::<K>(4).stage(deaf).read_handler(nothing()));
    let running = rig.start();
    until_state(&rig.monitor, "deaf", StageState::Waiting);
    rig.does("publish 1");
    assert_eq!(
        rig.said(),
        "held up: deaf waits, though it could go on, at 0, 1 event behind; 1 of 4"
    );
    drop(go);
    running.shutdown().unwrap();
}

/// The others on its thread are a stage that has had its turn, or workers that have had none.
fn the_stage_that_occupies_a_shared_thread_is_named<K: Kind>() {
    for beside_workers in [false, true] {
        let (turnstile, handler) = gated();
        let on_thread = |name| Stage::new(name).on_thread("both").max_batch(1);
        let mut rig = Rig::<K>::of(orders::<K>(8).parallel(|parallel| {
            if beside_workers {
                let parallel = parallel.stage(on_thread("stuck")).read_handler(handler);
                parallel.stage(on_thread("work")).workers(2).read_handlers(|_| nothing())
            } else {
                let parallel = parallel.stage(on_thread("had a turn")).read_handler(nothing());
                parallel.stage(on_thread("stuck")).read_handler(handler)
            }
        }));
        rig.does("publish 3");
        let running = rig.start();
        turnstile.wait_for(0);
        assert!(rig.monitor.snapshot().stages.iter().all(|stage| stage.available > 0));
        assert_eq!(rig.said(), "held up: stuck is in its handler, at 0, 3 events behind; 3 of 8");
        drop(turnstile);
        running.shutdown().unwrap();
    }
}

fn a_stage_that_pauses_before_it_tries_again_is_named<K: Kind>() {
    let mut rig = journal::<K>(events(|_| Action::Retry(HOUR)));
    rig.does("publish 1");
    let running = rig.start();
    until_state(&rig.monitor, "journal", StageState::Pausing);
    assert_eq!(
        rig.said(),
        "held up: journal pauses before it tries again, at 0, 1 event behind; 1 of 4"
    );
    running.halt();
    assert!(running.join().is_err());
}

// ---- rings that are not stalled, and durations ----

fn a_ring_that_runs_is_not_stalled<K: Kind>() {
    let mut rig = journal::<K>(nothing());
    let running = rig.start();
    for _ in 0..repeats(10_000) {
        rig.does("publish 1");
        assert!(rig.monitor.stalled_for(HOUR).is_none());
        assert!(rig.monitor.idle_for(HOUR).is_none());
    }
    running.shutdown().unwrap();
}

fn an_idle_ring_is_idle_and_not_stalled<K: Kind>() {
    let mut rig = Rig::<K>::row(4, "first! second");
    for (script, idle_at) in [
        ("", Some(0)),
        ("publish 1", None),
        ("first 1", None),
        ("first acked 1", None),
        ("second 1", Some(1)),
        ("publish 1, first 1, second leaves", None),
        ("first acked 2", Some(2)),
        ("close", None),
    ] {
        let monitor = &rig.does(script).monitor;
        let _ = monitor.snapshot();
        assert!(monitor.idle_for(HOUR).is_none());
        let idle = monitor.idle_for(Duration::ZERO);
        assert_eq!(idle.as_ref().map(|idle| idle.sequence), idle_at, "after {script}");
        if let Some(idle) = idle {
            assert_eq!((&idle.culprit, idle.stage_state), (&Part::Producers, None));
            let text = after(idle, Duration::from_secs(3)).to_string();
            let expected = "ring \"orders\" is empty: waiting for a publication at sequence ";
            assert!(text.starts_with(expected) && text.ends_with(", for at least 3.0 s"), "{text}");
            assert_eq!(rig.said(), "-");
        }
    }
}

fn a_stall_is_as_long_as_the_snapshots_show<K: Kind>() {
    let mut rig = Rig::<K>::row(4, "ticks");
    let monitor = rig.does("publish 2").monitor.clone();
    assert!(monitor.stall().is_none(), "the first snapshot");
    assert!(monitor.clone().stall().is_some(), "a clone has the memory of its original");
    assert!(rig.producer.monitor().stall().is_none(), "another monitor has no snapshot yet");
    thread::sleep(MOMENT);
    let stall = monitor.stall().unwrap();
    assert!(stall.at_least >= MOMENT);
    assert!(monitor.stalled_for(MOMENT).unwrap().at_least >= stall.at_least);
    assert!(monitor.stalled_for(HOUR).is_none());
    // Any progress restarts the duration.
    rig.does("ticks 1");
    assert!(monitor.stall().is_none());
    assert_eq!(monitor.stall().unwrap().sequence, 1);
    // The state has its own duration.
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages[0].state_for >= snapshot.stages[0].stuck_for.unwrap());
}

// ---- claims ----

#[test]
fn a_claim_that_is_held_is_named() {
    let mut rig = Rig::<Many>::row(4, "ticks");
    let mut holder = rig.producer.clone();
    rig.does("publish 1");
    let claim = holder.claim().unwrap();
    // Every stage that waits for the claim is further behind than the claim.
    assert_eq!(
        rig.does("publish 1").said(),
        "held up: ticks is not polled, at 0, 1 event behind, and 1 more; 3 of 4"
    );
    let held = "1 is claimed and not published,; 2 of 4";
    assert_eq!(rig.does("ticks 1").said(), format!("held up: {held}"));
    assert!(rig.monitor.idle_for(Duration::ZERO).is_none());
    assert_eq!(rig.does("close").said(), format!("closed: {held}"));
    drop(claim);
    assert_eq!(rig.does("ticks 1").said(), "-");
}

#[test]
fn a_ring_full_of_claims_names_the_first() {
    watched(|| {
        let mut rig = journal::<Many>(nothing());
        let mut holder = rig.producer.clone();
        let running = rig.start();
        let claim = holder.claim_batch(4).unwrap();
        let Rig { producer, monitor, .. } = &mut rig;
        thread::scope(|scope| {
            let waiter = scope.spawn(|| producer.publish(|_| {}));
            until(monitor, |seen| seen.waiting_producers == 1);
            assert_eq!(
                said(monitor),
                "full: 0 is claimed and not published,; 4 of 4, 1 producer waits"
            );
            drop(claim);
            waiter.join().unwrap().unwrap();
        });
        running.shutdown().unwrap();
    });
}

/// There are fewer free slots than a producer waits for.
#[test]
fn a_ring_with_too_few_free_slots_is_too_full() {
    watched(|| {
        let mut rig = Rig::<One>::row(4, "ticks");
        rig.does("publish 1");
        let mut ticks = rig.take_poller("ticks");
        let Rig { producer, monitor, .. } = &mut rig;
        thread::scope(|scope| {
            let waiter = scope.spawn(|| producer.publish_batch(4, |_| {}).map(drop));
            until(monitor, |seen| seen.waiting_producers == 1);
            assert_eq!(
                said(monitor),
                "too full: ticks is not polled, at 0, 1 event behind; 1 of 4, 1 producer waits"
            );
            crate::rig::finish(&mut ticks, 1);
            waiter.join().unwrap().unwrap();
        });
    });
}
