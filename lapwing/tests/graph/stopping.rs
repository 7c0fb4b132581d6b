//! What a close has accepted, which threads a close or a halt wakes, and the timeouts of a handler.
//!
//! [`strategies`] lists the wait strategies. A new one is tested by a line there.

use std::cell::RefCell;
use std::hint;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{Kind, Lcg, MOMENT, Many, ProducerOf, Turnstile, repeats, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Builder, EventHandler, Running, Sequence, Stage};

crate::common::for_both_producers! {
    timeout_is_called_while_nothing_comes_whatever_the_strategy,
    timeout_of_a_later_stage_is_called_while_its_upstream_is_slow,
    miri_local_handler_lives_on_its_thread,
    miri_close_counts_what_it_accepted,
    close_counts_what_it_accepted_in_batches,
    miri_halt_and_close_wake_every_waiter_that_parked,
    halt_and_close_end_every_wait_whatever_the_strategy,
    halt_stops_a_stage_before_it_has_drained,
}

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;
type Waits<K> = fn(Ring<K>) -> Ring<K>;

fn with<K: Kind>(ring: Ring<K>, strategy: impl WaitStrategy) -> Ring<K> {
    ring.wait_strategy(strategy.clone()).producer_wait_strategy(strategy)
}

fn parking<K: Kind>(ring: Ring<K>) -> Ring<K> {
    with::<K>(ring, Blocking { yields: 0 })
}

/// Returns the strategies, each with how many rounds it runs. A thread that spins takes its whole
/// time slice.
fn strategies<K: Kind>() -> [(Waits<K>, u64); 5] {
    [
        (|ring| with::<K>(ring, Adaptive::default()), repeats(200)),
        (|ring| with::<K>(ring, Blocking::default()), repeats(200)),
        (|ring| with::<K>(ring, BusySpin), repeats(20)),
        (|ring| with::<K>(ring, Sleeping::default()), repeats(200)),
        (|ring| with::<K>(ring, Yielding::default()), repeats(200)),
    ]
}

fn nothing(_: &u64, _: Sequence, _: bool) {}

// ---- the calls that a handler gets ----

/// Reports the calls of its timeouts.
struct Timeouts(Sender<Sequence>);

impl EventHandler<u64> for Timeouts {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, next_sequence: Sequence) {
        // There is no receiver at the end of the test.
        let _ = self.0.send(next_sequence);
    }
}

fn timeout_is_called_while_nothing_comes_whatever_the_strategy<K: Kind>() {
    for (waits, _) in strategies::<K>() {
        let (timeout, timeouts) = mpsc::channel();
        let stage = Stage::new("waits").timeout_after(MOMENT / 5);
        let ring = waits(K::ring(2, || 0_u64)).stage(stage).read_handler(Timeouts(timeout));
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        assert_eq!((timeouts.recv(), timeouts.recv()), (Ok(0), Ok(0)));
        producer.publish(|_| {}).unwrap();
        assert_eq!(timeouts.iter().find(|next_sequence| *next_sequence != 0), Some(1));
        running.shutdown().unwrap();
    }
}

fn timeout_of_a_later_stage_is_called_while_its_upstream_is_slow<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (timeout, timeouts) = mpsc::channel();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("slow")
        .read(move |_, sequence, _| pass(sequence))
        .stage(Stage::new("waits").timeout_after(Duration::from_millis(1)))
        .read_handler(Timeouts(timeout))
        .build()
        .unwrap();
    producer.publish(|_| {}).unwrap();
    let running = consumers.start().unwrap();
    assert_eq!((timeouts.recv(), timeouts.recv()), (Ok(0), Ok(0)));
    drop(turnstile);
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
/// while another thread closes the ring. Checks that both stages have handled what was accepted.
fn close_while<K: Kind>(
    rounds: u64,
    publish: fn(&mut ProducerOf<u64, K>) -> Result<u64, PublishError>,
) {
    let mut pause = Lcg(rounds);
    for _ in 0..rounds {
        let ring = K::ring(8, || 0_u64).stage("first").read(nothing).stage("second").read(nothing);
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        let publisher = thread::spawn(move || {
            let mut accepted = 0;
            loop {
                match publish(&mut producer) {
                    Ok(count) => accepted += count,
                    Err(stopped) => return (accepted, stopped),
                }
            }
        });
        (0..pause.below(repeats(3_000))).for_each(|_| hint::spin_loop());
        let report = running.shutdown().unwrap();
        let (accepted, stopped) = publisher.join().unwrap();
        assert_eq!(stopped, PublishError::Closed);
        let is_right = report.stages().all(|stage| stage.processed() == accepted);
        assert!(is_right, "accepted={accepted}, {report:?}");
    }
}

fn miri_close_counts_what_it_accepted<K: Kind>() {
    close_while::<K>(repeats(2_000), |producer| producer.publish(|event| *event = 1).map(|_| 1));
}

fn close_counts_what_it_accepted_in_batches<K: Kind>() {
    close_while::<K>(repeats(1_000), |producer| {
        let batch = producer.claim_batch(3).map_err(|_| PublishError::Closed)?;
        Ok(batch.publish().map(|range| range.end - range.start)?)
    });
}

/// Several threads publish while one of them closes.
#[test]
fn close_counts_what_it_accepted_of_many_threads() {
    watched(|| {
        for _ in 0..repeats(1_000) {
            let (producer, consumers) =
                Many::ring(8, || 0_u64).stage("count").read(nothing).build().unwrap();
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
/// and a poller for another one. Then halts or closes the ring, after which all of them must return
/// with that end.
fn stop_waiters<K: Kind>(waits: Waits<K>, pause: u64, is_halt: bool) {
    let (mut producer, mut consumers) = waits(K::ring(1, || 0_u64))
        .parallel(|parallel| {
            parallel.stage("waits for a publication").read(nothing).chain(|chain| {
                chain.stage("holds").poller().parallel(|parallel| {
                    let parallel = parallel.stage("waits for a stage").read(nothing);
                    parallel.stage("waits for a poller").poller()
                })
            })
        })
        .build()
        .unwrap();
    let mut holds = consumers.take_poller("holds").unwrap();
    let mut waits = consumers.take_poller("waits for a poller").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let publishing = thread::spawn(move || {
        loop {
            if let Err(stopped) = producer.publish(|_| {}) {
                return stopped;
            }
        }
    });
    let waiting = thread::spawn(move || {
        while let Ok(mut batch) = waits.wait() {
            batch.consume_all();
        }
    });
    (0..pause).for_each(|_| hint::spin_loop());
    let end: fn(&Running<'static>) = if is_halt { Running::halt } else { Running::close };
    end(&running);
    let stopped = publishing.join().unwrap();
    while let Ok(mut batch) = holds.wait() {
        batch.consume_all();
    }
    waiting.join().unwrap();
    let report = running.join().unwrap_or_else(|failed| failed.into_report());
    let (error, outcome) = match is_halt {
        true => (PublishError::Halted(HaltCause::Requested), Outcome::Halted),
        false => (PublishError::Closed, Outcome::Drained),
    };
    assert_eq!(stopped, error);
    assert!(report.stages().all(|stage| *stage.outcome() == outcome), "{report:?}");
}

fn end_waits<K: Kind>(waits: Waits<K>, rounds: u64) {
    let mut pause = Lcg(6);
    for round in 0..2 * rounds {
        stop_waiters::<K>(waits, pause.below(repeats(20_000)), round % 2 == 0);
    }
}

fn miri_halt_and_close_wake_every_waiter_that_parked<K: Kind>() {
    end_waits::<K>(parking::<K>, repeats(500));
}

fn halt_and_close_end_every_wait_whatever_the_strategy<K: Kind>() {
    for (waits, rounds) in strategies::<K>() {
        end_waits::<K>(waits, rounds);
    }
}

fn halt_stops_a_stage_before_it_has_drained<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let stage = Stage::new("slow").max_batch(1);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage(stage)
        .read(move |_, sequence, _| pass(sequence))
        .stage("never")
        .read(nothing)
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    (0..4).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    turnstile.wait_for(0);
    running.halt();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::Requested)));
    drop(turnstile);
    let failed = running.shutdown().unwrap_err();
    assert_eq!(failed.to_string(), "the ring was halted before every event was handled");
    let stages = failed.report().stages();
    let ends: Vec<_> = stages.map(|stage| (stage.outcome(), stage.processed())).collect();
    assert_eq!(ends, [(&Outcome::Halted, 1), (&Outcome::Halted, 0)]);
}
