//! Tests handlers that publish: to their own ring with and without a free slot, and to another
//! ring.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, watched};
use lapwing::consumer::{Consumer, Outcome};
use lapwing::error::{BatchError, HaltCause, PublishError, TryPublishError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::{Step, WaitStrategy, Waiting};
use lapwing::{Action, Disruptor, EventHandler, MultiProducer, Sequence};

crate::common::for_both_producers! {
    miri_handler_that_publishes_to_its_own_full_ring_gets_an_error,
    miri_handler_may_fill_its_own_ring,
    handler_gets_an_error_if_its_batch_exceeds_the_free_slots,
    handler_gets_an_error_in_on_start,
    upstream_stage_waits_for_its_downstream_stage_and_not_for_itself,
    stage_with_downstream_stages_waits_for_a_parallel_stage,
    handler_waits_for_a_free_slot_in_another_ring,
    ring_is_distinguished_from_an_earlier_one_at_the_same_address,
    handler_of_an_inner_ring_gets_an_error_on_the_outer_one,
    handler_gets_an_error_on_the_full_ring_of_a_stage_on_its_thread,
    handler_gets_an_error_in_its_factory,
    stage_that_panicked_is_removed_from_its_thread,
    stage_that_stopped_holds_nothing_on_its_thread,
}

const DEADLOCK: WhenFullError = WhenFullError::WouldDeadlock;

/// Publishes the numbers below `before`. While the only stage handles the first of them, it calls
/// `act` with the producer and then drops it. Returns the events that the stage handled.
fn act_in_handler<K: Kind>(
    capacity: usize,
    before: u64,
    act: impl FnOnce(&mut ProducerOf<u64, K>) + Send,
) -> Vec<u64> {
    let (hand_over, producers) = mpsc::channel();
    let (mut act, mut seen) = (Some(act), Vec::new());
    let log = &mut seen;
    let handle = move |event: &u64, _, _| {
        log.push(*event);
        if let Some(act) = act.take() {
            act(&mut producers.recv().unwrap());
        }
    };
    let (mut producer, consumers) =
        K::ring(capacity, || 0).stage("all").read(handle).build().unwrap();
    (0..before).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    hand_over.send(producer).unwrap();
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
    seen
}

fn miri_handler_that_publishes_to_its_own_full_ring_gets_an_error<K: Kind>() {
    let seen = act_in_handler::<K>(2, 2, |producer| {
        for _ in 0..2 {
            let refused = producer.publish(|_| unreachable!());
            assert_eq!(refused, Err(PublishError::WouldDeadlock));
            assert_eq!(producer.claim().err(), Some(PublishError::WouldDeadlock));
            assert_eq!(
                producer.publish_or(WhenFull::Timeout(PATIENCE), |_| unreachable!()),
                Err(DEADLOCK)
            );
            assert_eq!(producer.claim_or(WhenFull::Timeout(Duration::MAX)).err(), Some(DEADLOCK));
            let refused = producer.publish_batch(1, |_| unreachable!());
            assert_eq!(refused, Err(BatchError::WouldDeadlock));
            assert_eq!(producer.claim_batch(2).err(), Some(BatchError::WouldDeadlock));
            let refused =
                producer.publish_batch_or(2, WhenFull::Timeout(PATIENCE), |_| unreachable!());
            assert_eq!(refused, Err(BatchError::WouldDeadlock));
            let refused = producer.claim_batch_or(1, WhenFull::Timeout(PATIENCE)).err();
            assert_eq!(refused, Some(BatchError::WouldDeadlock));
            // A call that does not wait cannot deadlock.
            assert_eq!(producer.try_publish(|_| unreachable!()), Err(TryPublishError::Full));
            assert_eq!(producer.try_claim_batch(1).err(), Some(BatchError::Full));
        }
    });
    assert_eq!(seen, [0, 1], "nothing is claimed, nothing is lost");
    let text = PublishError::WouldDeadlock.to_string();
    assert!(text.contains("this thread") && text.contains("try_publish"), "{text}");
}

fn miri_handler_may_fill_its_own_ring<K: Kind>() {
    let seen = act_in_handler::<K>(4, 1, |producer| {
        assert_eq!(producer.publish(|event| *event = 1), Ok(1));
        assert_eq!(
            producer.publish_or(WhenFull::Timeout(PATIENCE), |event| *event = 2),
            Ok(Some(2))
        );
        let mut claim = producer.claim().unwrap();
        *claim = 3;
        assert_eq!(claim.publish(), Ok(3));
        assert_eq!(producer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
    });
    assert_eq!(seen, [0, 1, 2, 3]);
}

fn handler_gets_an_error_if_its_batch_exceeds_the_free_slots<K: Kind>() {
    let seen = act_in_handler::<K>(4, 2, |producer| {
        let refused = producer.publish_batch(3, |_| unreachable!());
        assert_eq!(refused, Err(BatchError::WouldDeadlock));
        let fill = |slots: &mut lapwing::producer::Slots<'_, u64>| {
            slots.iter_mut().for_each(|event| *event = 7);
        };
        assert_eq!(producer.publish_batch(2, fill), Ok(2..4));
    });
    assert_eq!(seen, [0, 1, 7, 7]);
}

/// Publishes once, when it starts.
struct Early<K: Kind> {
    producers: Receiver<ProducerOf<u64, K>>,
    results: Sender<Result<Sequence, PublishError>>,
}

impl<K: Kind> EventHandler<u64> for Early<K> {
    fn on_start(&mut self) {
        let mut producer = self.producers.recv().unwrap();
        self.results.send(producer.publish(|_| unreachable!())).unwrap();
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

fn handler_gets_an_error_in_on_start<K: Kind + 'static>() {
    let (hand_over, producers) = mpsc::channel();
    let (results, result) = mpsc::channel();
    let early = Early::<K> { producers, results };
    let (mut producer, consumers) =
        K::ring(2, || 0_u64).stage("early").read_handler(early).build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    assert_eq!(consumers.start().unwrap().join().unwrap().stages().next().unwrap().processed(), 2);
    assert_eq!(result.recv(), Ok(Err(PublishError::WouldDeadlock)));
}

/// A ring of two slots, both published. The first stage has finished event 0 and calls `act` in
/// event 1. The downstream stage stays at event 0 until it gets a message from the sender that
/// `act` is given.
fn act_in_upstream_stage<K: Kind>(
    strategy: impl WaitStrategy,
    ready: impl FnOnce(&ProducerOf<u64, K>),
    act: impl FnOnce(&mut ProducerOf<u64, K>, Sender<()>) + Send,
) {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (go, may_go) = mpsc::channel();
    let (at_first, is_at_first) = mpsc::channel();
    let mut act = Some((act, go));
    let upstream = move |_: &u64, sequence, _| {
        if sequence == 1 {
            is_at_first.recv().unwrap();
            let (act, go) = act.take().unwrap();
            act(&mut producers.recv().unwrap(), go);
        }
    };
    let downstream = move |_: &u64, sequence, _| {
        if sequence == 0 {
            at_first.send(()).unwrap();
            may_go.recv().unwrap();
        }
    };
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .producer_wait(strategy)
        .stage("upstream")
        .max_batch(1)
        .read(upstream)
        .stage("downstream")
        .read(downstream)
        .build()
        .unwrap();
    ready(&producer);
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
}

fn upstream_stage_waits_for_its_downstream_stage_and_not_for_itself<K: Kind>() {
    let strategy = lapwing::wait::Adaptive::default();
    act_in_upstream_stage::<K>(
        strategy,
        |_| {},
        |producer, go| {
            // The downstream stage holds the slot, and has a thread of its own.
            let result = producer.publish_or(WhenFull::Timeout(MOMENT), |_| unreachable!());
            assert_eq!(result, Err(WhenFullError::TimedOut));
            // For two slots, this stage would have to make progress as well.
            assert_eq!(producer.claim_batch(2).err(), Some(BatchError::WouldDeadlock));
            go.send(()).unwrap();
            assert_eq!(producer.publish(|_| {}), Ok(2));
            assert_eq!(producer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
        },
    );
}

/// In the middle of a wait, releases the downstream stage, and lets another producer take the slot
/// that this frees.
#[derive(Clone)]
struct Meddler {
    go: Arc<Mutex<Option<Sender<()>>>>,
    other: Arc<Mutex<Option<MultiProducer<u64>>>>,
}

impl WaitStrategy for Meddler {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        let go = self.go.lock().unwrap().take();
        go.expect("asked once, since the step ends the wait").send(()).unwrap();
        let mut other = self.other.lock().unwrap().take().unwrap();
        while other.try_publish(|_| {}).is_err() {
            thread::yield_now();
        }
        // A thread that polls until the wait is over must not poll for ever.
        Step::Poll(u32::MAX)
    }
}

#[test]
fn handler_gets_an_error_if_another_producer_takes_the_last_slot() {
    watched(|| {
        let meddler = Meddler { go: Arc::default(), other: Arc::default() };
        let Meddler { go: to_go, other } = meddler.clone();
        act_in_upstream_stage::<crate::common::Many>(
            meddler,
            |producer| *other.lock().unwrap() = Some(producer.clone()),
            |producer, go| {
                *to_go.lock().unwrap() = Some(go);
                let refused = producer.publish(|_| unreachable!());
                assert_eq!(refused, Err(PublishError::WouldDeadlock));
            },
        );
    });
}

fn stage_with_downstream_stages_waits_for_a_parallel_stage<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (go, may_go) = mpsc::channel::<()>();
    let mut go = Some(go);
    let left = move |_: &u64, sequence, _| {
        if sequence == 1 {
            let mut producer = producers.recv().unwrap();
            let result = producer.publish_or(WhenFull::Timeout(MOMENT), |_| unreachable!());
            assert_eq!(result, Err(WhenFullError::TimedOut));
            go.take(); // drops the sender
            assert_eq!(producer.publish(|_| {}), Ok(2));
        }
    };
    let right = move |_: &u64, _, _| _ = may_go.recv();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .side_by_side(|side| side.stage("left").max_batch(1).read(left).stage("right").read(right))
        .build()
        .unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
}

fn handler_waits_for_a_free_slot_in_another_ring<K: Kind>() {
    let (mut other, mut pollers) = K::ring(1, || 0_u64).stage("other").poller().build().unwrap();
    let mut poller = pollers.take_poller("other").unwrap();
    other.publish(|event| *event = 1).unwrap();
    let (tried, is_tried) = mpsc::channel();
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .stage("forward")
        .read(move |event, _, _| {
            let timed_out = other.publish_or(WhenFull::Timeout(MOMENT), |_| unreachable!());
            assert_eq!(timed_out, Err(WhenFullError::TimedOut));
            tried.send(()).unwrap();
            other.publish(|slot| *slot = *event).unwrap();
        })
        .build()
        .unwrap();
    producer.publish(|event| *event = 2).unwrap();
    drop(producer);
    let running = consumers.start().unwrap();
    is_tried.recv().unwrap();
    let mut forwarded = Vec::new();
    while let Ok(mut batch) = poller.wait() {
        forwarded.extend(batch.iter().map(|(_, event)| *event));
    }
    assert_eq!(forwarded, [1, 2]);
    running.join().unwrap();
}

/// Returns the only consumer of a ring that has one stage.
fn only<'env, E: Send + 'env>(consumers: lapwing::Consumers<'env, E>) -> Consumer<'env> {
    consumers.into_iter().next().unwrap()
}

fn ring_is_distinguished_from_an_earlier_one_at_the_same_address<K: Kind>() {
    for _ in 0..20 {
        let (producer, consumers) =
            K::ring(1, || 0_u64).stage("all").read(|_, _, _| {}).build().unwrap();
        drop(producer);
        assert_eq!(*only(consumers).run().outcome(), Outcome::Drained); // on this thread
        let (mut producer, mut consumers) =
            K::ring(1, || 0_u64).stage("poller").poller().build().unwrap();
        let _poller = consumers.take_poller("poller").unwrap();
        producer.publish(|_| {}).unwrap();
        let result = producer.publish_or(WhenFull::Timeout(Duration::ZERO), |_| unreachable!());
        assert_eq!(result, Err(WhenFullError::TimedOut));
    }
}

fn handler_of_an_inner_ring_gets_an_error_on_the_outer_one<K: Kind>() {
    let seen = act_in_handler::<K>(1, 1, |outer| {
        let mut runs = 0;
        let (mut inner, consumers) = K::ring(1, || 0_u64)
            .stage("inner")
            .read(|_, _, _| {
                runs += 1;
                let refused = outer.publish(|_| unreachable!());
                assert_eq!(refused, Err(PublishError::WouldDeadlock));
            })
            .build()
            .unwrap();
        inner.publish(|_| {}).unwrap();
        drop(inner);
        assert_eq!(*only(consumers).run().outcome(), Outcome::Drained);
        assert_eq!(runs, 1);
        // The inner stage has ended, the outer one has not.
        let refused = outer.publish(|_| unreachable!());
        assert_eq!(refused, Err(PublishError::WouldDeadlock));
        let (mut free, mut consumers) = K::ring(1, || 0_u64).stage("p").poller().build().unwrap();
        let _poller = consumers.take_poller("p").unwrap();
        free.publish(|_| {}).unwrap();
        let result = free.publish_or(WhenFull::Timeout(Duration::ZERO), |_| unreachable!());
        assert_eq!(result, Err(WhenFullError::TimedOut));
    });
    assert_eq!(seen, [0]);
}

/// Two rings on one thread: the downstream stage of the full ring runs only after the handler
/// returns.
fn handler_gets_an_error_on_the_full_ring_of_a_stage_on_its_thread<K: Kind>() {
    let (mut seen, mut results) = (0, Vec::new());
    let (mut to_second, second) =
        K::ring(2, || 0_u64).stage("second").read(|_, _, _| seen += 1).build().unwrap();
    let log = &mut results;
    let (mut to_first, first) = K::ring(4, || 0_u64)
        .stage("first")
        .max_batch(4)
        .read(move |_, _, _| {
            log.push(to_second.publish(|_| {})); // dropped with this handler
        })
        .build()
        .unwrap();
    to_first.publish_batch(4, |_| {}).unwrap();
    drop(to_first);
    let finished = Consumer::run_together([only(first), only(second)]);
    assert!(finished.iter().all(|stage| *stage.outcome() == Outcome::Drained), "{finished:?}");
    drop(finished);
    let refused = Err(PublishError::WouldDeadlock);
    assert_eq!((seen, results), (2, vec![Ok(0), Ok(1), refused, refused]));
}

fn handler_gets_an_error_in_its_factory<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (results, result) = mpsc::channel();
    let make = move || {
        results.send(producers.recv().unwrap().publish(|_| unreachable!())).unwrap();
        Idle
    };
    let (mut producer, consumers) =
        K::ring(2, || 0_u64).stage("made").read_local(make).build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    consumers.start().unwrap().join().unwrap();
    assert_eq!(result.recv(), Ok(Err(PublishError::WouldDeadlock)));
}

/// Does nothing.
struct Idle;

impl EventHandler<u64> for Idle {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

fn stage_that_panicked_is_removed_from_its_thread<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) =
        K::ring(1, || 0_u64).stage("bad").read(|_, _, _| panic!("{ON_PURPOSE}")).build().unwrap();
    producer.publish(|_| {}).unwrap();
    let run = || only(consumers).run();
    let finished = catch_unwind(AssertUnwindSafe(run)).unwrap();
    assert!(matches!(finished.outcome(), Outcome::Panicked { .. }));
    assert_eq!(
        producer.publish(|_| unreachable!()),
        Err(PublishError::Halted(HaltCause::StageFailed))
    );
}

/// The ring is still open, and its other stage is a poller.
fn stage_that_stopped_holds_nothing_on_its_thread<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(1, || 0_u64)
        .side_by_side(|side| {
            side.stage("stops").read(|_, _, _| Action::Stop).stage("stays").poller()
        })
        .build()
        .unwrap();
    let mut stays = consumers.take_poller("stays").unwrap();
    producer.publish(|_| {}).unwrap();
    assert_eq!(*only(consumers).run().outcome(), Outcome::Stopped); // on this thread
    let result = producer.publish_or(WhenFull::Timeout(Duration::ZERO), |_| unreachable!());
    assert_eq!(result, Err(WhenFullError::TimedOut));
    stays.poll().unwrap().consume_all();
    assert_eq!(producer.publish(|_| {}), Ok(1));
}

/// Many handlers on threads of their own each fill their own ring: the list of stages belongs to
/// the thread, not to the process.
#[test]
fn handlers_on_other_threads_do_not_count() {
    watched(|| {
        let (producer, consumers) = Disruptor::multi_producer(4, || 0_u64)
            .stage("all")
            .read(|_, _, _| thread::yield_now())
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        thread::scope(|scope| {
            for _ in 0..3 {
                let mut producer = producer.clone();
                scope.spawn(move || {
                    (0..crate::common::repeats(2_000))
                        .for_each(|_| _ = producer.publish(|_| {}).unwrap());
                });
            }
        });
        drop(producer);
        running.join().unwrap();
    });
}

/// Runs `act` with two producers of a ring of `capacity` slots, which has several producers and a
/// stage that counts its events. Returns the number of handled events.
fn count_after(
    capacity: usize,
    act: impl FnOnce(MultiProducer<u64>, MultiProducer<u64>) + Send,
) -> u64 {
    let mut handled = 0;
    let (producer, consumers) = Disruptor::multi_producer(capacity, || 0)
        .stage("count")
        .read(|_, _, _| handled += 1)
        .build()
        .unwrap();
    watched(|| {
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let second = producer.clone();
            act(producer, second);
            running.shutdown().unwrap();
        });
    });
    handled
}

#[test]
fn publishing_in_a_fill_closure_to_the_same_full_ring_gets_an_error() {
    let handled = count_after(1, |mut first, mut second| {
        for _ in 0..2 {
            let result = first.publish(|_| {
                assert_eq!(second.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
                assert_eq!(
                    second.publish_or(WhenFull::Timeout(PATIENCE), |_| unreachable!()),
                    Err(DEADLOCK)
                );
                assert_eq!(second.claim_batch(1).err(), Some(BatchError::WouldDeadlock));
                assert_eq!(second.claim_up_to(1).err(), Some(BatchError::WouldDeadlock));
                assert_eq!(
                    second.publish_or(WhenFull::Wait, |_| unreachable!()).err(),
                    Some(WhenFullError::WouldDeadlock)
                );
                assert_eq!(second.try_publish(|_| unreachable!()), Err(TryPublishError::Full));
            });
            assert!(result.is_ok());
        }
    });
    assert_eq!(handled, 2);
}

#[test]
fn publishing_to_a_full_ring_while_a_claim_is_held_gets_an_error() {
    let handled = count_after(4, |mut first, mut second| {
        let claim = first.claim().unwrap();
        let results: Vec<_> = (0..4).map(|_| second.publish(|_| {})).collect();
        assert_eq!(results, [Ok(1), Ok(2), Ok(3), Err(PublishError::WouldDeadlock)]);
        claim.publish().unwrap();
        assert_eq!(second.publish(|_| {}), Ok(4));

        let batch = first.claim_batch(2).unwrap();
        assert_eq!(second.publish_batch(3, |_| {}), Err(BatchError::WouldDeadlock));
        drop(batch);
        assert_eq!(second.publish_batch(3, |_| {}), Ok(7..10));
    });
    assert_eq!(handled, 8);
}

#[test]
fn publishing_in_the_drop_of_an_overwritten_event_gets_an_error() {
    /// Publishes once more when it is dropped.
    struct Echo(
        Option<Sender<Result<Sequence, PublishError>>>,
        Arc<Mutex<Option<MultiProducer<Echo>>>>,
    );

    impl Drop for Echo {
        fn drop(&mut self) {
            let (Some(results), Ok(mut producer)) = (self.0.take(), self.1.lock()) else { return };
            if let Some(producer) = producer.as_mut() {
                results.send(producer.publish(|_| unreachable!())).unwrap();
            }
        }
    }

    let second = Arc::new(Mutex::new(None));
    let of_events = Arc::clone(&second);
    let (mut first, consumers) =
        Disruptor::multi_producer(1, move || Echo(None, Arc::clone(&of_events)))
            .stage("all")
            .read(|_, _, _| {})
            .build()
            .unwrap();
    *second.lock().unwrap() = Some(first.clone());
    watched(|| {
        let running = consumers.start().unwrap();
        let (results, told) = mpsc::channel();
        first.publish(|event| *event = Echo(Some(results), Arc::clone(&second))).unwrap();
        first.publish(|event| *event = Echo(None, Arc::clone(&second))).unwrap();
        assert_eq!(told.recv().unwrap(), Err(PublishError::WouldDeadlock));
        second.lock().unwrap().take();
        drop(first);
        running.shutdown().unwrap();
    });
}

#[test]
fn a_claim_that_another_thread_holds_is_waited_for() {
    let handled = count_after(1, |mut first, mut second| {
        let (held, is_held) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                let claim = first.claim().unwrap();
                held.send(()).unwrap();
                thread::sleep(MOMENT);
                claim.publish().unwrap();
            });
            is_held.recv().unwrap();
            assert_eq!(second.publish(|_| {}), Ok(1));
        });
    });
    assert_eq!(handled, 2);
}

#[test]
fn claims_that_were_settled_are_not_waited_for_by_their_thread() {
    quiet_panics();
    let handled = count_after(1, |mut first, mut second| {
        first.claim().unwrap().publish().unwrap();
        drop(first.claim().unwrap());
        drop(first.claim_batch(1).unwrap());
        let panic = AssertUnwindSafe(|| first.publish(|_| panic!("{ON_PURPOSE}")));
        assert!(catch_unwind(panic).is_err());
        assert_eq!(second.publish(|_| {}), Ok(4));
    });
    assert_eq!(handled, 2);
}
