//! Tests the number of events that a stage has handled. It excludes claims that were given up,
//! although the stage's sequence passes them. A stage that fails is a line of `CASES`.

use std::time::Duration;

use lapwing::consumer::{Consumer, Outcome, Retries, StageReport};
use lapwing::producer::{Multi, Sequencer};
use lapwing::{Action, Builder, Disruptor, EventHandler, Sequence, Stage};

use crate::common::{Kind, ON_PURPOSE, quiet_panics};
use crate::rings::{on_event, run};

crate::common::for_both_producers! {
    each_end_of_an_event_is_counted,
    batch_that_fails_is_not_handled,
    stage_whose_factory_panics_has_handled_nothing,
}

/// Publishes four events to a ring of 16. Gives up two claims before each of the last two events,
/// and three at the end. Then runs the stages to their ends, one after another or together.
fn drain_with_gaps(ring: Builder<'_, u64, Multi>, is_together: bool) -> Vec<StageReport> {
    let (mut producer, consumers) = ring.build().unwrap();
    for number in 0..4 {
        if number >= 2 {
            drop(producer.claim_batch(2).unwrap());
        }
        producer.publish(|event| *event = number).unwrap();
    }
    drop(producer.claim_batch(3).unwrap());
    drop(producer);
    if is_together {
        return Consumer::run_together(consumers);
    }
    // Workers wait for each other, so each needs a thread.
    std::thread::scope(|scope| {
        let running = consumers.into_iter().map(|consumer| scope.spawn(|| consumer.run()));
        let running: Vec<_> = running.collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Publishes five numbers, then runs the only stage to its end.
fn drain_one<S: Sequencer>(ring: Builder<'_, u64, S>) -> StageReport {
    let (mut producer, consumers) = ring.build().unwrap();
    (0..5).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    drop(producer);
    consumers.into_iter().next().unwrap().run()
}

fn ring() -> Builder<'static, u64, Multi> {
    Disruptor::multi_producer(16, || 0_u64)
}

#[test]
fn claims_that_were_given_up_do_not_count_as_events() {
    for is_together in [false, true] {
        let nothing = || on_event(|_: &u64, _, _| {});
        let stages = ring().stage("first").read(nothing()).stage("batches").write_batch(|_, _| {});
        let stages = stages.parallel(|parallel| {
            parallel.stage("left").read(nothing()).stage("right").read(nothing())
        });
        for stage in drain_with_gaps(stages, is_together) {
            let counts = (stage.processed(), stage.handled(), stage.skipped());
            assert_eq!(counts, (11, 4, 0), "{}", stage.name());
        }
        for is_by_key in [false, true] {
            let workers = ring().stage("work").workers(3);
            let workers = if is_by_key { workers.by_key(|number| *number) } else { workers };
            let finished = drain_with_gaps(workers.read(|_| |_, _, _| {}), is_together);
            let sum = |count: fn(&StageReport) -> u64| finished.iter().map(count).sum::<u64>();
            assert_eq!((sum(StageReport::processed), sum(StageReport::handled)), (11, 4));
        }
    }
}

#[test]
fn a_ring_of_claims_that_were_given_up_has_no_event() {
    for laps in [1, 3] {
        let ring = Disruptor::multi_producer(4, || 0_u64).first_sequence(1000);
        let ring = ring.stage("all").read(on_event(|_, _, _| panic!("no event")));
        let report = run(ring, |mut producer| {
            (0..4 * laps).for_each(|_| drop(producer.claim().unwrap()));
        });
        let stage = report.stages().next().unwrap();
        assert_eq!((stage.processed(), stage.handled()), (4 * laps, 0));
        assert!(format!("{stage:?}").contains("handled: 0"), "{stage:?}");
    }
}

/// What the stage says at its first attempt of event 2, or `None` if it panics; and then how many
/// events it has processed, handled and skipped.
const CASES: [(Option<Action>, [u64; 3]); 8] = [
    (Some(Action::Retry(Duration::ZERO)), [5, 5, 0]),
    (Some(Action::Rewind(Duration::ZERO)), [5, 5, 0]),
    (Some(Action::Restart(Duration::ZERO)), [5, 5, 0]),
    (Some(Action::Skip), [5, 5, 1]),
    (Some(Action::Stop), [2, 2, 0]),
    (Some(Action::Halt), [2, 2, 0]),
    (Some(Action::SkipAndStop), [3, 3, 1]),
    (None, [2, 2, 0]),
];

fn each_end_of_an_event_is_counted<K: Kind>() {
    quiet_panics();
    for (action, counts) in CASES {
        let mut has_failed = false;
        let fails_once = move |_: &u64, sequence, _| {
            let fails = sequence == 2 && !std::mem::replace(&mut has_failed, true);
            if fails { action.expect(ON_PURPOSE) } else { Action::Continue }
        };
        let stage = drain_one(K::ring(8, || 0).stage("all").read(fails_once));
        let seen = [stage.processed(), stage.handled(), stage.skipped()];
        assert_eq!(seen, counts, "{action:?}");
    }
}

fn batch_that_fails_is_not_handled<K: Kind>() {
    let stage = Stage::new("all").max_batch(2).on_error(Retries::of_batch().attempts(3));
    let ring = K::ring(8, || 0)
        .stage(stage)
        .read_batch(|_, first| if first < 2 { Ok(()) } else { Err(ON_PURPOSE) });
    assert_eq!(drain_one(ring).handled(), 2);
}

fn stage_whose_factory_panics_has_handled_nothing<K: Kind>() {
    struct Nothing;
    impl EventHandler<u64> for Nothing {
        fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    }
    quiet_panics();
    let ring = K::ring(8, || 0).stage("all").read_local(|| -> Nothing { panic!("{}", ON_PURPOSE) });
    let finished = drain_one(ring);
    assert_eq!(finished.handled(), 0);
    let message = ON_PURPOSE.to_owned();
    assert_eq!(*finished.outcome(), Outcome::Panicked { message, sequence: 0 });
}
