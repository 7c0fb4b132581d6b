//! C30 to C34: what ends a wait. `wake_ups.rs` and `ends_of_waits.rs` of this folder cover every
//! phase of every strategy.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PollError, PublishError, RingError};
use lapwing::graph::Graph;
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{MOMENT, PATIENCE, wait_until};
use crate::pause::PAUSES;
use crate::setup::{Kind, Setup};
use crate::spy::{Call, Spy, publish, values};

for_each_setup! {
    c30_single_event_wakes_each_depth,
    c31_timeout_is_never_early,
    c31_timeout_does_not_come_while_there_are_events,
    c32_timeout_comes_while_an_upstream_stage_is_slow,
    c33_halt_ends_the_waits_on_an_empty_ring,
    c33_halt_ends_the_waits_on_a_full_ring,
    c34_stage_that_stops_leaves_its_siblings_running,
    c34_stage_that_is_stopped_leaves_its_siblings_running,
}

fn c30_single_event_wakes_each_depth<K: Kind>(setup: Setup<K>) {
    for depth in 0..3 {
        let handled = AtomicU64::new(0);
        let mut graph = Graph::new();
        let mut last = None;
        for number in 0..depth {
            let stage = graph.stage(format!("stage {number}"));
            last = Some(last.into_iter().fold(stage, Stage::after).read(|_: &u64, _, _| {}));
        }
        let observer = last.into_iter().fold(graph.stage("observer"), Stage::after);
        observer.read(|_, sequence, _| handled.store(sequence + 1, SeqCst));
        let (mut producer, consumers) = setup.ring(4, || 0).graph(graph).build().unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for (sequence, pause) in (0..setup.events(40)).zip(PAUSES.into_iter().cycle()) {
                pause.pass();
                publish(&mut producer, sequence..sequence + 1);
                wait_until(|| handled.load(SeqCst) == sequence + 1);
            }
            running.shutdown().unwrap();
        });
    }
}

/// Checks that each timeout comes late enough after the previous call.
struct Clock {
    timeout: Duration,
    since: Instant,
    timeouts: Sender<Sequence>,
}

impl EventHandler<u64> for Clock {
    fn on_start(&mut self) {
        self.since = Instant::now();
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        self.since = Instant::now();
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        assert!(self.since.elapsed() >= self.timeout, "too early");
        let _ = self.timeouts.send(next_sequence);
        self.since = Instant::now();
    }
}

fn c31_timeout_is_never_early<K: Kind>(setup: Setup<K>) {
    let (send, timeouts) = mpsc::channel();
    let clock = Clock { timeout: MOMENT, since: Instant::now(), timeouts: send };
    let stage = Stage::new("clock").timeout_after(MOMENT);
    let (mut producer, consumers) =
        setup.ring(4, || 0).stage(stage).read_handler(clock).build().unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(timeouts.recv(), Ok(0));
    publish(&mut producer, 0..2);
    assert!(timeouts.iter().any(|sequence| sequence == 2));
    assert_eq!(timeouts.recv(), Ok(2), "once more after each further timeout");
    running.shutdown().unwrap();

    let (_producer, mut poller) = setup.ring_with_poller(4);
    let start = Instant::now();
    assert_eq!(poller.wait_timeout(MOMENT).err(), Some(PollError::Empty));
    assert!(start.elapsed() >= MOMENT);
}

/// With a timeout of zero, every wait has expired before it begins.
fn c31_timeout_does_not_come_while_there_are_events<K: Kind>(setup: Setup<K>) {
    let stage = Stage::new("spy").timeout_after(Duration::ZERO);
    let (mut producer, consumers) =
        setup.ring(8, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
    publish(&mut producer, 0..8);
    let mut running = consumers.start().unwrap();
    wait_until(|| running.backlog()[0].events == 0);
    let spy: Spy = running.shutdown_timeout(PATIENCE).unwrap().take("spy").unwrap();
    assert_eq!(spy.events(), values(0..8));
    let early = (0..8).map(|sequence| spy.count(Call::Timeout(sequence))).sum::<usize>();
    assert_eq!(early, 0, "{spy:?}");
    drop(producer);

    let (mut producer, mut poller) = setup.ring_with_poller(4);
    publish(&mut producer, 0..1);
    assert_eq!(poller.wait_timeout(Duration::ZERO).unwrap().len(), 1);
}

fn c32_timeout_comes_while_an_upstream_stage_is_slow<K: Kind>(setup: Setup<K>) {
    let (send, timeouts) = mpsc::channel();
    let clock = Clock { timeout: MOMENT, since: Instant::now(), timeouts: send };
    let (mut producer, mut consumers) = setup
        .ring(4, || 0)
        .stage("slow")
        .poller()
        .stage("clock")
        .timeout_after(MOMENT)
        .read_handler(clock)
        .build()
        .unwrap();
    let mut slow = consumers.take_poller("slow").unwrap();
    publish(&mut producer, 0..2);
    let running = consumers.start().unwrap();
    assert_eq!(timeouts.recv(), Ok(0));
    slow.poll().unwrap().consume(1);
    assert!(timeouts.iter().any(|sequence| sequence == 1));
    slow.poll().unwrap().consume(1);
    assert!(timeouts.iter().any(|sequence| sequence == 2));
    running.shutdown().unwrap();
}

fn c33_halt_ends_the_waits_on_an_empty_ring<K: Kind>(setup: Setup<K>) {
    for pause in PAUSES {
        let (producer, mut consumers) = setup
            .ring(4, || 0_u64)
            .parallel(|parallel| {
                parallel.stage("first").read(|_, _, _| {}).stage("poller").poller()
            })
            .stage("second")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("poller").unwrap();
        let running = consumers.start().unwrap();
        let asked = thread::spawn(move || poller.wait().err());
        pause.pass();
        running.halt();
        let failed = running.join().unwrap_err();
        assert!(failed.report().stages().all(|stage| *stage.outcome() == Outcome::Halted));
        assert_eq!(asked.join().unwrap(), Some(RingError::Halted(HaltCause::Requested)));
        drop(producer);
    }
}

fn c33_halt_ends_the_waits_on_a_full_ring<K: Kind>(setup: Setup<K>) {
    for pause in PAUSES {
        let (mut producer, mut consumers) = setup
            .ring(2, || 0_u64)
            .stage("holds")
            .poller()
            .stage("after")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let _holds = consumers.take_poller("holds").unwrap();
        let running = consumers.start().unwrap();
        publish(&mut producer, 0..2);
        let blocked = thread::spawn(move || producer.publish(|_| {}).unwrap_err());
        pause.pass();
        running.halt();
        assert_eq!(blocked.join().unwrap(), PublishError::Halted(HaltCause::Requested));
        let failed = running.join().unwrap_err();
        assert!(failed.report().stages().all(|stage| *stage.outcome() == Outcome::Halted));
    }
}

/// In LMAX the siblings share a barrier. An alert for one of them ends the waits of all.
fn c34_stage_that_stops_leaves_its_siblings_running<K: Kind>(setup: Setup<K>) {
    let events = setup.events(200);
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .parallel(|parallel| {
            parallel
                .stage("stops")
                .read(|_, sequence, _| match sequence {
                    3 => Action::Stop,
                    _ => Action::Continue,
                })
                .stage("sibling")
                .read_handler(Spy::default())
        })
        .stage("after both")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let mut report = running.shutdown().unwrap();
    for name in ["sibling", "after both"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..events), "{name}");
    }
    let stopped = report.stages().next().unwrap();
    assert_eq!((stopped.outcome(), stopped.processed()), (&Outcome::Stopped, 3));
}

fn c34_stage_that_is_stopped_leaves_its_siblings_running<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .parallel(|parallel| {
            parallel
                .stage("stopped")
                .read(|_, _, _| {})
                .stage("sibling")
                .read_handler(Spy::default())
        })
        .stage("after both")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..3);
    running.stop_handle("stopped").unwrap().stop();
    wait_until(|| running.backlog().iter().all(|left| left.stage != "stopped"));
    publish(&mut producer, 3..20);
    let mut report = running.shutdown().unwrap();
    for name in ["sibling", "after both"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..20), "{name}");
    }
    assert_eq!(*report.stages().next().unwrap().outcome(), Outcome::Stopped);
}
