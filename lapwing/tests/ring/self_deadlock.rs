//! Tests that a thread does not wait for itself: each call answers `WouldDeadlock` if only its own
//! thread could free a slot, and waits if another thread can. A place from which a call may come is
//! a test here; `refused` makes every call in it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::calls::{Call, Expected, Size};
use crate::common::{Kind, MOMENT, Many, ON_PURPOSE, ProducerOf, quiet_panics, repeats, watched};
use crate::rings::{on_event, ring_with_poller, run};
use lapwing::consumer::{Consumer, Outcome};
use lapwing::error::{BatchError, HaltCause, PublishError, WhenFullError};
use lapwing::producer::{Sequencer, WhenFull};
use lapwing::wait::{Adaptive, Step, WaitStrategy, Waiting};
use lapwing::{Action, Builder, Disruptor, EventHandler, MultiProducer, Producer, Sequence};

crate::common::for_both_producers! {
    miri_each_call_of_a_handler_gets_what_is_free_and_then_an_error,
    a_call_in_on_start_gets_an_error,
    a_call_in_a_factory_gets_an_error,
    upstream_stage_waits_for_its_downstream_stage_and_not_for_itself,
    stage_with_downstream_stages_waits_for_a_parallel_stage,
    handler_waits_for_a_free_slot_in_another_ring,
    ring_is_distinguished_from_an_earlier_one_at_the_same_address,
    handler_of_an_inner_ring_gets_an_error_on_the_outer_one,
    handler_gets_an_error_on_the_full_ring_of_a_stage_on_its_thread,
    stage_that_panicked_is_removed_from_its_thread,
    stage_that_stopped_holds_nothing_on_its_thread,
}

/// Makes calls of each size while `free` slots from `first` on are free and no other thread can
/// free one. Checks each answer. Returns the number of events that were published.
fn calls<S: Sequencer>(
    producer: &mut Producer<u64, S>,
    capacity: usize,
    first: Sequence,
    free: usize,
    is_reversed: bool,
) -> u64 {
    let sizes = [Size::One, Size::Batch(1), Size::UpTo(1), Size::Batch(3), Size::UpTo(3)];
    let mut calls: Vec<_> = sizes.into_iter().flat_map(Call::all).collect();
    if is_reversed {
        calls.reverse();
    }
    let (mut published, mut dropped) = (0, producer.dropped());
    for call in calls {
        let free = free - published as usize;
        let expected = call.expected(capacity, first + published, free, true);
        let answer = call.make(producer, first + published);
        assert_eq!(Expected::Answers(answer.clone()), expected, "{call:?}, {free} are free");
        dropped += if answer == Ok(None) { call.dropped(capacity) } else { 0 };
        published += answer.ok().flatten().map_or(0, |range| range.end - range.start);
        assert_eq!(producer.dropped(), dropped);
    }
    published
}

/// Makes calls of each size on a full ring that only this thread could empty.
fn refused<S: Sequencer>(producer: &mut Producer<u64, S>) {
    assert_eq!(calls(producer, producer.capacity(), 0, 0, false), 0);
}

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
    let handle = on_event(move |event: &u64, _, _| {
        log.push(*event);
        if let Some(act) = act.take() {
            act(&mut producers.recv().unwrap());
        }
    });
    start_full::<K>(K::ring(capacity, || 0).stage("all").read(handle), before, &hand_over);
    seen
}

/// Publishes the numbers below `before`, hands the producer over and runs the stages to their end.
fn start_full<'env, K: Kind>(
    ring: Builder<'env, u64, K::Sequencer>,
    before: u64,
    hand_over: &Sender<ProducerOf<u64, K>>,
) {
    let (mut producer, consumers) = ring.build().unwrap();
    (0..before).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    hand_over.send(producer).unwrap();
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
}

fn miri_each_call_of_a_handler_gets_what_is_free_and_then_an_error<K: Kind>() {
    for (before, is_reversed) in [(1, false), (1, true), (3, true), (4, false)] {
        let free = 4 - before as usize;
        let seen = act_in_handler::<K>(4, before, |producer| {
            assert_eq!(calls(producer, 4, before, free, is_reversed), free as u64);
        });
        assert_eq!(seen, [0, 1, 2, 3], "what is refused is not claimed, and nothing is lost");
    }
    let text = PublishError::WouldDeadlock.to_string();
    assert!(text.contains("this thread") && text.contains("try_publish"), "{text}");
}

/// Calls when it starts.
struct Early<K: Kind>(Receiver<ProducerOf<u64, K>>, Sender<()>);

impl<K: Kind> EventHandler<u64> for Early<K> {
    fn on_start(&mut self) {
        refused(&mut self.0.recv().unwrap());
        self.1.send(()).unwrap();
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

fn a_call_in_on_start_gets_an_error<K: Kind + 'static>() {
    let ((hand_over, producers), (done, is_done)) = (mpsc::channel(), mpsc::channel());
    let ring = K::ring(4, || 0).stage("early").read_handler(Early::<K>(producers, done));
    start_full::<K>(ring, 4, &hand_over);
    assert_eq!(is_done.recv(), Ok(()));
}

/// Does nothing.
struct Idle;

impl EventHandler<u64> for Idle {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

fn a_call_in_a_factory_gets_an_error<K: Kind>() {
    let ((hand_over, producers), (done, is_done)) = (mpsc::channel(), mpsc::channel());
    let make = move || {
        let mut producer: ProducerOf<u64, K> = producers.recv().unwrap();
        refused(&mut producer);
        done.send(()).unwrap();
        Idle
    };
    start_full::<K>(K::ring(4, || 0).stage("made").read_local(make), 4, &hand_over);
    assert_eq!(is_done.recv(), Ok(()));
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
    let upstream = on_event(move |_: &u64, sequence, _| {
        if sequence == 1 {
            is_at_first.recv().unwrap();
            let (act, go) = act.take().unwrap();
            act(&mut producers.recv().unwrap(), go);
        }
    });
    let downstream = on_event(move |_: &u64, sequence, _| {
        if sequence == 0 {
            at_first.send(()).unwrap();
            may_go.recv().unwrap();
        }
    });
    let ring = K::ring(2, || 0).producer_wait_strategy(strategy).stage("upstream").max_batch(1);
    let ring = ring.read(upstream).stage("downstream").read(downstream);
    let (mut producer, consumers) = ring.build().unwrap();
    ready(&producer);
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
}

/// The downstream stage holds the slot, and has a thread of its own.
fn upstream_stage_waits_for_its_downstream_stage_and_not_for_itself<K: Kind>() {
    let act = |producer: &mut ProducerOf<u64, K>, go: Sender<()>| {
        assert_eq!(timed_out(producer), Err(WhenFullError::TimedOut));
        // For two slots, this stage would have to make progress as well.
        assert_eq!(producer.claim_batch(2).err(), Some(BatchError::WouldDeadlock));
        go.send(()).unwrap();
        assert_eq!(producer.publish(|_| {}), Ok(2));
        refused(producer);
    };
    act_in_upstream_stage::<K>(Adaptive::default(), |_| {}, act);
}

/// Waits in vain for a slot that another thread holds.
fn timed_out<S: Sequencer>(
    producer: &mut Producer<u64, S>,
) -> Result<Option<Sequence>, WhenFullError> {
    producer.publish_or(WhenFull::Timeout(MOMENT), |_| unreachable!())
}

/// In the middle of a wait, releases the downstream stage, and lets another producer take the slot
/// that this frees.
#[derive(Clone, Default)]
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
        wait_until_ok(|| other.try_publish(|_| {}).is_ok());
        // A thread that polls until the wait is over must not poll for ever.
        Step::Poll(u32::MAX)
    }
}

fn wait_until_ok(mut is_ok: impl FnMut() -> bool) {
    while !is_ok() {
        thread::yield_now();
    }
}

#[test]
fn handler_gets_an_error_if_another_producer_takes_the_last_slot() {
    watched(|| {
        let meddler = Meddler::default();
        let Meddler { go: to_go, other } = meddler.clone();
        let ready = |producer: &MultiProducer<u64>| {
            *other.lock().unwrap() = Some(producer.clone());
        };
        act_in_upstream_stage::<Many>(meddler, ready, |producer, go| {
            *to_go.lock().unwrap() = Some(go);
            let refused = producer.publish(|_| unreachable!());
            assert_eq!(refused, Err(PublishError::WouldDeadlock));
        });
    });
}

fn stage_with_downstream_stages_waits_for_a_parallel_stage<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let (go, may_go) = mpsc::channel::<()>();
    let mut go = Some(go);
    let left = on_event(move |_: &u64, sequence, _| {
        if sequence == 1 {
            let mut producer = producers.recv().unwrap();
            assert_eq!(timed_out(&mut producer), Err(WhenFullError::TimedOut));
            go.take(); // drops the sender
            assert_eq!(producer.publish(|_| {}), Ok(2));
        }
    });
    let right = on_event(move |_: &u64, _, _| _ = may_go.recv());
    let ring = K::ring(2, || 0).parallel(|parallel| {
        parallel.stage("left").max_batch(1).read(left).stage("right").read(right)
    });
    start_full::<K>(ring, 2, &hand_over);
}

fn handler_waits_for_a_free_slot_in_another_ring<K: Kind>() {
    let (mut other, mut poller) = ring_with_poller::<K>(1);
    other.publish(|event| *event = 1).unwrap();
    let (tried, is_tried) = mpsc::channel();
    let forward = on_event(move |event: &u64, _, _| {
        assert_eq!(timed_out(&mut other), Err(WhenFullError::TimedOut));
        tried.send(()).unwrap();
        other.publish(|slot| *slot = *event).unwrap();
    });
    run(K::ring(1, || 0).stage("forward").read(forward), |mut producer| {
        producer.publish(|event| *event = 2).unwrap();
        is_tried.recv().unwrap();
        assert_eq!(poller.wait().unwrap().iter().next(), Some((0, &1)));
        assert_eq!(poller.wait().unwrap().as_slice(), [2]);
    });
}

/// Publishes `events`, closes the ring and runs its only consumer on this thread.
fn run_here<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> (Producer<u64, S>, Outcome) {
    let (mut producer, consumers) = ring.build().unwrap();
    (0..events).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    producer.close();
    let finished = consumers.into_iter().next().unwrap().run();
    (producer, finished.outcome().clone())
}

/// Finds a full ring of another thread's consumer, which is not waited for but does not stand
/// still either.
fn another_full_ring_times_out<K: Kind>() {
    let (mut producer, _poller) = ring_with_poller::<K>(1);
    producer.publish(|_| {}).unwrap();
    assert_eq!(timed_out(&mut producer), Err(WhenFullError::TimedOut));
}

fn ring_is_distinguished_from_an_earlier_one_at_the_same_address<K: Kind>() {
    for _ in 0..20 {
        let ring = K::ring(1, || 0).stage("all").read(on_event(|_, _, _| {}));
        assert_eq!(run_here(ring, 0).1, Outcome::Drained);
        another_full_ring_times_out::<K>();
    }
}

fn handler_of_an_inner_ring_gets_an_error_on_the_outer_one<K: Kind>() {
    let seen = act_in_handler::<K>(1, 1, |outer| {
        let mut runs = 0;
        let inner = on_event(|_: &u64, _, _| {
            runs += 1;
            assert_eq!(outer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
        });
        let ring = K::ring(1, || 0).stage("inner").read(inner);
        assert_eq!(run_here(ring, 1).1, Outcome::Drained);
        assert_eq!(runs, 1);
        // The inner stage has ended, the outer one has not.
        assert_eq!(outer.publish(|_| unreachable!()), Err(PublishError::WouldDeadlock));
        another_full_ring_times_out::<K>();
    });
    assert_eq!(seen, [0]);
}

/// Two rings on one thread: the stage of the full ring runs only after the handler returns.
fn handler_gets_an_error_on_the_full_ring_of_a_stage_on_its_thread<K: Kind>() {
    let (mut seen, mut results) = (0, Vec::new());
    let count = on_event(|_: &u64, _, _| seen += 1);
    let (mut to_second, second) = K::ring(2, || 0).stage("second").read(count).build().unwrap();
    let log = &mut results;
    // Its producer is dropped with it.
    let forward = on_event(move |_: &u64, _, _| log.push(to_second.publish(|_| {})));
    let (mut to_first, first) =
        K::ring(4, || 0).stage("first").max_batch(4).read(forward).build().unwrap();
    to_first.publish_batch(4, |_| {}).unwrap();
    drop(to_first);
    let finished = Consumer::run_together(first.into_iter().chain(second));
    assert!(finished.iter().all(|stage| *stage.outcome() == Outcome::Drained), "{finished:?}");
    drop(finished);
    let refused = Err(PublishError::WouldDeadlock);
    assert_eq!((seen, results), (2, vec![Ok(0), Ok(1), refused, refused]));
}

fn stage_that_panicked_is_removed_from_its_thread<K: Kind>() {
    quiet_panics();
    let bad = on_event(|_: &u64, _, _| panic!("{ON_PURPOSE}"));
    let (mut producer, outcome) = run_here(K::ring(1, || 0).stage("bad").read(bad), 1);
    assert!(matches!(outcome, Outcome::Panicked { .. }));
    let halted = PublishError::Halted(HaltCause::StageFailed);
    assert_eq!(producer.publish(|_| unreachable!()), Err(halted));
}

/// The ring is still open, and its other stage is a poller.
fn stage_that_stopped_holds_nothing_on_its_thread<K: Kind>() {
    let ring = K::ring(1, || 0_u64).parallel(|parallel| {
        parallel.stage("stops").read(|_, _, _| Action::Stop).stage("stays").poller()
    });
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut stays = consumers.take_poller("stays").unwrap();
    producer.publish(|_| {}).unwrap();
    let stops = consumers.into_iter().next().unwrap();
    assert_eq!(*stops.run().outcome(), Outcome::Stopped); // on this thread
    assert_eq!(timed_out(&mut producer), Err(WhenFullError::TimedOut));
    stays.poll().unwrap().consume_all();
    assert_eq!(producer.publish(|_| {}), Ok(1));
}

/// Many handlers on threads of their own each fill their own ring: the list of stages belongs to
/// the thread, not to the process.
#[test]
fn handlers_on_other_threads_do_not_count() {
    let handled = count_after(4, |first, second| {
        thread::scope(|scope| {
            for mut producer in [first, second.clone(), second] {
                scope.spawn(move || {
                    (0..repeats(2_000)).for_each(|_| _ = producer.publish(|_| {}).unwrap());
                });
            }
        });
    });
    assert_eq!(handled, 3 * repeats(2_000));
}

// ---- claims that this thread holds ----

/// Runs `act` with two producers of a ring of `capacity` slots, which has several producers and a
/// stage that counts its events. Returns the number of handled events.
fn count_after(
    capacity: usize,
    act: impl FnOnce(MultiProducer<u64>, MultiProducer<u64>) + Send,
) -> u64 {
    let mut handled = 0;
    let count = on_event(|_: &u64, _, _| handled += 1);
    watched(|| {
        run(Disruptor::multi_producer(capacity, || 0).stage("count").read(count), |producer| {
            let second = producer.clone();
            act(producer, second);
        });
    });
    handled
}

#[test]
fn each_call_in_a_fill_closure_to_the_same_full_ring_gets_an_error() {
    let handled = count_after(1, |mut first, mut second| {
        for _ in 0..2 {
            assert!(first.publish(|_| refused(&mut second)).is_ok());
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

    watched(|| {
        let second = Arc::new(Mutex::new(None));
        let ring = Disruptor::multi_producer(1, || Echo(None, Arc::clone(&second)));
        run(ring.stage("all").read(on_event(|_, _, _| {})), |mut first| {
            *second.lock().unwrap() = Some(first.clone());
            let (results, told) = mpsc::channel();
            first.publish(|event| *event = Echo(Some(results), Arc::clone(&second))).unwrap();
            first.publish(|event| *event = Echo(None, Arc::clone(&second))).unwrap();
            assert_eq!(told.recv().unwrap(), Err(PublishError::WouldDeadlock));
            second.lock().unwrap().take();
        });
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
