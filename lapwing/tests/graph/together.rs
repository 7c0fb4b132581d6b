//! How stages that share a thread wait and end, with those of one ring or of several. Not here: the
//! order of their events (`turns`), and which thread it is (`placement`).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, Turnstile, quiet_panics, repeats, wait_until,
};
use crate::shapes::{nothing, ring, threads};
use crate::start;
use lapwing::consumer::{Consumer, Failure, Outcome, Retries, StageReport};
use lapwing::error::PublishError;
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, Sleeping, Step, WaitStrategy, Waiting, Yielding,
};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    thread_of_several_stages_wakes_with_every_strategy,
    timeouts_come_to_each_stage_of_a_thread,
    a_stage_that_publishes_to_its_own_full_ring_gets_an_error,
    stages_that_end_on_a_shared_thread_end_or_leave_the_others,
    policies_are_those_of_each_stage,
    a_stage_that_is_stopped_leaves_its_thread_to_the_others,
    a_shutdown_that_times_out_names_the_stage_and_the_next_one_reports_all,
    a_halt_ends_every_stage_of_a_thread,
    stages_of_several_rings_run_together,
    a_thread_of_two_rings_wakes_for_each,
    one_thread_of_no_stage_ends_at_once,
}

// ---- waits ----

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
            .read(nothing)
            .stage("between")
            .read(nothing)
            .stage("b")
            .on_thread("both")
            .read(move |_, sequence, _| {
                done.send(sequence).unwrap();
            }),
    );
    for sequence in 0..repeats(1000) {
        producer.publish(|_| {}).unwrap();
        assert_eq!(is_done.recv_timeout(PATIENCE), Ok(sequence));
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
        heard.insert(alarms.recv_timeout(PATIENCE).unwrap());
    }
    running.shutdown().unwrap();
}

fn a_stage_that_publishes_to_its_own_full_ring_gets_an_error<K: Kind>() {
    let (give, gift) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let mut own = None;
    let (mut producer, consumers) = ring::<K>(threads(1), "a")
        .stage("echo")
        .read(move |_, _, _| {
            let producer: &mut ProducerOf<u64, K> = own.get_or_insert_with(|| gift.recv().unwrap());
            let refused = (0..9).find_map(|_| producer.publish(|_| {}).err());
            tell.send(refused).unwrap();
            Action::Halt
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    give.send(producer).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE), Ok(Some(PublishError::WouldDeadlock)));
    assert!(running.join().is_err());
}

// ---- ends ----

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
/// which halts the stages before and after it.
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
        (|ring, stage| ring.wait_strategy(PanicsWaiting).stage(stage).read(nothing), true, None),
    ];
    quiet_panics();
    for (add, panics, at) in rows {
        let stage = |name| Stage::new(name).on_thread("all");
        let ring = K::ring(4, || 0_u64).stage(stage("before")).read(nothing);
        let ring = add(ring, stage("ends")).stage(stage("after")).read(nothing);
        let (mut producer, running) = start(ring);
        if !panics {
            (0..100).for_each(|_| _ = producer.publish(|_| {}).unwrap());
            let report = running.shutdown().unwrap();
            let ends: Vec<_> =
                report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect();
            let drained = || (Outcome::Drained, 100);
            assert_eq!(ends, [drained(), (Outcome::Stopped, 3), drained()]);
            continue;
        }
        while producer.publish(|_| {}).is_ok() {}
        let failed = running.join().unwrap_err();
        assert!(failed.to_string().contains(ON_PURPOSE), "{failed}");
        assert_eq!(failed.report().stages().count(), 3);
        if let Some(sequence) = at {
            let ends: Vec<_> =
                failed.report().stages().map(StageReport::outcome).cloned().collect();
            let panicked = Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence };
            assert_eq!(ends, [Outcome::Halted, panicked, Outcome::Halted]);
            let after = failed.report().stages().last().unwrap();
            assert!(after.processed() <= sequence, "what came before the panic");
        }
    }
}

/// Records which events came as failed.
#[derive(Default)]
struct Failures(Vec<Sequence>);

impl EventHandler<u64> for Failures {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &u64, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.0.push(sequence);
    }
}

fn policies_are_those_of_each_stage<K: Kind>() {
    quiet_panics();
    let mut tries = 0;
    let mut rewound = false;
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .placement(threads(1))
        .stage("skips")
        .on_error(Action::Skip)
        .read(|_, sequence, _| if sequence % 7 == 3 { Err("no") } else { Ok(()) })
        .stage("retries")
        .on_panic(Retries::with_restart().attempts(3))
        .read(|_, sequence, _| {
            tries += u64::from(sequence == 9);
            assert!(sequence != 9 || tries == 3, "{ON_PURPOSE}");
        })
        .stage("rewinds")
        .read(|_, sequence, _| {
            if sequence == 11 && !rewound {
                rewound = true;
                return Action::Rewind(Duration::from_micros(10));
            }
            Action::Continue
        })
        .stage("hears")
        .read_handler(Failures::default())
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..20 {
            producer.publish(|_| {}).unwrap();
        }
        let mut report = running.shutdown().unwrap();
        let skipped: Vec<_> = report.stages().map(|stage| stage.skipped()).collect();
        assert_eq!(skipped, [3, 0, 0, 0]);
        assert_eq!(report.take::<Failures>("hears").unwrap().0, [3, 10, 17]);
    });
    assert!(tries == 3 && rewound);
}

fn a_stage_that_is_stopped_leaves_its_thread_to_the_others<K: Kind>() {
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    let (mut producer, consumers) = ring::<K>(threads(1), "first leaves")
        .stage("last")
        .read(move |_, sequence, _| count.store(sequence + 1, SeqCst))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let stop = running.stop_handle("leaves").unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    wait_until(|| handled.load(SeqCst) == 4);
    stop.stop();
    for _ in 0..100 {
        producer.publish(|_| {}).unwrap();
    }
    let report = running.shutdown().unwrap();
    let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
    assert_eq!(outcomes, [Outcome::Drained, Outcome::Stopped, Outcome::Drained]);
    assert_eq!(handled.load(SeqCst), 104);
}

fn a_shutdown_that_times_out_names_the_stage_and_the_next_one_reports_all<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = ring::<K>(threads(1), "a")
        .stage("stuck")
        .read(move |_, sequence, _| pass(sequence))
        .build()
        .unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    turnstile.wait_for(0);
    let error = running.shutdown_timeout(MOMENT).unwrap_err();
    assert!(error.to_string().contains("stuck"), "{error}");
    assert!(!running.is_finished());
    drop(turnstile);
    let report = running.shutdown_timeout(PATIENCE).unwrap();
    let ends: Vec<_> = report.stages().map(|stage| (stage.name(), stage.processed())).collect();
    assert_eq!(ends, [("a", 1), ("stuck", 1)]);
}

fn a_halt_ends_every_stage_of_a_thread<K: Kind>() {
    let (_producer, consumers) = ring::<K>(threads(1), "a b c").build().unwrap();
    let running = consumers.start().unwrap();
    running.halt();
    let failed = running.join().unwrap_err();
    assert!(failed.report().stages().all(|stage| *stage.outcome() == Outcome::Halted));
}

// ---- several rings ----

fn stages_of_several_rings_run_together<K: Kind>() {
    let events = repeats(10_000);
    let ring = || K::ring(8, || 0_u64).stage("count").read(nothing).build().unwrap();
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
            .read(nothing)
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
            assert_eq!(is_done.recv_timeout(PATIENCE), Ok((number, sequence)));
        }
    }
    drop(producers);
    assert_eq!(both.join().unwrap().len(), 4);
}

fn one_thread_of_no_stage_ends_at_once<K: Kind>() {
    assert!(Consumer::run_together([]).is_empty());
}
