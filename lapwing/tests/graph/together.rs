//! Tests stages that share a thread: turns, waits, timeouts, ends. Also tests when a ring clears
//! events after its last stage.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{
    Kind, Ledger, MOMENT, ON_PURPOSE, quiet_panics, repeats, unique_prefix,
    wait_until_no_thread_named, watched,
};
use crate::{assert_pipeline_keeps_its_order, start};
use lapwing::consumer::{Consumer, Outcome, Shared, StageReport};
use lapwing::error::{BuildError, HaltCause, RingError, StartError};
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, Sleeping, Step, WaitStrategy, Waiting, Yielding,
};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    miri_stages_of_one_thread_run_on_one_thread,
    pipeline_on_one_thread_keeps_its_order,
    stages_around_one_on_another_thread_share_their_state,
    thread_of_several_stages_wakes_with_every_strategy,
    timeouts_come_to_each_stage_of_a_thread,
    stages_that_end_on_a_shared_thread_end_or_leave_the_others,
    stages_of_several_rings_run_together,
    a_thread_of_two_rings_wakes_for_each,
    one_thread_of_no_stage_ends_at_once,
    threads_that_cannot_be_are_errors,
    failing_to_pin_a_shared_thread_is_an_error_that_leaves_no_thread,
    shutdown_reports_every_stage_of_a_thread,
    events_are_cleared_after_the_last_stage,
    events_are_cleared_after_a_poller,
}

/// The thread on which each stage ran.
type Places = Arc<Mutex<HashSet<ThreadId>>>;

fn note(places: &Places) -> impl FnMut(&u64, Sequence, bool) + use<> {
    let places = Arc::clone(places);
    move |_, _, _| {
        places.lock().unwrap().insert(thread::current().id());
    }
}

/// The thread has a name of its own, or that of one of the stages.
fn miri_stages_of_one_thread_run_on_one_thread<K: Kind>() {
    for thread in ["shared", "a"] {
        let (shared, alone) = (Places::default(), Places::default());
        let first = Stage::new("a");
        let ring = K::ring(4, || 0_u64)
            .stage(if thread == "a" { first } else { first.on_thread(thread) })
            .read(note(&shared))
            .stage("alone")
            .read(note(&alone))
            .stage(Stage::new("b").on_thread(thread))
            .read(note(&shared));
        let (mut producer, running) = start(ring);
        for _ in 0..repeats(1000) {
            producer.publish(|_| {}).unwrap();
        }
        running.shutdown().unwrap();
        assert_eq!((shared.lock().unwrap().len(), alone.lock().unwrap().len()), (1, 1));
        assert!(shared.lock().unwrap().is_disjoint(&alone.lock().unwrap()));
    }
}

fn pipeline_on_one_thread_keeps_its_order<K: Kind>() {
    let stage = |name: &str| Stage::new(name).on_thread("all");
    assert_pipeline_keeps_its_order(K::ring(8, || 0_u64), stage, repeats(50_000));
}

/// Like the risk engine of an exchange: it holds money before the match and frees it afterwards.
fn stages_around_one_on_another_thread_share_their_state<K: Kind>() {
    let events = repeats(50_000);
    let risk = Arc::new(Mutex::new((0_u64, 0_u64)));
    let (before, after) = (Arc::clone(&risk), Arc::clone(&risk));
    let (mut producer, running) = start(
        K::ring(64, || 0_u64)
            .stage("hold")
            .on_thread("risk")
            .read_batch(move |orders, _| {
                before.lock().unwrap().0 += orders.len() as u64;
            })
            .stage("match")
            .write(|order, _, _| *order += 1)
            .stage("free")
            .on_thread("risk")
            .read_batch(move |orders, first| {
                let mut risk = after.lock().unwrap();
                risk.1 += orders.len() as u64;
                assert!(risk.0 >= first + orders.len() as u64, "held before it is freed");
            }),
    );
    for _ in 0..events {
        producer.publish(|order| *order = 1).unwrap();
    }
    running.shutdown().unwrap();
    assert_eq!(*risk.lock().unwrap(), (events, events));
}

fn thread_of_several_stages_wakes_with_every_strategy<K: Kind>() {
    one_by_one::<K>(&BusySpin);
    one_by_one::<K>(&Yielding::default());
    one_by_one::<K>(&Sleeping::default());
    one_by_one::<K>(&Blocking { yields: 0 });
    one_by_one::<K>(&Adaptive::default());
}

/// Publishes a single event and waits until the last stage has it.
fn one_by_one<K: Kind>(strategy: &impl WaitStrategy) {
    let (done, is_done) = mpsc::channel();
    let (mut producer, running) = start(
        K::ring(2, || 0_u64)
            .wait_strategy(strategy.clone())
            .stage("a")
            .on_thread("both")
            .read(|_, _, _| {})
            .stage("between")
            .read(|_, _, _| {})
            .stage("b")
            .on_thread("both")
            .read(move |_, sequence, _| {
                done.send(sequence).unwrap();
            }),
    );
    for sequence in 0..repeats(1000) {
        producer.publish(|_| {}).unwrap();
        assert_eq!(is_done.recv_timeout(crate::common::PATIENCE), Ok(sequence));
    }
    running.shutdown().unwrap();
}

struct Watchdog(mpsc::Sender<&'static str>, &'static str);

impl EventHandler<u64> for Watchdog {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, _: Sequence) {
        let _ = self.0.send(self.1);
    }
}

fn timeouts_come_to_each_stage_of_a_thread<K: Kind>() {
    let (alarm, alarms) = mpsc::channel();
    let stage =
        |name: &str| Stage::new(name).on_thread("both").timeout_after(Duration::from_millis(1));
    let (_producer, running) = start(
        K::ring(4, || 0_u64)
            .stage(stage("a"))
            .read_handler(Watchdog(alarm.clone(), "a"))
            .stage(stage("b"))
            .read_handler(Watchdog(alarm, "b")),
    );
    let mut heard = HashSet::new();
    while heard.len() < 2 {
        heard.insert(alarms.recv_timeout(crate::common::PATIENCE).unwrap());
    }
    running.shutdown().unwrap();
}

/// Adds a stage that ends.
type Add<K> = fn(Ring<K>, Stage) -> Ring<K>;

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;

#[derive(Clone)]
struct PanicsWaiting;

impl WaitStrategy for PanicsWaiting {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        panic!("{ON_PURPOSE}");
    }
}

fn stops_at_three(_: &u64, sequence: Sequence, _: bool) -> Action {
    if sequence == 3 { Action::Stop } else { Action::Continue }
}

/// Each row has a stage that ends at event 3, at its start or in a wait, and whether that is a panic,
/// which halts the other stage.
fn stages_that_end_on_a_shared_thread_end_or_leave_the_others<K: Kind>() {
    let rows: [(Add<K>, bool, Option<Sequence>); 4] = [
        (
            |ring, stage| ring.stage(stage).read(|_, at, _| assert!(at != 3, "{ON_PURPOSE}")),
            true,
            Some(3),
        ),
        (|ring, stage| ring.stage(stage).read(stops_at_three), false, None),
        (
            |ring, stage| ring.stage(stage).read_local::<Watchdog, ()>(|| panic!("{ON_PURPOSE}")),
            true,
            Some(0),
        ),
        (
            |ring, stage| ring.wait_strategy(PanicsWaiting).stage(stage).read(|_, _, _| {}),
            true,
            None,
        ),
    ];
    quiet_panics();
    for (add, panics, at) in rows {
        let ring = K::ring(4, || 0_u64).stage("other").on_thread("both").read(|_, _, _| {});
        let ring = add(ring, Stage::new("ends").on_thread("both"));
        let (mut producer, running) = start(ring);
        if !panics {
            (0..100).for_each(|_| _ = producer.publish(|_| {}).unwrap());
            let report = running.shutdown().unwrap();
            let ends: Vec<_> =
                report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect();
            assert_eq!(ends, [(Outcome::Drained, 100), (Outcome::Stopped, 3)]);
            continue;
        }
        while producer.publish(|_| {}).is_ok() {}
        let failed = running.join().unwrap_err();
        assert!(failed.to_string().contains(ON_PURPOSE), "{failed}");
        assert_eq!(failed.report().stages().count(), 2);
        if let Some(sequence) = at {
            let ends: Vec<_> =
                failed.report().stages().map(StageReport::outcome).cloned().collect();
            let message = ON_PURPOSE.to_owned();
            assert_eq!(ends, [Outcome::Halted, Outcome::Panicked { message, sequence }]);
        }
    }
}

fn stages_of_several_rings_run_together<K: Kind>() {
    let events = repeats(10_000);
    let ring = || K::ring(8, || 0_u64).stage("count").read(|_, _, _| {}).build().unwrap();
    let rings: Vec<_> = (0..3).map(|_| ring()).collect();
    let (mut producers, consumers): (Vec<_>, Vec<_>) = rings.into_iter().unzip();
    let all = thread::spawn(move || Consumer::run_together(consumers.into_iter().flatten()));
    for _ in 0..events {
        for producer in &mut producers {
            producer.publish(|_| {}).unwrap();
        }
    }
    drop(producers);
    assert!(all.join().unwrap().iter().all(|stage| stage.processed() == events));
}

/// Both rings know that their stages share a thread.
fn a_thread_of_two_rings_wakes_for_each<K: Kind>() {
    let (done, is_done) = mpsc::channel();
    let ring = |number| {
        let done = done.clone();
        K::ring(8, || 0_u64)
            .wait_strategy(Blocking { yields: 0 })
            .stage("first")
            .on_thread("both")
            .read(|_, _, _| {})
            .stage("second")
            .on_thread("both")
            .read(move |_, sequence, _| done.send((number, sequence)).unwrap())
            .build()
            .unwrap()
    };
    let (mut producers, consumers): (Vec<_>, Vec<_>) = [ring(0), ring(1)].into_iter().unzip();
    let both = thread::spawn(move || Consumer::run_together(consumers.into_iter().flatten()));
    for sequence in 0..repeats(10) {
        for (number, producer) in producers.iter_mut().enumerate() {
            thread::sleep(MOMENT); // the thread parks
            producer.publish(|_| {}).unwrap();
            assert_eq!(is_done.recv_timeout(crate::common::PATIENCE), Ok((number, sequence)));
        }
    }
    drop(producers);
    assert_eq!(both.join().unwrap().len(), 4);
}

fn one_thread_of_no_stage_ends_at_once<K: Kind>() {
    assert!(Consumer::run_together([]).is_empty());
}

fn threads_that_cannot_be_are_errors<K: Kind>() {
    let stage = |name: &str, cpu| Stage::new(name).on_thread("both").pin(cpu);
    let ring = K::ring(4, || 0_u64).stage(stage("a", 0)).read(|_, _, _| {});
    let result = ring.stage(stage("b", 1)).read(|_, _, _| {}).build();
    let error = BuildError::TwoPins { thread: "both".to_owned(), cpus: (0, 1) };
    assert_eq!(result.err(), Some(error));
    for name in ["", "with\0nul"] {
        let stage = Stage::new("a").on_thread(name);
        let result = K::ring(4, || 0_u64).stage(stage).read(|_, _, _| {}).build();
        assert_eq!(result.err(), Some(BuildError::InvalidName { stage: name.to_owned() }));
    }
}

fn failing_to_pin_a_shared_thread_is_an_error_that_leaves_no_thread<K: Kind>() {
    let prefix = unique_prefix();
    let thread = format!("{prefix}both");
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("a")
        .on_thread(&thread)
        .read(|_, _, _| {})
        .stage("b")
        .on_thread(&thread)
        .pin(usize::MAX)
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let error = consumers.start().unwrap_err();
    assert!(matches!(error, StartError::Pin { cpu: usize::MAX, .. }), "{error}");
    wait_until_no_thread_named(&prefix);
    assert_eq!(
        producer.publish(|_| {}).unwrap_err().to_string(),
        RingError::Halted(HaltCause::StageDropped).to_string()
    );
}

fn shutdown_reports_every_stage_of_a_thread<K: Kind>() {
    watched(|| {
        let (go_on, gate) = mpsc::channel::<()>();
        let (mut producer, mut running) = start(
            K::ring(4, || 0_u64)
                .stage("a")
                .on_thread("both")
                .read(|_, _, _| {})
                .stage("b")
                .on_thread("both")
                .read(move |_, _, _| _ = gate.recv()),
        );
        producer.publish(|_| {}).unwrap();
        assert!(running.shutdown_timeout(MOMENT).is_err());
        assert!(!running.is_finished());
        drop(go_on);
        let report = running.shutdown_timeout(crate::common::PATIENCE).unwrap();
        assert_eq!(report.stages().map(|stage| stage.name()).collect::<Vec<_>>(), ["a", "b"]);
    });
}

fn events_are_cleared_after_the_last_stage<K: Kind>() {
    let ledger = Ledger::default();
    let events = repeats(1000);
    let mut seen = 0;
    let (mut producer, consumers) = K::ring(16, || None)
        .parallel(|parallel| {
            parallel.stage("left").read(|_, _, _| {}).stage("right").read(
                |event: &Option<_>, _, _| {
                    seen += u64::from(event.is_some());
                },
            )
        })
        .clear(|event| *event = None)
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..events {
            producer.publish(|event| *event = Some(Mutex::new(ledger.token()))).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!((seen, ledger.made(), ledger.dropped()), (events, events, events));
}

fn events_are_cleared_after_a_poller<K: Kind>() {
    let ledger = Ledger::default();
    let (mut producer, mut consumers) = K::ring(16, || None)
        .stage("poller")
        .poller_mut()
        .clear(|event| *event = None)
        .build()
        .unwrap();
    let mut poller = consumers.take_poller_mut("poller").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|event| *event = Some(ledger.token())).unwrap();
    poller.poll().unwrap().consume_all();
    running.shutdown().unwrap();
    assert_eq!((ledger.made(), ledger.dropped()), (1, 1));
}

/// Handlers with an explicit return type still work if their type has to be inferred.
#[allow(dead_code)]
fn handlers_need_no_annotation<H: EventHandler<u64, Shared> + Send + 'static>(handler: H) {
    let _ = lapwing::Disruptor::single_producer(8, || 0).stage("h").read_handler(handler);
}
