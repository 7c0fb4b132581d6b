//! Tests which threads a close or a halt wakes, what a close has accepted, and which calls a
//! handler gets.

use std::cell::RefCell;
use std::hint;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{Kind, Lcg, ProducerOf, repeats, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::producer::Sequencer;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Disruptor, EventHandler, Producer, Running, Sequence, Stage};

crate::common::for_both_producers! {
    handler_has_one_start_and_one_shutdown_however_it_ends,
    timeout_of_a_first_stage_is_called_while_nothing_comes,
    timeout_of_a_later_stage_is_called_while_its_upstream_is_slow,
    miri_local_handler_lives_on_its_thread,
    miri_close_counts_what_it_accepted,
    close_counts_what_it_accepted_in_batches,
    miri_halt_wakes_every_waiter_that_parked,
    miri_close_wakes_every_waiter_that_parked,
    halt_stops_a_stage_before_it_has_drained,
    halt_ends_every_wait_whatever_the_strategy,
    close_ends_every_wait_whatever_the_strategy,
}

// ---- the calls that a handler gets ----

#[derive(Default)]
struct Calls {
    starts: u64,
    shutdowns: u64,
}

impl EventHandler<u64> for Calls {
    fn on_start(&mut self) {
        self.starts += 1;
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        assert_eq!((self.starts, self.shutdowns), (1, 0));
    }

    fn on_shutdown(&mut self) {
        self.shutdowns += 1;
    }
}

fn handler_has_one_start_and_one_shutdown_however_it_ends<K: Kind>() {
    let mut pause = Lcg(3);
    for round in 0..repeats(500) {
        let (mut producer, consumers) = K::ring(2, || 0_u64)
            .stage("first")
            .read_handler(Calls::default())
            .stage("second")
            .read_handler(Calls::default())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        (0..pause.below(repeats(3_000))).for_each(|_| hint::spin_loop());
        if round % 4 == 0 {
            producer.publish(|_| {}).unwrap();
        }
        if round % 2 == 0 {
            running.halt();
        }
        let report = running.shutdown();
        let mut report = report.unwrap_or_else(|failed| failed.into_report());
        for name in ["first", "second"] {
            let calls: Calls = report.take(name).unwrap();
            assert_eq!((calls.starts, calls.shutdowns), (1, 1));
        }
    }
}

/// Reports the calls of its timeouts.
struct Timeouts(Sender<Sequence>);

impl EventHandler<u64> for Timeouts {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, next_sequence: Sequence) {
        // There is no receiver at the end of the test.
        let _ = self.0.send(next_sequence);
    }
}

fn timeout_of_a_first_stage_is_called_while_nothing_comes<K: Kind>() {
    fn with<K: Kind>(strategy: impl WaitStrategy) {
        let (timeout, timeouts) = mpsc::channel();
        let stage = Stage::new("waits").timeout(Duration::from_millis(1)).wait(strategy);
        let (mut producer, consumers) =
            K::ring(2, || 0_u64).stage(stage).read_handler(Timeouts(timeout)).build().unwrap();
        let running = consumers.start().unwrap();
        assert_eq!((timeouts.recv(), timeouts.recv()), (Ok(0), Ok(0)));
        producer.publish(|_| {}).unwrap();
        assert_eq!(timeouts.iter().find(|next_sequence| *next_sequence != 0), Some(1));
        running.shutdown().unwrap();
    }
    with::<K>(Adaptive::default());
    with::<K>(Blocking::default());
    with::<K>(BusySpin);
    with::<K>(Sleeping::default());
    with::<K>(Yielding::default());
}

fn timeout_of_a_later_stage_is_called_while_its_upstream_is_slow<K: Kind>() {
    let (may_go_on, gate) = mpsc::channel::<()>();
    let (timeout, timeouts) = mpsc::channel();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("slow")
        .read(move |_, _, _| _ = gate.recv())
        .stage("waits")
        .timeout(Duration::from_millis(1))
        .read_handler(Timeouts(timeout))
        .build()
        .unwrap();
    producer.publish(|_| {}).unwrap();
    let running = consumers.start().unwrap();
    assert_eq!((timeouts.recv(), timeouts.recv()), (Ok(0), Ok(0)));
    drop(may_go_on);
    assert_eq!(timeouts.iter().find(|next_sequence| *next_sequence != 0), Some(1));
    running.shutdown().unwrap();
}

/// A handler that is not `Send`.
struct Local {
    seen: Rc<RefCell<Vec<u64>>>,
    made_on: ThreadId,
    result: Sender<Vec<u64>>,
}

impl EventHandler<u64> for Local {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.seen.borrow_mut().push(*event);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        assert_eq!(thread::current().id(), self.made_on);
        self.result.send(self.seen.take()).unwrap();
    }
}

fn miri_local_handler_lives_on_its_thread<K: Kind>() {
    let (result, results) = mpsc::channel();
    let make = || Local { seen: Rc::default(), made_on: thread::current().id(), result };
    let (mut producer, consumers) =
        K::ring(2, || 0_u64).stage("local").read_local(make).build().unwrap();
    let running = consumers.start().unwrap();
    (0..5).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    running.shutdown().unwrap();
    assert_eq!(results.recv(), Ok(vec![0, 1, 2, 3, 4]));
}

// ---- what a close accepts ----

/// Publishes with `publish`, which returns how many events it published, until it gets an error,
/// while another thread closes the ring. Returns what the stages handled.
fn close_while<K: Kind>(
    pause: u64,
    publish: impl Fn(&mut ProducerOf<u64, K>) -> Result<u64, PublishError> + Send,
) {
    let sum = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("first")
        .read(|_, _, _| {})
        .stage("second")
        .read(|event, _, _| _ = sum.fetch_add(*event, Ordering::Relaxed))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let thread = scope.spawn(move || {
            let mut accepted = 0;
            loop {
                match publish(&mut producer) {
                    Ok(count) => accepted += count,
                    Err(stopped) => {
                        assert_eq!(stopped, PublishError::Closed);
                        return accepted;
                    }
                }
            }
        });
        (0..pause).for_each(|_| hint::spin_loop());
        let report = running.shutdown().unwrap();
        let accepted = thread.join().unwrap();
        assert!(
            report.stages().all(|stage| stage.processed() == accepted),
            "accepted={accepted}, {report:?}"
        );
        assert_eq!(sum.load(Ordering::Relaxed), accepted);
    });
}

fn miri_close_counts_what_it_accepted<K: Kind>() {
    let mut pause = Lcg(4);
    for _ in 0..repeats(2_000) {
        close_while::<K>(pause.below(repeats(3_000)), |producer| {
            producer.publish(|event| *event = 1).map(|_| 1)
        });
    }
}

fn close_counts_what_it_accepted_in_batches<K: Kind>() {
    let mut pause = Lcg(5);
    for _ in 0..repeats(1_000) {
        close_while::<K>(pause.below(repeats(3_000)), |producer| {
            let mut batch = producer.claim_batch(3).map_err(|_| PublishError::Closed)?;
            batch.slots().iter_mut().for_each(|event| *event = 1);
            Ok(batch.publish().map(|range| range.end - range.start)?)
        });
    }
}

/// Several threads publish while one of them closes.
#[test]
fn close_counts_what_it_accepted_of_many_threads() {
    watched(|| {
        for _ in 0..repeats(1_000) {
            let (producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
                .stage("count")
                .read(|_, _, _| {})
                .build()
                .unwrap();
            let running = consumers.start().unwrap();
            let threads = [0, 1, 2].map(|_| {
                let mut producer = producer.clone();
                thread::spawn(move || {
                    let mut accepted = 0;
                    while producer.publish(|_| {}).is_ok() {
                        accepted += 1;
                        if accepted == 50 {
                            producer.close();
                        }
                    }
                    accepted
                })
            });
            let accepted: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
            let report = running.shutdown().unwrap();
            assert_eq!(report.stages().next().unwrap().processed(), accepted);
        }
    });
}

// ---- what an end wakes ----

/// Has a producer wait on a full ring, a stage for a publication, a stage for its upstream poller,
/// and a poller for another one. Then runs `stop`, after which all of them must return. Returns the
/// error of the producer.
fn stop_waiters<K: Kind, W: WaitStrategy>(
    strategy: W,
    pause: u64,
    stop: impl FnOnce(&Running<'static>),
) -> (PublishError, [Outcome; 2]) {
    let (mut producer, mut consumers) = K::ring(1, || 0_u64)
        .wait(strategy.clone())
        .producer_wait(strategy)
        .side_by_side(|side| {
            side.stage("waits for a publication").read(|_, _, _| {}).chain(|chain| {
                chain.stage("holds").poller().side_by_side(|side| {
                    side.stage("waits for a stage")
                        .read(|_, _, _| {})
                        .stage("waits for a poller")
                        .poller()
                })
            })
        })
        .build()
        .unwrap();
    let mut holds = consumers.take_poller("holds").unwrap();
    let mut waits = consumers.take_poller("waits for a poller").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let publishing = thread::spawn(move || publish_until_stopped(&mut producer));
    let waiting = thread::spawn(move || {
        while let Ok(mut batch) = waits.wait() {
            batch.consume_all();
        }
    });
    (0..pause).for_each(|_| hint::spin_loop());
    stop(&running);
    let stopped = publishing.join().unwrap();
    while let Ok(mut batch) = holds.wait() {
        batch.consume_all();
    }
    waiting.join().unwrap();
    let report = running.join().unwrap_or_else(|failed| failed.into_report());
    let mut outcomes = report.stages().map(|stage| stage.outcome().clone());
    (stopped, [outcomes.next().unwrap(), outcomes.next().unwrap()])
}

fn publish_until_stopped<S: Sequencer>(producer: &mut Producer<u64, S>) -> PublishError {
    loop {
        if let Err(stopped) = producer.publish(|_| {}) {
            return stopped;
        }
    }
}

fn halt<K: Kind, W: WaitStrategy>(strategy: W, rounds: u64) {
    let mut pause = Lcg(6);
    for _ in 0..rounds {
        let end =
            stop_waiters::<K, W>(strategy.clone(), pause.below(repeats(20_000)), Running::halt);
        assert_eq!(
            end,
            (PublishError::Halted(HaltCause::Requested), [Outcome::Halted, Outcome::Halted])
        );
    }
}

fn close<K: Kind, W: WaitStrategy>(strategy: W, rounds: u64) {
    let mut pause = Lcg(7);
    for _ in 0..rounds {
        let end =
            stop_waiters::<K, W>(strategy.clone(), pause.below(repeats(20_000)), Running::close);
        assert_eq!(end, (PublishError::Closed, [Outcome::Drained, Outcome::Drained]));
    }
}

fn miri_halt_wakes_every_waiter_that_parked<K: Kind>() {
    halt::<K, _>(Blocking { yields: 0 }, repeats(500));
}

fn miri_close_wakes_every_waiter_that_parked<K: Kind>() {
    close::<K, _>(Blocking { yields: 0 }, repeats(500));
}

fn halt_ends_every_wait_whatever_the_strategy<K: Kind>() {
    halt::<K, _>(Adaptive::default(), repeats(200));
    halt::<K, _>(Blocking::default(), repeats(200));
    halt::<K, _>(BusySpin, repeats(20));
    halt::<K, _>(Sleeping::default(), repeats(200));
    halt::<K, _>(Yielding::default(), repeats(200));
}

fn close_ends_every_wait_whatever_the_strategy<K: Kind>() {
    close::<K, _>(Adaptive::default(), repeats(200));
    close::<K, _>(Blocking::default(), repeats(200));
    close::<K, _>(BusySpin, repeats(20));
    close::<K, _>(Sleeping::default(), repeats(200));
    close::<K, _>(Yielding::default(), repeats(200));
}

fn halt_stops_a_stage_before_it_has_drained<K: Kind>() {
    let (may_go_on, gate) = mpsc::channel::<()>();
    let (at_work, is_at_work) = mpsc::channel();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("slow")
        .max_batch(1)
        .read(move |_, _, _| {
            at_work.send(()).unwrap();
            let _ = gate.recv();
        })
        .stage("never")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    (0..4).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    is_at_work.recv().unwrap();
    running.halt();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::Requested)));
    drop(may_go_on);
    let failed = running.shutdown().unwrap_err();
    assert_eq!(failed.to_string(), "the ring was halted before every event was handled");
    let ends: Vec<_> = failed
        .report()
        .stages()
        .map(|stage| (stage.outcome().clone(), stage.processed()))
        .collect();
    assert_eq!(ends, [(Outcome::Halted, 1), (Outcome::Halted, 0)]);
}
