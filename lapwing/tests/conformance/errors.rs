//! Tests that the errors of publishing calls are true: if a call returned an error, no consumer
//! handles its event, and each call names the end of its ring. `docs::errors` has the table of all
//! cases. A further case is a line below and one generic function.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use lapwing::error::{
    BatchError, HaltCause, PublishError, RingError, TryPublishError, WhenFullError,
};
use lapwing::producer::{Sequencer, WhenFull};
use lapwing::{Action, Builder, EventHandler, Poller, Producer, Running, Sequence};

use crate::common::{ON_PURPOSE, ProducerOf, quiet_panics, wait_until};
use crate::setup::{Kind, Setup};

for_each_setup! {
    e01_the_last_publication_does_not_fail_because_its_consumer_leaves,
    e02_an_event_that_a_handler_panicked_at_was_published,
    e03_what_is_refused_in_a_race_with_an_end_is_never_handled,
    e04_a_claim_that_is_held_across_an_end_is_refused,
    e05_an_end_within_the_closure_refuses_its_event,
    e06_each_call_after_an_end_returns_its_cause,
    e07_an_event_that_a_close_refused_is_not_consumed,
    e08_the_cause_of_a_halt_is_the_actual_one,
    e09_a_second_thread_that_closes_finds_what_was_accepted,
    e10_an_impossible_size_is_named_also_after_an_end,
}

/// Exchanges fifty requests and answers over two rings, then the answering thread leaves. The last
/// answer has arrived, so the last request was published.
fn e01_the_last_publication_does_not_fail_because_its_consumer_leaves<K: Kind>(setup: Setup<K>) {
    const ROUNDS: u64 = 50;
    for _ in 0..setup.events(200) {
        let (mut requests, mut server) = setup.ring_with_poller(8);
        let (mut answers, mut client) = setup.ring_with_poller(8);
        let thread = thread::spawn(move || {
            for _ in 0..ROUNDS {
                let request = take_one(&mut server);
                answers.publish(|answer| *answer = request).unwrap();
            }
        });
        for round in 0..ROUNDS {
            assert_eq!(requests.publish(|request| *request = round), Ok(round));
            assert_eq!(take_one(&mut client), round);
        }
        thread.join().unwrap();
    }
}

/// Waits for one event and finishes it.
fn take_one(poller: &mut Poller<u64>) -> u64 {
    let mut batch = poller.wait().unwrap();
    let value = batch.as_slice()[0];
    batch.consume(1);
    value
}

/// A handler halts the ring while it handles an event: the event was published.
fn e02_an_event_that_a_handler_panicked_at_was_published<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    for _ in 0..setup.events(200) {
        let seen = Arc::new(AtomicU64::new(0));
        let handler = Arc::clone(&seen);
        let ring = setup.ring(8, || 0_u64).stage("panic").read(move |event, _, _| {
            handler.store(*event, Ordering::Relaxed);
            assert!(*event < 20, "{ON_PURPOSE}");
        });
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        let published = publish_until_refused(&mut producer);
        assert!(running.join().is_err());
        assert!(seen.load(Ordering::Relaxed) <= published, "published={published}");
    }
}

/// Publishes 1, 2, 3 and so on until an error. Returns the last published number.
fn publish_until_refused<S: Sequencer>(producer: &mut Producer<u64, S>) -> u64 {
    (1..).take_while(|&value| producer.publish(|event| *event = value).is_ok()).last().unwrap_or(0)
}

/// Ends a stream at an arbitrary moment. Consumers handle only published events, and after a close
/// they handle all.
fn e03_what_is_refused_in_a_race_with_an_end_is_never_handled<K: Kind>(setup: Setup<K>) {
    for round in 0..setup.events(200) {
        let handled = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&handled);
        let count =
            move |event: &u64, _: Sequence, _: bool| counter.store(*event, Ordering::Relaxed);
        let (mut producer, consumers) =
            setup.ring(64, || 0_u64).stage("count").read(count).build().unwrap();
        let running = consumers.start().unwrap();
        let publisher = thread::spawn(move || publish_until_refused(&mut producer));
        (0..round % 7).for_each(|_| thread::yield_now());
        match round % 3 {
            0 => running.close(),
            1 => running.halt(),
            _ => running.stop_handle("count").unwrap().stop(),
        }
        let published = publisher.join().unwrap();
        let _ = running.join();
        let handled = handled.load(Ordering::Relaxed);
        assert!(handled <= published, "handled={handled} published={published}");
        assert!(round % 3 != 0 || handled == published, "handled={handled} published={published}");
    }
}

/// A way in which a ring ends, and the result of publishing a claim that was held meanwhile.
#[derive(Clone, Copy)]
enum End {
    Close,
    Halt,
    LastConsumerLeaves,
}

impl End {
    const ALL: [Self; 3] = [Self::Close, Self::Halt, Self::LastConsumerLeaves];

    /// The error of each later call.
    fn stopped(self) -> RingError {
        match self {
            Self::Close => RingError::Closed,
            Self::Halt => RingError::Halted(HaltCause::Requested),
            Self::LastConsumerLeaves => RingError::Halted(HaltCause::NoConsumers),
        }
    }

    /// The error for a claim that was granted before the end. With several producers a claim
    /// survives a close.
    fn refusal<K: Kind>(self) -> Option<RingError> {
        let is_kept = K::IS_MULTI && matches!(self, Self::Close);
        (!is_kept).then(|| self.stopped())
    }
}

/// Calls `check` with a producer and a closure that ends its ring, for each kind of end.
fn for_each_end<K: Kind>(
    setup: Setup<K>,
    check: impl Fn(ProducerOf<u64, K>, &mut dyn FnMut(), End),
) {
    for end in End::ALL {
        let ring = setup.ring(8, || 0_u64).stage("all").read(|_, _, _| {});
        let (producer, consumers) = ring.build().unwrap();
        let mut running = Some(consumers.start().unwrap());
        let mut now = || match end {
            End::Close => running.iter().for_each(Running::close),
            End::Halt => running.iter().for_each(Running::halt),
            End::LastConsumerLeaves => {
                let running = running.take().unwrap();
                running.stop_handle("all").unwrap().stop();
                let _ = running.join();
            }
        };
        check(producer, &mut now, end);
    }
}

fn e04_a_claim_that_is_held_across_an_end_is_refused<K: Kind>(setup: Setup<K>) {
    for_each_end(setup, |mut producer, now, end| {
        let claim = producer.claim().unwrap();
        now();
        assert_eq!(claim.publish().err(), end.refusal::<K>());
    });
    for_each_end(setup, |mut producer, now, end| {
        let batch = producer.claim_batch(3).unwrap();
        now();
        assert_eq!(batch.publish().err(), end.refusal::<K>());
    });
}

fn e05_an_end_within_the_closure_refuses_its_event<K: Kind>(setup: Setup<K>) {
    for_each_end(setup, |mut producer, now, end| {
        let result = producer.publish(|_| now());
        assert_eq!(result.err(), end.refusal::<K>().map(PublishError::from));
    });
    for_each_end(setup, |mut producer, now, end| {
        let result = producer.publish_batch(2, |_| now());
        assert_eq!(result.err(), end.refusal::<K>().map(BatchError::from));
    });
    for_each_end(setup, |mut producer, now, end| {
        let result = producer.publish_or(WhenFull::Wait, |_| now());
        assert_eq!(result.err(), end.refusal::<K>().map(WhenFullError::from));
    });
}

fn e06_each_call_after_an_end_returns_its_cause<K: Kind>(setup: Setup<K>) {
    for_each_end(setup, |mut producer, now, end| {
        now();
        let (why, long) = (end.stopped(), Duration::from_secs(60));
        let never = |_: &mut u64| unreachable!("the ring has ended");
        assert_eq!(producer.publish(never), Err(PublishError::from(why)));
        assert_eq!(producer.claim().err(), Some(PublishError::from(why)));
        assert_eq!(producer.try_publish(never), Err(TryPublishError::from(why)));
        assert_eq!(producer.try_claim().err(), Some(TryPublishError::from(why)));
        assert_eq!(
            producer.publish_or(WhenFull::Timeout(long), never),
            Err(WhenFullError::from(why))
        );
        assert_eq!(
            producer.claim_or(WhenFull::Timeout(long)).err(),
            Some(WhenFullError::from(why))
        );
        assert_eq!(producer.publish_or(WhenFull::Wait, never), Err(WhenFullError::from(why)));
        let why = BatchError::from(why);
        assert_eq!(producer.publish_batch(2, |_| unreachable!()), Err(why));
        assert_eq!(producer.try_publish_batch(2, |_| unreachable!()), Err(why));
        assert_eq!(
            producer.publish_batch_or(2, WhenFull::Timeout(long), |_| unreachable!()),
            Err(why)
        );
        assert_eq!(producer.publish_batch_or(2, WhenFull::Wait, |_| unreachable!()), Err(why));
        assert_eq!(producer.claim_batch(2).err(), Some(why));
        assert_eq!(producer.try_claim_batch(2).err(), Some(why));
        assert_eq!(producer.claim_batch_or(2, WhenFull::Timeout(long)).err(), Some(why));
        assert_eq!(producer.claim_up_to(2).err(), Some(why));
        assert_eq!(producer.claim_up_to_or(2, WhenFull::Refuse).err(), Some(why));
        assert_eq!(producer.claim_up_to_or(2, WhenFull::Timeout(long)).err(), Some(why));
    });
}

/// The size of a batch is checked first: no state of the ring makes it possible.
fn e10_an_impossible_size_is_named_also_after_an_end<K: Kind>(setup: Setup<K>) {
    for_each_end(setup, |mut producer, now, end| {
        now();
        let long = Duration::from_secs(60);
        let too_large = BatchError::TooLarge { requested: 9, capacity: 8 };
        for (size, why) in [(0, BatchError::Zero), (9, too_large)] {
            assert_eq!(producer.publish_batch(size, |_| unreachable!()), Err(why));
            assert_eq!(producer.try_publish_batch(size, |_| unreachable!()), Err(why));
            for when_full in [WhenFull::Timeout(long), WhenFull::DropNew] {
                let published = producer.publish_batch_or(size, when_full, |_| unreachable!());
                assert_eq!(published, Err(why));
                assert_eq!(producer.claim_batch_or(size, when_full).err(), Some(why));
            }
            assert_eq!(producer.claim_batch(size).err(), Some(why));
            assert_eq!(producer.try_claim_batch(size).err(), Some(why));
        }
        assert_eq!(producer.claim_up_to(0).err(), Some(BatchError::Zero));
        for when_full in [WhenFull::Refuse, WhenFull::Timeout(long), WhenFull::DropNew] {
            let claim = producer.claim_up_to_or(0, when_full);
            assert_eq!(claim.err(), Some(BatchError::Zero));
        }
        let why = BatchError::from(end.stopped());
        assert_eq!(producer.claim_up_to(9).err(), Some(why), "a larger size is cut to the ring");
        assert_eq!(producer.dropped(), 0, "refused, not dropped");
    });
}

/// A single producer's event may be in the ring although a close has refused it. In the same poll,
/// consumers of each kind get the event before it and not that one.
fn e07_an_event_that_a_close_refused_is_not_consumed<K: Kind>(setup: Setup<K>) {
    type Ring<K> = Builder<'static, u64, <K as crate::common::Kind>::Sequencer>;
    type AddConsumers<K> = fn(Ring<K>, Gate) -> Ring<K>;
    let kinds: [AddConsumers<K>; 5] = [
        |ring, gate| ring.stage("only").read_handler(gate),
        |ring, gate| ring.stage("first").read_handler(gate).stage("second").read(|_, _, _| {}),
        |ring, gate| {
            ring.parallel(|parallel| {
                parallel.stage("left").read_handler(gate.clone()).stage("right").read_handler(gate)
            })
        },
        |ring, gate| ring.stage("any").workers(2).read_handlers(move |_| gate.clone()),
        |ring, gate| {
            ring.stage("key").workers(2).by_key(|key| *key).read_handlers(move |_| gate.clone())
        },
    ];
    for add_consumers in kinds {
        let gate = Gate::default();
        let (mut producer, consumers) =
            add_consumers(setup.ring(8, || 0), gate.clone()).build().unwrap();
        let running = consumers.start().unwrap();
        let accepted = close_between_two_events::<K>(&mut producer, &running);
        gate.0.store(true, Ordering::Release);
        let report = running.join().unwrap();
        let mut handled = BTreeMap::<&str, u64>::new();
        for stage in report.stages() {
            let name = stage.name().split('-').next().unwrap();
            *handled.entry(name).or_default() += stage.processed();
        }
        assert!(handled.values().all(|&events| events == accepted), "{accepted} {handled:?}");
    }
    let (mut producer, mut poller, running) = ring_with_poller_beside_a_stage(setup);
    let accepted = close_between_two_events::<K>(&mut producer, &running);
    assert_eq!(poller.poll().unwrap().iter().count() as u64, accepted);
    assert_eq!(poller.wait().err(), Some(RingError::Closed));
}

/// A handler that does nothing once its stage may begin.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicBool>);

impl EventHandler<u64> for Gate {
    fn on_start(&mut self) {
        wait_until(|| self.0.load(Ordering::Acquire));
    }

    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

/// Publishes one event, closes the ring during the next publication, and returns how many of the
/// two were accepted.
fn close_between_two_events<K: Kind>(
    producer: &mut ProducerOf<u64, K>,
    running: &Running<'_>,
) -> u64 {
    producer.publish(|event| *event = 1).unwrap();
    let mut claim = producer.claim().unwrap();
    *claim = 2;
    running.close();
    let result = claim.publish();
    assert_eq!(
        result.is_ok(),
        K::IS_MULTI,
        "several producers keep the claims that they were granted"
    );
    1 + u64::from(result.is_ok())
}

/// A ring with a poller and a parallel stage, which is used to close the ring.
fn ring_with_poller_beside_a_stage<K: Kind>(
    setup: Setup<K>,
) -> (ProducerOf<u64, K>, Poller<u64>, Running<'static>) {
    let ring = setup.ring(8, || 0_u64);
    let ring = ring
        .parallel(|parallel| parallel.stage("beside").read(|_, _, _| {}).stage("poller").poller());
    let (producer, mut consumers) = ring.build().unwrap();
    let poller = consumers.take_poller("poller").unwrap();
    (producer, poller, consumers.start().unwrap())
}

fn e08_the_cause_of_a_halt_is_the_actual_one<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let check = |ring: Builder<'static, u64, K::Sequencer>, cause| {
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        let error = loop {
            match producer.publish(|_| {}) {
                Ok(_) => thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert_eq!(error, PublishError::Halted(cause));
        assert_eq!(error.to_string(), cause.to_string());
        let _ = running.join();
    };
    let ring = || setup.ring(8, || 0_u64);
    check(ring().stage("panic").read(|_, _, _| panic!("{ON_PURPOSE}")), HaltCause::StageFailed);
    check(ring().stage("fail").read(|_, _, _| Err::<(), _>("no route")), HaltCause::StageFailed);
    check(ring().stage("halt").read(|_, _, _| Action::Halt), HaltCause::Requested);
    check(ring().stage("stop").read(|_, _, _| Action::Stop), HaltCause::NoConsumers);

    let (mut producer, consumers) = ring().stage("never run").read(|_, _, _| {}).build().unwrap();
    drop(consumers);
    let dropped = PublishError::Halted(HaltCause::StageDropped);
    assert_eq!(producer.publish(|_| {}), Err(dropped));
    let (mut producer, poller) = setup.ring_with_poller(8);
    drop(poller);
    let left = PublishError::Halted(HaltCause::NoConsumers);
    assert_eq!(producer.publish(|_| {}), Err(left));
}

/// Once any call of `close` has returned, a consumer finds all accepted events.
fn e09_a_second_thread_that_closes_finds_what_was_accepted<K: Kind>(setup: Setup<K>) {
    for _ in 0..setup.events(500) {
        let (mut producer, mut poller, running) = ring_with_poller_beside_a_stage(setup);
        producer.publish(|event| *event = 7).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || drop(producer)); // the last producer, which closes the ring
            running.close();
            assert_eq!(poller.poll().map(|batch| batch.len()), Ok(1));
        });
    }
}
